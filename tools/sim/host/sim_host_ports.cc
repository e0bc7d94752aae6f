// SPDX-License-Identifier: Apache-2.0
/// The ports: what libvirt and the kernel are asked to do.
#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "tools/sim/host/sim_host.h"

namespace vmnuma::tools {

using migration::DomainRun;
using migration::MemoryRange;
using migration::MoveResult;
using placement::Bytes;
using placement::CpuId;
using placement::CpuTime;
using placement::Microseconds;
using placement::NodeId;
using placement::NodeIndex;
using placement::VmId;
using placement::VmProcess;

namespace {

/// Each pin rewrites libvirt's status file with an fsync.
constexpr Microseconds kPinTime{5'000};
constexpr Microseconds kSlowPinTime{3'000'000};
/// A write to cpuset.cpus that moves no memory (measured: 2 to 7 ms).
constexpr Microseconds kBindTime{5'000};
constexpr Microseconds kCheckTime{20};
constexpr Microseconds kReadTime{100};
constexpr std::int64_t kQueriedPagesPerMicrosecond = 5;
/// A page migration call first drains every CPU's page lists.
constexpr Microseconds kDrainTime{150};
/// Copying 2 MiB within a node at 10 GB/s; further away it takes longer in proportion to distance.
constexpr std::int64_t kCopyTimeUs = 200;
/// What the kernel's ten passes over a page that does not yield cost.
constexpr Microseconds kBusyPageTime{50};
constexpr std::int64_t kBusyPct = 20;

constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 40U;
constexpr auto kPageSize = static_cast<std::uint64_t>(kSimPage.value);

std::string policy_of(const placement::VmDescription& vm) {
  using placement::NumatuneMode;
  switch (vm.numatune) {
    case NumatuneMode::kStrict:
      return "bind";
    case NumatuneMode::kPreferred:
      return "prefer";
    case NumatuneMode::kInterleave:
      return "interleave";
    case NumatuneMode::kNone:
    case NumatuneMode::kRestrictive:
      break;
  }
  return "";
}

void set_pin(std::vector<placement::Pin>& pins, std::int32_t number,
             const std::vector<CpuId>& cpus) {
  const auto place = std::lower_bound(
      pins.begin(), pins.end(), number,
      [](const placement::Pin& pin, std::int32_t key) { return pin.number < key; });
  if (place != pins.end() && place->number == number) {
    place->cpus = cpus;
  } else {
    pins.insert(place, {number, cpus});
  }
}

}  // namespace

// ---- libvirt ----

Result<SimHost::Vm*> SimHost::find(const VmId& vm) {
  if (libvirt_lost_) {
    return failure(ErrorCode::kUnavailable, "libvirt does not answer");
  }
  const auto found = vms_.find(vm);
  if (found == vms_.end()) {
    return failure(ErrorCode::kNotFound, "there is no such VM any more");
  }
  return &found->second;
}

Result<SimHost::Vm*> SimHost::find(const DomainRun& run) {
  return find(run.vm).and_then([&](Vm* vm) -> Result<Vm*> {
    if (run.domain_id >= 0 && run.domain_id != vm->description.domain_id) {
      return failure(ErrorCode::kVanished,
                     fmt::format("'{}' is another run of the domain", vm->spec.name));
    }
    return vm;
  });
}

Result<void> SimHost::check_cpus(const std::vector<CpuId>& cpus) const {
  if (cpus.empty()) {
    return failure(ErrorCode::kInvalidArgument, "a pin needs at least one CPU");
  }
  bool one_is_online = false;
  for (const CpuId cpu : cpus) {
    bool exists = false;
    for (NodeIndex node = 0; node < nodes_.size(); ++node) {
      for (const placement::Cpu& own : nodes_[node].cpus) {
        exists = exists || own.id == cpu;
        one_is_online = one_is_online || (own.id == cpu && topology_.nodes[node].cpu_count() > 0);
      }
    }
    if (!exists) {
      return failure(ErrorCode::kInvalidArgument, fmt::format("there is no CPU {}", cpu.value));
    }
  }
  if (!one_is_online) {
    return failure(ErrorCode::kInvalidArgument, "none of these CPUs is online");
  }
  return {};
}

void SimHost::pay_for_pin(const VmId& vm) {
  const auto found = vms_.find(vm);
  const bool slow = slow_libvirt_ || (found != vms_.end() && found->second.slow_pins);
  clock_.spend(slow ? kSlowPinTime : kPinTime);
}

Result<void> SimHost::pin_vcpu(const DomainRun& run, std::int32_t vcpu,
                               const std::vector<CpuId>& cpus) {
  pay_for_pin(run.vm);
  return find(run).and_then([&](Vm* vm) -> Result<void> {
    if (vcpu < 0 || vcpu >= vm->spec.vcpus) {
      return failure(ErrorCode::kNotFound, fmt::format("'{}' has no vCPU {}", vm->spec.name, vcpu));
    }
    if (auto checked = check_cpus(cpus); !checked) {
      return checked;
    }
    std::vector<placement::Pin>& pins = vm->description.vcpu_pins;
    const bool same = std::any_of(pins.begin(), pins.end(), [&](const placement::Pin& pin) {
      return pin.number == vcpu && pin.cpus == cpus;
    });
    if (vm->refuses_pins && vcpu == vm->spec.vcpus - 1 && !same) {
      return failure(ErrorCode::kPermissionDenied,
                     fmt::format("vCPU {} of '{}' cannot be pinned", vcpu, vm->spec.name));
    }
    set_pin(pins, vcpu, cpus);
    vm->places_are_known = false;
    domains_changed_ = true;
    return {};
  });
}

Result<void> SimHost::pin_emulator(const DomainRun& run, const std::vector<CpuId>& cpus) {
  pay_for_pin(run.vm);
  return find(run).and_then([&](Vm* vm) -> Result<void> {
    if (auto checked = check_cpus(cpus); !checked) {
      return checked;
    }
    vm->description.emulator_pin = cpus;
    domains_changed_ = true;
    return {};
  });
}

Result<void> SimHost::pin_io_thread(const DomainRun& run, std::int32_t io_thread,
                                    const std::vector<CpuId>& cpus) {
  pay_for_pin(run.vm);
  return find(run).and_then([&](Vm* vm) -> Result<void> {
    const std::vector<std::int32_t>& threads = vm->description.io_threads;
    if (std::find(threads.begin(), threads.end(), io_thread) == threads.end()) {
      return failure(ErrorCode::kNotFound,
                     fmt::format("'{}' has no I/O thread {}", vm->spec.name, io_thread));
    }
    if (auto checked = check_cpus(cpus); !checked) {
      return checked;
    }
    set_pin(vm->description.io_thread_pins, io_thread, cpus);
    domains_changed_ = true;
    return {};
  });
}

Result<void> SimHost::bind(const VmId& id, const std::vector<CpuId>& cpus) {
  clock_.spend(kBindTime);
  const auto found = vms_.find(id);
  if (found == vms_.end()) {
    return failure(ErrorCode::kNotFound, "there is no such VM any more");
  }
  Vm& vm = found->second;
  const std::int32_t last = vm.spec.vcpus - (vm.refuses_pins ? 1 : 0);
  for (std::int32_t vcpu = 0; vcpu < last; ++vcpu) {
    set_pin(vm.description.vcpu_pins, vcpu, cpus);
  }
  vm.places_are_known = false;
  vm.description.emulator_pin = cpus;
  domains_changed_ = true;
  return {};
}

Result<void> SimHost::set_policy(const VmId& id,
                                 const std::vector<placement::PolicySetting>& settings,
                                 bool persistent) {
  return find(id).and_then([&](Vm* vm) -> Result<void> {
    if (persistent) {
      return failure(ErrorCode::kUnsupported,
                     fmt::format("'{}' is transient, as all VMs here", vm->spec.name));
    }
    vm->description.own_policy = settings;
    domains_changed_ = true;
    return {};
  });
}

Result<void> SimHost::set_memory_nodes(const DomainRun& run, const std::vector<NodeId>& nodes) {
  using placement::NumatuneMode;
  pay_for_pin(run.vm);
  return find(run).and_then([&](Vm* vm) -> Result<void> {
    const NumatuneMode mode = vm->description.numatune;
    if (mode != NumatuneMode::kNone && mode != NumatuneMode::kRestrictive) {
      return failure(ErrorCode::kUnsupported,
                     fmt::format("the numatune mode of '{}' is not restrictive", vm->spec.name));
    }
    std::vector<NodeIndex> allowed;
    for (const NodeId node : nodes) {
      const std::optional<NodeIndex> index = topology_.index_of(node);
      if (!index) {
        return failure(ErrorCode::kInvalidArgument, fmt::format("there is no node {}", node.value));
      }
      allowed.push_back(*index);
    }
    if (allowed.empty()) {
      return failure(ErrorCode::kInvalidArgument, "memory needs at least one node");
    }
    vm->description.numatune = NumatuneMode::kRestrictive;
    vm->description.numatune_nodes = nodes;
    domains_changed_ = true;
    // The kernel copies at once what lies outside, and libvirt waits for it.
    for (std::int64_t page = 0; page < memory_.pages(vm->owner); ++page) {
      const std::optional<NodeIndex> from = memory_.place(vm->owner, page);
      if (!from || std::find(allowed.begin(), allowed.end(), *from) != allowed.end()) {
        continue;
      }
      for (const NodeIndex to : allowed) {
        if (memory_.move(vm->owner, page, to)) {
          clock_.spend(copy_time(*from, to));
          note_copy(*from, to, CpuTime{copy_time(*from, to).value});
          break;
        }
      }
    }
    return {};
  });
}

// ---- the kernel ----

Result<SimHost::Vm*> SimHost::find(const VmProcess& process) {
  for (auto& [id, vm] : vms_) {
    if (vm.process == process) {
      return &vm;
    }
  }
  return failure(ErrorCode::kVanished, fmt::format("process {} is gone", process.pid), ESRCH);
}

Result<void> SimHost::check(const VmProcess& process) {
  clock_.spend(kCheckTime);
  return find(process).map([](Vm* /*vm*/) {});
}

/// As QEMU maps them, the first cell highest.
std::int64_t SimHost::pages_below(const Vm& vm, std::size_t cell) const {
  return memory_.pages(vm.owner) - memory_.first_page(vm.owner, cell + 1);
}

std::int64_t SimHost::page_at(const Vm& vm, std::uint64_t address) const {
  if (address < kFirstAddress) {
    return -1;
  }
  const auto below = static_cast<std::int64_t>((address - kFirstAddress) / kPageSize);
  for (std::size_t cell = 0; cell < memory_.cells(vm.owner); ++cell) {
    const std::int64_t in_cell = below - pages_below(vm, cell);
    if (in_cell >= 0) {
      const std::int64_t page = memory_.first_page(vm.owner, cell) + in_cell;
      return page < memory_.first_page(vm.owner, cell + 1) ? page : -1;
    }
  }
  return -1;
}

Result<std::vector<MemoryRange>> SimHost::find_ranges(const VmProcess& process) {
  return find(process).map([&](Vm* vm) {
    // numa_maps counts huge pages quickly: 1 ms for 4 GiB.
    clock_.spend(kReadTime + Microseconds{memory_.pages(vm->owner) / 2});
    std::vector<MemoryRange> ranges;
    for (std::size_t cell = 0; cell < memory_.cells(vm->owner); ++cell) {
      const std::int64_t first = memory_.first_page(vm->owner, cell);
      MemoryRange range;
      range.start = kFirstAddress + static_cast<std::uint64_t>(pages_below(*vm, cell)) * kPageSize;
      range.length = kSimPage * (memory_.first_page(vm->owner, cell + 1) - first);
      range.page_size = kSimPage;
      range.hugetlb = vm->spec.huge_pages;
      range.policy = policy_of(vm->description);
      range.name = fmt::format("guest memory {}", cell);
      const SimMemory::Counts& pages = memory_.counts(vm->owner, cell);
      for (NodeIndex node = 0; node < pages.size(); ++node) {
        if (pages[node] > 0) {
          range.resident.push_back({topology_.nodes[node].id, kSimPage * pages[node]});
        }
      }
      ranges.insert(ranges.begin(), std::move(range));
    }
    return ranges;
  });
}

Result<std::vector<int>> SimHost::query(const VmProcess& process,
                                        std::span<const std::uint64_t> addresses) {
  clock_.spend(
      Microseconds{10 + static_cast<std::int64_t>(addresses.size()) / kQueriedPagesPerMicrosecond});
  return find(process).map([&](Vm* vm) {
    std::vector<int> places;
    for (const std::uint64_t address : addresses) {
      const std::optional<NodeIndex> node = memory_.place(vm->owner, page_at(*vm, address));
      places.push_back(node ? topology_.nodes[*node].id.value : -EFAULT);
    }
    return places;
  });
}

Result<void> SimHost::reveal(const VmProcess& process, std::span<const std::uint64_t> /*addresses*/,
                             Bytes /*unit*/) {
  // No simulated page is ever hidden.
  return find(process).map([](Vm* /*vm*/) {});
}

bool SimHost::is_busy(const Vm& vm, std::int64_t page, std::uint64_t manner) const {
  Random random = random_for(seed_ + manner, (static_cast<std::uint64_t>(vm.owner) << 40U) +
                                                 static_cast<std::uint64_t>(page));
  return vm.pages_busy && random.below(100) < kBusyPct;
}

Microseconds SimHost::copy_time(NodeIndex from, NodeIndex to) const {
  return {kCopyTimeUs * topology_.distance(from, to) / placement::kLocalDistance};
}

void SimHost::note_copy(NodeIndex from, NodeIndex to, CpuTime time) {
  nodes_[from].moved += kSimPage;
  nodes_[to].moved += kSimPage;
  nodes_[to].moving += time;
}

struct SimHost::Moving {
  const Vm& vm;
  NodeIndex to;
  std::vector<std::size_t> queued;  ///< positions in `pages`
  std::vector<std::int64_t> pages;
  MoveResult result;
  Bytes moved;
  bool ran_full = false;
};

/// Moves what is queued. False if the call ends here: pages did not yield, or the target is full.
bool SimHost::flush(Moving& call) {
  std::int64_t failed = 0;
  for (const std::size_t i : call.queued) {
    const NodeIndex from = *memory_.place(call.vm.owner, call.pages[i]);
    if (is_busy(call.vm, call.pages[i], /*manner=*/1)) {
      call.result.elapsed += kBusyPageTime;
      ++failed;
    } else if (memory_.move(call.vm.owner, call.pages[i], call.to)) {
      const Microseconds time = copy_time(from, call.to);
      call.result.elapsed += time;
      call.moved += kSimPage;
      note_copy(from, call.to, CpuTime{time.value});
    } else {
      call.ran_full = true;
      return false;
    }
  }
  if (failed > 0) {
    // Statuses of this batch are not written, even of pages that moved.
    call.result.not_moved += failed;
    return false;
  }
  for (const std::size_t i : call.queued) {
    call.result.statuses[i] = topology_.nodes[call.to].id.value;
  }
  call.queued.clear();
  return true;
}

Result<MoveResult> SimHost::move(const VmProcess& process, std::span<const std::uint64_t> addresses,
                                 NodeId node, migration::SharedPages /*shared*/) {
  clock_.spend(kDrainTime);
  const Result<Vm*> vm = find(process);
  if (!vm) {
    return tl::unexpected(vm.error());
  }
  const std::optional<NodeIndex> to = topology_.index_of(node);
  if (!to || topology_.nodes[*to].memory <= Bytes{}) {
    return failure(ErrorCode::kNotFound, fmt::format("node {} has no memory", node.value), ENODEV);
  }
  const std::vector<NodeIndex> allowed = memory_nodes_for(**vm);
  if (std::find(allowed.begin(), allowed.end(), *to) == allowed.end()) {
    return failure(ErrorCode::kUnsupported,
                   fmt::format("the cpuset does not allow node {}", node.value), EACCES);
  }
  if ((*vm)->finds_no_memory) {
    return failure(ErrorCode::kNoSpace, fmt::format("node {} is full", node.value), ENOMEM);
  }
  Moving call{.vm = **vm, .to = *to, .queued = {}, .pages = {}, .result = {}, .moved = {}};
  call.result.statuses.assign(addresses.size(), migration::kStatusNotWritten);
  call.result.elapsed = kDrainTime;
  std::size_t tried = 0;
  bool goes_on = true;
  for (; tried < addresses.size() && goes_on; ++tried) {
    const std::int64_t page = page_at(call.vm, addresses[tried]);
    call.pages.push_back(page);
    const std::optional<NodeIndex> from = memory_.place((*vm)->owner, page);
    if (from && *from != *to && !is_busy(**vm, page, /*manner=*/2)) {
      call.queued.push_back(tried);
      continue;
    }
    // Whatever cannot be queued makes the kernel move what is.
    call.result.statuses[tried] = !from ? -EFAULT : *from == *to ? node.value : -EBUSY;
    goes_on = flush(call);
  }
  if (goes_on) {
    goes_on = flush(call);
  }
  if (!goes_on) {
    call.result.not_moved += static_cast<std::int64_t>(addresses.size() - tried);
  }
  clock_.spend(call.result.elapsed - kDrainTime);
  if (call.moved > Bytes{}) {
    const bool huge_pages = (*vm)->spec.huge_pages;
    moves_.push_back({clock_.now, (*vm)->description.id, node, call.moved, free_told_[node],
                      kSimPage * memory_.free(*to), huge_pages});
    free_told_[node] -= huge_pages ? Bytes{} : call.moved;
  }
  if (call.ran_full) {
    return failure(ErrorCode::kNoSpace, fmt::format("node {} is full", node.value), ENOMEM);
  }
  return std::move(call.result);
}

Result<migration::NodeMemory> SimHost::node_memory(NodeId node) {
  clock_.spend(kReadTime);
  const std::optional<NodeIndex> index = topology_.index_of(node);
  if (!index) {
    return failure(ErrorCode::kNotFound, fmt::format("there is no node {}", node.value));
  }
  free_told_[node] = kSimPage * memory_.free(*index);
  migration::NodeMemory memory{.total = topology_.nodes[*index].memory,
                               .available = kSimPage * memory_.free(*index),
                               .pools = {}};
  for (const placement::HugePagePool& pool : topology_.nodes[*index].huge_pages) {
    memory.pools.push_back({pool.page_size, memory_.free(*index, SimPool::kHuge)});
  }
  return memory;
}

}  // namespace vmnuma::tools
