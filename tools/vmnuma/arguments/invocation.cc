// SPDX-License-Identifier: Apache-2.0
// The only file of this program that knows CLI11.
#include "tools/vmnuma/arguments/invocation.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "balancer/config/config.h"
#include "placement/model/plan.h"
#include "placement/model/suggest.h"
#include "tools/vmnuma/arguments/command_table.h"
#include "tools/vmnuma/arguments/since.h"
#include "tools/vmnuma/arguments/what_if_arguments.h"

namespace vmnuma::tools {

namespace {

using balancer::Command;

/// A check that does not repeat the range in the help.
CLI::Validator in_range(std::int64_t smallest, std::int64_t largest) {
  return CLI::Range(smallest, largest).description("");
}

/// The command line and where it puts what it reads. The last command that was given decides
/// `make`.
class CommandLine {
 public:
  explicit CommandLine(std::int64_t now_unix_s) : now_unix_s_(now_unix_s) {
    app_.name("vmnuma");
    app_.get_formatter()->column_width(24);
    app_.set_version_flag("--version", "vmnuma " VMNUMA_VERSION);
    app_.add_option("--socket", socket_path_, "The daemon's control socket")->type_name("PATH");
    app_.add_flag("--json", json_, "Print the answer as one line of JSON");
    app_.require_subcommand(0, 1);
    app_.allow_extras();  // refused in unknown_word(), with a suggestion
    add_reading_commands();
    add_options_commands();
    add_changing_commands();
    add_recording_commands();
    add_sim_commands();
  }

  [[nodiscard]] tl::expected<Invocation, EarlyExit> parse(std::span<const std::string> arguments) {
    std::vector<std::string> reversed = with_seconds_joined(arguments);
    std::reverse(reversed.begin(), reversed.end());  // as CLI11 wants it
    try {
      app_.parse(reversed);
    } catch (const CLI::Success& asked_for) {
      return tl::unexpected(EarlyExit{kExitOk, text_for(asked_for)});
    } catch (const CLI::ParseError& error) {
      return usage(error.what());
    }
    for (const std::string& word : app_.remaining(/*recurse=*/true)) {
      if (word != "--") {  // CLI11 leaves the end of the options there
        return usage(unknown_word(word));
      }
    }
    if (!make_ && !sim_ && !record_ && !replay_ && !doctor_ && !past_ && !forecast_ && !train_ &&
        !repack_) {
      return usage(app_.got_subcommand("options")    ? "options needs one of list, get and set"
                   : app_.got_subcommand("forecast") ? "forecast needs one of show and train"
                   : app_.got_subcommand("sim") ? "sim needs one of run, list, compare and search"
                                                : "a command is needed, such as 'status'");
    }
    Invocation invocation;
    invocation.socket_path = socket_path_;
    invocation.json = json_;
    invocation.watch = watch_ >= 0;
    invocation.watch_seconds = std::max<std::int64_t>(watch_, 0);
    invocation.wait = wait_;
    if (replay_) {
      if (auto read = read_all("--options", replay_options_, parse_named_value, replay_->options);
          !read) {
        return usage(read.error().message);
      }
    }
    if (past_) {
      auto since = parse_since(past_since_, now_unix_s_);
      if (!since) {
        return usage(std::move(since).error().within("--since").message);
      }
      past_->since_unix_s = *since;
      past_->until_unix_s = now_unix_s_;
      if (*since >= now_unix_s_) {
        return usage("--since must be in the past");
      }
    }
    if (sim_ || record_ || replay_ || doctor_ || past_ || forecast_ || train_ || repack_) {
      invocation.repack = repack_;
      invocation.forecast = std::move(forecast_);
      invocation.train = std::move(train_);
      invocation.report = std::move(past_);
      invocation.doctor = std::move(doctor_);
      invocation.sim = std::move(sim_);
      invocation.record = std::move(record_);
      invocation.replay = std::move(replay_);
      return invocation;
    }
    auto command = make_();
    if (!command) {
      return usage(command.error().message);
    }
    invocation.command = std::move(*command);
    invocation.exported = std::move(exported_);
    if (wants_optimum_) {
      invocation.optimal = optimal_;
    }
    invocation.full_screen = std::holds_alternative<balancer::HostRequest>(invocation.command) &&
                             !invocation.exported && !once_ && !json_ && !invocation.watch;
    return invocation;
  }

