// SPDX-License-Identifier: Apache-2.0
#include "placement/initial.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "placement/exclusive_cores.h"
#include "placement/strategy.h"

namespace vmnuma {
namespace {

constexpr std::int64_t kMuchLoadPermille = 200;
constexpr std::int64_t kMemoryStepPermille = 250;
constexpr std::int64_t kLoadStepPermille = 50;
constexpr std::int64_t kRoomSteps = 64;

/// A node's rank for a client; smaller is better.
struct HomeRank {
  bool lacks_room = false;
  bool not_suggested = false;
  std::int64_t lacks_cores = 0;
  StrategyRank strategy;
  std::int64_t lost_steps = 0;
  std::int64_t device_distance = 0;
  std::int64_t beside_devices = 0;
  std::int64_t much_load_steps = 0;
  std::int64_t memory_steps = 0;
  std::int64_t vcpu_steps = 0;
  std::int64_t load_steps = 0;
  std::int64_t remote_permille = 0;
  std::int64_t distance = 0;
  std::int64_t wished_distance = 0;
  std::int64_t room_steps = 0;
  std::size_t turn = 0;

  auto operator<=>(const HomeRank&) const = default;
  HomeRank& operator+=(const HomeRank& other) {
    lacks_room = lacks_room || other.lacks_room;
    not_suggested = not_suggested || other.not_suggested;
    lacks_cores += other.lacks_cores;
    strategy += other.strategy;
    lost_steps += other.lost_steps;
    device_distance += other.device_distance;
    beside_devices += other.beside_devices;
    much_load_steps = std::max(much_load_steps, other.much_load_steps);
    memory_steps += other.memory_steps;
    vcpu_steps = std::max(vcpu_steps, other.vcpu_steps);
    load_steps = std::max(load_steps, other.load_steps);
    remote_permille += other.remote_permille;
    distance += other.distance;
    wished_distance += other.wished_distance;
    room_steps += other.room_steps;
    turn = std::min(turn, other.turn);
    return *this;
  }
};

struct Judged {
  HomeRank rank;
  NodeChoice choice;
  Permille vcpus_there;  ///< of the node's CPUs
};

/// Keeps only the nodes to which the client's memory is bound, if any is among them.
void keep_where_bound(const std::vector<NodeIndex>& bound_to, std::vector<Judged>& judged) {
  const auto may_lie_on = [&](const Judged& one) {
    return std::ranges::binary_search(bound_to, one.choice.node);
  };
  if (std::ranges::any_of(judged, may_lie_on)) {
    std::erase_if(judged, [&](const Judged& one) { return !may_lie_on(one); });
  }
}

/// Compares nodes for clients of one VM that have no home yet.
class Chooser {
 public:
  Chooser(Arrangement& arrangement, const VmState& vm, NodeIndex round_robin)
      : arrangement_(arrangement),
        round_robin_(round_robin),
        has_devices_(arrangement.snapshot().nodes.size()) {
    for (const VmState& other : arrangement.snapshot().vms) {
      for (const NodeIndex node : other.device_nodes) {
        has_devices_[node] = true;
      }
    }
    for (ClientIndex own = vm.first_client; own < vm.end_client(); ++own) {
      if (arrangement.home(own) != kNoNode) {
        count_home(arrangement.home(own));
      }
    }
    for (NodeIndex node = 0; node < arrangement.snapshot().nodes.size(); ++node) {
      allocated_.push_back(allocated_cpus(arrangement, node, kNoClient));
    }
  }

  /// Gives one of the clients a home.
  void place(ClientIndex client, NodeIndex node) {
    arrangement_.apply(std::array{Rehoming{client, node}});
    count_home(node);
    allocated_[node] = allocated_cpus(arrangement_, node, kNoClient);
  }

  /// Returns all nodes on which the client may live, best first.
  [[nodiscard]] std::vector<Judged> judge(ClientIndex client) const {
    std::vector<Judged> judged;
    const Snapshot& snapshot = arrangement_.snapshot();
    for (const NodeIndex node : snapshot.clients[client].allowed) {
      if (snapshot.nodes[node].known && !arrangement_.forbidden_by_group(client, node, {})) {
        judged.push_back(judge(client, node));
      }
    }
    keep_where_bound(snapshot.clients[client].bound_to, judged);
    // A node without readings may have the room that these lack, and a home is kept for a while. So
    // nodes that would be overloaded are dropped.
    if (std::ranges::any_of(snapshot.clients[client].allowed,
                            [&](NodeIndex node) { return !snapshot.nodes[node].known; })) {
      std::erase_if(judged, [](const Judged& one) { return one.choice.load_after.value > 1000; });
    }
    compare_with_the_best(client, judged);
    std::ranges::sort(judged, {}, &Judged::rank);
    return judged;
  }

  /// The least lost time that makes a difference on a node.
  [[nodiscard]] std::int64_t lost_step(NodeIndex node) const {
    const Options& options = arrangement_.options();
    return std::max<std::int64_t>(arrangement_.node(node).capacity().value * options.mig_threshold /
                                      100 * options.move_horizon,
                                  1);
  }

