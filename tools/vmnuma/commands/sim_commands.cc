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
#include "stats/text/json.h"
#include "stats/text/shell_word.h"
#include "tools/sim/comparison.h"
#include "tools/sim/policies/policy.h"
#include "tools/sim/scenario/catalogue.h"
#include "tools/sim/scenario/scenario_writer.h"
#include "tools/sim/search/drawn.h"
#include "tools/sim/simulation.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/arguments/report_shape.h"
#include "tools/vmnuma/commands/recording_file.h"
#include "tools/vmnuma/terminal/messages.h"
#include "tools/vmnuma/terminal/progress_bar.h"
#include "tools/vmnuma/terminal/surroundings.h"
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

/// Prints an error; a scenario may have several, one per line.
int failed(const Invocation& invocation, Surroundings& surroundings, const Error& error) {
  return fail(invocation, surroundings, error, kExitUsage);
}

/// Returns the scenario with this name on the command line.
Result<Scenario> scenario_of(const std::string& name, const std::string& scenarios) {
  if (std::optional<Scenario> drawn = drawn_scenario(name)) {
    return *std::move(drawn);
  }
  return find_scenario(name, scenarios);
}

std::string tables(Simulation& simulation) {
  std::string text;
  for (const char* type : {"numa-pnode", "numa-clients"}) {
    const auto report = simulation.table(type);
    text += report ? text_of(*report, ReportShape{}) + "\n" : "";
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
  Progress(Surroundings& surroundings, const Invocation& invocation, std::int64_t epochs,
           ProgressBar& bar)
      : surroundings_(surroundings),
        bar_(bar),
        watch_(invocation.watch),
        watched_epoch_(invocation.watch_seconds == 0
                           ? kWatchedEpoch
                           : std::chrono::seconds(invocation.watch_seconds)),
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
int print_explanation(Simulation& simulation, const std::string& vm, const Invocation& invocation,
                      Surroundings& surroundings) {
  const Result<balancer::Answer> answer = simulation.ask(balancer::ExplainRequest{vm});
  if (!answer) {
    return failed(invocation, surroundings, answer.error());
  }
  if (invocation.json) {
    const auto response = balancer::parse_response(balancer::encode_response(0, answer), 0);
    if (!response || !response->result) {
      return failed(invocation, surroundings,
                    response ? response->result.error() : response.error());
    }
    return print(invocation, surroundings, *response->result + "\n");
  }
  return print(invocation, surroundings, text_of(std::get<balancer::ExplainView>(*answer)));
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

/// Makes the simulation. Error: the policy or scenario does not exist, or the policy does not
/// support what was requested.
Result<std::unique_ptr<Simulation>> simulation_of(const SimRunRequest& request, bool watch,
                                                  const std::string& scenarios) {
  std::unique_ptr<Policy> policy = make_policy(request.policy);
  if (!policy && request.policy != kOurs) {
    std::vector<std::string_view> known(kPeers.begin(), kPeers.end());
    known.push_back(kOurs);
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("--policy: there is no policy '{}'{}", request.policy,
                               did_you_mean(request.policy, known)));
  }
  if (policy && (request.record || request.explain || watch)) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("--policy: '{}' has no tables, explains and records nothing, so "
                               "--watch, --explain and --record are for {} only",
                               request.policy, kOurs));
  }
  VMNUMA_ASSIGN_OR_RETURN(auto scenario, scenario_of(request.scenario, scenarios));
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

int SimRunRequest::run(const Invocation& invocation, Surroundings& surroundings) const {
  const Result<std::unique_ptr<Simulation>> made =
      simulation_of(*this, invocation.watch, surroundings.scenarios);
  if (!made) {
    return failed(invocation, surroundings, made.error());
  }
  Simulation& simulation = **made;
  std::optional<RecordingFile> recording;
  if (record) {
    Result<RecordingFile> file = RecordingFile::create(*record);
    if (!file) {
      return failed(invocation, surroundings, file.error());
    }
    recording = std::move(*file);
    simulation.record(/*anonymize=*/false);
  }
  const std::int64_t all = simulation.scenario().epochs;
  ProgressBar bar(surroundings, invocation, simulation.scenario().name);
  Progress progress(surroundings, invocation, all, bar);
  while (!simulation.finished()) {
    simulation.run_epoch();
    if (recording) {
      if (Result<void> written = recording->write(simulation.take_recording()); !written) {
        return failed(invocation, surroundings, written.error());
      }
    }
    if (!invocation.json && !explain && !progress.show(simulation)) {
      return kExitOk;
    }
    surroundings.out << std::flush;  // the bar must come after what was printed
    bar.show(simulation.epoch(), all, fmt::format("epoch {} of {}", simulation.epoch(), all));
  }
  bar.hide();
  if (explain) {
    return print_explanation(simulation, *explain, invocation, surroundings);
  }
  SimulationResult result = simulation.result();
  result.policy = policy;
  std::string text = to_json(result) + "\n";
  if (!invocation.json) {
    text = vm_table(result) + "\n" + to_text(result);
    text += policy == kOurs ? "\n" + next_step(*this, result) : "";
  }
  const int printed = print(invocation, surroundings, text);
  return result.violations.empty() ? printed : kExitRefused;
}

int SimListRequest::run(const Invocation& invocation, Surroundings& surroundings) const {
  const Result<std::vector<Scenario>> all = list_scenarios(surroundings.scenarios);
  if (!all) {
    return failed(invocation, surroundings, all.error());
  }
  if (invocation.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Scenario& scenario : *all) {
      list.push_back({{"name", scenario.name},
                      {"description", scenario.description},
                      {"epochs", scenario.epochs},
                      {"nodes", scenario.host.nodes.size()},
                      {"vms", scenario.vms.size()}});
    }
    return print(invocation, surroundings, text::json_text(list) + "\n");
  }
  Listing listing;
  listing.columns = {
      {"name", "SCENARIO"},
      {"epochs", "EPOCHS", Table::Align::kRight, Listing::Shown::kWide},
      {"nodes", "NODES", Table::Align::kRight, Listing::Shown::kWide},
      {"vms", "VMS", Table::Align::kRight, Listing::Shown::kWide},
      {"description", "WHAT"},
  };
  for (const Scenario& scenario : *all) {
    listing.names.push_back(scenario.name);
    listing.rows.push_back({cell(scenario.name), cell(scenario.epochs),
                            cell(static_cast<std::int64_t>(scenario.host.nodes.size())),
                            cell(static_cast<std::int64_t>(scenario.vms.size())),
                            cell(scenario.description)});
  }
  return print(invocation, surroundings, text_of(listing, invocation.format));
}