  [[nodiscard]] CommandInfo table() const { return info_of(app_); }

 private:
  static CommandInfo info_of(const CLI::App& app) {
    CommandInfo info{app.get_name(), app.get_description(), {}, {}, {}};
    for (const CLI::Option* option : app.get_options()) {
      const bool repeatable = option->get_items_expected_max() > 1;
      if (option->nonpositional()) {
        OptionInfo& added = info.options.emplace_back();
        for (const std::string& name : option->get_snames()) {
          added.names.push_back("-" + name);
        }
        for (const std::string& name : option->get_lnames()) {
          added.names.push_back("--" + name);
        }
        added.value = option->get_items_expected_max() == 0 ? "" : option->get_type_name();
        added.help = option->get_description();
        added.repeatable = repeatable;
      } else {
        info.arguments.push_back({option->get_name(), option->get_description(), repeatable});
      }
    }
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      info.commands.push_back(info_of(*command));
    }
    return info;
  }

  /// A command; `make` yields its request once the line has been read.
  CLI::App* add(CLI::App& parent, const std::string& name, const std::string& help,
                std::function<Result<Command>()> make) {
    CLI::App* command = parent.add_subcommand(name, help);
    command->fallthrough();  // `vmnuma status --json` is as good as `vmnuma --json status`
    command->callback([this, make = std::move(make)] { make_ = make; });
    return command;
  }

  /// A command that shows something.
  CLI::App* add_reading(CLI::App& parent, const std::string& name, const std::string& help,
                        std::function<Result<Command>()> make) {
    CLI::App* command = add(parent, name, help, std::move(make));
    add_watch(*command);
    return command;
  }

  CLI::Option* add_watch(CLI::App& command) {
    return command.add_option("--watch", watch_, "Again every epoch, or every so many seconds")
        ->check(in_range(0, kLongestWatch))
        ->type_name("[SECONDS]");
  }

  /// CLI11 would take any word behind "--watch" or "--follow" for its number, so it is given one by
  /// "=".
  static std::vector<std::string> with_seconds_joined(std::span<const std::string> arguments) {
    const auto is_number = [](const std::string& text) {
      return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    };
    std::vector<std::string> joined;
    bool options_end = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      joined.push_back(arguments[i]);
      options_end = options_end || arguments[i] == "--";
      if ((arguments[i] == "--watch" || arguments[i] == "--follow") && !options_end) {
        const bool has_number = i + 1 < arguments.size() && is_number(arguments[i + 1]);
        joined.back() += "=" + (has_number ? arguments[++i] : "0");
      }
    }
    return joined;
  }

  void add_reading_commands() {
    add_reading(app_, "status", "What the balancer does",
                [] { return Command(balancer::StatusRequest{}); });

    CLI::App* top = add_reading(app_, "top", "Nodes and VMs on a full screen",
                                [] { return Command(balancer::HostRequest{}); });
    top->add_flag("--once", once_, "Print one screen as text, as it is done without a terminal");

    CLI::App* stats = add_reading(app_, "stats", "The tables of ESXi's sched-stats",
                                  [this] { return Command(balancer::StatsRequest{type_}); });
    stats->add_option("-t", type_, "Which table, such as numa-pnode")
        ->required()
        ->type_name("TYPE");

    add_reading(app_, "memory", "Memory of VMs, its protection, and who loses some first",
                [] { return Command(balancer::MemoryRequest{}); });

    CLI::App* explain = add_reading(app_, "explain", "Why a VM is where it is",
                                    [this] { return Command(balancer::ExplainRequest{vm_}); });
    add_vm(*explain)->required();

    CLI::App* history =
        add_reading(app_, "history", "Past moves, newest first", [this] { return make_history(); });
    history->add_option("--limit", history_.limit, "At most so many rows")
        ->check(in_range(1, balancer::kMostHistoryRows))
        ->type_name("N")
        ->capture_default_str();
    history->add_option("--since", since_, "Not before: an age such as 2h or 7d, or a time")
        ->type_name("WHEN");
    history->add_option("--vm", history_.vm, "Only this VM (name or UUID)")->type_name("VM");
    history->add_option("--node", node_, "Only moves from or to this node")
        ->check(in_range(0, kMostNode))
        ->type_name("NODE");
    history->add_option("--reason", history_.reason, "Only this reason, such as load-move")
        ->type_name("REASON");

    add_plan_command();
    add_repack_command();
    add_forecast_commands();
    add_what_if_command();
    add_doctor_command();
    add_report_command();
    add_export_command();
  }

