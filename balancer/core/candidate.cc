// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/candidate.h"

#include <algorithm>
#include <array>

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
    : arrangement_(&arrangement),
      gain_of_leaving_(arrangement.snapshot().clients.size()),
      cost_of_memory_(arrangement.snapshot().clients.size() * arrangement.snapshot().nodes.size()) {
  const std::size_t clients = arrangement.snapshot().clients.size();
  saved_beside_.reserve(clients);
  for (ClientIndex client = 0; client < clients; ++client) {
    saved_beside_.push_back(arrangement.most_saved_beside(client));
  }
}

CpuTime Promise::gain_of_leaving(ClientIndex client) {
  std::optional<CpuTime>& gain = gain_of_leaving_[client];
  if (!gain) {
    const NodeLoad& node = arrangement_->node(arrangement_->home(client));
    gain = node.owed() - node.owed({.out = {arrangement_->load(client)}});
  }
  return *gain;
}

CpuTime Promise::cost_of_memory(const Rehoming& change) {
  const Snapshot& snapshot = arrangement_->snapshot();
  std::optional<CpuTime>& cost = cost_of_memory_[change.client * snapshot.nodes.size() + change.to];
  if (!cost) {
    const MemoryProfile& memory = arrangement_->memory(change.client);
    cost = memory_cost(snapshot, snapshot.clients[change.client], memory, change.to,
                       memory.resident, arrangement_->options())
               .travel;
  }
  return *cost;
}

CpuTime Promise::most_gain(std::span<const Rehoming> changes) {
  if (changes.size() == 1) {
    const auto [client, to] = changes.front();
    const Load& load = arrangement_->load(client);
    const NodeLoad& target = arrangement_->node(to);
    return saved_beside_[client] + gain_of_leaving(client) + target.owed() -
           target.least_owed(load.demand, load.entitled);
  }
  struct More {
    NodeIndex node = kNoNode;
    CpuTime demand;
    CpuTime entitled;
    std::size_t leavers = 0;
    ClientIndex leaver = kNoClient;
  };
  std::array<More, 2 * Arrangement::kMostTogether> more;
  std::size_t nodes = 0;
  const auto at = [&](NodeIndex node) -> More& {
    std::size_t i = 0;
    while (i < nodes && more[i].node != node) {
      ++i;
    }
    if (i == nodes) {
      more[nodes++].node = node;
    }
    return more[i];
  };
  CpuTime gain;
  for (const Rehoming& change : changes) {
    const Load& load = arrangement_->load(change.client);
    More& from = at(arrangement_->home(change.client));
    from.demand -= load.demand;
    from.entitled -= load.entitled;
    ++from.leavers;
    from.leaver = change.client;
    More& to = at(change.to);
    to.demand += load.demand;
    to.entitled += load.entitled;
    gain += saved_beside_[change.client];
  }
  for (const More& change : std::span(more).first(nodes)) {
    const NodeLoad& node = arrangement_->node(change.node);
    CpuTime most = node.owed() - node.least_owed(change.demand, change.entitled);
    if (change.leavers == 1 && most > CpuTime{}) {
      most = std::min(most, gain_of_leaving(change.leaver));
    }
    gain += most;
  }
  return gain;
}

CpuTime Promise::most_benefit(CpuTime most_gain, std::span<const Rehoming> changes) {
  CpuTime benefit = most_gain * (most_gain > CpuTime{} ? arrangement_->longest_horizon()
                                                       : arrangement_->options().move_horizon);
  for (const Rehoming& change : changes) {
    benefit -= CpuTime{arrangement_->options().move_cost_fixed} -
               arrangement_->memory_here(change.client).travel;
  }
  if (benefit <= CpuTime{}) {
    return benefit;
  }
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
      benefit -= cost_of_memory(change);
    }
  }
  return benefit;
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
  const CpuTime gain = promise.most_gain(changes);
  if (gain <= CpuTime{} || considered.leaves_out(arrangement, changes)) {
    return;
  }
  const CpuTime benefit = promise.most_benefit(gain, changes);
  // Talk has a lower threshold.
  const bool stopped =
      gain < least_gain(arrangement, changes) &&
      (reason != Reason::kAffinityMove || !arrangement.talks(changes.front().client) ||
       gain < least_gain_of_talk(arrangement, changes.front().client));
  if (considered.hopeless(benefit, stopped)) {
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
