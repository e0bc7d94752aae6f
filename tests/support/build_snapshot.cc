// SPDX-License-Identifier: Apache-2.0
#include "tests/support/build_snapshot.h"

#include <algorithm>
#include <utility>

#include "balancer/core/after_plan.h"
#include "balancer/core/averages.h"
#include "balancer/core/entitlement.h"
#include "placement/capacity.h"
#include "placement/clients.h"
#include "placement/fair_share.h"
#include "placement/memory_cost.h"

namespace vmnuma::tests {

namespace {

constexpr Bytes kHugePage = kMiB * 2;

Topology topology_of(const std::vector<NodeSpec>& specs, std::int32_t distance) {
  Topology topology;
  std::int32_t cpu = 0;
  std::int32_t core = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    Node node;
    node.id = {specs[i].id >= 0 ? specs[i].id : static_cast<std::int32_t>(i)};
    for (std::int32_t c = 0; c < specs[i].cores; ++c, ++core) {
      for (std::int32_t t = 0; t < specs[i].threads_per_core; ++t) {
        node.cpus.push_back({{cpu++}, core, static_cast<std::int32_t>(i)});
      }
    }
    node.memory = kGiB * specs[i].memory_gib;
    if (specs[i].huge_gib > 0) {
      node.huge_pages = {{kHugePage, specs[i].huge_gib * kGiB.value / kHugePage.value}};
    }
    node.package = static_cast<std::int32_t>(i);
    topology.nodes.push_back(std::move(node));
    for (std::size_t j = 0; j < specs.size(); ++j) {
      topology.distances.push_back(i == j ? kLocalDistance : distance);
    }
  }
  return topology;
}

std::string client_text(const Snapshot& snapshot, const ClientId& id) {
  for (const VmState& vm : snapshot.vms) {
    if (vm.id == id.vm) {
      return id.index == 0 ? vm.name : vm.name + "/" + std::to_string(id.index);
    }
  }
  return "?";
}

std::string node_text(NodeIndex node) {
  return node == kNoNode ? "-" : std::to_string(node);
}

}  // namespace

SnapshotBuilder& SnapshotBuilder::node(const NodeSpec& spec) {
  nodes_.push_back(spec);
  return *this;
}

SnapshotBuilder& SnapshotBuilder::nodes(int count, const NodeSpec& spec) {
  nodes_.insert(nodes_.end(), static_cast<std::size_t>(count), spec);
  return *this;
}

SnapshotBuilder& SnapshotBuilder::vm(const VmSpec& spec) {
  vms_.push_back(spec);
  return *this;
}

SnapshotBuilder& SnapshotBuilder::chat(const std::string& a, const std::string& b,
                                       std::int64_t per_second) {
  chats_.push_back({a, b, per_second});
  return *this;
}

SnapshotBuilder& SnapshotBuilder::epoch(std::int64_t epoch) {
  epoch_ = epoch;
  return *this;
}

SnapshotBuilder& SnapshotBuilder::distance(std::int32_t distance) {
  distance_ = distance;
  return *this;
}

SnapshotBuilder& SnapshotBuilder::options(const Options& options) {
  options_ = options;
  return *this;
}

