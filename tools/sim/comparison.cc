// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/comparison.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stats/text/json.h"
#include "stats/text/printable.h"
#include "tools/sim/bound.h"
#include "tools/sim/policies/policy.h"
#include "tools/sim/simulation.h"

namespace vmnuma::tools {

namespace {

using nlohmann::ordered_json;

PolicyResult result_of(std::string_view policy, const SimulationResult& result) {
  PolicyResult row{std::string(policy), result.lost,  Percentage{100'000},
                   result.node_changes, result.moved, result.below_reserve};
  for (const VmResult& vm : result.vms) {
    if (const auto share = percentage_of(vm.worked.value, vm.entitled.value)) {
      row.worst_off = std::min(row.worst_off, *share);
    }
  }
  return row;
}

constexpr Percentage kNoDifference{1000};  ///< one per cent

}  // namespace

SimulationResult run_under(const Scenario& scenario, std::string_view policy, Bound* bound) {
  Simulation simulation(scenario, make_policy(policy));
  while (!simulation.finished()) {
    simulation.run_epoch();
    if (bound != nullptr) {
      bound->epoch_ended(simulation);
    }
  }
  return simulation.result();
}

ScenarioComparison compare_policies(const Scenario& scenario,
                                    const std::function<void()>& policy_done) {
  ScenarioComparison comparison{scenario.name, {}, {}, scenario.not_first_because};
  Bound bound;
  const auto run = [&](std::string_view name) {
    comparison.policies.push_back(
        result_of(name, run_under(scenario, name, name == kLeftAlone ? &bound : nullptr)));
    policy_done();
  };
  std::ranges::for_each(kPeers, run);
  run(kOurs);
  comparison.bound = bound.lost();
  return comparison;
}

bool we_are_first(const ScenarioComparison& comparison) {
  return std::ranges::all_of(comparison.policies, [&](const PolicyResult& row) {
    return comparison.policies.back().lost <= row.lost + kNoDifference;
  });
}

const PolicyResult& best_peer(const ScenarioComparison& comparison) {
  return *std::ranges::min_element(comparison.policies.begin(), comparison.policies.end() - 1, {},
                                   &PolicyResult::lost);
}

Percentage harm(const ScenarioComparison& comparison) {
  const auto alone = std::ranges::find(comparison.policies, kLeftAlone, &PolicyResult::policy);
  return comparison.policies.back().lost - alone->lost;
}

ComparisonSummary summary_of(const std::vector<ScenarioComparison>& comparisons) {
  ComparisonSummary summary;
  summary.scenarios = static_cast<std::int64_t>(comparisons.size());
  if (comparisons.empty()) {
    return summary;
  }
  for (const PolicyResult& row : comparisons.front().policies) {
    summary.mean.push_back({row.policy, {}});
  }
  summary.mean.push_back({std::string(kBound), {}});
  summary.behind.value = INT64_MIN;
  for (const ScenarioComparison& comparison : comparisons) {
    summary.first += we_are_first(comparison) ? 1 : 0;
    for (std::size_t i = 0; i < comparison.policies.size(); ++i) {
      summary.mean[i].lost += comparison.policies[i].lost;
    }
    summary.mean.back().lost += comparison.bound;
    const Percentage best = best_peer(comparison).lost;
    summary.mean_best_peer += best;
    if (harm(comparison) > kNoDifference) {
      ++summary.harmed;
      if (summary.most_harmed == nullptr || harm(comparison) > harm(*summary.most_harmed)) {
        summary.most_harmed = &comparison;
      }
    }
    const Percentage behind = comparison.policies.back().lost - best;
    if (behind > summary.behind) {
      summary.behind = behind;
      summary.worst = &comparison;
    }
  }
  for (ComparisonSummary::Row& row : summary.mean) {
    row.lost = row.lost / summary.scenarios;
  }
  summary.mean_best_peer = summary.mean_best_peer / summary.scenarios;
  return summary;
}

std::string to_text(const ComparisonSummary& summary) {
  if (summary.worst == nullptr) {
    return "";
  }
  std::string out = fmt::format("\n{} is first or within 1 % of demand in {} of {} scenarios\n",
                                kOurs, summary.first, summary.scenarios);
  out += "lost on average:";
  for (const ComparisonSummary::Row& row : summary.mean) {
    out += fmt::format(" {} {:.2f} %,", row.policy, two_digits(row.lost));
  }
  out += fmt::format(" best peer of each {:.2f} %\n", two_digits(summary.mean_best_peer));
  const PolicyResult& peer = best_peer(*summary.worst);
  out += fmt::format("worst: {}, where {} loses {:.2f} % and {} {:.2f} %\n",
                     text::printable(summary.worst->scenario), kOurs,
                     two_digits(summary.worst->policies.back().lost), peer.policy,
                     two_digits(peer.lost));
  out += fmt::format("a host that is left alone loses less by more than 1 % of demand in {}",
                     summary.harmed);
  if (summary.most_harmed != nullptr) {
    const Percentage ours = summary.most_harmed->policies.back().lost;
    out += fmt::format(", most in {}: {:.2f} % instead of {:.2f} %",
                       text::printable(summary.most_harmed->scenario),
                       two_digits(ours - harm(*summary.most_harmed)), two_digits(ours));
  }
  out += "\n";
  return out;
}

std::string to_text(const std::vector<ScenarioComparison>& comparisons) {
  std::string out =
      fmt::format("{:<24}  {:<13}  {:>7}   {:>11}  {:>7}  {:>11}  {:>13}\n", "SCENARIO", "POLICY",
                  "LOST%", "WORST-OFF%", "CHANGES", "MOVED(MiB)", "BELOW-RESERVE");
  for (const ScenarioComparison& comparison : comparisons) {
    const std::string scenario = text::printable(comparison.scenario);
    const double least =
        two_digits(std::ranges::min_element(comparison.policies, {}, &PolicyResult::lost)->lost);
    for (const PolicyResult& row : comparison.policies) {
      out += fmt::format("{:<24}  {:<13}  {:>7.2f}{}  {:>11.1f}  {:>7}  {:>11}  {:>13}\n", scenario,
                         row.policy, two_digits(row.lost),
                         two_digits(row.lost) <= least ? "*" : " ", two_digits(row.worst_off),
                         row.changes, row.moved.value >> 20U, row.below_reserve.value >> 20U);
    }
    out +=
        fmt::format("{:<24}  {:<13}  {:>7.2f}\n", scenario, kBound, two_digits(comparison.bound));
    if (!comparison.not_first_because.empty() && !we_are_first(comparison)) {
      out += fmt::format("{:<24}  {} is not first: {}\n", scenario, kOurs,
                         text::printable(comparison.not_first_because));
    }
  }
  out += fmt::format(
      "* lost the least of all policies; {} is not a policy, but a limit: none can lose less\n",
      kBound);
  return out;
}

std::string to_json(const std::vector<ScenarioComparison>& comparisons) {
  ordered_json list = ordered_json::array();
  for (const ScenarioComparison& comparison : comparisons) {
    ordered_json policies = ordered_json::array();
    for (const PolicyResult& row : comparison.policies) {
      policies.push_back({{"policy", row.policy},
                          {"lost_pct", two_digits(row.lost)},
                          {"worst_off_pct", two_digits(row.worst_off)},
                          {"changes", row.changes},
                          {"bytes_moved", row.moved.value},
                          {"bytes_below_reserve", row.below_reserve.value}});
    }
    list.push_back(
        {{"scenario", comparison.scenario},
         {"policies", std::move(policies)},
         {"bound_lost_pct", two_digits(comparison.bound)},
         {"not_first_because", we_are_first(comparison) ? "" : comparison.not_first_because}});
  }
  return text::json_text(list);
}

}  // namespace vmnuma::tools
