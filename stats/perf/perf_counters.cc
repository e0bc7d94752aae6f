// SPDX-License-Identifier: Apache-2.0
#include "stats/perf/perf_counters.h"

#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stats/files/file_descriptor.h"

namespace vmnuma::stats {
namespace {

constexpr PerfEvent kReadsOfMemory{PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL |
                                                           PERF_COUNT_HW_CACHE_OP_READ << 8U |
                                                           PERF_COUNT_HW_CACHE_RESULT_MISS << 16U};
constexpr PerfEvents::Cycles kCycles{
    .all = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    .stalled = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND}};
constexpr std::int64_t kThisThread = 0;
constexpr int kNoGroup = -1;
constexpr std::size_t kMostEvents = 3;

/// The result of read(2) with PERF_FORMAT_GROUP and both times.
struct GroupCount {
  std::uint64_t events = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
  std::array<std::uint64_t, kMostEvents> values{};
};

Result<files::FileDescriptor> open_event(PerfEvent event, std::int64_t tid, int group) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.disabled = group == kNoGroup ? 1 : 0;  // the others start together with the leader
  constexpr int kAnyCpu = -1;
  const auto fd =
      static_cast<int>(::syscall(SYS_perf_event_open, &attributes, static_cast<pid_t>(tid), kAnyCpu,
                                 group, PERF_FLAG_FD_CLOEXEC));
  if (fd < 0) {
    return tl::unexpected(files::system_error(
        errno, fmt::format("cannot count event {}:{:#x}", event.type, event.config)));
  }
  return files::FileDescriptor(fd);
}

class PerfCounter final : public ThreadCounter {
 public:
  explicit PerfCounter(std::vector<files::FileDescriptor> events) : events_(std::move(events)) {}

  [[nodiscard]] Result<ThreadCount> read() const override {
    GroupCount group;
    const ssize_t size =
        files::uninterrupted([&] { return ::read(events_.front().get(), &group, sizeof(group)); });
    if (size < 0) {
      return tl::unexpected(files::system_error(errno, "cannot read a counter"));
    }
    if (group.events != events_.size()) {
      return failure(ErrorCode::kIo, "a group of counters is incomplete");
    }
    return ThreadCount{.reads = static_cast<std::int64_t>(group.values[0]),
                       .counted_ns = static_cast<std::int64_t>(group.running_ns),
                       .ran_ns = static_cast<std::int64_t>(group.enabled_ns),
                       .cycles = static_cast<std::int64_t>(group.values[1]),
                       .stalled_cycles = static_cast<std::int64_t>(group.values[2])};
  }

 private:
  std::vector<files::FileDescriptor> events_;  ///< the first is the group leader
};

}  // namespace

Result<std::unique_ptr<ThreadCounter>> PerfCounters::count(std::int64_t tid) {
  std::vector<files::FileDescriptor> opened;
  std::vector<PerfEvent> wanted{events_.reads};
  if (events_.cycles) {
    wanted.insert(wanted.end(), {events_.cycles->all, events_.cycles->stalled});
  }
  for (const PerfEvent event : wanted) {
    VMNUMA_ASSIGN_OR_RETURN(
        auto fd, open_event(event, tid, opened.empty() ? kNoGroup : opened.front().get()));
    opened.push_back(std::move(fd));
  }
  if (::ioctl(opened.front().get(), PERF_EVENT_IOC_ENABLE, 0) != 0) {
    return tl::unexpected(files::system_error(errno, "cannot start a counter"));
  }
  return std::make_unique<PerfCounter>(std::move(opened));
}

bool hands_over_counters(const files::Directory& root) {
  for (const char* module : {"kvm_intel", "kvm_amd"}) {
    const auto value =
        root.read(fmt::format("sys/module/{}/parameters/enable_mediated_pmu", module));
    if (value && value->starts_with('Y')) {
      return true;
    }
  }
  return false;
}

Result<PerfEvents> find_perf_events(const files::Directory& root) {
  if (hands_over_counters(root)) {
    return failure(ErrorCode::kUnsupported,
                   "KVM hands the CPUs' counters over to guests (enable_mediated_pmu)");
  }
  PerfEvents events{.reads = kReadsOfMemory, .cycles = kCycles};
  if (PerfCounters(events).count(kThisThread)) {
    return events;
  }
  events.cycles.reset();
  const auto counter = PerfCounters(events).count(kThisThread);
  if (counter) {
    return events;
  }
  if (counter.error().code == ErrorCode::kPermissionDenied) {
    const std::string paranoid = root.read("proc/sys/kernel/perf_event_paranoid").value_or("?");
    return failure(
        ErrorCode::kPermissionDenied,
        fmt::format(
            "counting requires CAP_PERFMON and kernel.perf_event_paranoid of at most 2; it is {}",
            paranoid.substr(0, paranoid.find('\n'))));
  }
  return failure(ErrorCode::kUnsupported,
                 "the kernel knows no event by which these CPUs count reads from memory");
}

}  // namespace vmnuma::stats