 private:
  /// Ranks by how much more a node has than the node with the least.
  void compare_with_the_best(ClientIndex client, std::vector<Judged>& judged) const {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    CpuTime least_lost{kMost};
    Permille least_load{kMost};
    Permille fewest_vcpus{kMost};
    for (const Judged& one : judged) {
      least_lost = std::min(least_lost, one.choice.lost);
      least_load = std::min(least_load, one.choice.load_after);
      fewest_vcpus = std::min(fewest_vcpus, one.vcpus_there);
    }
    for (Judged& one : judged) {
      const NodeIndex node = one.choice.node;
      const Permille its_own =
          permille_of(arrangement_.snapshot().clients[client].vcpu_count(),
                      arrangement_.snapshot().topology.nodes[node].cpu_count(), Permille{1000});
      one.rank.lost_steps = (one.choice.lost - least_lost).value / lost_step(node);
      one.rank.much_load_steps = (one.choice.load_after - least_load).value / kMuchLoadPermille;
      one.rank.vcpu_steps =
          (one.vcpus_there - fewest_vcpus).value / std::max<std::int64_t>(its_own.value, 1);
    }
  }

  [[nodiscard]] Judged judge(ClientIndex client, NodeIndex node) const {
    const Snapshot& snapshot = arrangement_.snapshot();
    const Options& options = arrangement_.options();
    const NodeLoad& load = arrangement_.node(node);
    const Effect effect = arrangement_.effect_of(std::array{Rehoming{client, node}});
    const MemoryProfile& memory = arrangement_.memory(client);

    NodeChoice choice;
    choice.node = node;
    // Memory that is not resident yet will be touched where the client lives; the same is true for
    // clients that live there already.
    choice.room = arrangement_.room().of(client, node) - arrangement_.untouched().of(client, node);
    const Bytes expected =
        std::max(snapshot.clients[client].memory_size, memory.resident) - memory.on(node);
    choice.fits = expected <= choice.room;
    choice.lost = effect.cost - effect.gain * options.move_horizon;
    const CpuTime capacity = std::max(load.capacity(), CpuTime{1});
    choice.load_after = permille_of((load.demand() + arrangement_.load(client).demand).value,
                                    capacity.value, Permille{});
    for (const OwnHome& own : own_homes_) {
      // Two clients on one node are at no distance, but then the split served no purpose.
      choice.distance += own.clients * (snapshot.topology.distance(node, own.node) +
                                        (own.node == node ? 1000 : 0));
    }

    choice.lost += lost_to_each_other(client, node) * options.move_horizon;

    const std::int64_t room_step =
        std::max<std::int64_t>(snapshot.topology.nodes[node].memory.value / kRoomSteps, 1);
    const std::size_t nodes = snapshot.nodes.size();
    const std::size_t turn =
        round_robin_ == kNoNode ? node : (node + nodes - round_robin_ - 1) % nodes;
    const VmState& vm = snapshot.vms[snapshot.clients[client].vm];
    const auto distance_to = [&](const std::vector<NodeIndex>& others) {
      return sum_of(others, [&](NodeIndex other) -> std::int64_t {
        return snapshot.topology.distance(node, other);
      });
    };
    // The share of the memory that it may come to have that lies elsewhere at present.
    const Bytes most = std::max(snapshot.clients[client].memory_size, memory.resident);
    const Permille remote = permille_of(memory.not_on(node).value, most.value, Permille{});
    // The fields that are missing here are set by comparison with the best of all.
    const HomeRank rank{
        .lacks_room = !choice.fits,
        .not_suggested =
            !vm.suggested.empty() && std::ranges::find(vm.suggested, node) == vm.suggested.end(),
        .lacks_cores = lacks_cores(arrangement_, client, node) ? 1 : 0,
        .strategy = strategy_rank(arrangement_, client, node),
        .device_distance = distance_to(vm.device_nodes),
        .beside_devices = vm.device_nodes.empty() && has_devices_[node] ? 1 : 0,
        .memory_steps = remote.value / kMemoryStepPermille,
        .load_steps = choice.load_after.value / kLoadStepPermille,
        .remote_permille = remote.value,
        .distance = choice.distance,
        .wished_distance = distance_to(vm.wished_nodes),
        .room_steps = -(choice.room.value / room_step),
        .turn = turn};
    return {
        rank, choice,
        permille_of(allocated_[node], snapshot.topology.nodes[node].cpu_count(), Permille{1000})};
  }

  [[nodiscard]] NodeIndex nearest(NodeIndex node) const {
    const Topology& topology = arrangement_.snapshot().topology;
    NodeIndex best = node;
    for (NodeIndex other = 0; other < topology.nodes.size(); ++other) {
      if (other != node &&
          (best == node || topology.distance(node, other) < topology.distance(node, best))) {
        best = other;
      }
    }
    return best;
  }

