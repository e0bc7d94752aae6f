// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/assignment.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace vmnuma::balancer {

namespace {

/// The program and the planner's figures round differently, by less than this per client.
constexpr CpuTime kRounding{4};

Assignment assess_arranged(const Arrangement& now, const Arrangement& then) {
  const Options& options = now.options();
  Assignment result;
  result.homes = then.homes();
  for (ClientIndex client = 0; client < result.homes.size(); ++client) {
    if (then.home(client) != now.home(client)) {
      result.moving += CpuTime{options.move_cost_fixed} + then.memory_here(client).travel -
                       now.memory_here(client).travel;
    }
  }
  result.lost = then.lost();
  result.cost = result.lost + result.moving / std::max<std::int64_t>(options.move_horizon, 1);
  return result;
}

/// Improves homes by single moves, and by moves for which another client makes room by going to a
/// third node or changing places, the best each time, as long as one lowers the cost.
class Polish {
 public:
  Polish(const Arrangement& now, const HomesProgram& program, Arrangement& then)
      : now_(now), program_(program), room_(room_of(now.snapshot())), then_(then) {}

  void run() {
    // Each step lowers a whole number, so there is an end; the bound guards against surprises.
    for (int steps = 0; steps < 1000; ++steps) {
      best_gain_ = CpuTime{};
      try_all();
      if (best_gain_ <= CpuTime{}) {
        return;
      }
      then_.apply(best_);
    }
  }

 private:
  void try_all() {
    const std::size_t clients = now_.snapshot().clients.size();
    for (ClientIndex a = 0; a < clients; ++a) {
      if (program_.choices(a).size() < 2) {
        continue;
      }
      for (const NodeIndex node : program_.choices(a)) {
        if (node != then_.home(a)) {
          consider(std::array{Rehoming{a, node}});
        }
      }
      for (ClientIndex b = 0; b < clients; ++b) {
        if (then_.home(a) == then_.home(b) || !may_live(a, then_.home(b))) {
          continue;
        }
        for (const NodeIndex node : program_.choices(b)) {
          if (node != then_.home(b) && (node != then_.home(a) || a < b)) {
            consider(std::array{Rehoming{a, then_.home(b)}, Rehoming{b, node}});
          }
        }
      }
    }
  }

  [[nodiscard]] bool may_live(ClientIndex client, NodeIndex node) const {
    const std::vector<NodeIndex>& choices = program_.choices(client);
    return std::ranges::binary_search(choices, node);
  }

  void consider(std::span<const Rehoming> changes) {
    const Options& options = now_.options();
    const Effect effect = then_.effect_of(changes);
    // A client that returns to its present home saves the fixed cost of leaving it.
    CpuTime cost = effect.cost;
    for (const Rehoming& change : changes) {
      cost -=
          then_.home(change.client) == now_.home(change.client)
              ? CpuTime{}
              : CpuTime{options.move_cost_fixed} * (change.to == now_.home(change.client) ? 2 : 1);
    }
    const CpuTime gain = effect.gain * std::max<std::int64_t>(options.move_horizon, 1) - cost;
    if (gain <= best_gain_ || !effect.fits) {
      return;
    }
    for (const Rehoming& change : changes) {
      if (then_.forbidden_by_group(change.client, change.to, changes)) {
        return;
      }
    }
    if (!have_room(room_, now_, then_, changes)) {
      return;  // a client that returns may find its room taken, which the effect does not show
    }
    best_gain_ = gain;
    best_.assign(changes.begin(), changes.end());
  }

  const Arrangement& now_;
  const HomesProgram& program_;
  const MemoryRoom room_;
  Arrangement& then_;
  CpuTime best_gain_;
  std::vector<Rehoming> best_;
};

/// Adds every node on which more is owed than the program has to the program; returns false if
/// there is none.
bool learn_from(const Arrangement& then, HomesProgram& program) {
  const Homes& homes = then.homes();
  bool learnt = false;
  for (NodeIndex node = 0; node < then.snapshot().nodes.size(); ++node) {
    const std::vector<ClientIndex>& residents = then.residents(node);
    const CpuTime rounding = kRounding * static_cast<std::int64_t>(residents.size());
    const CpuTime owed = then.node(node).owed() - rounding;
    if (owed > program.owed(node, homes) + rounding) {
      program.learn(node, residents, owed);
      learnt = true;
    }
  }
  return learnt;
}

}  // namespace

Arrangement arranged(const Arrangement& now, const Homes& homes) {
  Arrangement then = now;
  std::vector<Rehoming> changes;
  for (ClientIndex client = 0; client < homes.size(); ++client) {
    if (homes[client] != now.home(client)) {
      changes.push_back({client, homes[client]});
    }
  }
  then.apply(changes);
  return then;
}

Assignment assess(const Arrangement& now, const Homes& homes) {
  return assess_arranged(now, arranged(now, homes));
}

Optimum find_optimum(const Arrangement& now, const Homes& start, const SearchLimits& limits,
                     const std::function<double()>& clock) {
  HomesProgram program(now, HomesProgram::Cost::kLostTime);
  Optimum optimum;
  const Homes& present = now.homes();
  const CpuTime demand = sum_of(now.loads(), &Load::demand);
  optimum.best = assess(now, present);
  if (start.size() == present.size() && !program.values_of(start).empty()) {
    if (Assignment given = assess(now, start); given.cost < optimum.best.cost) {
      optimum.best = std::move(given);
    }
  }
  if (std::ranges::all_of(present, [](NodeIndex home) { return home == kNoNode; })) {
    optimum.bound = optimum.best.cost;  // no client has a home, so there is nothing to choose
    return optimum;
  }
  const CpuTime gap = demand * limits.gap.value / 1000;
  const double end = clock() + limits.seconds;
  double left = limits.seconds;
  while (left > 0) {
    const Result<Solution> solved = solve(program.program(), program.values_of(optimum.best.homes),
                                          {left, static_cast<double>(gap.value) / 1000 / 2});
    if (!solved) {
      optimum.trouble = solved.error().message;
      return optimum;
    }
    const double bound = std::floor(solved->bound * 1000) - 1;
    if (std::isfinite(bound)) {
      const CpuTime known{static_cast<std::int64_t>(bound)};
      optimum.bound = std::max(optimum.bound.value_or(known), known);
    }
    if (solved->values.empty()) {
      optimum.trouble = "no solution was found in time";
      return optimum;
    }
    Arrangement then = arranged(now, program.homes_of(solved->values));
    bool learnt = learn_from(then, program);
    Polish(now, program, then).run();
    learnt = learn_from(then, program) || learnt;
    if (Assignment found = assess_arranged(now, then); found.cost < optimum.best.cost) {
      optimum.best = std::move(found);
    }
    if (!learnt || (optimum.bound && optimum.best.cost - *optimum.bound <= gap)) {
      break;
    }
    left = end - clock();
  }
  return optimum;
}

}  // namespace vmnuma::balancer
