// SPDX-License-Identifier: Apache-2.0
/// What a climb has found, and its cause, as far as that can be told.
///
/// Terms: *cause* - what the balancer loses there more of than the other: time waited for CPUs or
/// time lost to far memory, and what it did about that. *Takes* - the features that could not be
/// removed. Two weaknesses have the same *mechanism* if cause and takes are the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sim/comparison.h"
#include "tools/sim/scenario/scenario.h"
#include "tools/sim/search/trial.h"

namespace vmnuma::tools {

struct Weakness {
  std::int64_t climb = 0;
  Scenario scenario;              ///< shrunk; with its description, and not_first_because if so
  ScenarioComparison comparison;  ///< of the shrunk one, under all policies
  std::string opponent;           ///< what it is compared with there
  std::int64_t behind = 0;        ///< in thousandths of a per cent of demand
  std::string cause;
  std::vector<std::string_view> takes;
  std::string violation;  ///< the first; empty if nothing was violated
};

/// For a shrunk scenario.
[[nodiscard]] Weakness make_weakness(std::int64_t climb, Scenario scenario,
                                     std::string_view against);
/// For one that violates a rule.
[[nodiscard]] Weakness make_violation(std::int64_t climb, Scenario scenario, std::string violation);

/// The worst weakness of each mechanism, worst first. Before all, the smallest of each kind of
/// violation.
[[nodiscard]] std::vector<Weakness> by_mechanism(std::vector<Weakness> weaknesses);

/// A table of at most `most` of them, with causes.
[[nodiscard]] std::string to_text(const std::vector<Weakness>& weaknesses, std::size_t most);
/// One line, without a line end.
[[nodiscard]] std::string to_json(const std::vector<Weakness>& weaknesses);

}  // namespace vmnuma::tools
