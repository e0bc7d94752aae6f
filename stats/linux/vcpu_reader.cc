// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/vcpu_reader.h"

#include <algorithm>
#include <utility>

#include "stats/files/read_parsed.h"
#include "stats/formats/proc_formats.h"

namespace vmnuma::stats {

bool VcpuReader::threads_may_have_changed() const {
  const auto now = watched().link_count();
  return !link_count_ || !now || *now != *link_count_;
}

Result<void> VcpuReader::find_threads(std::string& scratch) {
  // Counted before listing: a thread created in between makes the next reading search again.
  const auto link_count = watched().link_count();
  VMNUMA_ASSIGN_OR_RETURN(const auto threads, thread_group_
                                                  ? vcpu_threads_by_cgroup(*thread_group_, tasks_)
                                                  : vcpu_threads_by_name(tasks_));
  std::vector<Vcpu> found;
  unopened_.clear();
  for (const VcpuThread& thread : threads) {
    const auto known = std::find_if(vcpus_.begin(), vcpus_.end(),
                                    [&](const Vcpu& vcpu) { return vcpu.thread == thread; });
    if (known != vcpus_.end()) {
      found.push_back(std::move(*known));
      continue;
    }
    auto schedstat = tasks_.file(std::to_string(thread.tid) + "/schedstat");
    if (!schedstat) {
      unopened_.push_back({thread.vcpu, schedstat.error().message});
      continue;
    }
    found.push_back({.thread = thread, .schedstat = std::move(*schedstat), .limit = {}});
    read_quota_of(found.back(), scratch);
  }
  vcpus_ = std::move(found);
  link_count_.reset();
  if (link_count && unopened_.empty()) {
    link_count_ = *link_count;
  }
  return {};
}

std::vector<VcpuSample> VcpuReader::read_schedstats(std::string& scratch,
                                                    std::vector<Unreadable>& unreadable) {
  std::vector<VcpuSample> samples;
  samples.reserve(vcpus_.size());
  // An unreadable thread is forgotten, so that the next search opens it again: by now its id may
  // even belong to a new thread.
  std::erase_if(vcpus_, [&](const Vcpu& vcpu) {
    const auto times = read_parsed(vcpu.schedstat, scratch, parse_schedstat);
    if (!times) {
      unreadable.push_back({vcpu.thread.vcpu, times.error().message});
      return true;
    }
    samples.push_back({vcpu.thread.vcpu, vcpu.thread.tid, times->run_ns, times->wait_ns});
    return false;
  });
  return samples;
}

Result<VcpuCounters> VcpuReader::read(std::string& scratch, MissingLog& log) {
  if (threads_may_have_changed()) {
    VMNUMA_RETURN_IF_ERROR(find_threads(scratch));
  }
  std::vector<Unreadable> unreadable;
  auto samples = read_schedstats(scratch, unreadable);
  if (!unreadable.empty()) {
    VMNUMA_RETURN_IF_ERROR(find_threads(scratch));
    unreadable.clear();
    samples = read_schedstats(scratch, unreadable);
    if (!unreadable.empty()) {
      link_count_.reset();
    }
  }
  unreadable.insert(unreadable.end(), unopened_.begin(), unopened_.end());
  for (const Unreadable& one : unreadable) {
    log.add("vCPU " + std::to_string(one.vcpu), one.reason);
  }
  VcpuCounters counters{.vcpus = std::move(samples)};
  for (Vcpu& vcpu : vcpus_) {
    counters.throttled_us += vcpu.limit.throttled_us_since_last(scratch);
    if (!vcpu.limit.error().empty()) {
      log.add("quota of vCPU " + std::to_string(vcpu.thread.vcpu), vcpu.limit.error());
    }
  }
  return counters;
}

std::vector<CpuId> VcpuReader::last_cpus(const std::vector<VcpuSample>& vcpus) const {
  std::vector<CpuId> cpus;
  cpus.reserve(vcpus.size());
  for (const VcpuSample& vcpu : vcpus) {
    const auto cpu = read_parsed(tasks_, std::to_string(vcpu.tid) + "/stat", parse_last_cpu);
    if (!cpu) {
      return {};
    }
    cpus.push_back(*cpu);
  }
  return cpus;
}

Result<void> VcpuReader::read_quotas(std::string& scratch) {
  if (threads_may_have_changed()) {
    VMNUMA_RETURN_IF_ERROR(find_threads(scratch));
  }
  for (Vcpu& vcpu : vcpus_) {
    read_quota_of(vcpu, scratch);
  }
  return {};
}

void VcpuReader::read_quota_of(Vcpu& vcpu, std::string& scratch) const {
  if (thread_group_) {
    vcpu.limit.refresh(*thread_group_, "vcpu" + std::to_string(vcpu.thread.vcpu), scratch);
  }
}

std::optional<std::int64_t> VcpuReader::quota_permille() const {
  constexpr std::int64_t kOneCpu = 1000;
  std::int64_t sum = 0;
  for (const Vcpu& vcpu : vcpus_) {
    sum += std::min(vcpu.limit.quota_permille().value_or(kOneCpu), kOneCpu);
  }
  if (sum >= kOneCpu * static_cast<std::int64_t>(vcpus_.size())) {
    return std::nullopt;
  }
  return sum;
}

}  // namespace vmnuma::stats
