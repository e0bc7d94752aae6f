// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/change_watch.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "balancer/qemu/command_line.h"

namespace vmnuma::balancer::qemu {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::uint32_t kOfCgroups = IN_CREATE | IN_MODIFY | IN_ONLYDIR | IN_DONT_FOLLOW;
constexpr std::uint32_t kOfPrograms = IN_OPEN;
/// The kernel's own limit is fs.inotify.max_user_watches; this one is for a host out of control.
constexpr std::size_t kMostCgroups = 100'000;

Result<files::FileDescriptor> opened(int fd, const char* what) {
  if (fd < 0) {
    return tl::unexpected(files::system_error(errno, what));
  }
  return files::FileDescriptor(fd);
}

void drain(int fd) {
  std::uint64_t count = 0;
  (void)files::uninterrupted([&] { return ::read(fd, &count, sizeof(count)); });
}

}  // namespace

Result<std::unique_ptr<ChangeWatch>> ChangeWatch::start(ChangeWatchSetup setup) {
  VMNUMA_ASSIGN_OR_RETURN(auto inotify,
                          opened(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC), "cannot use inotify"));
  VMNUMA_ASSIGN_OR_RETURN(auto epoll, opened(::epoll_create1(EPOLL_CLOEXEC), "cannot use epoll"));
  VMNUMA_ASSIGN_OR_RETURN(
      auto timer,
      opened(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "cannot make a timer"));
  VMNUMA_ASSIGN_OR_RETURN(auto wake_up,
                          opened(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "cannot make an event"));
  for (const int one : {inotify.get(), timer.get(), wake_up.get()}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = one}};
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, one, &event) != 0) {
      return tl::unexpected(files::system_error(errno, "cannot wait for events"));
    }
  }
  return std::unique_ptr<ChangeWatch>(new ChangeWatch(std::move(setup), std::move(inotify),
                                                      std::move(epoll), std::move(timer),
                                                      std::move(wake_up)));
}

ChangeWatch::ChangeWatch(ChangeWatchSetup setup, files::FileDescriptor inotify,
                         files::FileDescriptor epoll, files::FileDescriptor timer,
                         files::FileDescriptor wake_up)
    : setup_(std::move(setup)),
      inotify_(std::move(inotify)),
      epoll_(std::move(epoll)),
      timer_(std::move(timer)),
      wake_up_(std::move(wake_up)) {
  watch_tree(setup_.cgroups);
  watch_programs();
  // Signals have a thread of their own.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ChangeWatch::~ChangeWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ::eventfd_write(wake_up_.get(), 1);
  thread_.join();
}

Result<void> ChangeWatch::watch(const migration::ProcessDescriptor& descriptor) {
  epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = descriptor.fd()}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor.fd(), &event) != 0) {
    return tl::unexpected(files::system_error(errno, "cannot wait for the end of a process"));
  }
  return {};
}

void ChangeWatch::forget(const migration::ProcessDescriptor& descriptor) {
  // The descriptor may never have been added.
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor.fd(), nullptr);
}

void ChangeWatch::look_again() {
  {
    const std::lock_guard lock(mutex_);
    look_again_ = true;
  }
  ::eventfd_write(wake_up_.get(), 1);
}

std::string ChangeWatch::lack() const {
  const std::lock_guard lock(mutex_);
  return lack_;
}

void ChangeWatch::run() {
  ::pthread_setname_np(::pthread_self(), "qemu watch");
  std::array<epoll_event, 64> events{};
  for (;;) {
    const int count = files::uninterrupted([&] {
      return ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    });
    bool ended = false;
    for (int index = 0; index < count; ++index) {
      const int fd = events.at(static_cast<std::size_t>(index)).data.fd;
      if (fd == inotify_.get()) {
        read_events();
      } else if (fd == timer_.get()) {
        drain(fd);
        armed_ = false;
        look();
      } else if (fd == wake_up_.get()) {
        drain(fd);
        bool again = false;
        {
          const std::lock_guard lock(mutex_);
          if (stopping_) {
            return;
          }
          again = std::exchange(look_again_, false);
        }
        // Settling does not end while a VM is still starting.
        if (again && !armed_) {
          const std::size_t last = setup_.settling.size() - 1;
          step_ = std::min(step_, last - std::min<std::size_t>(last, 2));
          arm(setup_.settling.at(step_));
        }
      } else {
        ended = true;
      }
    }
    if (ended) {
      setup_.on_end();
    }
  }
}

