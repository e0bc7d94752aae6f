// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/guards.h"

#include <algorithm>

namespace vmnuma::balancer {

using placement::Arrangement;
using placement::ClientIndex;
using placement::ClientState;
using placement::CpuTime;
using placement::Guard;
using placement::NodeIndex;
using placement::Options;
using placement::Permille;
using placement::Reason;

namespace {

bool is_swap(Reason reason) {
  return reason == Reason::kLoadSwap || reason == Reason::kLocalitySwap ||
         reason == Reason::kLongTermSwap;
}

bool is_for_locality(Reason reason) {
  return reason == Reason::kLocalityMove || reason == Reason::kLocalitySwap;
}

}  // namespace

std::optional<Guard> why_it_stays(const Arrangement& arrangement, ClientIndex index,
                                  Reason reason) {
  const ClientState& client = arrangement.snapshot().clients[index];
  const placement::VmState& vm = arrangement.snapshot().vms[client.vm];
  const Options& options = arrangement.options();
  if (!vm.fresh || !vm.measured) {
    return Guard::kStaleData;
  }
  if (vm.policy.do_not_move) {
    return Guard::kDoNotMove;
  }
  if (client.moving) {
    return Guard::kMoving;
  }
  if (arrangement.home(index) != client.home || client.epochs_here < options.residency) {
    return Guard::kResidency;
  }
  if (is_swap(reason) && client.epochs_since_swap < options.swap_consider_period) {
    return Guard::kSwapReconsider;
  }
  return std::nullopt;
}

std::optional<Guard> why_not_there(const Arrangement& arrangement, ClientIndex index, NodeIndex to,
                                   Reason reason, ClientIndex leaving) {
  const ClientState& client = arrangement.snapshot().clients[index];
  const Options& options = arrangement.options();
  if (!arrangement.snapshot().nodes[to].known) {
    return Guard::kStaleData;
  }
  if (!std::binary_search(client.allowed.begin(), client.allowed.end(), to)) {
    return Guard::kNotAllowed;
  }
  if (to == client.came_from && client.epochs_here < options.no_return) {
    return Guard::kNoReturn;
  }
  if (arrangement.forbidden_by_group(index, to, leaving)) {
    return Guard::kAntiAffinity;
  }
  if (is_for_locality(reason) && options.core_cap_ratio_pct > 0) {
    CpuTime demand = arrangement.node(to).demand() + arrangement.load(index).demand;
    if (leaving != placement::kNoClient) {
      demand -= arrangement.load(leaving).demand;
    }
    const CpuTime cores =
        arrangement.node(to).supply().cores - arrangement.node(to).supply().non_vm;
    if (demand * 100 > cores * options.core_cap_ratio_pct) {
      return Guard::kCoreCapacity;
    }
  }
  return std::nullopt;
}

std::optional<Guard> why_not_worth_it(const Arrangement& arrangement, const LoadChange& change) {
  const Options& options = arrangement.options();
  if (!change.effect.fits) {
    return Guard::kNoRoom;
  }
  const CpuTime capacity =
      std::max(arrangement.node(change.from).capacity(), arrangement.node(change.to).capacity());
  if (change.effect.gain <= CpuTime{} ||
      change.effect.gain * 100 < capacity * options.mig_threshold) {
    return Guard::kMinimumGain;
  }
  if (!change.effect.pays(options)) {
    return Guard::kDoesNotPay;
  }
  if (change.one_way) {
    // A shortage that only changes sides comes back with the next plan.
    const Permille before = arrangement.owed_share(change.from) - arrangement.owed_share(change.to);
    const Permille after = arrangement.owed_share_after(change.to, change.at_to) -
                           arrangement.owed_share_after(change.from, change.at_from);
    if (after > Permille{} && after * 100 > before * options.mig_thrash_threshold) {
      return Guard::kResidualImbalance;
    }
  }
  return std::nullopt;
}

}  // namespace vmnuma::balancer
