// SPDX-License-Identifier: Apache-2.0
/// ESXi's NUMA scheduler with its default options, to the extent that it is public.
///
/// Documented (vSphere Resource Management; public lists of advanced settings): a VM has one client
/// per node's worth of cores; a new one goes to the next node in turn that has room, unless the
/// nodes' load averages say otherwise. Every epoch (RebalancePeriod 2000 ms) nodes are compared by
/// owed time. From MigImbalanceThreshold 10 % on, every SwapMigrateOnly 2 epochs the one-way move
/// that reduces the imbalance most is made, every SwapInterval 3 epochs a swap, if it improves the
/// balance by MigThreshold 2 % and leaves at most MigThrashThreshold 50 % of the imbalance; swapped
/// clients are not considered for SwapConsiderPeriod 15 epochs. Time owed over
/// LTermFairnessInterval 5 epochs gives another client a turn from LTermMigImbalThreshold 10 % on.
/// Without imbalance a client goes where at least 20 % more of its memory is, unless the cores
/// there would be used above CoreCapRatioPct 90 %. Memory follows at PageMigRateMax 32000 pages per
/// second. In this simulation the policy pins through libvirt, and moves pages as the balancer
/// does. VMs begin where the scenario finds them. Left out: action affinity, which 9.1 disables,
/// and monitor migrations. The following is not public and was kept as simple as possible: the
/// formula of the load average (half of it is the last epoch), and what counts as owed (the time
/// that a node's clients waited).
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tools/sim/policies/policy.h"