Snapshot SnapshotBuilder::build() const {
  Snapshot snapshot;
  snapshot.epoch = epoch_;
  snapshot.epoch_length = kCpu;
  snapshot.topology = topology_of(nodes_, distance_);
  for (NodeIndex i = 0; i < nodes_.size(); ++i) {
    NodeState state;
    state.physical = kCpu * nodes_[i].cores;
    state.threads = kCpu * nodes_[i].cores * nodes_[i].threads_per_core;
    state.non_vm = kCpu * nodes_[i].others_pct / 100;
    state.total = state.free = kGiB * nodes_[i].memory_gib;
    state.reserve = state.total * options_.node_reserve_pct / 100;
    state.known = nodes_[i].known;
    snapshot.nodes.push_back(state);
  }
  for (std::size_t v = 0; v < vms_.size(); ++v) {
    const VmSpec& spec = vms_[v];
    VmState vm;
    vm.id.uuid[14] = static_cast<std::uint8_t>((v + 1) / 256);
    vm.id.uuid[15] = static_cast<std::uint8_t>((v + 1) % 256);
    vm.name = spec.name;
    vm.weight = spec.weight;
    vm.first_client = snapshot.clients.size();
    vm.client_count = spec.homes.size();
    vm.counted_stall = spec.counted_stall;
    vm.stall = stall_of(spec.policy, spec.counted_stall, options_);
    vm.memory_stays_because = spec.memory_stays_because;
    vm.shares_memory = spec.shares_memory;
    vm.huge_page_size = spec.huge_pages ? kHugePage : Bytes{};
    vm.policy = spec.policy;
    vm.fresh = spec.fresh;
    vm.epochs_stale = spec.epochs_stale;
    vm.measured = spec.measured;
    vm.transferring = spec.transferring;
    vm.epochs_travelled = spec.epochs_travelled;
    vm.epochs_rested = spec.epochs_rested;
    for (std::size_t c = 0; c < spec.homes.size(); ++c) {
      ClientState client;
      client.id = {vm.id, static_cast<std::int32_t>(c)};
      client.vm = v;
      for (std::int32_t i = 0; i < spec.vcpus; ++i) {
        client.vcpus.push_back(static_cast<std::int32_t>(c) * spec.vcpus + i);
      }
      client.home = spec.homes[c];
      client.demand = spec.measured ? kCpu * spec.vcpus * spec.busy_pct / 100 : CpuTime{};
      client.load = kCpu * spec.vcpus * spec.busy_pct / 100;
      client.weight =
          std::int64_t{spec.weight} * 1000 / static_cast<std::int64_t>(spec.homes.size());
      client.memory.resize(nodes_.size());
      if (!spec.memory_gib.empty()) {
        for (NodeIndex node = 0; node < spec.memory_gib.size(); ++node) {
          client.memory[node] = kGiB * spec.memory_gib[node];
        }
      } else if (client.home != kNoNode) {
        client.memory[client.home] = kGiB;
      }
      Bytes resident;
      for (NodeIndex node = 0; node < nodes_.size(); ++node) {
        resident += client.memory[node];
        snapshot.nodes[node].free -= spec.huge_pages ? Bytes{} : client.memory[node];
      }
      client.memory_size = spec.size_gib > 0 ? kGiB * spec.size_gib : resident;
      client.memory_known = true;
      client.allowed =
          spec.allowed.empty() ? allowed_homes(snapshot.topology, VmPolicy{}) : spec.allowed;
      client.epochs_here = spec.epochs_here;
      client.came_from = spec.came_from;
      client.epochs_since_swap = spec.epochs_since_swap;
      client.moving = spec.moving;
      for (const std::int64_t percent : spec.owed_before_pct) {
        client.owed_before.push_back(kCpu * percent / 100);
      }
      vm.demand += client.demand;
      snapshot.clients.push_back(std::move(client));
    }
    snapshot.vms.push_back(std::move(vm));
  }
  for (const ChatSpec& spec : chats_) {
    const auto [a, b] = std::minmax(snapshot.clients[client_of(snapshot, spec.a)].id.vm,
                                    snapshot.clients[client_of(snapshot, spec.b)].id.vm);
    snapshot.chats.push_back({a, b, {spec.per_second}});
  }
  std::sort(snapshot.chats.begin(), snapshot.chats.end(), [](const Chat& one, const Chat& other) {
    return std::pair(one.a, one.b) < std::pair(other.a, other.b);
  });
  run_and_share_out(snapshot, options_);
  return snapshot;
}

