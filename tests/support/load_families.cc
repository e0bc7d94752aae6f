// SPDX-License-Identifier: Apache-2.0
#include "tests/support/load_families.h"

#include <algorithm>

#include "tools/sim/scenario/random.h"

namespace vmnuma::tests {

using tools::Random;

namespace {

constexpr std::int64_t kDay = 24 * 60;

std::int64_t noise(Random& random, std::int64_t width) {
  std::int64_t sum = 0;
  for (int die = 0; die < 4; ++die) {
    sum += random.below(width + 1);
  }
  return (sum - 2 * width) / 2;
}

/// Returns 0 at both ends of begin..end and outside, 1000 in the middle.
std::int64_t hump(std::int64_t minute_of_day, std::int64_t begin, std::int64_t end) {
  const std::int64_t t = (minute_of_day - begin + kDay) % kDay;
  const std::int64_t length = end - begin;
  return t < length ? 4000 * t / length * (length - t) / length : 0;
}

std::vector<std::int64_t> flat(Random& random, std::int64_t minutes) {
  const std::int64_t level = 150 + random.below(600);
  const std::int64_t width = 10 + random.below(50);
  std::vector<std::int64_t> load;
  for (std::int64_t minute = 0; minute < minutes; ++minute) {
    load.push_back(level + noise(random, width));
  }
  return load;
}

std::vector<std::int64_t> by_day(Random& random, std::int64_t minutes, bool rests_at_weekends) {
  const std::int64_t base = 50 + random.below(150);
  const std::int64_t height = 350 + random.below(400);
  const std::int64_t begin = 6 * 60 + random.below(6 * 60);
  const std::int64_t end = begin + 7 * 60 + random.below(4 * 60);
  const std::int64_t width = 10 + random.below(40);
  std::vector<std::int64_t> load;
  std::int64_t of_today = height;
  for (std::int64_t minute = 0; minute < minutes; ++minute) {
    if (minute % kDay == 0) {
      of_today = height * (900 + random.below(200)) / 1000;
    }
    const bool weekend = minute / kDay % 7 >= 5;
    const std::int64_t busy = rests_at_weekends && weekend ? of_today / 10 : of_today;
    load.push_back(base + busy * hump(minute % kDay, begin, end) / 1000 + noise(random, width));
  }
  return load;
}

std::vector<std::int64_t> bursts(Random& random, std::int64_t minutes) {
  const std::int64_t base = 50 + random.below(150);
  const std::int64_t every = 30 + random.below(90);
  const std::int64_t length = 3 + random.below(10);
  std::vector<std::int64_t> load;
  std::int64_t left = 0;
  std::int64_t height = 0;
  for (std::int64_t minute = 0; minute < minutes; ++minute) {
    if (left == 0 && random.below(every) == 0) {
      left = 1 + random.below(2 * length);
      height = 200 + random.below(600);
    }
    load.push_back(base + (left > 0 ? height : 0) + noise(random, 20));
    left = std::max<std::int64_t>(left - 1, 0);
  }
  return load;
}

std::vector<std::int64_t> ramp(Random& random, std::int64_t minutes) {
  const std::int64_t period = 12 * kDay;
  const std::int64_t from = 100 + random.below(100);
  const std::int64_t rise = 300 + random.below(400);
  const std::int64_t phase = random.below(period / 60) * 60;
  const bool falls = random.below(2) == 1;
  const std::int64_t width = 10 + random.below(40);
  std::vector<std::int64_t> load;
  for (std::int64_t minute = 0; minute < minutes; ++minute) {
    const std::int64_t t = (minute + phase) % period;
    load.push_back(from + rise * (falls ? period - t : t) / period + noise(random, width));
  }
  return load;
}

std::vector<std::int64_t> jobs(Random& random, std::int64_t which, std::int64_t minutes) {
  constexpr std::int64_t kEvery[] = {60, 360, kDay};
  const std::int64_t every = kEvery[which % 3];
  const std::int64_t length = every == 60 ? 10 + random.below(10) : 30 + random.below(60);
  const std::int64_t begin = random.below(every);
  const std::int64_t height = 500 + random.below(400);
  std::vector<std::int64_t> load;
  std::int64_t early = 0;
  for (std::int64_t minute = 0; minute < minutes; ++minute) {
    const std::int64_t t = (minute - begin + 2 * every + 2) % every;
    if (t == 0) {
      early = random.below(5);
    }
    const bool runs = t >= early && t < early + length;
    load.push_back(30 + (runs ? height : 0) + noise(random, 20));
  }
  return load;
}

std::vector<std::int64_t> in_turns(Random& random, std::int64_t minutes) {
  const std::int64_t low = 20 + random.below(50);
  const std::int64_t high = 500 + random.below(400);
  const std::int64_t width = 10 + random.below(30);
  std::vector<std::int64_t> load;
  bool on = false;
  std::int64_t left = 0;
  for (std::int64_t minute = 0; minute < minutes; ++minute) {
    if (left == 0) {
      on = !on;
      left = 60 + random.below(121);
    }
    --left;
    load.push_back((on ? high : low) + noise(random, width));
  }
  return load;
}

std::vector<std::int64_t> raw_load(LoadFamily family, Random& random, std::int64_t which,
                                   std::int64_t minutes) {
  switch (family) {
    case LoadFamily::kConstant:
      return flat(random, minutes);
    case LoadFamily::kDiurnal:
      return by_day(random, minutes, /*rests_at_weekends=*/false);
    case LoadFamily::kWeekly:
      return by_day(random, minutes, /*rests_at_weekends=*/true);
    case LoadFamily::kBursty:
      return bursts(random, minutes);
    case LoadFamily::kTrend:
      return ramp(random, minutes);
    case LoadFamily::kBatch:
      return jobs(random, which, minutes);
    case LoadFamily::kOnOff:
      return in_turns(random, minutes);
  }
  return {};
}

}  // namespace

GeneratedVm generate_load(LoadFamily family, std::int64_t which, std::int64_t days) {
  Random random = tools::random_for(static_cast<std::uint64_t>(family) + 1,
                                    static_cast<std::uint64_t>(which) + 1);
  GeneratedVm vm;
  vm.family = family;
  vm.facts.name = std::string(name_of(family)) + std::to_string(which);
  vm.facts.vcpus = 2 << random.below(4);
  vm.facts.memory_mib = vm.facts.vcpus * 2048;
  vm.facts.shares = 100 * (1 + random.below(3));
  vm.facts.guest_os =
      random.below(2) == 0 ? "http://debian.org/debian/12" : "http://microsoft.com/win/2k22";
  vm.first_minute = kFirstGeneratedMinute;
  for (const std::int64_t load : raw_load(family, random, which, days * kDay)) {
    vm.load.push_back(Permille{std::clamp<std::int64_t>(load, 0, 1000)});
  }
  return vm;
}

}  // namespace vmnuma::tests
