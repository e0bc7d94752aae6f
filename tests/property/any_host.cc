// SPDX-License-Identifier: Apache-2.0
#include "tests/property/any_host.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/build_snapshot.h"

namespace vmnuma::tests {

namespace {

constexpr std::uint64_t kForOptions = 1;
constexpr std::uint64_t kForHost = 2;
constexpr std::uint64_t kForNodes = 1000;
constexpr std::uint64_t kForVms = 100'000;

/// Nodes as they come: most alike, some without memory or CPUs, some unknown, some busy with
/// other work. The first is always an ordinary one.
std::vector<NodeSpec> nodes_of(const AnyHost& host) {
  Draw common(host.seed, kForHost);
  const auto cores = static_cast<std::int32_t>(common.between(2, 12));
  const auto threads = static_cast<std::int32_t>(common.between(1, 2));
  std::int32_t id = 0;
  std::vector<NodeSpec> nodes;
  for (int i = 0; i < host.nodes; ++i) {
    Draw draw(host.seed, kForNodes + static_cast<std::uint64_t>(i));
    NodeSpec node{.cores = cores, .threads_per_core = threads, .memory_gib = 256, .id = id};
    id += draw.one_in(4) ? 3 : 1;
    if (draw.one_in(3)) {
      node.cores = static_cast<std::int32_t>(draw.between(1, 16));
    }
    if (draw.one_in(4)) {
      node.memory_gib = draw.between(1, 64);
    }
    if (draw.one_in(4)) {
      node.others_pct = draw.up_to(100 * node.cores * threads);
    }
    if (!host.plain && i > 0) {
      if (draw.one_in(10)) {
        node.memory_gib = 0;
      }
      if (draw.one_in(10)) {
        node.cores = 0;
        node.others_pct = 0;
      }
      node.known = !draw.one_in(10);
    }
    nodes.push_back(node);
  }
  return nodes;
}

bool can_be_home(const NodeSpec& node) {
  return node.cores > 0 && node.memory_gib > 0;
}

/// Memory of each of a VM's clients: most of it at one node, as far as there is any free.
std::vector<std::int64_t> memory_of(Draw& draw, NodeIndex home, std::int64_t clients,
                                    std::vector<std::int64_t>& free) {
  std::vector<std::int64_t> memory(free.size());
  const auto put = [&](NodeIndex node, std::int64_t gib) {
    const std::int64_t taken = std::min(gib, free[node] / clients);
    memory[node] += taken;
    free[node] -= taken * clients;
  };
  if (home != kNoNode) {
    put(home, draw.up_to(3));
  }
  if (draw.one_in(3)) {
    put(static_cast<NodeIndex>(draw.up_to(static_cast<std::int64_t>(free.size()) - 1)),
        draw.up_to(4));
  }
  return memory;
}

void make_odd(Draw& draw, const std::vector<NodeIndex>& homes, VmSpec& vm) {
  if (draw.one_in(5)) {
    vm.allowed = homes;
    std::erase_if(vm.allowed, [&](NodeIndex) { return draw.one_in(2); });
    if (vm.allowed.empty()) {
      vm.allowed = {homes.front()};
    }
  }
  vm.policy.do_not_move = draw.one_in(15);
  if (draw.one_in(10)) {
    vm.policy.affinity_group = std::string(1, static_cast<char>('a' + draw.up_to(2)));
  }
  if (draw.one_in(10)) {
    vm.policy.anti_affinity_group = std::string(1, static_cast<char>('x' + draw.up_to(2)));
    vm.policy.anti_affinity_hard = draw.one_in(2);
  }
  if (draw.one_in(10)) {
    vm.policy.reservation_permille = static_cast<std::int32_t>(draw.up_to(1000));
  }
  if (draw.one_in(10)) {
    vm.memory_stays_because = "its memory mode is hands-off";
  }
  vm.shares_memory = draw.one_in(2);
  vm.fresh = !draw.one_in(12);
  vm.epochs_stale = vm.fresh ? 0 : draw.up_to(2 * kUnreadForLong);
  vm.measured = !draw.one_in(12);
  vm.moving = draw.one_in(12);
  vm.transferring = draw.one_in(12);
  if (draw.one_in(6)) {
    vm.epochs_travelled = draw.up_to(20);
    vm.epochs_rested = draw.up_to(200);
  }
  if (draw.one_in(3)) {
    vm.epochs_here = draw.up_to(20);
    vm.came_from =
        homes[static_cast<std::size_t>(draw.up_to(static_cast<std::int64_t>(homes.size()) - 1))];
    vm.epochs_since_swap = draw.up_to(30);
  }
  if (draw.one_in(3)) {
    for (int i = 0; i < 4; ++i) {
      vm.owed_before_pct.push_back(draw.up_to(200));
    }
  }
  if (draw.one_in(8)) {
    vm.policy.memory_class = MemoryClass::kGuaranteed;
  }
}

VmSpec vm_of(const AnyHost& host, int number, const std::vector<NodeIndex>& homes,
             std::vector<std::int64_t>& free) {
  Draw common(host.seed, kForHost + 1);
  // All piled up on the first few nodes, or anywhere.
  const auto crowded = common.between(1, static_cast<std::int64_t>(homes.size()));
  Draw draw(host.seed, kForVms + static_cast<std::uint64_t>(number));
  VmSpec vm;
  vm.name = "vm" + std::to_string(number);
  vm.homes.clear();
  const std::int64_t clients = draw.one_in(6) ? draw.between(2, 4) : 1;
  for (std::int64_t c = 0; c < clients; ++c) {
    vm.homes.push_back(homes[static_cast<std::size_t>(draw.up_to(crowded - 1))]);
    if (!host.plain && draw.one_in(12)) {
      vm.homes.back() = kNoNode;
    }
  }
  vm.vcpus = static_cast<std::int32_t>(draw.one_in(3) ? draw.between(1, 16) : draw.between(1, 4));
  vm.busy_pct = draw.one_in(3) ? 100 : draw.up_to(100);
  if (draw.one_in(4)) {
    vm.weight = static_cast<std::int32_t>(draw.one_in(2) ? draw.between(1, 10'000) : 1000);
  }
  vm.memory_gib = memory_of(draw, vm.homes.front(), clients, free);
  if (draw.one_in(4)) {
    vm.size_gib = draw.between(4, 16);
  }
  if (!host.plain) {
    make_odd(draw, homes, vm);
  }
  return vm;
}

/// Near neighbours in pairs, and far ones.
void set_distances(const AnyHost& host, Snapshot& snapshot) {
  Draw draw(host.seed, kForHost + 2);
  const std::int32_t near = static_cast<std::int32_t>(draw.between(11, 20));
  const std::int32_t far = near + static_cast<std::int32_t>(draw.up_to(20));
  const std::size_t nodes = snapshot.nodes.size();
  for (NodeIndex a = 0; a < nodes; ++a) {
    for (NodeIndex b = 0; b < nodes; ++b) {
      if (a != b) {
        snapshot.topology.distances[a * nodes + b] = a / 2 == b / 2 ? near : far;
      }
    }
  }
}

/// On half of the hosts some VMs talk to each other: pairs, or all with all.
void set_chats(const AnyHost& host, Snapshot& snapshot) {
  Draw draw(host.seed, kForHost + 5);
  const auto vms = static_cast<std::int64_t>(snapshot.vms.size());
  if (vms < 2 || draw.one_in(2)) {
    return;
  }
  const std::int64_t chats = draw.one_in(3) ? vms * 3 : draw.between(1, vms);
  for (std::int64_t i = 0; i < chats; ++i) {
    const std::int64_t a = draw.up_to(vms - 1);
    const std::int64_t b = draw.up_to(vms - 1);
    if (a != b) {
      snapshot.chats.push_back({snapshot.vms[static_cast<std::size_t>(std::min(a, b))].id,
                                snapshot.vms[static_cast<std::size_t>(std::max(a, b))].id,
                                {draw.between(100, 200'000)}});
    }
  }
  const auto key = [](const Chat& chat) { return std::pair(chat.a, chat.b); };
  std::stable_sort(snapshot.chats.begin(), snapshot.chats.end(),
                   [&](const auto& one, const auto& other) { return key(one) < key(other); });
  snapshot.chats.erase(
      std::unique(snapshot.chats.begin(), snapshot.chats.end(),
                  [&](const auto& one, const auto& other) { return key(one) == key(other); }),
      snapshot.chats.end());
}

/// On a third of the hosts the loads of most clients are forecast.
void set_ahead(const AnyHost& host, Snapshot& snapshot) {
  Draw draw(host.seed, kForHost + 6);
  if (!draw.one_in(3)) {
    return;
  }
  for (ClientState& client : snapshot.clients) {
    const CpuTime full = snapshot.epoch_length * client.vcpu_count();
    const CpuTime mean = full * draw.up_to(1000) / 1000;
    const CpuTime p95 = mean + (full - mean) * draw.up_to(1000) / 1000;
    if (!draw.one_in(5) && client.load <= p95) {
      client.ahead = {mean, p95};
    }
  }
}

}  // namespace

std::int64_t Draw::up_to(std::int64_t most) {
  // splitmix64
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  z ^= z >> 31U;
  return static_cast<std::int64_t>(z % (static_cast<std::uint64_t>(most) + 1));
}

Options AnyHost::options() const {
  Options options;
  Draw draw(seed, kForOptions);
  if (draw.one_in(2)) {
    return options;
  }
  const auto sometimes = [&](std::int64_t& value, std::int64_t least, std::int64_t most) {
    if (draw.one_in(3)) {
      value = draw.between(least, most);
    }
  };
  sometimes(options.mig_imbalance_threshold, 1, 30);
  sometimes(options.mig_threshold, 0, 10);
  sometimes(options.mig_thrash_threshold, 0, 100);
  sometimes(options.mig_prevent_lterm_thresh, 0, 5);
  sometimes(options.lterm_fairness_interval, 0, 10);
  sometimes(options.lterm_mig_imbal_threshold, 0, 50);
  sometimes(options.swap_load_enable, 0, 1);
  sometimes(options.swap_locality_enable, 0, 1);
  sometimes(options.swap_migrate_only, 0, 3);
  sometimes(options.locality_weight_mem, 0, 3);
  sometimes(options.core_cap_ratio_pct, 0, 100);
  sometimes(options.page_mig_enable, 0, 1);
  sometimes(options.page_mig_rate_max, 0, 100'000);
  sometimes(options.smt_gain_pct, 0, 100);
  sometimes(options.locality_mig_threshold, 1, 50);
  sometimes(options.residency, 0, 10);
  sometimes(options.lterm_rest_times, 0, 10);
  sometimes(options.no_return, 0, 30);
  sometimes(options.move_horizon, 1, 100);
  sometimes(options.move_cost_fixed, 0, 100'000);
  sometimes(options.move_cost_per_mib, 0, 2000);
  sometimes(options.migrations_per_epoch, 1, 20);
  sometimes(options.node_reserve_pct, 0, 20);
  sometimes(options.affinity_weight, 0, 50);
  sometimes(options.anti_affinity_weight, 0, 50);
  if (draw.one_in(2)) {
    options.locality_weight_action_affinity = draw.between(1, 200);
  }
  sometimes(options.action_affinity_max, 0, 100);
  return options;
}

Snapshot AnyHost::snapshot() const {
  const std::vector<NodeSpec> specs = nodes_of(*this);
  SnapshotBuilder builder;
  builder.options(options());
  std::vector<std::int64_t> free;
  std::vector<NodeIndex> homes;
  for (const NodeSpec& spec : specs) {
    builder.node(spec);
    if (can_be_home(spec)) {
      homes.push_back(free.size());
    }
    free.push_back(spec.memory_gib);
  }
  for (int i = 0; i < vms; ++i) {
    builder.vm(vm_of(*this, i, homes, free));
  }
  if (!plain) {
    builder.epoch(Draw(seed, kForHost + 3).one_in(2) ? 30 : Draw(seed, kForHost + 4).up_to(60));
  }
  Snapshot built = builder.build();
  set_distances(*this, built);
  set_chats(*this, built);
  set_ahead(*this, built);
  return built;
}

std::ostream& operator<<(std::ostream& out, const AnyHost& host) {
  return out << "AnyHost{.nodes = " << host.nodes << ", .vms = " << host.vms
             << ", .seed = " << host.seed << "U, .plain = " << (host.plain ? "true" : "false")
             << "}";
}

namespace {

rc::Gen<AnyHost> host_of(int most_nodes, int most_vms, bool plain) {
  // A third of the cases are as small as hosts of interest are: mistakes are easier to see there.
  const auto amount = [](int least, int most) {
    return rc::gen::oneOf(rc::gen::inRange(least, std::min(least + 5, most) + 1),
                          rc::gen::inRange(least, most + 1));
  };
  return rc::gen::build<AnyHost>(
      rc::gen::set(&AnyHost::nodes, amount(1, most_nodes)),
      rc::gen::set(&AnyHost::vms, amount(0, most_vms)),
      rc::gen::set(&AnyHost::seed,
                   rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(0, 1U << 30U))),
      rc::gen::set(&AnyHost::plain, rc::gen::just(plain)));
}

}  // namespace

rc::Gen<AnyHost> any_host(int most_nodes, int most_vms) {
  return host_of(most_nodes, most_vms, /*plain=*/false);
}

rc::Gen<AnyHost> plain_host(int most_nodes, int most_vms) {
  return host_of(most_nodes, most_vms, /*plain=*/true);
}

}  // namespace vmnuma::tests
