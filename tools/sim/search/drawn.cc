// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/search/drawn.h"

#include <charconv>

#include <fmt/format.h>

#include "tools/sim/scenario/random.h"
#include "tools/sim/search/generator.h"

namespace vmnuma::tools {

namespace {

constexpr std::string_view kPrefix = "drawn-";
constexpr std::int64_t kMostChanges = 5;
/// Numbers of climbs are in the upper half of all numbers (climb.cc).
constexpr std::uint64_t kNumbers = std::uint64_t{1} << 62U;

/// Removes the digits at the front of `text` and returns them as a number.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || number >= kNumbers) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

Scenario drawn_scenario(std::uint64_t seed, std::uint64_t number) {
  Random random = random_for(seed, kNumbers + number);
  Scenario scenario = random_scenario(random);
  for (std::int64_t changes = random.below(kMostChanges + 1); changes > 0; --changes) {
    scenario = mutated(std::move(scenario), random);
  }
  scenario.name = fmt::format("{}{}-{}", kPrefix, seed, number);
  return scenario;
}

std::optional<Scenario> drawn_scenario(std::string_view name) {
  if (!name.starts_with(kPrefix)) {
    return std::nullopt;
  }
  name.remove_prefix(kPrefix.size());
  const std::optional<std::uint64_t> seed = take_number(name);
  if (!seed || !name.starts_with('-')) {
    return std::nullopt;
  }
  name.remove_prefix(1);
  const std::optional<std::uint64_t> number = take_number(name);
  return number && name.empty() ? std::optional(drawn_scenario(*seed, *number)) : std::nullopt;
}

}  // namespace vmnuma::tools
