// SPDX-License-Identifier: Apache-2.0
// The controller's answer to `what-if`: checks the suppositions and passes them to core/what_if.h.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "balancer/controller/commands.h"
#include "balancer/controller/move_commands.h"
#include "balancer/controller/views.h"
#include "balancer/core/guards.h"
#include "balancer/core/what_if.h"
#include "placement/advice/words.h"
#include "placement/clients.h"
#include "placement/memory_room.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

constexpr std::int64_t kMostMemory = kMostMemoryMib << 20U;

Result<Options> supposed_options(const Options& now, const WhatIfRequest& request) {
  Options options = now;
  for (const WhatIfRequest::OptionValue& option : request.options) {
    VMNUMA_RETURN_IF_ERROR(set_option(options, option.name, option.value));
  }
  return options;
}

/// An id that is used neither by a VM of the host nor by a new one.
VmId unused_id(const Snapshot& snapshot, const std::vector<NewVm>& added) {
  VmId id;
  id.uuid.fill(0xff);
  id.uuid[15] = 0;
  const auto is_used = [&] {
    return find_vm(snapshot, id) != nullptr ||
           std::ranges::any_of(added, [&](const NewVm& vm) { return vm.description.id == id; });
  };
  while (is_used()) {
    id.uuid[14] = static_cast<std::uint8_t>(id.uuid[14] - (id.uuid[15] == 0xff ? 1 : 0));
    ++id.uuid[15];
  }
  return id;
}

Result<NewVm> new_vm(const WhatIfRequest::NewVm& asked, std::size_t number, const VmId& id,
                     const Options& options) {
  const std::string name = fmt::format("new-{}", number);
  if (asked.vcpus < 1 || asked.vcpus > kMostVcpus) {
    return refused(
        fmt::format("VM '{}' has {} vCPUs, but must have 1 to {}", name, asked.vcpus, kMostVcpus));
  }
  if (asked.memory_bytes < 1 || asked.memory_bytes > kMostMemory) {
    return refused(fmt::format("VM '{}' has {} bytes of memory, but must have 1 to {}", name,
                               asked.memory_bytes, kMostMemory));
  }
  const std::int64_t load = asked.load_pct.value_or(options.cold_start_pct);
  if (load < 0 || load > 100) {
    return refused(fmt::format("the load of VM '{}' is {} %, but must be 0 to 100", name, load));
  }
  if (asked.weight < 1 || asked.weight > 10'000) {
    return refused(
        fmt::format("the weight of VM '{}' is {}, but must be 1 to 10000", name, asked.weight));
  }
  NewVm vm;
  vm.description.id = id;
  vm.description.name = name;
  set_size(vm.description, asked.vcpus, Bytes{asked.memory_bytes});
  vm.weight = static_cast<std::int32_t>(asked.weight);
  vm.load = Permille{load * 10};
  return vm;
}

/// Checks one supposed move as the command `move` does, but ignores temporary obstacles.
Result<ClientMove> supposed_move(const ControllerState& state, const Snapshot& snapshot,
                                 const MoveRequest& request) {
  VMNUMA_ASSIGN_OR_RETURN(const auto move, rehoming_of(state, snapshot, request));
  const ClientState& client = snapshot.clients[move.client];
  if (!std::ranges::binary_search(client.allowed, move.to)) {
    return refused(
        fmt::format("VM '{}' may not live on node {}: the node is not among those it "
                    "may use",
                    request.vm, request.node.value));
  }
  return ClientMove{client.id, move.to};
}

/// `measured`: whether the underlying epoch was measured.
StandingView standing_view(const Standing& standing, bool measured) {
  StandingView view;
  if (measured) {
    view.lost_ms = (standing.lost.value + 500) / 1000;
    view.imbalance_pct = percent(standing.imbalance);
  }
  view.locality_pct = percent_if(standing.locality);
  return view;
}

NewHomeView new_home_view(const NewHome& home, const Supposition& supposition,
                          const Snapshot& now) {
  NewHomeView view;
  for (const NewVm& vm : supposition.added) {
    if (vm.description.id == home.client.vm) {
      view.vm = vm.description.name;
    }
  }
  view.client = home.client.index;
  view.vcpus = home.vcpus;
  view.home = now.topology.id_of(home.home);
  view.memory_bytes = home.memory.value;
  view.elsewhere_bytes = (home.elsewhere + home.nowhere).value;
  for (const NodeChoice& choice : home.considered) {
    NodeChoiceView& row = view.considered.emplace_back();
    row.node = now.topology.id_of(choice.node);
    row.fits = choice.fits;
    const NodeState& state = now.nodes[choice.node];
    if (state.cpu_measured) {
      row.load_pct = choice.load_after.value / 10;
    }
    if (state.memory_read) {
      row.room_bytes = std::max<std::int64_t>(choice.room.value, 0);
    }
  }
  return view;
}

