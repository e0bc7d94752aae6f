// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/history/child.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "placement/base/result.h"

namespace vmnuma::stats::tests {
namespace {

constexpr uid_t kNobody = 65534;

Verdict cannot(const char* what) {
  return fmt::format("{}{}: {}", kCannot, what, std::strerror(errno));
}

// Makes an ordinary user root of a namespace of its own, which may mount.
bool enter_user_namespace() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    return false;
  }
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " << uid << " 1";
  std::ofstream("/proc/self/gid_map") << "0 " << gid << " 1";
  return true;
}

}  // namespace

Verdict in_child(const std::function<Verdict()>& work) {
  std::array<int, 2> pipe{};
  VMNUMA_CHECK(::pipe(pipe.data()) == 0);
  const pid_t child = ::fork();
  VMNUMA_CHECK(child >= 0);
  if (child == 0) {
    const Verdict verdict = work();
    const ssize_t written = ::write(pipe[1], verdict.data(), verdict.size());
    ::_exit(written == static_cast<ssize_t>(verdict.size()) ? 0 : 1);
  }
  ::close(pipe[1]);
  Verdict verdict;
  std::array<char, 1024> buffer{};
  for (ssize_t got = 0; (got = ::read(pipe[0], buffer.data(), buffer.size())) > 0;) {
    verdict.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(pipe[0]);
  int status = 0;
  VMNUMA_CHECK(::waitpid(child, &status, 0) == child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fmt::format("the child ended with status {}: {}", status, verdict);
  }
  return verdict;
}

void become_nobody() {
  if (::geteuid() == 0) {
    VMNUMA_CHECK(::seteuid(kNobody) == 0);
  }
}

Verdict mount_small_disk(const std::string& directory, int kib) {
  const bool ready = ::geteuid() == 0 ? ::unshare(CLONE_NEWNS) == 0 : enter_user_namespace();
  if (!ready) {
    return cannot("no mount namespace");
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return cannot("the mounts cannot be made private");
  }
  if (::mount("tmpfs", directory.c_str(), "tmpfs", 0, fmt::format("size={}k", kib).c_str()) != 0) {
    return cannot("no tmpfs");
  }
  return {};
}

}  // namespace vmnuma::stats::tests
