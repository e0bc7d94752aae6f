// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_kernel.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

namespace vmnuma::tools {

using migration::MemoryRange;
using migration::MoveResult;

namespace {

/// A write to cpuset.cpus that moves no memory (measured: 2 to 7 ms).
constexpr Microseconds kBindTime{5'000};
constexpr Microseconds kCheckTime{20};
constexpr Microseconds kReadTime{100};
constexpr std::int64_t kQueriedPagesPerMicrosecond = 5;
/// A page migration call first drains every CPU's page lists.
constexpr Microseconds kDrainTime{150};
/// Cost of the kernel's ten passes over a page that cannot be moved.
constexpr Microseconds kBusyPageTime{50};

constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 40U;
constexpr auto kPageSize = static_cast<std::uint64_t>(kSimPage.value);

std::string policy_of(const VmDescription& vm) {
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

}  // namespace

Result<void> SimKernel::bind(const VmId& id, const std::vector<CpuId>& cpus) {
  host_.clock += kBindTime;
  SimVm* vm = host_.find(id);
  if (vm == nullptr) {
    return failure(ErrorCode::kNotFound, "there is no such VM any more");
  }
  const std::int32_t last = vm->spec.vcpus - (vm->refuses_pins ? 1 : 0);
  for (std::int32_t vcpu = 0; vcpu < last; ++vcpu) {
    set_pin(vm->description.vcpu_pins, vcpu, cpus);
  }
  vm->places_are_known = false;
  vm->description.emulator_pin = cpus;
  host_.domains_changed = true;
  return {};
}

Result<SimVm*> SimKernel::find(const VmProcess& process) {
  for (auto& [id, vm] : host_.vms) {
    if (vm.process == process) {
      return &vm;
    }
  }
  return failure(ErrorCode::kVanished, fmt::format("process {} is gone", process.pid), ESRCH);
}

Result<void> SimKernel::check(const VmProcess& process) {
  host_.clock += kCheckTime;
  return find(process).map([](SimVm* /*vm*/) {});
}

/// QEMU maps the first cell at the highest address.
std::int64_t SimKernel::pages_below(const SimVm& vm, std::size_t cell) const {
  return host_.memory.pages(vm.owner) - host_.memory.first_page(vm.owner, cell + 1);
}

std::int64_t SimKernel::page_at(const SimVm& vm, std::uint64_t address) const {
  if (address < kFirstAddress) {
    return -1;
  }
  const auto below = static_cast<std::int64_t>((address - kFirstAddress) / kPageSize);
  for (std::size_t cell = 0; cell < host_.memory.cells(vm.owner); ++cell) {
    const std::int64_t in_cell = below - pages_below(vm, cell);
    if (in_cell >= 0) {
      const std::int64_t page = host_.memory.first_page(vm.owner, cell) + in_cell;
      return page < host_.memory.first_page(vm.owner, cell + 1) ? page : -1;
    }
  }
  return -1;
}

Result<std::vector<MemoryRange>> SimKernel::find_ranges(const VmProcess& process) {
  return find(process).map([&](SimVm* vm) {
    // numa_maps counts huge pages quickly: 1 ms for 4 GiB.
    host_.clock += kReadTime + Microseconds{host_.memory.pages(vm->owner) / 2};
    std::vector<MemoryRange> ranges;
    for (std::size_t cell = 0; cell < host_.memory.cells(vm->owner); ++cell) {
      const std::int64_t first = host_.memory.first_page(vm->owner, cell);
      MemoryRange range;
      range.start = kFirstAddress + static_cast<std::uint64_t>(pages_below(*vm, cell)) * kPageSize;
      range.length = kSimPage * (host_.memory.first_page(vm->owner, cell + 1) - first);
      range.page_size = kSimPage;
      range.hugetlb = vm->spec.huge_pages;
      range.policy = policy_of(vm->description);
      const SimMemory::Counts& pages = host_.memory.counts(vm->owner, cell);
      for (NodeIndex node = 0; node < pages.size(); ++node) {
        if (pages[node] > 0) {
          range.resident.push_back({host_.topology.nodes[node].id, kSimPage * pages[node]});
        }
      }
      ranges.insert(ranges.begin(), std::move(range));
    }
    return ranges;
  });
}

Result<std::vector<int>> SimKernel::query(const VmProcess& process,
                                          std::span<const std::uint64_t> addresses) {
  host_.clock +=
      Microseconds{10 + static_cast<std::int64_t>(addresses.size()) / kQueriedPagesPerMicrosecond};
  return find(process).map([&](SimVm* vm) {
    std::vector<int> places;
    for (const std::uint64_t address : addresses) {
      const std::optional<NodeIndex> node = host_.memory.place(vm->owner, page_at(*vm, address));
      places.push_back(node ? host_.topology.nodes[*node].id.value : -EFAULT);
    }
    return places;
  });
}

Result<void> SimKernel::reveal(const VmProcess& process,
                               std::span<const std::uint64_t> /*addresses*/, Bytes /*unit*/) {
  // No simulated page is ever hidden.
  return find(process).map([](SimVm* /*vm*/) {});
}

struct SimKernel::Call {
  const SimVm& vm;
  NodeIndex to;
  std::vector<std::size_t> queued;  ///< positions in `pages`
  std::vector<std::int64_t> pages;
  MoveResult result;
  Bytes moved;
  bool ran_full = false;
};

/// Moves the queued pages. Returns false if the call ends here because pages could not be moved or
/// the target is full.
bool SimKernel::flush(Call& call) {
  std::int64_t failed = 0;
  for (const std::size_t i : call.queued) {
    const NodeIndex from = *host_.memory.place(call.vm.owner, call.pages[i]);
    if (host_.is_busy(call.vm, call.pages[i], /*manner=*/1)) {
      call.result.elapsed += kBusyPageTime;
      ++failed;
    } else if (host_.memory.move(call.vm.owner, call.pages[i], call.to)) {
      const Microseconds time = host_.copy_time(from, call.to);
      call.result.elapsed += time;
      call.moved += kSimPage;
      host_.record_copy(from, call.to, CpuTime{time.value});
    } else {
      call.ran_full = true;
      return false;
    }
  }
  if (failed > 0) {
    // The statuses of this batch are not written, not even those of pages that moved.
    call.result.not_moved += failed;
    return false;
  }
  for (const std::size_t i : call.queued) {
    call.result.statuses[i] = host_.topology.nodes[call.to].id.value;
  }
  call.queued.clear();
  return true;
}

Result<MoveResult> SimKernel::move(const VmProcess& process,
                                   std::span<const std::uint64_t> addresses, NodeId node,
                                   migration::SharedPages /*shared*/) {
  host_.clock += kDrainTime;
  VMNUMA_ASSIGN_OR_RETURN(const auto found, find(process));
  const SimVm& vm = *found;
  const std::optional<NodeIndex> to = host_.topology.index_of(node);
  if (!to || host_.topology.nodes[*to].memory <= Bytes{}) {
    return failure(ErrorCode::kNotFound, fmt::format("node {} has no memory", node.value), ENODEV);
  }
  if (!host_.memory_may_be_on(vm, *to)) {
    return failure(ErrorCode::kUnsupported,
                   fmt::format("the cpuset does not allow node {}", node.value), EACCES);
  }
  const auto full = [node] {
    return failure(ErrorCode::kNoSpace, fmt::format("node {} is full", node.value), ENOMEM);
  };
  if (vm.finds_no_memory) {
    return full();
  }
  Call call{.vm = vm, .to = *to, .queued = {}, .pages = {}, .result = {}, .moved = {}};
  call.result.statuses.assign(addresses.size(), migration::kStatusNotWritten);
  call.result.elapsed = kDrainTime;
  std::size_t tried = 0;
  bool goes_on = true;
  for (; tried < addresses.size() && goes_on; ++tried) {
    const std::int64_t page = page_at(call.vm, addresses[tried]);
    call.pages.push_back(page);
    const std::optional<NodeIndex> from = host_.memory.place(vm.owner, page);
    if (from && *from != *to && !host_.is_busy(vm, page, /*manner=*/2)) {
      call.queued.push_back(tried);
      continue;
    }
    // If a page cannot be queued, the kernel moves the pages queued so far.
    call.result.statuses[tried] = !from ? -EFAULT : *from == *to ? node.value : -EBUSY;
    goes_on = flush(call);
  }
  if (goes_on) {
    goes_on = flush(call);
  }
  if (!goes_on) {
    call.result.not_moved += static_cast<std::int64_t>(addresses.size() - tried);
  }
  host_.clock += call.result.elapsed - kDrainTime;
  if (call.moved > Bytes{}) {
    const bool huge_pages = vm.spec.huge_pages;
    host_.moves.push_back({host_.clock, vm.description.id, node, call.moved, reported_free_[node],
                           kSimPage * host_.memory.free(*to), huge_pages});
    reported_free_[node] -= huge_pages ? Bytes{} : call.moved;
  }
  if (call.ran_full) {
    return full();
  }
  return std::move(call.result);
}

Result<migration::NodeMemory> SimKernel::node_memory(NodeId node) {
  host_.clock += kReadTime;
  const std::optional<NodeIndex> index = host_.topology.index_of(node);
  if (!index) {
    return failure(ErrorCode::kNotFound, fmt::format("there is no node {}", node.value));
  }
  reported_free_[node] = kSimPage * host_.memory.free(*index);
  migration::NodeMemory memory{.total = host_.topology.nodes[*index].memory,
                               .available = kSimPage * host_.memory.free(*index),
                               .pools = {}};
  for (const HugePagePool& pool : host_.topology.nodes[*index].huge_pages) {
    memory.pools.push_back({pool.page_size, host_.memory.free(*index, SimPool::kHuge)});
  }
  return memory;
}

}  // namespace vmnuma::tools
