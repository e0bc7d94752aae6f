// SPDX-License-Identifier: Apache-2.0
#include "stats/sampler.h"

#include <algorithm>
#include <utility>

#include "placement/base/sorted.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/memory_formats.h"
#include "stats/formats/node_formats.h"
#include "stats/formats/proc_formats.h"
#include "stats/linux/huge_pages.h"
#include "stats/linux/kernel_scheduling.h"
#include "stats/linux/memory_reader.h"
#include "stats/linux/missing_log.h"

namespace vmnuma::stats {
namespace {

/// Reads a file that not every kernel has: without pressure stall information (psi=0) it is
/// unreadable or missing, without NUMA balancing it is missing. That is not a fault, but malformed
/// contents are.
template <class Value>
void read_optional(const files::Directory& root, std::string_view path,
                   Result<Value> (*parse)(std::string_view), std::optional<Value>& value,
                   Sample& sample) {
  const auto text = root.read(path);
  if (!text) {
    return;
  }
  const Result<Value> parsed = parse(*text);
  if (parsed) {
    value = *parsed;
  } else {
    sample.missing.push_back({root.path_of(path), parsed.error().message, std::nullopt});
  }
}

}  // namespace

void Sampler::set_topology(Topology topology) {
  topology_ = std::move(topology);
  meminfo_.clear();
  vms_.clear();
}

Sample Sampler::sample(const SampleRequest& request) {
  Sample sample{.sequence = request.sequence, .taken_at = request.now};
  std::map<VmId, const VmDescription*> running;
  for (const VmDescription& vm : request.running) {
    running.emplace(vm.id, &vm);
  }
  std::erase_if(vms_, [&](const auto& entry) { return !running.contains(entry.first); });
  const std::set<VmId> turn = whose_turn(running);

  read_nodes(sample);
  read_cpus(sample);
  read_optional(root_, "proc/pressure/memory", parse_memory_pressure, sample.memory_pressure,
                sample);
  read_optional(root_, "proc/vmstat", parse_direct_reclaims, sample.direct_reclaims, sample);
  read_optional(root_, "proc/sys/kernel/numa_balancing", parse_numa_balancing,
                sample.kernel_numa_balancing, sample);
  read_kernel_scheduling(sample);
  read_optional(root_, "proc/meminfo", parse_swap_total, sample.swap_total, sample);
  read_protection_inherited(sample);
  for (const auto& [id, vm] : running) {
    const bool full = turn.contains(id) || request.moving.contains(id);
    read_vm(*vm, full ? Extent::kFull : Extent::kCounters, request.spilling.contains(id), sample);
  }
  read_slices(sample);
  wakeups_.forget_if([&](const VmId& vm) { return !running.contains(vm); });
  read_wakeups(sample);
  return sample;
}

/// Returns the next `slow_vms_per_epoch` VMs after the last one that had its turn, wrapping around.
std::set<VmId> Sampler::whose_turn(const std::map<VmId, const VmDescription*>& running) {
  std::set<VmId> turn;
  auto next = running.upper_bound(last_turn_);
  while (turn.size() < std::min(options_.slow_vms_per_epoch, running.size())) {
    if (next == running.end()) {
      next = running.begin();
    }
    last_turn_ = next->first;
    turn.insert(last_turn_);
    ++next;
  }
  return turn;
}

void Sampler::read_nodes(Sample& sample) {
  for (const Node& node : topology_.nodes) {
    const std::string path =
        "sys/devices/system/node/node" + std::to_string(node.id.value) + "/meminfo";
    auto kept = meminfo_.find(node.id);
    if (kept == meminfo_.end()) {
      auto file = root_.file(path);
      if (!file) {
        sample.missing.push_back({root_.path_of(path), file.error().message, std::nullopt});
        continue;
      }
      kept = meminfo_.emplace(node.id, std::move(*file)).first;
    }
    const auto reading = read_parsed(kept->second, scratch_, [&](std::string_view text) {
      return parse_node_meminfo(node.id, text);
    });
    if (!reading) {
      sample.missing.push_back({root_.path_of(path), reading.error().message, std::nullopt});
      meminfo_.erase(kept);
      continue;
    }
    sample.nodes.push_back(*reading);
    read_huge_pages(sample.nodes.back());
  }
}

/// Reads the huge page pools. Their page sizes are fixed at boot; the number of pages may change at
/// any time.
void Sampler::read_huge_pages(NodeSample& node) {
  auto known = pools_.find(node.id);
  if (known == pools_.end()) {
    auto files = open_pools(node.id);
    if (!files) {
      return;  // the pools stay as they were
    }
    known = pools_.emplace(node.id, std::move(*files)).first;
  }
  std::vector<HugePagePool> pools;
  for (const PoolFile& file : known->second) {
    const auto pages = read_parsed(file.nr_hugepages, scratch_, parse_page_count);
    if (!pages) {
      pools_.erase(known);
      return;
    }
    if (*pages > 0) {
      pools.push_back({file.page_size, *pages});
    }
  }
  if (!known->second.empty()) {
    node.huge_pages = std::move(pools);
  }
}

/// Opens the pools, by page size; none on a kernel without hugetlbfs.
Result<std::vector<Sampler::PoolFile>> Sampler::open_pools(NodeId node) const {
  const auto directory =
      root_.directory("sys/devices/system/node/node" + std::to_string(node.value));
  VMNUMA_ASSIGN_OR_RETURN(const auto pools, directory ? huge_page_pools(*directory)
                                                      : tl::unexpected(directory.error()));
  std::vector<PoolFile> files;
  for (const HugePagePoolFiles& pool : pools) {
    VMNUMA_ASSIGN_OR_RETURN(auto file, pool.directory.file("nr_hugepages"));
    files.push_back({pool.page_size, std::move(file)});
  }
  return files;
}

void Sampler::read_cpus(Sample& sample) {
  const auto missing = [&](std::string reason) {
    sample.missing.push_back({root_.path_of("proc/stat"), std::move(reason), std::nullopt});
  };
  if (!proc_stat_) {
    auto file = root_.file("proc/stat");
    if (!file) {
      return missing(file.error().message);
    }
    proc_stat_ = std::move(*file);
  }
  const auto cpus = read_parsed(*proc_stat_, scratch_, parse_proc_stat);
  if (!cpus) {
    proc_stat_.reset();
    return missing(cpus.error().message);
  }
  for (const Node& node : topology_.nodes) {
    for (const Cpu& cpu : node.cpus) {
      if (const CpuIdleTime* found = find_sorted(*cpus, cpu.id, &CpuIdleTime::id)) {
        sample.cpus.push_back({cpu.id, busy_time(*found, sample.taken_at)});
      } else {
        missing("there is no line of CPU " + std::to_string(cpu.id.value));
      }
    }
  }
  std::ranges::sort(sample.cpus, {}, &CpuSample::id);
}

void Sampler::read_kernel_scheduling(Sample& sample) {
  if (!has_cache_scheduling_) {
    has_cache_scheduling_ = has_cache_scheduling(root_);
  }
  if (*has_cache_scheduling_) {
    sample.cache_scheduling = read_cache_scheduling(root_);
  }
  sample.sched_ext = read_sched_ext(root_);
}

void Sampler::read_protection_inherited(Sample& sample) {
  if (const auto text = root_.read("proc/self/mountinfo")) {
    sample.protection_inherited = has_recursive_protection(*text);
  }
}

/// Reads the slices that contain VMs. An unreadable slice is left out; the code that needs it
/// reports that.
void Sampler::read_slices(Sample& sample) {
  std::set<std::string> paths;
  for (const VmSample& vm : sample.vms) {
    if (vm.memory_state) {
      for (std::string& path : slices_above(vm.memory_state->scope)) {
        paths.insert(std::move(path));
      }
    }
  }
  for (const std::string& path : paths) {
    const auto limits = root_.directory("sys/fs/cgroup/" + path).and_then(read_memory_limits);
    if (limits) {
      sample.slices.push_back({path, *limits});
    }
  }
}

/// Reads the wake-up counts. If the file cannot be opened or is stale, no program counts wake-ups.
/// That is not a fault, but malformed contents are.
void Sampler::read_wakeups(Sample& sample) {
  const auto text = root_.read(kWakeupCountsFile);
  if (!text && text.error().code != ErrorCode::kInvalidArgument) {
    return;
  }
  const auto counts = text.and_then(parse_wakeup_counts);
  if (!counts) {
    sample.missing.push_back(
        {root_.path_of(kWakeupCountsFile), counts.error().message, std::nullopt});
  } else if (is_current(*counts, sample.taken_at)) {
    sample.wakeups = wakeups_.advance(*counts, sample.vms);
  }
}

/// Computes busy time from idle time. The kernel's own busy time is sampled by ticks, so it misses
/// what ends before a tick and what runs while ticks are late; its idle time is taken from the
/// clock. Time that an underlying hypervisor steals from a CPU counts as busy, which is right: the
/// CPU was not available to us.
std::int64_t Sampler::busy_time(const CpuIdleTime& cpu, Microseconds now) {
  const std::int64_t busy_us = now.value - cpu.idle_us;
  // Idle time is in ticks of 10 ms, so the busy time may decrease by one tick.
  const auto last = busy_us_.try_emplace(cpu.id, busy_us).first;
  last->second = std::max(last->second, busy_us);
  return last->second;
}

void Sampler::read_vm(const VmDescription& vm, Extent extent, bool last_cpus, Sample& sample) {
  ReadContext context{topology_, scratch_, sample.missing, sample.sequence, last_cpus};
  const auto named = [&](std::string reason) {
    MissingLog log(vm);
    log.add("", std::move(reason));
    sample.missing.push_back(log.entries().front());
  };
  auto known = vms_.find(vm.id);
  if (known != vms_.end() && known->second.is_of(vm)) {
    auto reading = known->second.read(vm, extent, context);
    if (reading) {
      sample.vms.push_back(std::move(*reading));
      return;
    }
    if (!reading.error().is_gone()) {
      return named(reading.error().message);
    }
  }
  // The VM is new, was restarted, or is in another cgroup than before.
  if (known != vms_.end()) {
    vms_.erase(known);
  }
  auto opened = VmReader::open(root_, vm);
  if (!opened) {
    return named(opened.error().message);
  }
  auto reading = opened->read(vm, Extent::kFull, context);
  if (!reading) {
    return named(reading.error().message);
  }
  vms_.emplace(vm.id, std::move(*opened));
  sample.vms.push_back(std::move(*reading));
}

}  // namespace vmnuma::stats
