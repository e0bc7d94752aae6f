// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/memory_pulls.h"

#include <algorithm>

namespace vmnuma::balancer {

namespace {

/// Less remote memory than this is not worth a transfer.
constexpr Bytes kLeastPull = kMiB;
constexpr std::int64_t kLeastPullPermille = 20;

/// Returns true for a client that could go where more of its memory is, but has not been at home
/// for long enough to be moved: moving the client costs next to nothing, moving all its memory
/// much.
bool may_still_move_there(const Arrangement& arrangement, ClientIndex index) {
  const ClientState& client = arrangement.snapshot().clients[index];
  const Options& options = arrangement.options();
  if (client.epochs_here >= options.residency + options.swap_interval ||
      options.locality_weight_mem == 0 ||
      arrangement.snapshot().vms[client.vm].policy.do_not_move) {
    return false;
  }
  const MemoryProfile& memory = arrangement.memory(index);
  return std::ranges::any_of(client.allowed, [&](NodeIndex node) {
    return (memory.locality(node) - memory.locality(client.home)).value >=
           options.locality_mig_threshold * 10;
  });
}

bool may_be_pulled(const Arrangement& arrangement, const VmState& vm) {
  if (!vm.fresh || vm.transferring || vm.epochs_since_transfer <= kEpochsUntilCounted) {
    return false;
  }
  const Snapshot& snapshot = arrangement.snapshot();
  for (ClientIndex c = vm.first_client; c < vm.end_client(); ++c) {
    const ClientState& client = snapshot.clients[c];
    if (client.home == kNoNode || arrangement.home(c) != client.home || client.moving ||
        !snapshot.nodes[client.home].known || !arrangement.memory(c).can_follow ||
        may_still_move_there(arrangement, c)) {
      return false;
    }
  }
  return true;
}

struct VmMemory {
  Bytes resident;
  Bytes remote;  ///< the part of it that is not at home
  Bytes astray;  ///< the part of `remote` that has not followed a client to its second node
};

/// Memory on the second node of a client that spills, if a transfer has ended since the client got
/// its home: the transfer brought it home, so what is away now has followed the client.
Bytes followed(const ClientState& client, const VmState& vm, const MemoryProfile& memory) {
  const bool was_at_home = vm.epochs_since_transfer < client.epochs_here;
  return client.spills_to != kNoNode && was_at_home ? memory.on(client.spills_to) : Bytes{};
}

VmMemory memory_of(const Arrangement& arrangement, const VmState& vm) {
  VmMemory sum;
  for (ClientIndex c = vm.first_client; c < vm.end_client(); ++c) {
    const MemoryProfile& memory = arrangement.memory(c);
    sum.resident += memory.resident;
    const ClientState& client = arrangement.snapshot().clients[c];
    sum.remote += memory.not_on(client.home);
    sum.astray += memory.not_on(client.home) - followed(client, vm, memory);
  }
  return sum;
}

}  // namespace

std::vector<Action> memory_pulls(const Arrangement& arrangement) {
  const Snapshot& snapshot = arrangement.snapshot();
  MemoryRoom room = arrangement.room();
  std::vector<Action> pulls;
  for (const VmState& vm : snapshot.vms) {
    if (!may_be_pulled(arrangement, vm)) {
      continue;
    }
    const auto [resident, remote, astray] = memory_of(arrangement, vm);
    const Bytes least = std::max(kLeastPull, resident * kLeastPullPermille / 1000);
    const Bytes tried = vm.epochs_since_transfer < vm.pull_again_after ? vm.left_behind : Bytes{};
    if (std::min(astray, remote - tried) < least) {
      continue;
    }
    Action pull{Reason::kMemoryPull};
    Bytes coming;
    MemoryRoom room_left = room;
    for (ClientIndex c = vm.first_client; c < vm.end_client(); ++c) {
      const NodeIndex home = snapshot.clients[c].home;
      const Bytes part =
          std::min(arrangement.memory(c).not_on(home), std::max(room_left.of(c, home), Bytes{}));
      if (part > Bytes{}) {
        coming += part;
        room_left.of(c, home) -= part;
        pull.relocations.push_back(
            {snapshot.clients[c].id, home, home, part, snapshot.clients[c].spills_to});
      }
    }
    if (coming < least) {
      continue;
    }
    pull.predicted.locality_before =
        permille_of((resident - remote).value, resident.value, Permille{1000});
    pull.predicted.locality_after =
        permille_of((resident - remote + coming).value, resident.value, Permille{1000});
    room = std::move(room_left);
    pulls.push_back(std::move(pull));
  }
  return pulls;
}

}  // namespace vmnuma::balancer
