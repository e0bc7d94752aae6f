// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/host_memory.h"

#include <algorithm>
#include <numeric>

namespace vmnuma::tools {

namespace {

/// Memory that a VM touches per second of CPU time until it has touched everything.
constexpr Bytes kTouchedPerSecond = kMiB * 256;

/// Takes a hinting fault. All memory of a cell is used uniformly, so any of its running vCPUs may
/// use the page next.
void take_hinting_fault(HostState& host, SimVm& vm, std::int64_t page,
                        const std::vector<std::size_t>& runnable,
                        const std::vector<SimNumaScanner::Share>& nodes) {
  const std::optional<NodeIndex> from = host.memory.place(vm.owner, page);
  if (!from) {
    return;
  }
  std::size_t user = runnable[vm.users.index(runnable.size())];
  if (vm.spec.cells > 1) {
    const auto in_cell = [&](std::size_t vcpu) {
      const std::size_t cell = cell_of(vm, vcpu);
      return host.memory.first_page(vm.owner, cell) <= page &&
             page < host.memory.first_page(vm.owner, cell + 1);
    };
    const auto found = std::ranges::find_if(runnable, in_cell);
    user = found == runnable.end() ? user : *found;
  }
  SimVcpu& vcpu = vm.vcpus[user];
  vcpu.overhead += kHintingFault;
  if (!vm.scanner->fault(page, static_cast<std::int32_t>(user), *from, vcpu.node, nodes)) {
    return;
  }
  // Pages are allocated within the cpuset of the faulting task (prepare_alloc_pages).
  if (!host.memory_may_be_on(vm, vcpu.node) || host.is_busy(vm, page, /*manner=*/1) ||
      !host.memory.move(vm.owner, page, vcpu.node)) {
    vm.scanner->move_failed();
    return;
  }
  // The vCPU that took the fault copies the page itself.
  vcpu.overhead += CpuTime{host.copy_time(*from, vcpu.node).value};
  host.nodes[*from].moved += kSimPage;
  host.nodes[vcpu.node].moved += kSimPage;
  host.moves.push_back({host.clock,
                        vm.description.id,
                        host.topology.nodes[vcpu.node].id,
                        kSimPage,
                        {},
                        kSimPage * host.memory.free(vcpu.node)});
}

}  // namespace

void fill_memory(HostState& host, SimVm& vm) {
  std::vector<NodeIndex> everywhere(host.topology.nodes.size());
  std::iota(everywhere.begin(), everywhere.end(), NodeIndex{0});
  std::vector<NodeBytes> parts = vm.spec.memory_on;
  const std::vector<NodeId>& nodes =
      vm.spec.placed_on.empty() ? vm.spec.pinned_on : vm.spec.placed_on;
  if (parts.empty() && !nodes.empty()) {
    const auto count = static_cast<std::int64_t>(nodes.size());
    const std::int64_t pages = host.memory.pages(vm.owner);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t share = pages / count + (i < pages % count ? 1 : 0);
      parts.push_back({nodes[static_cast<std::size_t>(i)], kSimPage * share});
    }
  }
  std::size_t cell = 0;
  for (const NodeBytes& part : parts) {
    const NodeIndex node = *host.topology.index_of(part.node);
    for (std::int64_t pages = part.bytes.value / kSimPage.value; pages > 0;) {
      const std::int64_t before = host.memory.untouched_pages(vm.owner, cell);
      host.memory.touch(vm.owner, cell, pages, node, everywhere);
      const std::int64_t touched = before - host.memory.untouched_pages(vm.owner, cell);
      pages -= touched;
      const bool cell_is_full = touched == before;
      if ((!cell_is_full && touched == 0) ||
          (cell_is_full && ++cell == host.memory.cells(vm.owner))) {
        return;
      }
    }
  }
}

void touch_memory(HostState& host, SimVm& vm) {
  constexpr std::int64_t kMicrosecondsPerPage =
      kMicrosecondsPerSecond * kSimPage.value / kTouchedPerSecond.value;
  const std::vector<NodeIndex> allowed = host.memory_nodes_for(vm);
  for (std::size_t i = 0; i < vm.vcpus.size(); ++i) {
    SimVcpu& vcpu = vm.vcpus[i];
    const std::int64_t pages = vcpu.not_yet_touched_us / kMicrosecondsPerPage;
    vcpu.not_yet_touched_us %= kMicrosecondsPerPage;
    const std::size_t cell = cell_of(vm, i);
    if (pages == 0 || host.memory.untouched_pages(vm.owner, cell) == 0) {
      continue;
    }
    if (vm.description.numatune == NumatuneMode::kInterleave) {
      for (std::int64_t page = 0; page < pages; ++page, ++vm.turn) {
        const auto turn = static_cast<std::size_t>(vm.turn) % allowed.size();
        host.memory.touch(vm.owner, cell, 1, allowed[turn], allowed);
      }
    } else {
      const bool preferred = vm.description.numatune == NumatuneMode::kPreferred;
      const NodeIndex near =
          preferred ? *host.topology.index_of(vm.description.numatune_nodes.front()) : vcpu.node;
      host.memory.touch(vm.owner, cell, pages, near, allowed);
    }
  }
}

void balance_memory(const HostState& host, SimVm& vm) {
  // Mappings with an explicit policy are skipped (vma_policy_mof), and so are huge pages.
  if (vm.spec.memory >= kSimPage && !vm.spec.huge_pages &&
      (vm.description.numatune == NumatuneMode::kNone ||
       vm.description.numatune == NumatuneMode::kRestrictive)) {
    vm.scanner.emplace(host.memory.pages(vm.owner), vm.spec.vcpus);
  }
}

void scan_memory(HostState& host, SimVm& vm, CpuTime length) {
  if (!vm.scanner) {
    return;
  }
  std::vector<SimNumaScanner::Share> nodes(host.nodes.size());
  std::vector<std::size_t> runnable;
  CpuTime ran;
  for (std::size_t i = 0; i < vm.vcpus.size(); ++i) {
    const SimVcpu& vcpu = vm.vcpus[i];
    if (vcpu.ran > CpuTime{}) {
      runnable.push_back(i);
      ran += vcpu.ran;
      nodes[vcpu.node].run += vcpu.ran.value;
    }
  }
  const SimMemory::Counts pages = host.memory.counts(vm.owner);
  std::int64_t resident = 0;
  for (NodeIndex node = 0; node < pages.size(); ++node) {
    nodes[node].memory = pages[node];
    resident += pages[node];
  }
  const std::int64_t passes = vm.scanner->passes();
  for (std::int64_t due = vm.scanner->pages_due(length, ran, resident); due > 0; --due) {
    if (const std::int64_t page = vm.scanner->next_page(); page >= 0) {
      take_hinting_fault(host, vm, page, runnable, nodes);
    }
  }
  if (vm.scanner->passes() > passes) {
    vm.prefers =
        static_cast<NodeIndex>(std::max_element(pages.begin(), pages.end()) - pages.begin());
  }
}

}  // namespace vmnuma::tools