int SimCompareRequest::run(const Invocation& invocation, Surroundings& surroundings) const {
  std::vector<Scenario> chosen;
  if (scenarios.empty() && !drawn) {
    Result<std::vector<Scenario>> all = list_scenarios(surroundings.scenarios);
    if (!all) {
      return failed(invocation, surroundings, all.error());
    }
    chosen = std::move(*all);
  }
  for (const std::string& name : scenarios) {
    Result<Scenario> scenario = scenario_of(name, surroundings.scenarios);
    if (!scenario) {
      return failed(invocation, surroundings, scenario.error());
    }
    chosen.push_back(std::move(*scenario));
  }
  for (std::int64_t i = 0; i < drawn.value_or(0); ++i) {
    chosen.push_back(
        drawn_scenario(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(i)));
  }
  std::vector<ScenarioComparison> comparisons;
  ProgressBar bar(surroundings, invocation, "sim compare");
  const auto all = static_cast<std::int64_t>(chosen.size() * (kPeers.size() + 1));
  std::int64_t done = 0;
  for (Scenario& scenario : chosen) {
    scenario.epochs = std::min(scenario.epochs, epochs.value_or(scenario.epochs));
    bar.show(done, all, scenario.name);
    comparisons.push_back(
        compare_policies(scenario, [&] { bar.show(++done, all, scenario.name); }));
  }
  bar.hide();
  if (invocation.json) {
    return print(invocation, surroundings, to_json(comparisons) + "\n");
  }
  if (invocation.format != ListFormat::kTable) {
    return print(invocation, surroundings,
                 text_of(comparison_rows(comparisons), invocation.format));
  }
  return print(
      invocation, surroundings,
      to_text(comparisons) + (comparisons.size() > 1 ? to_text(summary_of(comparisons)) : ""));
}

int SimCheckRequest::run(const Invocation& invocation, Surroundings& surroundings) const {
  const Result<Scenario> found = scenario_of(scenario, surroundings.scenarios);
  if (!found) {
    return failed(invocation, surroundings, found.error());
  }
  const nlohmann::ordered_json json{{"name", found->name},
                                    {"epochs", found->epochs},
                                    {"nodes", found->host.nodes.size()},
                                    {"vms", found->vms.size()}};
  return print(invocation, surroundings,
               invocation.json
                   ? text::json_text(json) + "\n"
                   : fmt::format("{}: {} nodes, {} VMs, {} epochs\n", printable(found->name),
                                 found->host.nodes.size(), found->vms.size(), found->epochs));
}

int SimShowRequest::run(const Invocation& invocation, Surroundings& surroundings) const {
  const Result<Scenario> found = scenario_of(scenario, surroundings.scenarios);
  return found ? print(invocation, surroundings, to_toml(*found))
               : failed(invocation, surroundings, found.error());
}

}  // namespace vmnuma::tools
