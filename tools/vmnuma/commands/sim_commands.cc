// SPDX-License-Identifier: Apache-2.0
// `vmnuma sim`, except `sim search`: the balancer on a simulated host. Needs no daemon. Exit codes:
// kExitOk; kExitRefused if a rule of the oracles was violated; kExitUsage if there is no such
// scenario or its file is wrong.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/protocol/response.h"
#include "placement/model/suggest.h"
#include "stats/text/shell_word.h"
#include "tools/sim/comparison.h"
#include "tools/sim/policies/policy.h"
#include "tools/sim/scenario/catalogue.h"
#include "tools/sim/scenario/scenario_file.h"
#include "tools/sim/search/drawn.h"
#include "tools/sim/simulation.h"
#include "tools/vmnuma/arguments/report_shape.h"
#include "tools/vmnuma/commands/recording_file.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/terminal/progress_bar.h"
#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/table.h"
#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

namespace {

/// How often the tables are shown during a run, in addition to its end.
constexpr std::int64_t kTimesShown = 5;
constexpr std::chrono::milliseconds kWatchedEpoch{200};
constexpr std::size_t kWatchedNews = 12;

/// Returns the scenario with this name on the command line. Its errors are one per line.
OrFailure<Scenario> scenario_of(const std::string& name, const std::string& scenarios) {
  if (std::optional<Scenario> drawn = drawn_scenario(name)) {
    return *std::move(drawn);
  }
  return find_scenario(name, scenarios).map_error(usage_failure);
}

std::string tables(Simulation& simulation) {
  std::string text;
  for (const char* type : {"numa-pnode", "numa-clients"}) {
    const Result<balancer::Answer> report = simulation.ask(balancer::StatsRequest{type});
    text += report ? text_of(std::get<stats::Report>(*report), ReportShape{}) + "\n" : "";
  }
  return text;
}

std::string percentage_text(Percentage share) {
  return fmt::format("{}.{}", share.value / 1000, share.value / 100 % 10);
}

std::string vm_table(const SimulationResult& result) {
  Table table({{"VM"},
               {"HOME"},
               {"USED%", Table::Align::kRight},
               {"ENTITLED%", Table::Align::kRight},
               {"LOCAL%", Table::Align::kRight},
               {"MOVES", Table::Align::kRight}});
  for (const VmResult& vm : result.vms) {
    std::string homes;
    for (const NodeId home : vm.homes) {
      homes += (homes.empty() ? "" : ",") + node_text(home);
    }
    table.add_row({vm.name, homes.empty() ? "-" : homes, percentage_text(vm.used),
                   percentage_text(vm.entitled), percentage_text(vm.locality),
                   std::to_string(vm.moves)});
  }
  return table.text();
}

/// Prints a run as it progresses.
class Progress {
 public:
  Progress(const Context& context, std::int64_t epochs, ProgressBar& bar)
      : surroundings_(context.surroundings),
        bar_(bar),
        watch_(context.invocation.watch),
        watched_epoch_(context.invocation.watch_seconds == 0
                           ? kWatchedEpoch
                           : std::chrono::seconds(context.invocation.watch_seconds)),
        every_(std::max<std::int64_t>(epochs / kTimesShown, 1)) {}

  /// Shows the tables. Returns false if the output is no longer wanted.
  [[nodiscard]] bool show(Simulation& simulation) {
    const std::int64_t epoch = simulation.epoch() - 1;
    for (const std::string& line : simulation.news()) {
      news_.push_back(fmt::format("epoch {:>4}  {}", epoch, printable(line)));
    }
    if (watch_ && surroundings_.out_is_terminal) {
      show_screen(simulation, epoch);
      return surroundings_.pause(watched_epoch_);
    }
    const bool tables_are_due = watch_ || epoch % every_ == every_ - 1 || epoch == 0;
    if (!news_.empty() || tables_are_due) {
      bar_.hide();
    }
    for (const std::string& line : news_) {
      surroundings_.out << line << '\n';
    }
    news_.clear();
    if (tables_are_due) {
      surroundings_.out << fmt::format("\nafter epoch {}:\n", epoch) << tables(simulation);
    }
    return true;
  }

 private:
  void show_screen(Simulation& simulation, std::int64_t epoch) {
    surroundings_.out << "\x1b[H\x1b[J"  // ECMA-48 CUP, ED
                      << fmt::format("epoch {} of {}\n\n", epoch, simulation.scenario().epochs)
                      << tables(simulation);
    if (news_.size() > kWatchedNews) {
      news_.erase(news_.begin(), news_.end() - kWatchedNews);
    }
    for (const std::string& line : news_) {
      surroundings_.out << line << '\n';
    }
    surroundings_.out << std::flush;
  }