namespace vmnuma::tools {

namespace {

constexpr std::int64_t kImbalancePct = 10;
constexpr std::int64_t kImprovementPct = 2;
constexpr std::int64_t kResidualPct = 50;
constexpr std::int64_t kMoveEvery = 2;
constexpr std::int64_t kSwapEvery = 3;
constexpr std::int64_t kSwapRest = 15;
constexpr std::size_t kFairnessEpochs = 5;
constexpr std::int64_t kLocalityPct = 20;
constexpr std::int64_t kCorePct = 90;
constexpr Bytes kPagesPerSecond{32'000LL * 4096};
constexpr std::int64_t kLoadStepPct = 10;

class EsxiPolicy final : public Policy {
 public:
  void epoch(PolicyHost& host) override {
    measure(host);
    for (PolicyVm& vm : host.vms()) {
      if (vm.age == 0) {
        meet(host, vm);
      }
    }
    if (host.epoch_length() > CpuTime{}) {
      balance(host);
      move_pages(host);
    }
  }

 private:
  struct Client {
    VmId vm;
    std::int32_t first_vcpu = 0;
    std::int32_t vcpus = 0;
    NodeIndex home = kNoNode;
    CpuTime demand;
    CpuTime owed;
    std::vector<CpuTime> owed_before;  ///< newest first
    std::int64_t swapped_at = -1'000;
  };

  /// The capacity counts whole cores, because clients are sized by these, too.
  CpuTime capacity(const PolicyHost& host, NodeIndex node) const {
    return std::max(host.epoch_length() * host.topology().nodes[node].core_count(), CpuTime{1});
  }

  CpuTime demand_on(NodeIndex node) const {
    CpuTime sum;
    for (const Client& client : clients_) {
      sum += client.home == node ? client.demand : CpuTime{};
    }
    return sum;
  }

  /// Returns what the node's clients would be owed if they wanted that much more.
  CpuTime owed_if(const PolicyHost& host, NodeIndex node, CpuTime more) const {
    return std::max(demand_on(node) + more - capacity(host, node), CpuTime{});
  }

  std::int64_t imbalance_pct(const PolicyHost& host, const std::vector<CpuTime>& owed) const {
    std::int64_t most = 0;
    std::int64_t least = -1;
    for (const NodeIndex node : host.topology().homes()) {
      const std::int64_t share = owed[node].value * 100 / capacity(host, node).value;
      most = std::max(most, share);
      least = least < 0 ? share : std::min(least, share);
    }
    return most - std::max<std::int64_t>(least, 0);
  }

  void meet(PolicyHost& host, const PolicyVm& vm) {
    std::int32_t size = 0;
    for (const NodeIndex node : host.topology().homes()) {
      const std::int32_t cores = host.topology().nodes[node].core_count();
      size = size == 0 ? cores : std::min(size, cores);
    }
    const std::int32_t count = (vm.vcpus + size - 1) / std::max(size, 1);
    std::int32_t first = 0;
    for (std::int32_t i = 0; i < count; ++i) {
      Client client;
      client.vm = vm.id;
      client.first_vcpu = first;
      client.vcpus = vm.vcpus / count + (i < vm.vcpus % count ? 1 : 0);
      first += client.vcpus;
      rehome(host, client,
             vm.found_on.empty() ? next_home(host, vm)
                                 : vm.found_on[static_cast<std::size_t>(i) % vm.found_on.size()]);
      clients_.push_back(std::move(client));
    }
  }

  NodeIndex next_home(const PolicyHost& host, const PolicyVm& vm) {
    const std::vector<NodeIndex> homes = host.topology().homes();
    NodeIndex best = kNoNode;
    std::int64_t best_rank = 0;
    for (std::size_t i = 0; i < homes.size(); ++i) {
      const NodeIndex node = homes[(next_ + i) % homes.size()];
      const bool has_room = host.free(node) + vm.memory[node] >= vm.size;
      const std::int64_t rank = load_pct_[node] / kLoadStepPct + (has_room ? 0 : 1'000);
      if (best == kNoNode || rank < best_rank) {
        best = node;
        best_rank = rank;
      }
    }
    next_ = (next_ + 1) % homes.size();
    return best;
  }

  void rehome(PolicyHost& host, Client& client, NodeIndex node) {
    client.home = node;
    host.pin_vcpus(*host.vm(client.vm), client.first_vcpu, client.vcpus, node);
  }

  void measure(PolicyHost& host) {
    std::erase_if(clients_, [&](const Client& client) { return host.vm(client.vm) == nullptr; });
    for (Client& client : clients_) {
      const PolicyVm& vm = *host.vm(client.vm);
      client.owed_before.insert(client.owed_before.begin(), client.owed);
      client.owed_before.resize(std::min(client.owed_before.size(), kFairnessEpochs));
      client.demand = vm.demand() * client.vcpus / vm.vcpus;
      client.owed = vm.ready * client.vcpus / vm.vcpus;
    }
    for (const NodeIndex node : host.topology().homes()) {
      load_pct_[node] =
          (load_pct_[node] + demand_on(node).value * 100 / capacity(host, node).value) / 2;
    }
  }

  bool move_one(PolicyHost& host, bool long_term) {
    const std::vector<NodeIndex> homes = host.topology().homes();
    Client* best = nullptr;
    NodeIndex target = kNoNode;
    std::int64_t least = 0;
    for (Client& client : clients_) {
      if (client.owed <= CpuTime{}) {
        continue;
      }
      const CpuTime lately = sum_of(client.owed_before);
      for (const NodeIndex node : homes) {
        if (node == client.home) {
          continue;
        }
        const CpuTime here_before = owed_if(host, client.home, {});
        const CpuTime there_before = owed_if(host, node, {});
        const CpuTime here = owed_if(host, client.home, -client.demand);
        const CpuTime there = owed_if(host, node, client.demand);
        const std::int64_t residual = std::abs((here - there).value);
        const bool improves = (here_before + there_before - here - there).value * 100 >=
                              kImprovementPct * capacity(host, node).value;
        const bool thrashes =
            residual * 100 > kResidualPct * std::abs((here_before - there_before).value);
        const bool allowed = long_term ? lately > CpuTime{} : improves && !thrashes;
        const std::int64_t rank = long_term ? -lately.value : (here + there).value;
        if (allowed && (best == nullptr || rank < least)) {
          best = &client;
          target = node;
          least = rank;
        }
      }
    }
    if (best != nullptr) {
      rehome(host, *best, target);
    }
    return best != nullptr;
  }

  bool swap_two(PolicyHost& host) {
    std::pair<Client*, Client*> best{nullptr, nullptr};
    CpuTime most;
    for (Client& a : clients_) {
      for (Client& b : clients_) {
        const bool may = a.home != b.home && host.epoch() - a.swapped_at >= kSwapRest &&
                         host.epoch() - b.swapped_at >= kSwapRest && a.demand > b.demand;
        if (!may) {
          continue;
        }
        const CpuTime more = a.demand - b.demand;
        const CpuTime gain = owed_if(host, a.home, {}) + owed_if(host, b.home, {}) -
                             owed_if(host, a.home, -more) - owed_if(host, b.home, more);
        if (gain.value * 100 >= kImprovementPct * capacity(host, a.home).value && gain > most) {
          most = gain;
          best = {&a, &b};
        }
      }
    }
    if (best.first == nullptr) {
      return false;
    }
    const NodeIndex first = best.first->home;
    const NodeIndex second = best.second->home;
    rehome(host, *best.first, second);
    rehome(host, *best.second, first);
    best.first->swapped_at = best.second->swapped_at = host.epoch();
    return true;
  }

  void follow_memory(PolicyHost& host) {
    for (Client& client : clients_) {
      const PolicyVm& vm = *host.vm(client.vm);
      const std::int64_t resident = vm.resident().value;
      if (resident == 0 || client.vcpus != vm.vcpus) {
        continue;  // a wide VM's memory cannot be assigned to its clients
      }
      for (const NodeIndex node : host.topology().homes()) {
        const std::int64_t better =
            (vm.memory[node] - vm.memory[client.home]).value / (resident / 100 + 1);
        const CpuTime there = demand_on(node) + client.demand;
        if (node != client.home && better >= kLocalityPct &&
            there.value * 100 <= kCorePct * capacity(host, node).value) {
          rehome(host, client, node);
          return;  // one move at a time
        }
      }
    }
  }

  void move_pages(PolicyHost& host) const {
    Bytes left = kPagesPerSecond * host.epoch_length().value / 1'000'000;
    for (PolicyVm& vm : host.vms()) {
      std::vector<NodeIndex> homes;
      Bytes far = vm.resident();
      for (const Client& client : clients_) {
        if (client.vm == vm.id) {
          homes.push_back(client.home);
          far -= vm.memory[client.home];
        }
      }
      if (vm.memory_moves && !homes.empty() && far >= kSimPage && left >= kSimPage) {
        host.move_memory(vm, homes, left);
        left -= std::min(left, far);
      }
    }
  }

  void balance(PolicyHost& host) {
    const std::size_t nodes = host.topology().nodes.size();
    std::vector<CpuTime> owed(nodes);
    std::vector<CpuTime> lately(nodes);
    for (const Client& client : clients_) {
      owed[client.home] += client.owed;
      for (const CpuTime before : client.owed_before) {
        lately[client.home] += before / static_cast<std::int64_t>(kFairnessEpochs);
      }
    }
    if (imbalance_pct(host, owed) < kImbalancePct) {
      follow_memory(host);
      return;
    }
    const bool moved = host.epoch() % kMoveEvery == 0 && move_one(host, /*long_term=*/false);
    const bool swapped = !moved && host.epoch() % kSwapEvery == 0 && swap_two(host);
    if (!moved && !swapped && host.epoch() % static_cast<std::int64_t>(kFairnessEpochs) == 0 &&
        imbalance_pct(host, lately) >= kImbalancePct) {
      (void)move_one(host, /*long_term=*/true);  // without a suitable client there is no turn
    }
  }

  std::vector<Client> clients_;
  std::map<NodeIndex, std::int64_t> load_pct_;
  NodeIndex next_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_esxi_policy() {
  return std::make_unique<EsxiPolicy>();
}

}  // namespace vmnuma::tools
