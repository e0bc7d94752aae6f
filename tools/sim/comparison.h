// SPDX-License-Identifier: Apache-2.0
/// Compares the balancer with the other policies, scenario by scenario.
///
/// Terms: *lost* - CPU time that VMs were entitled to, wanted and did not get, plus what they lost
/// to far memory, in per cent of what they wanted; the measure of every decision. *Changes* - how
/// often a VM began to run mainly on another node, whether it was moved or floated there. *Worst
/// off* - the time that the worst-treated VM got, minus what it lost to far memory, in per cent of
/// what it was entitled to. *Below reserve* - memory that was moved to a node that then had less
/// free memory than its reserve. All of these are the truth of the simulated host. Copying memory
/// costs the same CPU time under all policies.
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

class Bound;

inline constexpr std::string_view kOurs = "vmnuma";
/// The policy that leaves the host alone.
inline constexpr std::string_view kLeftAlone = "none";

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
  Percentage bound;                    ///< no policy can lose less (bound.h)
  std::string not_first_because;       ///< the scenario's reason why we are not first
};

/// The row of the bound in tables, and its name in `sim search --against`.
inline constexpr std::string_view kBound = "bound";

/// Returns whether no policy loses less. Differences of up to one per cent of the demand do not
/// count.
[[nodiscard]] bool we_are_first(const ScenarioComparison& comparison);

/// Returns how much more the balancer loses than a host that is left alone; negative if less.
[[nodiscard]] Percentage harm(const ScenarioComparison& comparison);

/// Runs the scenario under the policy of that name, or ours. Computes the bound if `bound` is not
/// null; the policy must then be `none`.
[[nodiscard]] SimulationResult run_under(const Scenario& scenario, std::string_view policy,
                                         Bound* bound = nullptr);

/// Runs the scenario under all policies. `policy_done` is called after each of them.
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
  std::vector<Row> mean;      ///< over the scenarios; policies in the same order, the bound last
  Percentage mean_best_peer;  ///< mean of what the best peer loses in each scenario
  const ScenarioComparison* worst =
      {};             ///< the one furthest behind the best peer; null if there are none
  Percentage behind;  ///< how far behind in `worst`; negative if we are ahead everywhere
  /// Number of scenarios in which we lose more than `none` does, by over one per cent of the
  /// demand.
  std::int64_t harmed = 0;
  const ScenarioComparison* most_harmed = {};  ///< the worst of these; null if there are none
};
[[nodiscard]] ComparisonSummary summary_of(const std::vector<ScenarioComparison>& comparisons);
/// Formats several lines, each terminated by '\n'.
[[nodiscard]] std::string to_text(const ComparisonSummary& summary);

/// Returns the one of kPeers that loses least; of equal ones the first.
[[nodiscard]] const PolicyResult& best_peer(const ScenarioComparison& comparison);

/// Formats a table. The least lost time of a scenario is marked with '*', and if the balancer is
/// not first, the reason follows.
[[nodiscard]] std::string to_text(const std::vector<ScenarioComparison>& comparisons);
/// Returns one line, without a line end.
[[nodiscard]] std::string to_json(const std::vector<ScenarioComparison>& comparisons);

}  // namespace vmnuma::tools