  Surroundings& surroundings_;
  ProgressBar& bar_;
  bool watch_;
  std::chrono::milliseconds watched_epoch_;
  std::int64_t every_;
  std::vector<std::string> news_;
};

/// Prints the answer of `explain` on the simulated host.
OrFailure<int> print_explanation(Simulation& simulation, const std::string& vm,
                                 const Context& context) {
  const Result<balancer::Answer> answer = simulation.ask(balancer::ExplainRequest{vm});
  if (!answer) {
    return tl::unexpected(usage_failure(answer.error()));
  }
  if (!context.invocation.json) {
    return context.print(text_of(std::get<balancer::ExplainView>(*answer)));
  }
  return balancer::parse_response(balancer::encode_response(0, answer), 0)
      .and_then([](balancer::Response response) { return std::move(response.result); })
      .map([&](const std::string& json) { return context.print(json + "\n"); })
      .map_error(usage_failure);
}

/// Returns the command that explains why a VM, preferably one that was moved, is where it is.
std::string next_step(const SimRunRequest& request, const SimulationResult& result) {
  if (result.vms.empty()) {
    return "";
  }
  const auto moved = std::find_if(result.vms.begin(), result.vms.end(),
                                  [](const VmResult& vm) { return vm.moves > 0; });
  std::string command = "vmnuma sim run " + text::shell_word(request.scenario);
  if (request.epochs) {
    command += fmt::format(" --epochs {}", *request.epochs);
  }
  if (request.seed) {
    command += fmt::format(" --seed {}", *request.seed);
  }
  const VmResult& vm = moved != result.vms.end() ? *moved : result.vms.front();
  return fmt::format("Next, ask why: {} --explain {}\n", command, text::shell_word(vm.name));
}

/// Makes the simulation. Failure: the policy or scenario does not exist, or the policy does not
/// support what was requested.
OrFailure<std::unique_ptr<Simulation>> simulation_of(const SimRunRequest& request,
                                                     const Context& context) {
  std::unique_ptr<Policy> policy = make_policy(request.policy);
  if (!policy && request.policy != kOurs) {
    std::vector<std::string_view> known(kPeers.begin(), kPeers.end());
    known.push_back(kOurs);
    return wrong_usage(fmt::format("--policy: there is no policy '{}'{}", request.policy,
                                   did_you_mean(request.policy, known)));
  }
  if (policy && (request.record || request.explain || context.invocation.watch)) {
    return wrong_usage(fmt::format(
        "--policy: '{}' has no tables, explains and records nothing, so --watch, --explain and "
        "--record are for {} only",
        request.policy, kOurs));
  }
  VMNUMA_ASSIGN_OR_RETURN(auto scenario,
                          scenario_of(request.scenario, context.surroundings.scenarios));
  scenario.epochs = request.epochs.value_or(scenario.epochs);
  scenario.seed = request.seed ? static_cast<std::uint64_t>(*request.seed) : scenario.seed;
  return std::make_unique<Simulation>(std::move(scenario), std::move(policy));
}

/// Returns a share in per cent with two digits.
Listing::Cell share_cell(Percentage share) {
  return cell(fmt::format("{:.2f}", static_cast<double>(share.value) / 1000));
}

/// Returns a row per policy, with the bound after the policies of each scenario.
Listing comparison_rows(const std::vector<ScenarioComparison>& comparisons) {
  Listing listing;
  listing.columns = {{"scenario", "SCENARIO"},
                     {"policy", "POLICY"},
                     {"lost_pct", "LOST%", Align::kRight},
                     {"worst_off_pct", "WORST-OFF%", Align::kRight},
                     {"changes", "CHANGES", Align::kRight},
                     {"bytes_moved", "MOVED", Align::kRight},
                     {"bytes_below_reserve", "BELOW-RESERVE", Align::kRight}};
  for (const ScenarioComparison& comparison : comparisons) {
    listing.names.push_back(comparison.scenario);
    for (const PolicyResult& row : comparison.policies) {
      listing.rows.push_back({cell(comparison.scenario), cell(row.policy), share_cell(row.lost),
                              share_cell(row.worst_off), cell(row.changes),
                              bytes_cell(row.moved.value), bytes_cell(row.below_reserve.value)});
    }
    const Listing::Cell none{"-", ""};
    listing.rows.push_back({cell(comparison.scenario), cell(std::string(kBound)),
                            share_cell(comparison.bound), none, none, none, none});
  }
  return listing;
}

}  // namespace