/// Notes on new VMs that want one node but find none with room for all their memory, although
/// moving others could help: one node is large enough, and all nodes together have that much free.
std::vector<std::string> notes_on_room(const WhatIf& answer, const Supposition& supposition,
                                       const Snapshot& snapshot, const LargestVmView& largest) {
  std::vector<std::string> notes;
  for (const NewVm& vm : supposition.added) {
    const Bytes memory = vm.description.max_memory;
    std::size_t clients = 0;
    bool is_apart = false;
    for (const NewHome& home : answer.homes) {
      if (home.client.vm == vm.description.id) {
        ++clients;
        is_apart = is_apart || home.elsewhere + home.nowhere > Bytes{};
      }
    }
    bool could_fit = false;
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      could_fit =
          could_fit || (snapshot.nodes[node].known && ordinary_for_vms(snapshot, node) >= memory);
    }
    if (clients == 1 && is_apart && could_fit && memory.value <= largest.room_bytes.value_or(0)) {
      notes.push_back(fmt::format(
          "no single node has room for all memory of VM '{}', but the nodes together do; "
          "'vmnuma make-room --vcpus {} --memory {}MiB' shows whether moves would make "
          "room on one node",
          vm.description.name, vm.description.vcpus.size(), whole_mib(memory)));
    }
  }
  return notes;
}

std::vector<std::string> notes_on(const WhatIf& answer, const Supposition& supposition,
                                  const Options& now, const Snapshot& snapshot) {
  std::vector<std::string> notes;
  for (const NewVm& vm : supposition.added) {
    const bool placed = std::ranges::any_of(answer.homes, [&](const NewHome& home) {
      return home.client.vm == vm.description.id && home.home != kNoNode;
    });
    if (!placed) {
      notes.push_back(fmt::format("VM '{}' gets no home: no node may be one", vm.description.name));
    }
  }
  const Bytes nowhere = sum_of(answer.homes, &NewHome::nowhere);
  if (nowhere > Bytes{}) {
    notes.push_back(
        fmt::format("{} of the new VMs' memory have no room on any node above its reserve",
                    memory_text(nowhere)));
  }
  const Options& then = supposition.options;
  if (then.prefer_ht != now.prefer_ht) {
    notes.emplace_back(
        "Numa.PreferHT also changes how running VMs are divided into clients, which these figures "
        "do not include");
  }
  if (then.load_half_life != now.load_half_life || then.rebalance_period != now.rebalance_period) {
    notes.emplace_back(
        "Numa.LoadHalfLife and Numa.RebalancePeriod change what will be measured from now on, "
        "which these figures cannot include");
  }
  for (const VmState& vm : snapshot.vms) {
    const bool unread = vm.client_count > 0 && !snapshot.clients[vm.first_client].memory_known;
    if (unread && std::ranges::find(supposition.removed, vm.id) != supposition.removed.end()) {
      notes.push_back(fmt::format(
          "it is not known where the memory of VM '{}' is, so none counts as freed", vm.name));
    }
  }
  return notes;
}

}  // namespace

Result<WhatIfView> reply_to(const ControllerState& state, const WhatIfRequest& request) {
  VMNUMA_RETURN_IF_ERROR(check_is_measured(state.last.snapshot));
  const Snapshot now = state.since_the_plan();
  VMNUMA_ASSIGN_OR_RETURN(const auto options, supposed_options(state.setup.options, request));
  Supposition supposition;
  supposition.options = options;
  for (const std::string& name : request.remove) {
    VMNUMA_ASSIGN_OR_RETURN(const auto vm, state.find_vm(name));
    supposition.removed.push_back(vm->description.id);
  }
  std::set<ClientId> moved;
  for (const MoveRequest& asked : request.move) {
    VMNUMA_ASSIGN_OR_RETURN(const auto move, supposed_move(state, now, asked));
    const bool removed =
        std::ranges::find(supposition.removed, move.client.vm) != supposition.removed.end();
    if (removed || !moved.insert(move.client).second) {
      return refused(fmt::format("VM '{}' cannot be both {}", asked.vm,
                                 removed ? "removed and moved" : "on one node and on another"));
    }
    supposition.moved.push_back(move);
  }
  std::size_t new_clients = 0;
  for (const WhatIfRequest::NewVm& asked : request.add) {
    const std::size_t number = supposition.added.size() + 1;
    VMNUMA_ASSIGN_OR_RETURN(const auto vm,
                            new_vm(asked, number, unused_id(now, supposition.added), options));
    new_clients += split_into_clients(vm.description, now.topology, options.prefer_ht != 0).size();
    if (new_clients > kMostNewClients) {
      return refused(
          fmt::format("the new VMs would have more than {} clients on this host, which is the most "
                      "that can be added at a time; add fewer or smaller VMs",
                      kMostNewClients));
    }
    supposition.added.push_back(vm);
  }
  const WhatIf answer =
      balancer::what_if(now, state.setup.options, supposition, state.circumstances());
  WhatIfView view;
  view.epoch = state.last.snapshot.epoch;
  view.before = standing_view(answer.before, is_measured(now));
  view.after = standing_view(answer.after, is_measured(now));
  for (const NewHome& home : answer.homes) {
    view.homes.push_back(new_home_view(home, supposition, now));
  }
  view.plan = plan_view(answer.supposed, answer.plan, options, state.mode());
  view.notes = notes_on(answer, supposition, state.setup.options, now);
  const std::vector<std::string> on_room =
      notes_on_room(answer, supposition, now, state.starts.largest_vm(state.host_now()));
  view.notes.insert(view.notes.end(), on_room.begin(), on_room.end());
  return view;
}

}  // namespace vmnuma::balancer