  void add_export_command() {
    CLI::App* exported =
        add_reading(app_, "export", "The host in the words of a cluster's scheduler",
                    [this] { return make_export(); });
    exported->add_option("--format", format_, "nrt for Kubernetes, or openstack")
        ->required()
        ->type_name("FORMAT");
    exported->add_option("--name", export_name_, "What the cluster calls this host")
        ->type_name("HOST");
    exported
        ->add_option("--follow", follow_,
                     "One line whenever it has changed, looked at every epoch or so many seconds")
        ->check(in_range(0, kLongestWatch))
        ->type_name("[SECONDS]")
        ->excludes("--watch");
  }

  void add_forecast_commands() {
    CLI::App* forecast = app_.add_subcommand("forecast", "What VMs will want");
    forecast->fallthrough();
    forecast->require_subcommand(0, 1);
    CLI::App* show = forecast->add_subcommand(
        "show", "A VM's next ten minutes, and how good past forecasts were");
    show->fallthrough();
    show->add_option("VM", forecast_show_.vm, "The VM's name or UUID")->required()->type_name("");
    show->add_option("--history", forecast_show_.history_path, "Another history than the daemon's")
        ->type_name("FILE");
    show->callback([this] { forecast_ = forecast_show_; });
    CLI::App* train =
        forecast->add_subcommand("train", "Learn from the history how to correct forecasts");
    train->fallthrough();
    train->add_option("--history", learnt_.history_path, "Another history than the daemon's")
        ->type_name("FILE");
    train->add_option("--model", learnt_.model_path, "Write this file, not one beside the history")
        ->type_name("FILE");
    train->callback([this] { train_ = learnt_; });
  }

  void add_plan_command() {
    CLI::App* plan = add(app_, "plan", "The last plan: what it does and what it does not",
                         [] { return Command(balancer::PlanRequest{}); });
    CLI::Option* watch = add_watch(*plan);
    CLI::Option* optimal =
        plan->add_flag("--optimal", wants_optimum_, "The best homes for all, and the way there");
    optimal->excludes(watch);
    for (CLI::Option* option : add_search_options(*plan, optimal_)) {
      option->needs(optimal);
    }
  }

  void add_repack_command() {
    CLI::App* repack = app_.add_subcommand("repack", "Take all VMs to their best homes");
    repack->fallthrough();
    add_search_options(*repack, repacked_.search);
    repack
        ->add_option("--least-gain", repacked_.least_gain,
                     "Nothing is done for less, in 1/1000 of what VMs want")
        ->check(in_range(0, 1000))
        ->type_name("N")
        ->capture_default_str();
    repack->add_option("--at-most", repacked_.at_most, "So many clients move")
        ->check(in_range(1, 1'000'000))
        ->type_name("N")
        ->capture_default_str();
    repack->callback([this] { repack_ = repacked_; });
  }

  static std::array<CLI::Option*, 3> add_search_options(CLI::App& command, OptimalRun& search) {
    return {
        command.add_option("--seconds", search.seconds, "The search ends after so long")
            ->check(in_range(1, 3600))
            ->type_name("N")
            ->capture_default_str(),
        command.add_option("--gap", search.gap, "So near is enough, in 1/1000 of what VMs want")
            ->check(in_range(0, 1000))
            ->type_name("N")
            ->capture_default_str(),
        command.add_option("--memory-mib", search.memory_mib, "The search has so much memory")
            ->check(in_range(64, 1'048'576))
            ->type_name("N")
            ->capture_default_str()};
  }

