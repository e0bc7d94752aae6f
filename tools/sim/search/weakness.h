// SPDX-License-Identifier: Apache-2.0
/// The result of a climb, and its cause, to the extent that it can be determined.
///
/// Terms: *cause* - what the balancer loses more of than its opponent, time waited for CPUs or time
/// lost to far memory, and what it did about that. *Takes* - the features that could not be
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
  Scenario scenario;  ///< shrunk; with its description and, if we are not first, not_first_because
  ScenarioComparison comparison;  ///< of the shrunk scenario, under all policies
  std::string opponent;           ///< what the balancer is compared with
  std::int64_t behind = 0;        ///< in thousandths of a per cent of demand
  std::string cause;
  std::vector<std::string_view> takes;
  std::string violation;  ///< the first violation; empty if there was none
};

/// Makes the weakness of a shrunk scenario.
[[nodiscard]] Weakness make_weakness(std::int64_t climb, Scenario scenario,
                                     std::string_view against);
/// Makes the weakness of a scenario that violates a rule.
[[nodiscard]] Weakness make_violation(std::int64_t climb, Scenario scenario, std::string violation);

/// Returns the worst weakness of each mechanism, worst first. The smallest one of each kind of
/// violation comes before all others.
[[nodiscard]] std::vector<Weakness> by_mechanism(std::vector<Weakness> weaknesses);

/// Returns a table of at most `most` weaknesses, with causes.
[[nodiscard]] std::string to_text(const std::vector<Weakness>& weaknesses, std::size_t most);
/// Returns one line, without a line end.
[[nodiscard]] std::string to_json(const std::vector<Weakness>& weaknesses);

}  // namespace vmnuma::tools
