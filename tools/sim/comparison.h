// SPDX-License-Identifier: Apache-2.0
/// The balancer next to the other policies, scenario by scenario.
///
/// Terms: *lost* - CPU time that VMs were entitled to, wanted and did not get, and what they lost
/// to far memory, in per cent of what they wanted; the measure of every decision. *Changes* - how
/// often a VM began to run mainly on another node, moved or floating. *Worst off* - what the
/// worst-treated VM got, without what it lost to far memory, in per cent of what it was entitled
/// to. *Below reserve* - memory that was moved to a node that then had less free than its reserve.
/// All are the truth of the simulated host. Copying memory costs CPU time under all policies alike.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/model/amounts.h"
#include "tools/sim/scenario/scenario.h"
#include "tools/sim/simulation_result.h"

namespace vmnuma::tools {

inline constexpr std::string_view kOurs = "vmnuma";

struct PolicyResult {
  std::string policy;
  Percentage lost;
  Percentage worst_off;
  std::int64_t changes = 0;
  Bytes moved;
  Bytes below_reserve;
};

struct ScenarioComparison {
  std::string scenario;
  std::vector<PolicyResult> policies;  ///< kPeers, and kOurs last
  Percentage bound;                    ///< nothing can lose less (bound.h)
  std::string not_first_because;       ///< from the scenario
};

/// The row of the bound in tables, and its name in `sim search --against`.
inline constexpr std::string_view kBound = "bound";

/// Policies within one per cent of what is wanted count as equal.
[[nodiscard]] bool we_are_first(const ScenarioComparison& comparison);

/// How much more the balancer loses than a host that is left alone; negative if less.
[[nodiscard]] Percentage harm(const ScenarioComparison& comparison);

/// `policy_done` is called after each of the policies.
[[nodiscard]] ScenarioComparison compare_policies(const Scenario& scenario,
                                                  const std::function<void()>& policy_done);

/// Summary of all comparisons.
struct ComparisonSummary {
  struct Row {
    std::string policy;
    Percentage lost;
  };
  std::int64_t scenarios = 0;
  std::int64_t first = 0;     ///< we_are_first()
  std::vector<Row> mean;      ///< over the scenarios, policies as in these, the bound last
  Percentage mean_best_peer;  ///< of the best peer in each scenario
  const ScenarioComparison* worst = {};  ///< furthest behind the best peer; null if there are none
  Percentage behind;  ///< by how much, there; negative if we are ahead everywhere
  /// How many lose more than under `none`, by more than one per cent of what is wanted.
  std::int64_t harmed = 0;
  const ScenarioComparison* most_harmed = {};  ///< of these; null if there are none
};
[[nodiscard]] ComparisonSummary summary_of(const std::vector<ScenarioComparison>& comparisons);
/// Several lines, each ended by '\n'.
[[nodiscard]] std::string to_text(const ComparisonSummary& summary);

/// The one of kPeers that loses least; the first of equal ones.
[[nodiscard]] const PolicyResult& best_peer(const ScenarioComparison& comparison);

/// Columns as wide as needed; the least lost time of a scenario is marked with '*', and if the
/// balancer is not first, the reason follows.
[[nodiscard]] std::string to_text(const std::vector<ScenarioComparison>& comparisons);
/// One line, without a line end.
[[nodiscard]] std::string to_json(const std::vector<ScenarioComparison>& comparisons);

}  // namespace vmnuma::tools
