// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/candidate.h"

#include <algorithm>

#include "balancer/core/guards.h"

namespace vmnuma::balancer {

namespace {

constexpr std::size_t kMostStopped = 32;

}  // namespace

bool Considered::leaves_out(const Arrangement& arrangement,
                            std::span<const Rehoming> changes) const {
  const auto is_left_out = [this](NodeIndex node) {
    return std::ranges::find(left_out_, node) != left_out_.end();
  };
  return !left_out_.empty() && std::ranges::any_of(changes, [&](const Rehoming& change) {
    return is_left_out(change.to) || is_left_out(arrangement.home(change.client));
  });
}

void Considered::add(Candidate candidate) {
  if (!candidate.stopped_by) {
    if (!best_ || candidate.benefit > best_->benefit) {
      std::swap(candidate, best_ ? *best_ : best_.emplace());
    }
    if (candidate.changes.empty()) {
      return;  // there was no best one before
    }
    candidate.stopped_by = Guard::kNotBest;
  }
  const auto place = std::ranges::upper_bound(
      stopped_, candidate,
      [](const Candidate& a, const Candidate& b) { return a.benefit > b.benefit; });
  if (place - stopped_.begin() < static_cast<std::ptrdiff_t>(kMostStopped)) {
    stopped_.insert(place, std::move(candidate));
    if (stopped_.size() > kMostStopped) {
      stopped_.pop_back();
    }
  }
}

bool Considered::hopeless(CpuTime benefit, bool stopped) const {
  if (benefit <= CpuTime{}) {
    return true;
  }
  if (best_) {
    return stopped || benefit <= best_->benefit;
  }
  return stopped && stopped_.size() == kMostStopped && benefit <= stopped_.back().benefit;
}

Promise::Promise(const Arrangement& arrangement)
    : arrangement_(&arrangement), known_(arrangement.snapshot().clients.size()) {}

CpuTime Promise::saved_beside(ClientIndex client) {
  std::optional<CpuTime>& saved = known_[client].saved_beside;
  if (!saved) {
    saved = arrangement_->most_saved_beside(client);
  }
  return *saved;
}

CpuTime Promise::gain_of_leaving(ClientIndex client) {
  std::optional<CpuTime>& gain = known_[client].gain_of_leaving;
  if (!gain) {
    const NodeLoad& node = arrangement_->node(arrangement_->home(client));
    gain = node.owed() - node.owed({.out = {arrangement_->load(client)}});
  }
  return *gain;
}

CpuTime Promise::cost_of_memory(const Rehoming& change) {
  const Snapshot& snapshot = arrangement_->snapshot();
  std::vector<std::optional<CpuTime>>& costs = known_[change.client].cost_of_memory;
  costs.resize(snapshot.nodes.size());
  std::optional<CpuTime>& cost = costs[change.to];
  if (!cost) {
    const MemoryProfile& memory = arrangement_->memory(change.client);
    cost = memory_cost(snapshot, snapshot.clients[change.client], memory, change.to,
                       memory.resident, arrangement_->options())
               .travel;
  }
  return *cost;
}

Promise::Gain Promise::most_gain(std::span<const Rehoming> changes) {
  CpuTime gain;
  for (const Rehoming& change : changes) {
    gain += saved_beside(change.client);
  }
  CpuTime lasting = gain;
  const auto add = [&](NodeIndex node, CpuTime relief) {
    gain += relief;
    lasting += arrangement_->lasting(node, relief);
  };
  if (changes.size() == 1) {
    const auto [client, to] = changes.front();
    const NodeLoad& target = arrangement_->node(to);
    add(arrangement_->home(client), gain_of_leaving(client));
    add(to, target.owed() - target.owed({.in = {arrangement_->load(client)}}));
  } else {
    for (const auto& [node, exchange] : arrangement_->exchanges(changes)) {
      const NodeLoad& load = arrangement_->node(node);
      add(node, load.owed() - load.owed(exchange));
    }
  }
  const CpuTime if_it_lasts = gain * arrangement_->longest_horizon();
  return {
      gain,
      arrangement_->has_forecasts() ? if_it_lasts : lasting * arrangement_->options().move_horizon,
      if_it_lasts};
}

CpuTime Promise::cost_of_leaving(std::span<const Rehoming> changes) const {
  CpuTime cost;
  for (const Rehoming& change : changes) {
    cost += CpuTime{arrangement_->options().move_cost_fixed} -
            arrangement_->memory_here(change.client).travel;
  }
  return cost;
}

CpuTime Promise::least_cost_of_memory(std::span<const Rehoming> changes) {
  CpuTime cost;
  for (const Rehoming& change : changes) {
    const MemoryRoom& room = arrangement_->room();
    Bytes coming;
    for (const Rehoming& other : changes) {
      if (other.to == change.to && room.share(other.client, change.client)) {
        coming += arrangement_->memory(other.client).resident;
      }
    }
    // The cost of memory without room is left to judge().
    if (coming <= room.of(change.client, change.to)) {
      cost += cost_of_memory(change);
    }
  }
  return cost;
}

Candidate judge(const Arrangement& arrangement, Reason reason, std::span<const Rehoming> changes) {
  const Effect effect = arrangement.effect_of(changes);
  Candidate candidate{reason,
                      {changes.begin(), changes.end()},
                      effect,
                      effect.benefit(),
                      check_targets(arrangement, reason, changes)};
  if (!candidate.stopped_by) {
    candidate.stopped_by = effect_guard(arrangement, reason, changes, effect);
  }
  return candidate;
}

void consider(const Arrangement& arrangement, Promise& promise, Reason reason,
              std::span<const Rehoming> changes, Considered& considered) {
  const Promise::Gain most = promise.most_gain(changes);
  if (most.per_epoch <= CpuTime{} || considered.leaves_out(arrangement, changes)) {
    return;
  }
  // Talk has a lower threshold.
  const bool stopped =
      most.per_epoch < least_gain(arrangement, changes) &&
      (reason != Reason::kAffinityMove || !arrangement.talks(changes.front().client) ||
       most.per_epoch < least_gain_of_talk(arrangement, changes.front().client));
  const auto is_hopeless = [&](CpuTime least_cost) {
    const bool may_be_in_doubt =
        !stopped && considered.wants_doubts() && most.if_it_lasts > least_cost;
    return considered.hopeless(most.in_all - least_cost, stopped) && !may_be_in_doubt;
  };
  const CpuTime cost = promise.cost_of_leaving(changes);
  if (is_hopeless(cost) || is_hopeless(cost + promise.least_cost_of_memory(changes))) {
    return;
  }
  Candidate candidate = judge(arrangement, reason, changes);
  if (candidate.stopped_by == Guard::kDoesNotLast) {
    considered.record_doubt();
  }
  if (!considered.hopeless(candidate.benefit, candidate.stopped_by.has_value())) {
    considered.add(std::move(candidate));
  }
}

}  // namespace vmnuma::balancer