  void add_report_command() {
    CLI::App* report = app_.add_subcommand("report", "What happened, as a text or as a page");
    report->fallthrough();
    report->add_flag("--html", report_.html, "A page that needs nothing but itself");
    report->add_option("--since", past_since_, "Not before: an age such as 2h or 7d, or a time")
        ->type_name("WHEN")
        ->capture_default_str();
    report->add_option("--history", report_.history_path, "Another history than the daemon's")
        ->type_name("FILE");
    report->callback([this] { past_ = report_; });
  }

  void add_doctor_command() {
    CLI::App* doctor = app_.add_subcommand("doctor", "What is wrong on this host, and the cure");
    doctor->fallthrough();
    doctor->add_option("--root", examined_.root, "Look at the files below this directory")
        ->type_name("DIR");
    doctor->callback([this] { doctor_ = examined_; });
  }

  void add_what_if_command() {
    CLI::App* what_if =
        add_reading(app_, "what-if", "What would be with another VM, one less, one elsewhere",
                    [this] { return make_what_if(); });
    const auto add_supposed = [&](const char* name, std::vector<std::string>& texts,
                                  const char* help, const char* type) {
      what_if->add_option(name, texts, help)->type_name(type)->allow_extra_args(false);
    };
    add_supposed("--add", supposed_.add, "A new VM, such as vcpus=32,memory=128GiB", "VM");
    add_supposed("--remove", supposed_.remove, "A VM that is gone (name or UUID)", "VM");
    add_supposed("--move", supposed_.move, "A VM, or one client of it, on another node",
                 "VM[/CLIENT]=NODE");
    add_supposed("--option", supposed_.options, "Another value of an option", "NAME=VALUE");
  }

  void add_options_commands() {
    CLI::App* options = app_.add_subcommand("options", "The numbers that steer decisions");
    options->fallthrough();
    options->require_subcommand(0, 1);
    add_reading(*options, "list", "All options",
                [] { return Command(balancer::OptionsListRequest{}); });
    CLI::App* get = add_reading(*options, "get", "One option, with its range and meaning",
                                [this] { return Command(balancer::OptionsGetRequest{name_}); });
    get->add_option("NAME", name_, "Such as Numa.MigThreshold")->required()->type_name("");
    CLI::App* set = add(*options, "set", "Change an option of the running daemon",
                        [this] { return make_options_set(); });
    set->add_option("NAME", name_, "Such as Numa.MigThreshold")->required()->type_name("");
    set->add_option("VALUE", value_, "An integer")->required()->type_name("");
    set->add_flag("--persist", persist_, "Also after the daemon's next start");
  }

  void add_changing_commands() {
    add(app_, "pause", "Begin no more moves", [] { return Command(balancer::PauseRequest{}); });
    add(app_, "resume", "Go on after a pause", [] { return Command(balancer::ResumeRequest{}); });

    CLI::App* move = add(app_, "move", "Move a VM to a node", [this] {
      return Command(balancer::MoveRequest{vm_, {node_.value_or(-1)}, client_});
    });
    add_vm(*move)->required();
    move->add_option("NODE", node_, "The node's number")
        ->required()
        ->check(in_range(0, kMostNode))
        ->type_name("");
    move->add_option("--client", client_, "Which client of a VM that has several")
        ->check(in_range(0, kMostNode))
        ->type_name("N");
    move->add_flag("--wait", wait_, "Return when the move is done");

    CLI::App* set = add(app_, "set", "A VM's policy: show it, or change it in its metadata",
                        [this] { return make_set(); });
    add_vm(*set)->required();
    set->add_option("SETTING", settings_, "KEY=VALUE; nothing after the = takes the key away")
        ->type_name("");
    set->add_flag("--persistent", persistent_, "Also for the VM's next starts");

    CLI::App* release =
        add(app_, "release", "Give a VM, or all VMs, back as they were found", [this] {
          return Command(balancer::ReleaseRequest{vm_.empty() ? std::nullopt : std::optional(vm_)});
        });
    add_vm(*release);
    CLI::App* manage =
        add(app_, "manage", "Take a released VM, or all, under management again", [this] {
          return Command(balancer::ManageRequest{vm_.empty() ? std::nullopt : std::optional(vm_)});
        });
    add_vm(*manage);
  }