Topology equal_nodes(std::int32_t nodes, std::int32_t cores, std::int32_t threads_per_core,
                     std::int64_t gib) {
  return topology_of(std::vector<NodeSpec>(
                         static_cast<std::size_t>(nodes),
                         {.cores = cores, .threads_per_core = threads_per_core, .memory_gib = gib}),
                     20);
}

Options walls() {
  return options_of(Preset::kEsxi);
}

void run_and_share_out(Snapshot& snapshot, const Options& options) {
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    const NodeState& state = snapshot.nodes[node];
    std::vector<ClientIndex> clients;
    std::vector<Claim> claims;
    for (ClientIndex i = 0; i < snapshot.clients.size(); ++i) {
      const ClientState& client = snapshot.clients[i];
      if (client.home == node) {
        clients.push_back(i);
        claims.push_back({client.weight, CpuTime{}, client.demand});
      }
    }
    const std::vector<CpuTime> ran = fair_shares(
        threads_left({state.physical, state.threads, state.non_vm, options.smt_gain_pct}), claims);
    for (std::size_t i = 0; i < clients.size(); ++i) {
      ClientState& client = snapshot.clients[clients[i]];
      client.used = ran[i];
      client.ready = client.demand - ran[i];
    }
  }
  balancer::share_out(snapshot, options);
  for (ClientState& client : snapshot.clients) {
    client.recent = client.demand;
  }
  for (NodeState& node : snapshot.nodes) {
    node.short_lately = std::max(node.demand - node.capacity, CpuTime{});
  }
}

Snapshot next_epoch(const Snapshot& snapshot, const Plan& plan, const Options& options) {
  Snapshot next = balancer::after_plan(snapshot, plan);
  ++next.epoch;
  const auto remembered =
      static_cast<std::size_t>(std::max<std::int64_t>(options.lterm_fairness_interval - 1, 0));
  for (const Spill& spill : plan.spills) {
    for (ClientState& client : next.clients) {
      client.spill_saves = client.id == spill.client ? spill.saves : client.spill_saves;
    }
  }
  for (ClientState& client : next.clients) {
    ++client.epochs_here;
    ++client.epochs_since_swap;
    client.owed_on_average =
        balancer::averaged(client.owed_on_average, client.owed, next.epoch_length,
                           balancer::fairness_half_life(options, next.epoch_length));
    client.owed_before.insert(client.owed_before.begin(), client.owed);
    client.owed_before.resize(std::min(client.owed_before.size(), remembered));
  }
  for (VmState& vm : next.vms) {
    ++vm.epochs_since_transfer;
    ++vm.epochs_rested;
  }
  run_and_share_out(next, options);
  return next;
}

ClientIndex client_of(const Snapshot& snapshot, std::string_view vm) {
  const auto found = std::find_if(snapshot.vms.begin(), snapshot.vms.end(),
                                  [vm](const VmState& state) { return state.name == vm; });
  return found == snapshot.vms.end() ? kNoClient : found->first_client;
}

std::vector<std::string> actions_of(const Snapshot& snapshot, const Plan& plan) {
  std::vector<std::string> lines;
  for (const Action& action : plan.actions) {
    std::string line(name_of(action.reason));
    for (const Relocation& relocation : action.relocations) {
      line += " " + client_text(snapshot, relocation.client) + ":" + node_text(relocation.from);
      if (relocation.from != relocation.to) {
        line += "->" + node_text(relocation.to);
      }
      if (relocation.spills_to != kNoNode) {
        line += "+" + node_text(relocation.spills_to);
      }
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> rejections_of(const Snapshot& snapshot, const Plan& plan) {
  std::vector<std::string> lines;
  for (const Rejection& rejection : plan.rejections) {
    std::string line(name_of(rejection.guard));
    line += " " + client_text(snapshot, rejection.client) + ":" + node_text(rejection.from) + "->" +
            node_text(rejection.to);
    if (rejection.partner != rejection.client) {
      line += " " + client_text(snapshot, rejection.partner);
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace vmnuma::tests
