// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/comparison.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stats/text/json.h"
#include "tools/sim/policies/policy.h"
#include "tools/sim/simulation.h"

namespace vmnuma::tools {

namespace {

using nlohmann::ordered_json;

SimulationResult run(Simulation& simulation) {
  while (!simulation.finished()) {
    simulation.run_epoch();
  }
  return simulation.result();
}

PolicyResult result_of(std::string_view policy, const SimulationResult& result) {
  PolicyResult row{std::string(policy), result.lost, Percentage{100'000}, result.node_changes,
                   result.moved};
  for (const VmResult& vm : result.vms) {
    if (const auto share = percentage_of(vm.used.value, vm.entitled.value)) {
      row.worst_off.value = std::min(row.worst_off.value, share->value);
    }
  }
  return row;
}

/// In hundredths, which is all that means anything.
double number(Percentage share) {
  const std::int64_t hundredths = (share.value + 5) / 10;
  return static_cast<double>(hundredths) / 100;
}

}  // namespace

ScenarioComparison compare_policies(const Scenario& scenario,
                                    const std::function<void()>& policy_done) {
  ScenarioComparison comparison{scenario.name, {}, scenario.not_first_because};
  for (const std::string_view name : kPeers) {
    Simulation simulation(scenario, make_policy(name));
    comparison.policies.push_back(result_of(name, run(simulation)));
    policy_done();
  }
  Simulation simulation(scenario);
  comparison.policies.push_back(result_of(kOurs, run(simulation)));
  policy_done();
  return comparison;
}

bool we_are_first(const ScenarioComparison& comparison) {
  return std::all_of(comparison.policies.begin(), comparison.policies.end(),
                     [&](const PolicyResult& row) {
                       return comparison.policies.back().lost.value <= row.lost.value + 1000;
                     });
}

std::string to_text(const std::vector<ScenarioComparison>& comparisons) {
  std::string out = fmt::format("{:<24}  {:<13}  {:>7}   {:>11}  {:>7}  {:>11}\n", "SCENARIO",
                                "POLICY", "LOST%", "WORST-OFF%", "CHANGES", "MOVED(MiB)");
  for (const ScenarioComparison& comparison : comparisons) {
    std::int64_t least = INT64_MAX;
    for (const PolicyResult& row : comparison.policies) {
      least = std::min(least, row.lost.value);
    }
    for (const PolicyResult& row : comparison.policies) {
      out += fmt::format("{:<24}  {:<13}  {:>7.2f}{}  {:>11.1f}  {:>7}  {:>11}\n",
                         comparison.scenario, row.policy, number(row.lost),
                         number(row.lost) <= number(Percentage{least}) ? "*" : " ",
                         number(row.worst_off), row.changes, row.moved.value >> 20U);
    }
    if (!comparison.not_first_because.empty() && !we_are_first(comparison)) {
      out += fmt::format("{:<24}  {} is not first: {}\n", comparison.scenario, kOurs,
                         comparison.not_first_because);
    }
  }
  return out;
}

std::string to_json(const std::vector<ScenarioComparison>& comparisons) {
  ordered_json list = ordered_json::array();
  for (const ScenarioComparison& comparison : comparisons) {
    ordered_json policies = ordered_json::array();
    for (const PolicyResult& row : comparison.policies) {
      policies.push_back({{"policy", row.policy},
                          {"lost_pct", number(row.lost)},
                          {"worst_off_pct", number(row.worst_off)},
                          {"changes", row.changes},
                          {"bytes_moved", row.moved.value}});
    }
    list.push_back(
        {{"scenario", comparison.scenario},
         {"policies", std::move(policies)},
         {"not_first_because", we_are_first(comparison) ? "" : comparison.not_first_because}});
  }
  return text::json_text(list);
}

}  // namespace vmnuma::tools