  void add_recording_commands() {
    CLI::App* record = app_.add_subcommand("record", "Write down what the daemon sees and plans");
    record->fallthrough();
    record->add_option("FILE", recording_.path, "A file, which must not exist yet")
        ->required()
        ->type_name("");
    record->add_option("--epochs", recording_.epochs, "So many; until interrupted if left out")
        ->check(in_range(1, 1'000'000))
        ->type_name("N");
    record->add_flag("--anonymize", recording_.anonymize, "Without names and UUIDs of VMs");
    record->callback([this] { record_ = recording_; });
    CLI::App* replay = app_.add_subcommand("replay", "Make the plans of a recording again");
    replay->fallthrough();
    replay->add_option("FILE", replayed_.path, "A file that `record` has written")
        ->required()
        ->type_name("");
    replay
        ->add_option("--options", replay_options_,
                     "Also plan with other options; may be given several times")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    replay->callback([this] { replay_ = replayed_; });
  }

  static Result<std::pair<std::string, std::int64_t>> parse_named_value(std::string_view text) {
    return parse_option_value(text).map([](balancer::WhatIfRequest::OptionValue option) {
      return std::pair(std::move(option.name), option.value);
    });
  }

  void add_sim_commands() {
    CLI::App* sim = app_.add_subcommand("sim", "The balancer on a simulated host");
    sim->fallthrough();
    sim->require_subcommand(0, 1);
    CLI::App* run = sim->add_subcommand("run", "Run a scenario");
    run->fallthrough();
    run->add_option("SCENARIO", sim_run_.scenario, "A scenario file, or a name that `list` shows")
        ->required()
        ->type_name("");
    run->add_option("--epochs", sim_run_.epochs, "So many epochs, whatever the scenario says")
        ->check(in_range(1, 1'000'000))
        ->type_name("N");
    run->add_option("--seed", sim_run_.seed, "This seed, whatever the scenario says")
        ->check(CLI::NonNegativeNumber.description(""))
        ->type_name("N");
    run->add_option("--record", sim_run_.record, "Also write a recording into this new file")
        ->type_name("FILE");
    run->add_option("--explain", sim_run_.explain,
                    "Say at the end why this VM is where it is, and nothing else")
        ->type_name("VM");
    add_watch(*run)->description("Show the tables after every epoch, which then takes so long");
    run->callback([this] { sim_ = sim_run_; });
    CLI::App* list = sim->add_subcommand("list", "The scenarios that come with the program");
    list->fallthrough();
    list->callback([this] { sim_ = SimListRequest{}; });
    CLI::App* compare = sim->add_subcommand("compare", "Run scenarios under other policies, too");
    compare->fallthrough();
    compare->add_option("SCENARIO", sim_compare_.scenarios, "As for `run`; all if left out")
        ->type_name("");
    compare->add_option("--epochs", sim_compare_.epochs, "So many epochs at most")
        ->check(in_range(1, 1'000'000))
        ->type_name("N");
    compare->callback([this] { sim_ = sim_compare_; });
    add_sim_search(*sim);
  }

  void add_sim_search(CLI::App& sim) {
    CLI::App* search =
        sim.add_subcommand("search", "Look for scenarios in which vmnuma does worst");
    search->fallthrough();
    CLI::Option* seconds =
        search
            ->add_option("--seconds", sim_search_.seconds, "End with the round in which they pass")
            ->check(in_range(1, 1'000'000))
            ->type_name("N")
            ->capture_default_str();
    search->add_option("--rounds", sim_search_.rounds, "End after so many rounds")
        ->check(in_range(1, 1'000'000))
        ->type_name("N")
        ->excludes(seconds);
    search->add_option("--seed", sim_search_.seed, "Decides what is tried")
        ->check(CLI::NonNegativeNumber.description(""))
        ->type_name("N")
        ->capture_default_str();
    search->add_option("--against", sim_search_.against, "best, optimal, or one other policy")
        ->type_name("POLICY")
        ->capture_default_str();
    search->add_option("--out", sim_search_.out, "Write what is found as scenario files there")
        ->type_name("DIR");
    search->callback([this] { sim_ = sim_search_; });
  }