  /// What a client of a VM that is not measured yet will lose per epoch on the way to the memory of
  /// those with a home, and these on the way to its own, if it uses all of it evenly. The VM's
  /// demand is not known, so two clients on one node count as no nearer than neighbours: the
  /// purpose of the split was to spread.
  [[nodiscard]] CpuTime lost_to_each_other(ClientIndex client, NodeIndex node) const {
    const Snapshot& snapshot = arrangement_.snapshot();
    const ClientState& state = snapshot.clients[client];
    const VmState& vm = snapshot.vms[state.vm];
    if (vm.measured) {
      return {};
    }
    MemoryProfile memory{.demand = arrangement_.load(client).demand};
    const Permille of_one{1000 / static_cast<std::int64_t>(vm.client_count)};
    for (const OwnHome& own : own_homes_) {
      memory.parts.push_back(
          {own.node == node ? nearest(node) : own.node, kGiB * own.clients, of_one * own.clients});
      memory.resident += kGiB * own.clients;
    }
    return present_loss(snapshot, state, memory, node, arrangement_.options()) * 2;
  }

  /// A node on which clients of the VM live.
  struct OwnHome {
    NodeIndex node = kNoNode;
    std::int64_t clients = 0;
  };

  void count_home(NodeIndex node) {
    const auto known = std::ranges::find(own_homes_, node, &OwnHome::node);
    if (known != own_homes_.end()) {
      ++known->clients;
    } else {
      own_homes_.push_back({node, 1});
    }
  }

  Arrangement& arrangement_;
  NodeIndex round_robin_;
  std::vector<bool> has_devices_;  ///< by node: there are devices of VMs
  std::vector<OwnHome> own_homes_;
  std::vector<std::int64_t> allocated_;  ///< by node: CPUs
};

struct Attempt {
  HomeRank rank;  ///< without lost time
  CpuTime lost;
  std::int64_t lost_step = 1;
  std::vector<HomeChoice> choices;
};

/// Returns homes for all clients, which are of one VM, with the first one on its `first_choice`-th
/// best node; leaves the arrangement unchanged.
Attempt attempt(Arrangement& arrangement, const std::vector<ClientIndex>& clients,
                std::size_t first_choice, NodeIndex round_robin) {
  Attempt result;
  const Snapshot& snapshot = arrangement.snapshot();
  Chooser chooser(arrangement, snapshot.vms[snapshot.clients[clients.front()].vm], round_robin);
  for (const ClientIndex client : clients) {
    std::vector<Judged> judged = chooser.judge(client);
    if (judged.empty()) {
      continue;
    }
    const std::size_t taken =
        result.choices.empty() ? std::min(first_choice, judged.size() - 1) : 0;
    std::rotate(judged.begin(), judged.begin() + static_cast<std::ptrdiff_t>(taken),
                judged.begin() + static_cast<std::ptrdiff_t>(taken) + 1);
    const Judged& best = judged.front();
    if (result.choices.empty()) {
      result.rank = best.rank;
    } else {
      result.rank += best.rank;
    }
    result.rank.lost_steps = 0;
    result.lost += best.choice.lost;
    result.lost_step = std::max(result.lost_step, chooser.lost_step(best.choice.node));
    HomeChoice choice{client, judged.front().choice.node, {}};
    for (const Judged& node : judged) {
      choice.considered.push_back(node.choice);
    }
    chooser.place(client, choice.home);
    result.choices.push_back(std::move(choice));
  }
  for (const HomeChoice& choice : result.choices) {
    arrangement.apply(std::array{Rehoming{choice.client, kNoNode}});
  }
  return result;
}

bool is_better(const Attempt& a, const Attempt& b) {
  HomeRank of_a = a.rank;
  of_a.lost_steps = (a.lost - b.lost).value / std::max(a.lost_step, b.lost_step);
  return of_a < b.rank;
}

}  // namespace

std::vector<HomeChoice> choose_homes(Arrangement& arrangement, ClientIndex first, std::size_t count,
                                     NodeIndex& round_robin) {
  std::vector<ClientIndex> clients;
  std::size_t starts = 1;
  for (ClientIndex client = first; client < first + count; ++client) {
    if (arrangement.home(client) == kNoNode) {
      clients.push_back(client);
      starts = std::max(starts, arrangement.snapshot().clients[client].allowed.size());
    }
  }
  if (clients.empty()) {
    return {};
  }
  Attempt best = attempt(arrangement, clients, /*first_choice=*/0, round_robin);
  for (std::size_t start = 1; clients.size() > 1 && start < starts; ++start) {
    Attempt other = attempt(arrangement, clients, start, round_robin);
    if (is_better(other, best)) {
      best = std::move(other);
    }
  }
  for (const HomeChoice& choice : best.choices) {
    arrangement.apply(std::array{Rehoming{choice.client, choice.home}});
    round_robin = choice.home;
  }
  return best.choices;
}

}  // namespace vmnuma
