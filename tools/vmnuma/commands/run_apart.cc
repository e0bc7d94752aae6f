// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/run_apart.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stats/files/file_descriptor.h"
#include "tools/client/process_limits.h"

namespace vmnuma::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNoMemory = 3;
constexpr int kThrew = 4;
constexpr int kNotTold = 5;

/// Does the child's work and ends the child.
[[noreturn]] void be_the_child(const std::function<std::string()>& work, const ApartLimits& limits,
                               pid_t parent, int answer) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(kNotTold);
  }
  if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
  }
  if (!limit_this_process({limits.memory_bytes, limits.cpu_time})) {
    ::_exit(kNotTold);
  }
  try {
    ::_exit(files::write_all(answer, work()) ? 0 : kNotTold);
  } catch (const std::bad_alloc&) {
    ::_exit(kNoMemory);
  } catch (...) {  // solvers may throw anything
    ::_exit(kThrew);
  }
}

/// Reads until the end, or until the time is up.
Result<std::string> read_until(int fd, Clock::time_point end) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd ready{fd, POLLIN, 0};
    const int events = left > 0 ? ::poll(&ready, 1, static_cast<int>(left)) : 0;
    if (events == 0) {
      return failure(ErrorCode::kBusy, "it was not ready in time");
    }
    const ssize_t size = events > 0 ? ::read(fd, buffer.data(), buffer.size()) : -1;
    if (size == 0) {
      return text;
    }
    if (size < 0 && errno != EINTR) {
      return tl::unexpected(files::system_error(errno, "cannot read from it"));
    }
    text.append(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  }
}

std::optional<Error> why_it_failed(int status) {
  if (WIFEXITED(status)) {
    switch (WEXITSTATUS(status)) {
      case 0:
        return std::nullopt;
      case kNoMemory:
        return Error{ErrorCode::kNoSpace, 0, "it needs more memory than it may have"};
      case kThrew:
        return Error{ErrorCode::kUnavailable, 0, "it failed"};
      default:
        return Error{ErrorCode::kUnavailable, 0,
                     "it could not be started, or its output could not be read"};
    }
  }
  // Libraries written in C tend to end like this when they are out of memory.
  return Error{ErrorCode::kUnavailable, 0,
               fmt::format("it was ended by the signal {}", ::strsignal(WTERMSIG(status)))};
}

}  // namespace

Result<std::string> run_apart(const std::function<std::string()>& work, const ApartLimits& limits) {
  const Clock::time_point end = Clock::now() + limits.time;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return tl::unexpected(files::system_error(errno, "cannot make a pipe"));
  }
  const files::FileDescriptor from(ends[0]);
  files::FileDescriptor to(ends[1]);
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    return tl::unexpected(files::system_error(errno, "cannot start a process"));
  }
  if (child == 0) {
    be_the_child(work, limits, self, to.get());
  }
  to = files::FileDescriptor(-1);  // so that the answer ends when the child closes it
  Result<std::string> text = read_until(from.get(), end);
  if (!text) {
    ::kill(child, SIGKILL);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!text) {
    return text;
  }
  if (std::optional<Error> why = why_it_failed(status)) {
    return tl::unexpected(std::move(*why));
  }
  return text;
}

}  // namespace vmnuma::tools