OrFailure<int> SimRunRequest::run(const Context& context) const {
  VMNUMA_ASSIGN_OR_RETURN(const auto made, simulation_of(*this, context));
  Simulation& simulation = *made;
  std::optional<RecordingFile> recording;
  if (record) {
    VMNUMA_ASSIGN_OR_RETURN(recording, RecordingFile::create(*record).map_error(usage_failure));
    simulation.record(/*anonymize=*/false);
  }
  const std::int64_t all = simulation.scenario().epochs;
  ProgressBar bar(context, simulation.scenario().name);
  Progress progress(context, all, bar);
  while (!simulation.finished()) {
    simulation.run_epoch();
    if (recording) {
      VMNUMA_RETURN_IF_ERROR(
          recording->write(simulation.take_recording()).map_error(usage_failure));
    }
    if (!context.invocation.json && !explain && !progress.show(simulation)) {
      return kExitOk;
    }
    context.surroundings.out << std::flush;  // the bar must come after what was printed
    bar.show(simulation.epoch(), all, fmt::format("epoch {} of {}", simulation.epoch(), all));
  }
  bar.hide();
  if (explain) {
    return print_explanation(simulation, *explain, context);
  }
  SimulationResult result = simulation.result();
  result.policy = policy;
  std::string text = to_json(result) + "\n";
  if (!context.invocation.json) {
    text = vm_table(result) + "\n" + to_text(result);
    text += policy == kOurs ? "\n" + next_step(*this, result) : "";
  }
  const int printed = context.print(text);
  return result.violations.empty() ? printed : kExitRefused;
}

OrFailure<int> SimListRequest::run(const Context& context) const {
  VMNUMA_ASSIGN_OR_RETURN(const auto all,
                          list_scenarios(context.surroundings.scenarios).map_error(usage_failure));
  if (context.invocation.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Scenario& scenario : all) {
      list.push_back({{"name", scenario.name},
                      {"description", scenario.description},
                      {"epochs", scenario.epochs},
                      {"nodes", scenario.host.nodes.size()},
                      {"vms", scenario.vms.size()}});
    }
    return context.print(list, "");
  }
  Listing listing;
  listing.columns = {
      {"name", "SCENARIO"},
      {"epochs", "EPOCHS", Table::Align::kRight, Listing::Shown::kWide},
      {"nodes", "NODES", Table::Align::kRight, Listing::Shown::kWide},
      {"vms", "VMS", Table::Align::kRight, Listing::Shown::kWide},
      {"description", "WHAT"},
  };
  for (const Scenario& scenario : all) {
    listing.names.push_back(scenario.name);
    listing.rows.push_back({cell(scenario.name), cell(scenario.epochs),
                            cell(static_cast<std::int64_t>(scenario.host.nodes.size())),
                            cell(static_cast<std::int64_t>(scenario.vms.size())),
                            cell(scenario.description)});
  }
  return context.print(text_of(listing, context.invocation.format));
}

OrFailure<int> SimCompareRequest::run(const Context& context) const {
  std::vector<Scenario> chosen;
  if (scenarios.empty() && !drawn) {
    VMNUMA_ASSIGN_OR_RETURN(
        chosen, list_scenarios(context.surroundings.scenarios).map_error(usage_failure));
  }
  for (const std::string& name : scenarios) {
    VMNUMA_ASSIGN_OR_RETURN(auto scenario, scenario_of(name, context.surroundings.scenarios));
    chosen.push_back(std::move(scenario));
  }
  for (std::int64_t i = 0; i < drawn.value_or(0); ++i) {
    chosen.push_back(
        drawn_scenario(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(i)));
  }
  std::vector<ScenarioComparison> comparisons;
  ProgressBar bar(context, "sim compare");
  const auto all = static_cast<std::int64_t>(chosen.size() * (kPeers.size() + 1));
  std::int64_t done = 0;
  for (Scenario& scenario : chosen) {
    scenario.epochs = std::min(scenario.epochs, epochs.value_or(scenario.epochs));
    bar.show(done, all, scenario.name);
    comparisons.push_back(
        compare_policies(scenario, [&] { bar.show(++done, all, scenario.name); }));
  }
  bar.hide();
  if (context.invocation.json) {
    return context.print(to_json(comparisons) + "\n");
  }
  if (context.invocation.format != ListFormat::kTable) {
    return context.print(text_of(comparison_rows(comparisons), context.invocation.format));
  }
  return context.print(to_text(comparisons) +
                       (comparisons.size() > 1 ? to_text(summary_of(comparisons)) : ""));
}

OrFailure<int> SimCheckRequest::run(const Context& context) const {
  VMNUMA_ASSIGN_OR_RETURN(const auto found, scenario_of(scenario, context.surroundings.scenarios));
  return context.print(
      {{"name", found.name},
       {"epochs", found.epochs},
       {"nodes", found.host.nodes.size()},
       {"vms", found.vms.size()}},
      fmt::format("{}: {}, {}, {}\n", printable(found.name),
                  counted_text(std::ssize(found.host.nodes), "node"),
                  counted_text(std::ssize(found.vms), "VM"), counted_text(found.epochs, "epoch")));
}

OrFailure<int> SimShowRequest::run(const Context& context) const {
  return scenario_of(scenario, context.surroundings.scenarios).map([&](const Scenario& found) {
    return context.print(to_toml(found));
  });
}

}  // namespace vmnuma::tools
