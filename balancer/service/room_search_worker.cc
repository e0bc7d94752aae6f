// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/room_search_worker.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "placement/model/text.h"
#include "stats/text/json.h"

namespace vmnuma::balancer {

namespace {

using files::FileDescriptor;
using files::system_error;
using files::uninterrupted;
using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOutput = std::size_t{4} << 20U;
constexpr std::int64_t kSearchMemory_mib = 1024;
/// The longest search plus its overhead.
constexpr std::chrono::seconds kSearchAllowed{60};

Error wrong(std::string what) {
  return {ErrorCode::kCorrupt, 0, std::move(what)};
}

std::vector<std::string> command_line(const std::string& program, const std::string& socket_path,
                                      const RoomSearch& search) {
  std::vector<std::string> words{program,
                                 "--socket",
                                 socket_path,
                                 "make-room",
                                 "--json",
                                 "--vcpus",
                                 std::to_string(search.needed.vcpus),
                                 "--memory",
                                 fmt::format("{}MiB", whole_mib(search.needed.memory)),
                                 "--on",
                                 to_list(search.needed.nodes),
                                 "--seconds",
                                 std::to_string(search.seconds),
                                 "--memory-mib",
                                 std::to_string(kSearchMemory_mib)};
  if (search.needed.page_size > Bytes{}) {
    words.insert(words.end(),
                 {"--hugepages", fmt::format("{}MiB", whole_mib(search.needed.page_size))});
  }
  return words;
}

/// Starts the program with all its output in `out`. Returns its process id, or the error.
Result<pid_t> start(std::vector<std::string> words, int out) {
  // For this thread, and thus for its child.
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);  // there may be none
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
  // The daemon's sockets are not close-on-exec.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);  // workers block all signals
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int refusal =
      ::posix_spawn(&child, arguments.front(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (refusal != 0) {
    return tl::unexpected(system_error(refusal, fmt::format("cannot run '{}'", words.front())));
  }
  return child;
}

/// Reads until end of file, unless the time is up first or `stop` becomes readable.
Result<std::string> read_until(int fd, int stop, Clock::time_point end) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    std::array<pollfd, 2> ready{{{fd, POLLIN, 0}, {stop, POLLIN, 0}}};
    const int events = left > 0 ? ::poll(ready.data(), ready.size(), static_cast<int>(left)) : 0;
    if (events == 0 || ready[1].revents != 0) {
      return failure(ErrorCode::kBusy, "the search for moves did not end in time");
    }
    const ssize_t size = events > 0 ? ::read(fd, buffer.data(), buffer.size()) : -1;
    if (size == 0) {
      return text;
    }
    if (size < 0 && errno != EINTR) {
      return tl::unexpected(system_error(errno, "cannot read what the search has found"));
    }
    text.append(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    if (text.size() > kMostOutput) {
      return tl::unexpected(wrong("the answer of the search for moves is too long"));
    }
  }
}

Result<std::string> output_of(std::vector<std::string> words, int stop, Clock::time_point end) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return tl::unexpected(system_error(errno, "cannot make a pipe"));
  }
  const FileDescriptor from(ends[0]);
  Result<pid_t> child = failure(ErrorCode::kIo, "");
  {
    const FileDescriptor to(ends[1]);
    child = start(std::move(words), to.get());
  }
  if (!child) {
    return tl::unexpected(std::move(child).error());
  }
  Result<std::string> text = read_until(from.get(), stop, end);
  if (!text) {
    (void)::kill(*child, SIGKILL);  // its children end with it
  }
  int status = 0;
  (void)uninterrupted([&] { return ::waitpid(*child, &status, 0); });  // the result is in the text
  return text;
}

RoomSearched not_found(const VmId& vm, std::string because) {
  return {vm, NodeId{}, {}, std::move(because)};
}

Result<RoomMove> move_of(const ordered_json& relocation) {
  return parse_vm_id(relocation.at("vm_uuid").get<std::string>()).map([&](const VmId& vm) {
    return RoomMove{{vm, relocation.at("client").get<std::int32_t>()},
                    NodeId{relocation.at("from").get<std::int32_t>()},
                    NodeId{relocation.at("to").get<std::int32_t>()}};
  });
}

}  // namespace

std::string search_program(const std::filesystem::path& folder) {
  if (folder.empty()) {
    return "";  // never use one from the working directory
  }
  for (const auto& path : {folder / "vmnuma", folder.parent_path() / "bin" / "vmnuma"}) {
    std::error_code not_there;
    if (std::filesystem::is_regular_file(path, not_there)) {
      return path;
    }
  }
  return "";
}

RoomSearched room_searched(const VmId& vm, std::string_view printed) {
  const auto json =
      text::read_json<ordered_json>(printed, {kMostOutput}, "what the search for moves has found");
  if (!json) {
    return not_found(vm, json.error().message);
  }
  try {
    if (const auto error = json->find("error"); error != json->end()) {
      return not_found(vm, error->at("message").get<std::string>());
    }
    if (json->at("node").is_null()) {
      return not_found(vm, json->at("refused").get<std::string>());
    }
    RoomSearched found{vm, NodeId{json->at("node").get<std::int32_t>()}, {}, ""};
    for (const ordered_json& step : json->at("steps")) {
      std::vector<RoomMove>& moves = found.steps.emplace_back();
      for (const ordered_json& relocation : step.at("relocations")) {
        Result<RoomMove> move = move_of(relocation);
        if (!move) {
          return not_found(vm, move.error().message);
        }
        moves.push_back(*move);
      }
    }
    return found;
  } catch (const ordered_json::exception& error) {
    return not_found(
        vm, fmt::format("what the search for moves has found cannot be read: {}", error.what()));
  }
}

RoomSearchWorker::RoomSearchWorker(TaskBoard& board, std::string program, std::string socket_path,
                                   OnSearched on_searched)
    : program_(std::move(program)),
      socket_path_(std::move(socket_path)),
      on_searched_(std::move(on_searched)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      worker_(board, "room-search", /*most_waiting=*/1, kSearchAllowed) {}

RoomSearchWorker::~RoomSearchWorker() {
  (void)::eventfd_write(stop_.get(), 1);
}

void RoomSearchWorker::search(RoomSearch search) {
  const VmId vm = search.vm;
  if (!worker_.post("searching for moves that make room",
                    [this, search = std::move(search)] { run(search); })) {
    on_searched_(not_found(vm, "another search is under way"));
  }
}

void RoomSearchWorker::run(const RoomSearch& search) {
  if (program_.empty()) {
    on_searched_(not_found(search.vm, "the program 'vmnuma' is not installed beside the daemon"));
    return;
  }
  const Result<std::string> printed =
      output_of(command_line(program_, socket_path_, search), stop_.get(),
                Clock::now() + std::chrono::seconds(search.seconds) + kGrace);
  on_searched_(printed ? room_searched(search.vm, *printed)
                       : not_found(search.vm, printed.error().message));
}

}  // namespace vmnuma::balancer