void ChangeWatch::read_events() {
  alignas(inotify_event) std::array<char, 64 * 1024> buffer{};
  bool wrote_cpuset = false;
  for (;;) {
    const ssize_t size =
        files::uninterrupted([&] { return ::read(inotify_.get(), buffer.data(), buffer.size()); });
    if (size <= 0) {
      break;
    }
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += sizeof(inotify_event) + event->len;
      const std::string_view name = event->len > 0 ? event->name : "";
      const auto cgroup = cgroups_.find(event->wd);
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        watch_tree(setup_.cgroups);
        wrote_cpuset = true;
        hint(Hint::kProgram);
      } else if ((event->mask & IN_IGNORED) != 0) {
        cgroups_.erase(event->wd);
      } else if ((event->mask & IN_OPEN) != 0) {
        hint(Hint::kProgram);
      } else if (cgroup == cgroups_.end()) {
        continue;
      } else if ((event->mask & IN_CREATE) != 0 && (event->mask & IN_ISDIR) != 0) {
        watch_tree(cgroup->second + "/" + std::string(name));
        hint(Hint::kCgroup);
      } else if ((event->mask & IN_MODIFY) != 0 && name == "cgroup.procs") {
        hint(Hint::kCgroup);
      } else if ((event->mask & IN_MODIFY) != 0 && name == "cpuset.cpus") {
        wrote_cpuset = true;
      }
    }
  }
  if (wrote_cpuset) {
    setup_.on_cpuset();
  }
}

/// Watches a directory tree. Each directory is watched before it is listed, so anything created in
/// between is seen by one or the other.
void ChangeWatch::watch_tree(const std::string& directory) {
  std::vector<std::string> ahead{directory};
  while (!ahead.empty()) {
    const std::string next = std::move(ahead.back());
    ahead.pop_back();
    const int watched = ::inotify_add_watch(inotify_.get(), next.c_str(), kOfCgroups);
    if (watched < 0 || cgroups_.size() >= kMostCgroups) {
      if (watched >= 0 || (errno != ENOENT && errno != ENOTDIR)) {
        const Error error = files::system_error(watched < 0 ? errno : ENOSPC,
                                                fmt::format("cannot watch '{}'", next));
        const std::lock_guard lock(mutex_);
        lack_ = error.message;
      }
      continue;
    }
    cgroups_[watched] = next;
    std::error_code none;  // an error means that it is gone
    for (const auto& entry : std::filesystem::directory_iterator(next, none)) {
      if (entry.is_directory(none) && !entry.is_symlink(none)) {
        ahead.push_back(entry.path());
      }
    }
  }
}

/// Watches QEMU's programs. Watching the same file twice gives one watch; a new file in its place
/// gives another.
void ChangeWatch::watch_programs() {
  for (const std::string& directory : setup_.program_dirs) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
      if (is_qemu(entry.path().native())) {
        (void)::inotify_add_watch(inotify_.get(), entry.path().c_str(), kOfPrograms);
      }
    }
  }
}

void ChangeWatch::hint(Hint what) {
  hinted_ = std::max(hinted_, what);
  step_ = 0;
  const auto since = steady_clock::now() - last_look_;
  const milliseconds shortest = setup_.settling.front();
  if (since >= shortest) {
    look();
  } else {
    arm(std::chrono::ceil<milliseconds>(shortest - since));
  }
}

void ChangeWatch::look() {
  last_look_ = steady_clock::now();
  if (hinted_ == Hint::kProgram && last_look_ - last_thorough_ >= kThorough) {
    last_thorough_ = last_look_;
    setup_.on_program();
  } else {
    setup_.on_cgroup();
  }
  if (step_ < setup_.settling.size()) {
    arm(setup_.settling.at(step_++));
  } else {
    hinted_ = Hint::kNone;
    watch_programs();  // a package may have installed new ones
  }
}

void ChangeWatch::arm(milliseconds after) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(after);
  const itimerspec when{.it_interval = {},
                        .it_value = {.tv_sec = seconds.count(),
                                     .tv_nsec = std::chrono::nanoseconds(after - seconds).count()}};
  armed_ = ::timerfd_settime(timer_.get(), 0, &when, nullptr) == 0;
}

}  // namespace vmnuma::balancer::qemu
