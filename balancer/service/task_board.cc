// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/task_board.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stats/files/file.h"

namespace vmnuma::balancer {
namespace {

/// System calls that block on the descriptor in their first argument.
constexpr std::array kCallsOnADescriptor{SYS_read,      SYS_pread64, SYS_readv, SYS_write,
                                         SYS_pwrite64,  SYS_writev,  SYS_fsync, SYS_fdatasync,
                                         SYS_ftruncate, SYS_fcntl,   SYS_flock, SYS_getdents64};

constexpr std::size_t kMostSyscallBytes = 4096;

/// Takes a number from the beginning of the text; nothing if there is none.
std::optional<std::uint64_t> take_number(std::string_view& text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

TaskBoard::Place::Place(TaskBoard& board, std::string name, std::chrono::milliseconds allowed)
    : board_(board), name_(std::move(name)), allowed_(allowed) {
  const std::lock_guard lock(board_.mutex_);
  board_.places_.push_back(this);
}

TaskBoard::Place::~Place() {
  const std::lock_guard lock(board_.mutex_);
  board_.places_.remove(this);
}

std::string TaskBoard::Place::note(std::string doing) {
  const std::lock_guard lock(board_.mutex_);
  std::string before = task_ ? std::move(task_->doing) : std::string();
  task_.reset();
  if (!doing.empty()) {
    task_ = Task{std::move(doing), std::chrono::steady_clock::now(), ::gettid()};
  }
  return before;
}

std::chrono::milliseconds TaskBoard::Place::busy_for() const {
  const std::lock_guard lock(board_.mutex_);
  return task_ ? std::chrono::floor<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               task_->since)
               : std::chrono::milliseconds::zero();
}

std::vector<TaskBoard::BusyPlace> TaskBoard::busy() const {
  const std::lock_guard lock(mutex_);
  std::vector<BusyPlace> busy;
  for (const Place* place : places_) {
    if (place->task_) {
      busy.push_back({place->name_, place->allowed_, *place->task_});
    }
  }
  return busy;
}

std::vector<TaskBoard::BusyPlace> TaskBoard::overdue(Time now) const {
  std::vector<BusyPlace> overdue = busy();
  std::erase_if(overdue,
                [now](const BusyPlace& place) { return now - place.task.since <= place.allowed; });
  return overdue;
}

/// proc_pid_syscall(5): while the thread waits in a system call, "0 0x5 0x7ffd... ..." contains its
/// number and arguments; otherwise "running" or "-1 ...".
std::string file_waited_for(pid_t thread) {
  const Result<std::string> text =
      files::read_file(fmt::format("/proc/self/task/{}/syscall", thread), kMostSyscallBytes);
  if (!text) {
    return "";
  }
  std::string_view rest = *text;
  const auto call = take_number(rest, 10);
  if (!call || !rest.starts_with(" 0x") ||
      std::ranges::none_of(kCallsOnADescriptor,
                           [&](long known) { return std::cmp_equal(*call, known); })) {
    return "";
  }
  rest.remove_prefix(3);
  const auto descriptor = take_number(rest, 16);
  std::error_code unreadable;
  const std::filesystem::path file = std::filesystem::read_symlink(
      fmt::format("/proc/self/fd/{}", descriptor.value_or(0)), unreadable);
  return descriptor && !unreadable ? file.string() : "";
}

std::string overdue_text(const TaskBoard::BusyPlace& place) {
  const std::string file = file_waited_for(place.task.thread);
  return fmt::format("{} takes longer than {} s{}", place.task.doing,
                     std::chrono::floor<std::chrono::seconds>(place.allowed).count(),
                     file.empty() ? "" : fmt::format(", it waits for '{}'", file));
}

}  // namespace vmnuma::balancer
