// SPDX-License-Identifier: Apache-2.0
/// What tells of starts and ends of QEMU processes, and of pins that were reset.
///
/// Problem: nothing announces that some process has become QEMU, and looking for it all the time is
/// what nobody wants on a host. Approach: hints. Who starts VMs makes a cgroup for each and puts a
/// process into it, which inotify(7) sees; who makes none opens QEMU's program, which inotify sees,
/// too. A hint means
/// "look now", and a few times more at growing distances, because the process may still be on its
/// way. Ends are exact: a pidfd (pidfd_open(2)) is readable when its process has ended. Where a
/// cpuset is written to, the kernel may reset its threads' affinities (Linux 6.1,
/// kernel/cgroup/cpuset.c), so that is told, too. Term: *settling*, the looks after a hint.
///
/// Properties:
///  - without hints nothing runs, whatever is on the host;
///  - hints that come in numbers make one look every the shortest settling, not one each, and a
///  thorough one
///    every `kThorough`;
///  - after the last hint settling ends, so that a hint costs a known number of looks;
///  - a cgroup below one that was just made is not missed;
///  - when the kernel has lost events, everything counts as hinted at;
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

/// Where to look, and whom to tell. Callbacks run in the watch's own thread; they must only pass
/// the word on.
struct ChangeWatchSetup {
  std::string cgroups;                    ///< the mount of cgroup v2, "/sys/fs/cgroup"
  std::vector<std::string> program_dirs;  ///< where programs of QEMU may be, "/usr/bin"
  std::function<void()> on_cgroup;        ///< a cgroup was made or entered: look quickly
  std::function<void()> on_program;       ///< QEMU was opened: look thoroughly
  std::function<void()> on_end;           ///< a process that is watched has ended
  std::function<void()> on_cpuset;        ///< some cgroup's cpuset was written to
  /// Settling: how long after a look the next one is; the first is also the shortest time between
  /// two looks. Not empty; shorter ones are for tests.
  std::vector<std::chrono::milliseconds> settling{
      std::chrono::milliseconds{100},  std::chrono::milliseconds{200},
      std::chrono::milliseconds{700},  std::chrono::milliseconds{2000},
      std::chrono::milliseconds{7000}, std::chrono::milliseconds{20000}};
};

/// Its members are what it was given, its descriptors, what other threads may set, and its thread's
/// own.
class ChangeWatch {
 public:
  /// Between two thorough looks: each reads every process of the host, and finds no more than
  /// programs which a process has become that is long since there.
  static constexpr std::chrono::milliseconds kThorough{2000};

  /// Errors: io (no inotify instance left: fs.inotify.max_user_instances). That some cgroups could
  /// not be watched is told by lack().
  [[nodiscard]] static Result<std::unique_ptr<ChangeWatch>> start(ChangeWatchSetup setup);

  ChangeWatch(const ChangeWatch&) = delete;
  ChangeWatch& operator=(const ChangeWatch&) = delete;
  ~ChangeWatch();

  /// Tells once when this process ends. Any thread. `descriptor` must live until forget() or the
  /// destructor. Error: io.
  [[nodiscard]] Result<void> watch(const migration::ProcessDescriptor& descriptor);
  void forget(const migration::ProcessDescriptor& descriptor);
  /// Lets a look be taken again before long: something is on its way. Any thread.
  void look_again();
  /// Why starts may be noticed late; empty if all is watched. Any thread.
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
  const files::FileDescriptor wake_up_;  ///< an eventfd: look_again() and the end

  mutable std::mutex mutex_;  // guards the next three
  bool stopping_ = false;
  bool look_again_ = false;
  std::string lack_;

  // The thread's own.
  std::map<int, std::string> cgroups_;  ///< by watch descriptor
  Hint hinted_ = Hint::kNone;           ///< the most thorough look that is due
  std::size_t step_ = 0;                ///< of settling
  bool armed_ = false;
  std::chrono::steady_clock::time_point last_look_{};
  std::chrono::steady_clock::time_point last_thorough_{};
  std::thread thread_;
};

}  // namespace vmnuma::balancer::qemu
