// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/search/weakness.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "balancer/model/view.h"
#include "stats/text/json.h"
#include "tools/sim/search/features.h"
#include "tools/sim/simulation.h"

namespace vmnuma::tools {

using nlohmann::ordered_json;

namespace {

double pct(std::int64_t thousandths) {
  return static_cast<double>(thousandths) / 1000;
}

/// Returns the guard that most often stopped candidates with a gain, and in how many epochs; empty
/// if there was none.
std::pair<std::string, std::int64_t> most_frequent_guard(const Scenario& scenario) {
  std::map<std::string, std::int64_t> stopped;
  Simulation simulation(scenario);
  while (!simulation.finished()) {
    simulation.run_epoch();
    std::set<std::string> now;
    for (const ScenarioVm& vm : scenario.vms) {
      const auto answer = simulation.ask(balancer::ExplainRequest{vm.name});
      if (!answer) {
        continue;
      }
      const auto& considered = std::get<balancer::ExplainView>(*answer).considered;
      const auto best = std::ranges::find_if(
          considered, [](const auto& one) { return one.gain_ms > 0 && !one.guard.empty(); });
      if (best != considered.end()) {
        now.insert(best->guard);
      }
    }
    for (const std::string& guard : now) {
      ++stopped[guard];
    }
  }
  const auto most =
      std::ranges::max_element(stopped, {}, [](const auto& entry) { return entry.second; });
  return most == stopped.end() ? std::pair<std::string, std::int64_t>{}
                               : std::pair{most->first, most->second};
}

struct Cause {
  std::string kind;    ///< for the mechanism
  std::string detail;  ///< with numbers
};

Cause cause_of(const Trial& trial, const Scenario& scenario) {
  const std::int64_t waits = (trial.ours.owed - trial.opponent_owed).value;
  const SimulationResult& ours = trial.ours;
  const std::int64_t actions = ours.moves + ours.swaps + ours.locality_moves + ours.long_term_moves;
  const bool by_waiting = waits * 2 >= trial.behind;
  std::string kind = by_waiting     ? actions == 0 ? "VMs wait for CPUs and are not moved"
                                                   : "VMs wait for CPUs before or between moves"
                     : actions == 0 ? "memory is remote and nothing is moved"
                                    : "memory is remote before or after moves";
  std::string detail = fmt::format(
      "{:.1f} % of demand waits ({} {:.1f} %), {:.1f} % is lost to remote memory; {} moves, "
      "{} MiB",
      pct(ours.owed.value), trial.opponent, pct(trial.opponent_owed.value),
      pct(ours.lost.value - ours.owed.value), actions, ours.moved.value >> 20U);
  if (const auto [guard, epochs] = most_frequent_guard(scenario); !guard.empty()) {
    detail += fmt::format("; what would gain is stopped by {} in {} of {} epochs", guard, epochs,
                          scenario.epochs);
  }
  return {std::move(kind), std::move(detail)};
}

std::string size_of(const Scenario& scenario) {
  return fmt::format("{} VM{} on {} node{} for {} epochs", scenario.vms.size(),
                     scenario.vms.size() == 1 ? "" : "s", scenario.host.nodes.size(),
                     scenario.host.nodes.size() == 1 ? "" : "s", scenario.epochs);
}

std::string takes_text(const Weakness& weakness) {
  return weakness.takes.empty() ? "nothing special"
                                : fmt::format("{}", fmt::join(weakness.takes, ", "));
}

}  // namespace

Weakness make_weakness(std::int64_t climb, Scenario scenario, std::string_view against) {
  Weakness weakness;
  const Trial trial = try_out(scenario, against, /*enough=*/0);
  const Cause cause = cause_of(trial, scenario);
  weakness.climb = climb;
  weakness.opponent = trial.opponent;
  weakness.behind = trial.behind;
  weakness.takes = features_in(scenario);
  scenario.name = fmt::format("found-{}", climb);
  scenario.description = fmt::format("Found by search: vmnuma loses {:.1f} %, {} {:.1f} %; {}",
                                     pct(trial.ours.lost.value), trial.opponent,
                                     pct(trial.opponent_lost.value), size_of(scenario));
  weakness.comparison = compare_policies(scenario, [] {});
  const std::string why =
      fmt::format("{}: {}; takes {}", cause.kind, cause.detail, takes_text(weakness));
  if (!we_are_first(weakness.comparison)) {
    scenario.not_first_because = why;
  }
  weakness.cause = cause.kind;
  weakness.comparison.not_first_because = why;
  weakness.scenario = std::move(scenario);
  return weakness;
}

Weakness make_violation(std::int64_t climb, Scenario scenario, std::string violation) {
  Weakness weakness;
  weakness.climb = climb;
  scenario.name = fmt::format("violation-{}", climb);
  scenario.description =
      fmt::format("Found by search: something is violated; {}", size_of(scenario));
  weakness.violation = std::move(violation);
  weakness.takes = features_in(scenario);
  weakness.comparison = compare_policies(scenario, [] {});
  weakness.scenario = std::move(scenario);
  return weakness;
}

namespace {

/// Returns the text without numbers and names, which differ from scenario to scenario.
std::string kind_of_violation(const std::string& text) {
  std::string kind;
  bool is_name = false;
  for (const char c : text) {
    is_name = c == '\'' ? !is_name : is_name;
    if (!is_name && (c < '0' || c > '9')) {
      kind += c;
    }
  }
  return kind;
}

bool are_of_one_mechanism(const Weakness& a, const Weakness& b) {
  if (!a.violation.empty() || !b.violation.empty()) {
    return kind_of_violation(a.violation) == kind_of_violation(b.violation);
  }
  return a.cause == b.cause && a.takes == b.takes;
}

/// Returns the sort key: violations first, small ones before large ones, then the weaknesses that
/// are furthest behind.
auto rank_of(const Weakness& weakness) {
  const Scenario& scenario = weakness.scenario;
  const auto size = static_cast<std::int64_t>(scenario.vms.size() + scenario.host.nodes.size());
  const bool violates = !weakness.violation.empty();
  return std::tuple(!violates, violates ? size : -weakness.behind);
}

}  // namespace

std::vector<Weakness> by_mechanism(std::vector<Weakness> weaknesses) {
  std::ranges::stable_sort(weaknesses, {}, rank_of);
  std::vector<Weakness> kept;
  for (Weakness& weakness : weaknesses) {
    const bool is_known = std::ranges::any_of(
        kept, [&](const Weakness& other) { return are_of_one_mechanism(weakness, other); });
    if (!is_known) {
      kept.push_back(std::move(weakness));
    }
  }
  return kept;
}

std::string to_text(const std::vector<Weakness>& weaknesses, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < std::min(weaknesses.size(), most); ++i) {
    const Weakness& weakness = weaknesses[i];
    if (!weakness.violation.empty()) {
      out += fmt::format("{}: VIOLATION {}; {}; takes {}\n", weakness.scenario.name,
                         weakness.violation, size_of(weakness.scenario), takes_text(weakness));
      continue;
    }
    out +=
        fmt::format("{}: {:.2f} % behind {}; {}\n ", weakness.scenario.name,
                    two_digits({weakness.behind}), weakness.opponent, size_of(weakness.scenario));
    for (const PolicyResult& row : weakness.comparison.policies) {
      out += fmt::format(" {} {:.2f}", row.policy, two_digits(row.lost));
    }
    out += fmt::format(" bound {:.2f}\n  {}\n", two_digits(weakness.comparison.bound),
                       weakness.comparison.not_first_because);
  }
  return out;
}

std::string to_json(const std::vector<Weakness>& weaknesses) {
  ordered_json list = ordered_json::array();
  for (const Weakness& weakness : weaknesses) {
    ordered_json lost = ordered_json::object();
    for (const PolicyResult& row : weakness.comparison.policies) {
      lost[row.policy] = two_digits(row.lost);
    }
    lost[std::string(kBound)] = two_digits(weakness.comparison.bound);
    list.push_back({{"scenario", weakness.scenario.name},
                    {"opponent", weakness.opponent},
                    {"behind_pct", two_digits({weakness.behind})},
                    {"lost_pct", std::move(lost)},
                    {"cause", weakness.cause},
                    {"takes", weakness.takes},
                    {"violation", weakness.violation}});
  }
  return text::json_text(list);
}

}  // namespace vmnuma::tools
