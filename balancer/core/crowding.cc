// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/crowding.h"

#include <algorithm>
#include <limits>

namespace vmnuma::balancer {

namespace {

constexpr std::int64_t kHardlyRunsPct = 10;
constexpr std::int64_t kStillHardlyRunsPct = 20;

CpuTime left_for_vms(const NodeState& node) {
  return node.threads - node.non_vm - node.set_aside;
}

}  // namespace

Crowding::Crowding(const Arrangement& arrangement)
    : arrangement_(arrangement), own_(arrangement.snapshot().nodes.size()) {
  for (ClientIndex i = 0; i < arrangement.snapshot().clients.size(); ++i) {
    if (const NodeIndex home = arrangement.home(i); home != kNoNode) {
      own_[home] += arrangement.snapshot().clients[i].vcpu_count();
    }
  }
  for (const std::int64_t vcpus : own_) {
    halves_.push_back(2 * vcpus);
  }
}

bool Crowding::is_crowded(NodeIndex node) const {
  const Snapshot& snapshot = arrangement_.snapshot();
  return snapshot.epoch_length * own_[node] > left_for_vms(snapshot.nodes[node]) &&
         filled(node) > 1000;
}

bool Crowding::is_any_crowded() const {
  for (NodeIndex node = 0; node < own_.size(); ++node) {
    if (is_crowded(node)) {
      return true;
    }
  }
  return false;
}

void Crowding::spread(ClientIndex client, NodeIndex to) {
  const std::int64_t vcpus = arrangement_.snapshot().clients[client].vcpu_count();
  halves_[arrangement_.home(client)] -= vcpus;
  halves_[to] += vcpus;
}

/// vCPUs in thousandths of the threads that are left for them.
std::int64_t Crowding::filled(NodeIndex node) const {
  const Snapshot& snapshot = arrangement_.snapshot();
  const CpuTime left = left_for_vms(snapshot.nodes[node]);
  return snapshot.nodes[node].known && left > CpuTime{}
             ? (snapshot.epoch_length * halves_[node]).value * 500 / left.value
             : std::numeric_limits<std::int64_t>::max();
}

bool hardly_runs(const Snapshot& snapshot, const ClientState& client) {
  const CpuTime all = snapshot.epoch_length * client.vcpu_count();
  return client.spills_to == kNoNode
             ? std::max(client.demand, client.recent) * 100 < all * kHardlyRunsPct
             : client.demand * 100 < all * kStillHardlyRunsPct;
}

}  // namespace vmnuma::balancer
