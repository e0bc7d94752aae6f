// SPDX-License-Identifier: Apache-2.0
#include "placement/forecast/features.h"

#include <algorithm>
#include <limits>
#include <string>

namespace vmnuma {
namespace {

constexpr std::int32_t kUnknown = -1;
/// Loads that differ by less count as the same.
constexpr std::int64_t kSame = 150;
/// 1970-01-01 was a Thursday.
constexpr std::int64_t kFirstWeekday = 3;
/// How many different numbers names are hashed to.
constexpr std::uint32_t kNames = 997;

std::int32_t small(std::int64_t value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 23U;  // a float still represents it exactly
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, kUnknown, kMost));
}

/// FNV-1a (Fowler, Noll, Vo; RFC draft eastlake-fnv), 32 bits.
std::int32_t number_of(std::string_view name) {
  std::uint32_t hash = 2'166'136'261U;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  }
  return name.empty() ? kUnknown : static_cast<std::int32_t>(hash % kNames);
}

/// "web-12" and "web-13" belong to one group, named by the part before the number.
std::string_view group_of(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789-_.");
  return last == std::string_view::npos ? name : name.substr(0, last + 1);
}

/// Minutes since the load last differed from the present one, within the hour.
std::int32_t steady_for(const LoadPast& past, std::int64_t minute) {
  const std::optional<Permille> now = past.at(minute);
  std::int64_t steady = 0;
  while (now && steady < LoadPast::kMinutes) {
    const std::optional<Permille> then = past.at(minute - steady);
    const std::int64_t difference = then ? (*then - *now).value : kSame;
    if (difference >= kSame || difference <= -kSame) {
      break;
    }
    ++steady;
  }
  return small(steady);
}

}  // namespace

const std::array<std::string_view, kFeatures>& feature_names() {
  static constexpr std::array<std::string_view, kFeatures> kNamesInOrder{
      "last",      "mean5",         "mean15",         "peak15",    "mean60",    "peak60",
      "least60",   "least15",       "steady_for",     "day_mean",  "day_peak",  "day_least",
      "day_next",  "week_mean",     "week_peak",      "usual_p95", "usual_p50", "usual_p5",
      "above_day", "minute_of_day", "minute_of_hour", "weekday",   "vcpus",     "memory_mib",
      "shares",    "name_group",    "guest_os"};
  return kNamesInOrder;
}

std::optional<FeaturesAt> features_at(const VmFacts& vm, const KnownLoad& load,
                                      std::int64_t minute) {
  const std::optional<Permille> usual = load.quantile(minute, kForecastShare);
  if (!usual) {
    return std::nullopt;
  }
  const LoadPast& past = load.past();
  const auto mean = [](const std::optional<LoadPast::Span>& span) {
    return span ? small(span->mean.value) : kUnknown;
  };
  const auto peak = [](const std::optional<LoadPast::Span>& span) {
    return span ? small(span->peak.value) : kUnknown;
  };
  const auto least = [](const std::optional<LoadPast::Span>& span) {
    return span ? small(span->least.value) : kUnknown;
  };
  const auto quantile = [&](std::int64_t share) {
    return small(load.quantile(minute, Permille{share}).value_or(Permille{kUnknown}).value);
  };
  const auto before = [&](std::int64_t ago, std::int64_t from, std::int64_t until) {
    return past.around(minute + from - ago, minute + until - ago);
  };
  const auto five = past.up_to(minute, 5);
  const auto quarter = past.up_to(minute, 15);
  const auto hour = past.up_to(minute, LoadPast::kMinutes);
  const auto day = before(LoadPast::kDay, 1, kForecastMinutes);
  const auto day_now = before(LoadPast::kDay, -10, 0);
  const auto week = before(LoadPast::kWeek, 1, kForecastMinutes);
  // How far the load is above that of the same time a day ago; 1000 = unchanged.
  const std::int32_t above_day =
      quarter && day_now ? small((quarter->mean - day_now->mean).value + 1000) : kUnknown;
  const std::int64_t day_number = minute / LoadPast::kDay;
  return FeaturesAt{
      {small(past.at(minute).value_or(Permille{kUnknown}).value),
       mean(five),
       mean(quarter),
       peak(quarter),
       mean(hour),
       peak(hour),
       least(hour),
       least(quarter),
       steady_for(past, minute),
       mean(day),
       peak(day),
       least(day),
       peak(before(LoadPast::kDay, kForecastMinutes + 1, kForecastMinutes + LoadPast::kQuarter)),
       mean(week),
       peak(week),
       small(usual->value),
       quantile(500),
       quantile(50),
       above_day,
       small(minute % LoadPast::kDay),
       small(minute % 60),
       small((day_number + kFirstWeekday) % 7),
       small(vm.vcpus),
       small(vm.memory_mib),
       small(vm.shares),
       number_of(group_of(vm.name)),
       number_of(vm.guest_os)},
      *usual};
}

}  // namespace vmnuma
