// SPDX-License-Identifier: Apache-2.0
#include "stats/forecast/load_watch.h"

#include <utility>

#include "placement/model/vm_facts.h"

namespace vmnuma::stats {

namespace {

constexpr std::int64_t kMinuteS = 60;
constexpr CpuTime kHalfMinute{30'000'000};
constexpr std::int64_t kKnownMinutes = LoadPast::kDays * LoadPast::kDay;
/// Minutes are ignored until they are later than the last known one. If the clock was ahead by more
/// than this many minutes, forgetting the VM and learning it from scratch is faster than waiting.
constexpr std::int64_t kMostAhead = KnownLoad::kLeastMinutes;

/// Returns false if nothing is known about the VM, nothing from the last eight days, or only
/// minutes recorded while the clock was ahead.
bool is_of_use(const KnownLoad& load, std::int64_t minute) {
  const std::int64_t last = load.past().last_minute();
  return load.minutes() > 0 && last >= minute - kKnownMinutes && last <= minute + kMostAhead;
}

}  // namespace

void LoadWatch::set_predictors(std::vector<Predictor> predictors) {
  predictors_ = std::move(predictors);
}

void LoadWatch::learn(const VmLoads& loads) {
  Watched& vm = vms_[loads.vm];
  vm.facts = loads.facts;
  for (const MinuteLoad& minute : loads.minutes) {
    if (minute.minute > loads.minutes.back().minute - kKnownMinutes) {
      vm.load.add(minute.minute, minute.load);
    }
  }
}

std::optional<LoadForecasts> LoadWatch::epoch(const Snapshot& snapshot, std::int64_t wall_unix_s) {
  const std::int64_t minute = wall_unix_s / kMinuteS;
  std::optional<LoadForecasts> made;
  if (minute_ && minute != *minute_) {
    for (auto& [id, vm] : vms_) {
      const Sums sums = std::exchange(vm.minute, {});
      if (measured_ >= kHalfMinute && sums.full > CpuTime{}) {
        vm.load.add(*minute_, permille_of(sums.demand.value, sums.full.value, Permille{}));
      }
    }
    std::erase_if(vms_, [&](const auto& entry) { return !is_of_use(entry.second.load, minute); });
    measured_ = CpuTime{};
    made = forecasts(minute - 1);
  }
  minute_ = minute;
  measured_ += snapshot.epoch_length;
  for (const VmState& state : snapshot.vms) {
    if (!state.fresh || !state.measured) {
      continue;
    }
    Watched& vm = vms_[state.id];
    vm.facts = facts_of(snapshot, state);
    vm.minute.demand += state.demand;
    vm.minute.full += snapshot.epoch_length * vm.facts.vcpus;
  }
  return made;
}

LoadForecasts LoadWatch::forecasts(std::int64_t minute) const {
  LoadForecasts all;
  for (const auto& [id, vm] : vms_) {
    const auto p95 = first_forecast(predictors_, vm.facts, vm.load, minute);
    const std::optional<Permille> mean = vm.load.mean(minute);
    if (p95 && mean) {
      all[id] = {std::min(*mean, p95->p95), p95->p95, p95->by};
    }
  }
  return all;
}

}  // namespace vmnuma::stats
