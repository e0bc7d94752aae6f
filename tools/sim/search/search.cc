// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/search/search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>
#include <utility>

namespace vmnuma::tools {

namespace {

constexpr std::chrono::milliseconds kTold{200};

/// Runs a round of climbs from number `first` on; results are in order.
std::vector<ClimbResult> run_round(const SearchPlan& plan, std::int64_t first,
                                   const std::function<void(std::int64_t climbs)>& climbed) {
  std::vector<ClimbResult> results(kClimbsPerRound);
  std::counting_semaphore<kClimbsPerRound> done(0);
  std::atomic<std::int64_t> next = 0;
  const auto work = [&] {
    for (std::int64_t i = next++; i < kClimbsPerRound; i = next++) {
      // Only this thread has this index.
      results[static_cast<std::size_t>(i)] = climb(plan.seed, first + i, plan.against, plan.effort);
      done.release();
    }
  };
  std::vector<std::jthread> workers;
  for (std::int64_t i = 0; i < std::clamp<std::int64_t>(plan.threads, 1, kClimbsPerRound); ++i) {
    workers.emplace_back(work);
  }
  for (std::int64_t count = 0; count < kClimbsPerRound;) {
    count += done.try_acquire_for(kTold) ? 1 : 0;
    climbed(first + count);
  }
  return results;
}

}  // namespace

SearchResult search(const SearchPlan& plan, const std::function<bool(std::int64_t rounds)>& goes_on,
                    const std::function<void(std::int64_t climbs)>& climbed) {
  SearchResult result;
  for (; goes_on(result.rounds); ++result.rounds) {
    for (ClimbResult& one : run_round(plan, result.rounds * kClimbsPerRound, climbed)) {
      result.trials += one.trials;
      std::move(one.weaknesses.begin(), one.weaknesses.end(),
                std::back_inserter(result.weaknesses));
    }
  }
  return result;
}

}  // namespace vmnuma::tools