  CLI::Option* add_vm(CLI::App& command) {
    return command.add_option("VM", vm_, "The VM's name or UUID")->type_name("");
  }

  Result<Command> make_set() {
    if (settings_.empty() && !persistent_) {
      return Command(balancer::PolicyRequest{vm_});
    }
    balancer::SetRequest request{vm_, {}, persistent_};
    for (const std::string& text : settings_) {
      const std::size_t sign = text.find('=');
      if (sign == std::string::npos || sign == 0) {
        return failure(ErrorCode::kInvalidArgument,
                       fmt::format("'{}' is not of the form KEY=VALUE", text));
      }
      std::string value = text.substr(sign + 1);
      request.settings.push_back(
          {text.substr(0, sign), value.empty() ? std::nullopt : std::optional(std::move(value))});
    }
    return Command(std::move(request));
  }

  Result<Command> make_options_set() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(value_.data(), value_.data() + value_.size(), value);
    if (error != std::errc{} || end != value_.data() + value_.size()) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("VALUE is '{}', but must be an integer", value_));
    }
    return Command(balancer::OptionsSetRequest{name_, value, persist_});
  }

  Result<Command> make_what_if() {
    balancer::WhatIfRequest request;
    request.remove = supposed_.remove;
    if (auto read = read_all("--add", supposed_.add, parse_new_vm, request.add); !read) {
      return tl::unexpected(std::move(read).error());
    }
    if (auto read = read_all("--move", supposed_.move, parse_move, request.move); !read) {
      return tl::unexpected(std::move(read).error());
    }
    if (auto read = read_all("--option", supposed_.options, parse_option_value, request.options);
        !read) {
      return tl::unexpected(std::move(read).error());
    }
    return Command(std::move(request));
  }

  template <class T>
  static Result<void> read_all(const char* name, const std::vector<std::string>& texts,
                               Result<T> (*parse)(std::string_view), std::vector<T>& values) {
    for (const std::string& text : texts) {
      auto value = parse(text);
      if (!value) {
        return failure(std::move(value).error(), name);
      }
      values.push_back(std::move(*value));
    }
    return {};
  }

  Result<Command> make_export() {
    const auto* const found = std::find(kExportFormats.begin(), kExportFormats.end(), format_);
    if (found == kExportFormats.end()) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("--format: there is no format '{}'{}", format_,
                                 placement::did_you_mean(
                                     format_, {kExportFormats.begin(), kExportFormats.end()})));
    }
    exported_ = {static_cast<ExportFormat>(found - kExportFormats.begin()), export_name_,
                 follow_ >= 0, std::max<std::int64_t>(follow_, 0)};
    return Command(balancer::HostRequest{});
  }

  Result<Command> make_history() {
    if (since_) {
      auto since = parse_since(*since_, now_unix_s_);
      if (!since) {
        return failure(std::move(since).error(), "--since");
      }
      history_.since_unix_s = *since;
    }
    if (history_.reason) {
      std::vector<std::string_view> known;
      for (int value = 0; name_of(static_cast<placement::Reason>(value)) != "unknown"; ++value) {
        known.push_back(name_of(static_cast<placement::Reason>(value)));
      }
      if (std::find(known.begin(), known.end(), *history_.reason) == known.end()) {
        return failure(ErrorCode::kInvalidArgument,
                       fmt::format("--reason: there is no reason '{}'{}", *history_.reason,
                                   placement::did_you_mean(*history_.reason, known)));
      }
    }
    if (node_) {
      history_.node = placement::NodeId{*node_};
    }
    return Command(history_);
  }

  /// Help and version as CLI11 prints them.
  [[nodiscard]] std::string text_for(const CLI::Success& asked_for) {
    std::ostringstream out;
    (void)app_.exit(asked_for, out, out);  // its exit code is that of success
    return out.str();
  }

  [[nodiscard]] std::string unknown_word(const std::string& word) {
    // The innermost command that was understood, or the program itself.
    const CLI::App* at = &app_;
    while (!at->get_subcommands().empty()) {
      at = at->get_subcommands().front();
    }
    const auto commands_of = [](const CLI::App* app) {
      return app->get_subcommands([](const CLI::App*) { return true; });
    };
    std::vector<std::string> known;
    std::string_view what = "argument";
    if (word.starts_with('-')) {
      what = "option";
      for (const CLI::App* app = at; app != nullptr; app = app->get_parent()) {
        for (const CLI::Option* option : app->get_options()) {
          known.push_back(option->get_name());
        }
      }
    } else if (!commands_of(at).empty()) {
      what = "command";
      for (const CLI::App* command : commands_of(at)) {
        known.push_back(command->get_name());
      }
    }
    const std::vector<std::string_view> views(known.begin(), known.end());
    const std::string name = word.substr(0, what == "option" ? word.find('=') : word.npos);
    return fmt::format("there is no {} '{}'{}", what, name, placement::did_you_mean(name, views));
  }

  [[nodiscard]] static tl::unexpected<EarlyExit> usage(const std::string& problem) {
    return tl::unexpected(
        EarlyExit{kExitUsage, fmt::format("vmnuma: {}\nTry 'vmnuma --help'.\n", problem)});
  }

  static constexpr std::int64_t kLongestWatch = 86'400;
  static constexpr std::int32_t kMostNode = 1023;  // CONFIG_NODES_SHIFT is at most 10 (Linux 6.1)

  CLI::App app_{"Shows and steers the NUMA balancer of this host."};
  std::int64_t now_unix_s_;
  std::function<Result<Command>()> make_;
  std::string socket_path_{balancer::kDefaultSocketPath};
  bool json_ = false;
  std::int64_t watch_ = -1;   ///< not given; 0: without a number
  std::int64_t follow_ = -1;  ///< the same
  bool once_ = false;
  bool wait_ = false;
  bool persist_ = false;
  bool persistent_ = false;
  std::vector<std::string> settings_;
  std::string type_;
  std::string vm_;
  std::string name_;
  std::string value_;
  std::optional<std::int32_t> node_;
  std::optional<std::int32_t> client_;
  std::optional<std::string> since_;
  balancer::HistoryRequest history_;
  struct {
    std::vector<std::string> add;
    std::vector<std::string> remove;
    std::vector<std::string> move;
    std::vector<std::string> options;
  } supposed_;
  SimRunRequest sim_run_;
  SimCompareRequest sim_compare_;
  SimSearchRequest sim_search_;
  std::optional<SimRequest> sim_;
  RecordRun recording_;
  ReplayRun replayed_;
  std::vector<std::string> replay_options_;
  std::optional<RecordRun> record_;
  std::optional<ReplayRun> replay_;
  ReportRun report_;
  std::string past_since_ = "1d";
  std::optional<ReportRun> past_;
  ForecastShowRun forecast_show_;
  std::optional<ForecastShowRun> forecast_;
  ForecastTrainRun learnt_;
  std::optional<ForecastTrainRun> train_;
  std::string format_;
  std::optional<std::string> export_name_;
  std::optional<ExportRun> exported_;
  OptimalRun optimal_;
  RepackRun repacked_;
  std::optional<RepackRun> repack_;
  bool wants_optimum_ = false;
  DoctorRun examined_;
  std::optional<DoctorRun> doctor_;
};

}  // namespace

tl::expected<Invocation, EarlyExit> parse_arguments(std::span<const std::string> arguments,
                                                    std::int64_t now_unix_s) {
  return CommandLine(now_unix_s).parse(arguments);
}

CommandInfo command_table() {
  return CommandLine(/*now_unix_s=*/0).table();
}

}  // namespace vmnuma::tools
