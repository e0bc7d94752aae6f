// SPDX-License-Identifier: Apache-2.0
/// Detects starts and ends of QEMU processes, and pins that were reset.
///
/// Problem: nothing announces that some process has become QEMU, and continuous polling is
/// unacceptable on a host. Approach: hints. Programs that start VMs create a cgroup for each and
/// put a process into it, which inotify(7) reports; those that create none open QEMU's program,
/// which inotify reports, too. A hint causes one look at the processes at once, and a few more at
/// growing intervals, because the process may not have become QEMU yet. Ends are exact: a pidfd
/// (pidfd_open(2)) is readable when its process has ended. When a cpuset is written to, the kernel
/// may reset its threads' affinities (Linux 6.1, kernel/cgroup/cpuset.c), so that is reported, too.
/// Term: *settling*, the looks after a hint.
///
/// Properties:
///  - without hints nothing runs, whatever is on the host;
///  - frequent hints cause one look per shortest settling interval, not one each, and a thorough
///    one per `kThorough`;
///  - settling ends after the last hint, so a hint costs a bounded number of looks;
///  - a cgroup below one that was just created is not missed;
///  - if the kernel has lost events, that counts as a hint for everything;
///  - after the destructor no callback runs.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "migration/linux/process_descriptor.h"
#include "placement/base/result.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::balancer::qemu {

/// What to watch, and the callbacks. These run in the watch's own thread and must only forward the
/// notification.
struct ChangeWatchSetup {
  std::string cgroups;                    ///< the mount of cgroup v2, "/sys/fs/cgroup"
  std::vector<std::string> program_dirs;  ///< where QEMU programs may be, "/usr/bin"
  std::function<void()> on_cgroup;        ///< a cgroup was made or entered: look quickly
  std::function<void()> on_program;       ///< QEMU was opened: look thoroughly
  std::function<void()> on_end;           ///< a watched process has ended
  std::function<void()> on_cpuset;        ///< some cgroup's cpuset was written to
  /// Settling: the intervals between looks; the first is also the shortest time between two looks.
  /// Must not be empty; tests use shorter ones.
  std::vector<std::chrono::milliseconds> settling{
      std::chrono::milliseconds{100},  std::chrono::milliseconds{200},
      std::chrono::milliseconds{700},  std::chrono::milliseconds{2000},
      std::chrono::milliseconds{7000}, std::chrono::milliseconds{20000}};
};

/// Members: the setup, the descriptors, state that other threads may set, and state of its own
/// thread.
class ChangeWatch {
 public:
  /// The time between two thorough looks. A thorough look reads every process of the host, and
  /// finds only one thing more: long-lived processes that have become QEMU.
  static constexpr std::chrono::milliseconds kThorough{2000};

  /// Starts watching. Errors: io (no inotify instance left: fs.inotify.max_user_instances). Cgroups
  /// that could not be watched are reported by lack().
  [[nodiscard]] static Result<std::unique_ptr<ChangeWatch>> start(ChangeWatchSetup setup);

  ChangeWatch(const ChangeWatch&) = delete;
  ChangeWatch& operator=(const ChangeWatch&) = delete;
  ~ChangeWatch();

  /// Reports once when this process ends. Any thread. `descriptor` must live until forget() or
  /// until this object is destroyed. Error: io.
  [[nodiscard]] Result<void> watch(const migration::ProcessDescriptor& descriptor);
  void forget(const migration::ProcessDescriptor& descriptor);
  /// Causes another look soon, because a VM is still starting. Any thread.
  void look_again();
  /// Why starts may be noticed late; empty if everything is watched. Any thread.
  [[nodiscard]] std::string lack() const;

 private:
  enum class Hint { kNone, kCgroup, kProgram };

  ChangeWatch(ChangeWatchSetup setup, files::FileDescriptor inotify, files::FileDescriptor epoll,
              files::FileDescriptor timer, files::FileDescriptor wake_up);
  void run();
  void read_events();
  void watch_tree(const std::string& directory);
  void watch_programs();
  void hint(Hint what);
  void look();
  void arm(std::chrono::milliseconds after);

  const ChangeWatchSetup setup_;
  const files::FileDescriptor inotify_;
  const files::FileDescriptor epoll_;
  const files::FileDescriptor timer_;
  const files::FileDescriptor wake_up_;  ///< an eventfd: for look_again() and the destructor

  mutable std::mutex mutex_;  // guards the next three
  bool stopping_ = false;
  bool look_again_ = false;
  std::string lack_;

  // Used by the thread only.
  std::map<int, std::string> cgroups_;  ///< by watch descriptor
  Hint hinted_ = Hint::kNone;           ///< the most thorough look due
  std::size_t step_ = 0;                ///< of settling
  bool armed_ = false;
  std::chrono::steady_clock::time_point last_look_{};
  std::chrono::steady_clock::time_point last_thorough_{};
  std::thread thread_;
};

}  // namespace vmnuma::balancer::qemu
