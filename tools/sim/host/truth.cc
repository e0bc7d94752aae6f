// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/truth.h"

#include <algorithm>
#include <map>

#include "balancer/core/memory_attribution.h"
#include "placement/fair_share.h"
#include "tools/sim/host/sim_cpus.h"

namespace vmnuma::tools {

namespace {

CpuTime wanted_by(const VmTruth& vm) {
  return sum_of(vm.vcpus, &VcpuTruth::wanted);
}

/// Returns every VM's fair share of the host, treated as one large node.
std::vector<CpuTime> entitlements(const EpochTruth& truth) {
  Supply host{{}, {}, {}, kSimSmtGainPct};
  for (NodeIndex node = 0; node < truth.topology.nodes.size(); ++node) {
    const Supply supply = supply_of(truth, node, truth.others[node]);
    host.cores += supply.cores;
    host.threads += supply.threads;
    host.non_vm += supply.non_vm;
  }
  CpuTime wanted;
  std::vector<Claim> claims;
  for (const VmTruth& vm : truth.vms) {
    claims.push_back({vm.shares, vm.reserved, wanted_by(vm)});
    wanted += claims.back().ceiling;
  }
  return fair_shares(service_beside_others(host, wanted), claims);
}

Bytes local_memory(const VmTruth& vm) {
  std::map<NodeIndex, std::int64_t> vcpus_on;
  for (const VcpuTruth& vcpu : vm.vcpus) {
    ++vcpus_on[vcpu.node];
  }
  std::vector<balancer::MemoryOwner> owners;
  owners.reserve(vcpus_on.size());
  for (const auto& [node, count] : vcpus_on) {
    owners.push_back({node, kGiB * count});
  }
  const auto parts = balancer::attribute_memory(vm.memory, owners);
  Bytes local;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    local += owners[i].home < parts[i].size() ? parts[i][owners[i].home] : Bytes{};
  }
  return local;
}

}  // namespace

Supply supply_of(const EpochTruth& truth, NodeIndex node, CpuTime others) {
  const Node& cpus = truth.topology.nodes[node];
  const CpuTime threads = truth.length * cpus.cpu_count();
  return {truth.length * cpus.core_count(), threads, std::clamp(others, CpuTime{}, threads),
          kSimSmtGainPct};
}

EpochFigures figures_of(const EpochTruth& truth) {
  EpochFigures figures;
  const std::vector<CpuTime> entitled = entitlements(truth);
  std::vector<CpuTime> owed_on(truth.topology.nodes.size());
  for (std::size_t v = 0; v < truth.vms.size(); ++v) {
    const VmTruth& vm = truth.vms[v];
    VmEpochFigures row{.id = vm.id,
                       .could_use = truth.length * static_cast<std::int64_t>(vm.vcpus.size()),
                       .wanted = wanted_by(vm),
                       .served = {},
                       .entitled = entitled[v],
                       .owed = {},
                       .stalled = {},
                       .local = local_memory(vm),
                       .resident = sum_of(vm.memory)};
    std::vector<Claim> claims;
    for (const VcpuTruth& vcpu : vm.vcpus) {
      claims.push_back({1, CpuTime{}, vcpu.wanted});
    }
    const std::vector<CpuTime> parts = fair_shares(entitled[v], claims);
    for (std::size_t i = 0; i < vm.vcpus.size(); ++i) {
      const VcpuTruth& vcpu = vm.vcpus[i];
      const CpuTime owed = std::max(parts[i] - vcpu.served, CpuTime{});
      row.served += vcpu.served;
      row.stalled += vcpu.stalled;
      row.owed += owed;
      owed_on[vcpu.node] += owed;
    }
    figures.vms.push_back(row);
  }
  Permille most;
  std::optional<Permille> least;
  for (NodeIndex node = 0; node < owed_on.size(); ++node) {
    if (!truth.topology.can_be_home(node)) {
      continue;
    }
    const CpuTime capacity =
        std::max(vmnuma::capacity(supply_of(truth, node, truth.others[node])), CpuTime{1});
    const Permille share = permille_of(owed_on[node].value, capacity.value, Permille{});
    most = std::max(most, share);
    least = std::min(least.value_or(share), share);
  }
  figures.imbalance = std::clamp(most - least.value_or(Permille{}), Permille{}, Permille{1000});
  return figures;
}

}  // namespace vmnuma::tools
