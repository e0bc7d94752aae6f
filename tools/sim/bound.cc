// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/bound.h"

#include <algorithm>

#include "placement/capacity.h"
#include "tools/sim/simulation.h"

namespace vmnuma::tools {

namespace {

struct HostLimits {
  CpuTime room;                      ///< of all nodes
  std::vector<CpuTime> rooms;        ///< of nodes that also have memory
  Bytes largest;                     ///< memory of the largest of these
  std::int32_t nearest_other = 255;  ///< least distance from CPUs to another node
};

HostLimits limits_of(const EpochTruth& truth) {
  HostLimits limits;
  for (NodeIndex node = 0; node < truth.topology.nodes.size(); ++node) {
    if (truth.topology.nodes[node].cpu_count() == 0) {
      continue;
    }
    // Load that may run elsewhere does so.
    const CpuTime room = capacity(supply_of(truth, node, truth.others[node] - truth.roaming[node]));
    limits.room += room;
    if (truth.topology.nodes[node].memory > Bytes{}) {
      limits.rooms.push_back(room);
      limits.largest = std::max(limits.largest, truth.topology.nodes[node].memory);
    }
    for (NodeIndex other = 0; other < truth.topology.nodes.size(); ++other) {
      if (other != node) {
        limits.nearest_other = std::min(limits.nearest_other, truth.topology.distance(node, other));
      }
    }
  }
  return limits;
}

Permille far_cost_of(Permille stall, std::int32_t distance) {
  const std::int64_t more = std::max(distance - kLocalDistance, 0);
  return {std::min<std::int64_t>(stall.value * more / kLocalDistance, 1000)};
}

/// Adds one client per guest cell, or one for a VM without cells.
void add_clients(const ScenarioVm& vm, CpuTime entitled, const HostLimits& limits,
                 std::vector<LocalClient>& clients) {
  const std::int64_t cells = std::max(vm.cells, 1);
  const Bytes memory{std::max(vm.memory.value / cells, kSimPage.value)};
  const std::int64_t near =
      std::min<std::int64_t>(1000, limits.largest.value * 1000 / memory.value + 1);
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    const std::int64_t vcpus = vm.vcpus * (cell + 1) / cells - vm.vcpus * cell / cells;
    const CpuTime wants = scaled(entitled, vcpus, vm.vcpus);
    clients.push_back({wants, wants * near / 1000, far_cost_of(vm.stall, limits.nearest_other)});
  }
}

}  // namespace

CpuTime Bound::far_loss(Problem problem) {
  if (!(problem == last_)) {
    last_loss_ = least_far_loss(problem.clients, problem.rooms);
    last_ = std::move(problem);
  }
  return last_loss_;
}

void Bound::epoch_ended(const Simulation& simulation) {
  const EpochTruth& truth = simulation.truth();
  const HostLimits limits = limits_of(truth);
  Problem problem{{}, limits.rooms};
  CpuTime wanted;
  CpuTime entitled;
  std::map<VmId, Bytes> resident;
  for (const VmEpochFigures& vm : simulation.figures().vms) {
    wanted += vm.wanted;
    entitled += vm.entitled;
    const ScenarioVm& spec = simulation.vm(vm.id);
    const auto before = resident_.find(vm.id);
    if (before != resident_.end() && before->second >= spec.memory) {
      add_clients(spec, vm.entitled, limits, problem.clients);
    }
    resident[vm.id] = vm.resident;
  }
  resident_ = std::move(resident);
  const CpuTime owed = std::max(entitled - limits.room, CpuTime{});
  const CpuTime lost = std::max(owed, far_loss(std::move(problem)));
  lost_ += lost;
  wanted_ += wanted;
}

Percentage Bound::lost() const {
  return percentage_of(lost_.value, wanted_.value).value_or(Percentage{});
}

}  // namespace vmnuma::tools
