// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/arguments/invocation.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "balancer/config/config.h"
#include "balancer/policy/policy_keys.h"
#include "placement/base/number.h"
#include "placement/model/suggest.h"
#include "placement/model/text.h"
#include "stats/reports/report.h"
#include "tools/client/sim_folder.h"
#include "tools/client/unknown_option.h"
#include "tools/vmnuma/arguments/command_syntax.h"
#include "tools/vmnuma/arguments/command_table.h"
#include "tools/vmnuma/arguments/examples.h"
#include "tools/vmnuma/text/error_json.h"

namespace vmnuma::tools {

namespace {

using balancer::Command;

/// Returns the commands below this one.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
  }
  return names;
}

/// The command line and the variables for its values, because CLI11 needs one for each word and
/// option. `make_` is that of the last command given.
class CommandLine {
 public:
  explicit CommandLine(std::int64_t now_unix_s) : now_unix_s_(now_unix_s) {
    app_.name("vmnuma");
    app_.get_formatter()->column_width(24);
    app_.set_version_flag("--version", "vmnuma " VMNUMA_VERSION);
    socket_ = app_.add_option("--socket", socket_path_, "The daemon's control socket");
    socket_->type_name("PATH");
    app_.add_flag("--sim", wants_sim_, "Talk to this user's daemon on a simulated host")
        ->excludes(socket_);
    app_.add_flag("--json", json_, "Print the answer as one line of JSON");
    app_.footer(
        "Run 'vmnuma help COMMAND' for more about a command.\n"
        "Exit status: 0 success, 1 refused, 2 usage error, 3 no daemon;\n"
        "doctor: 4 warnings, 5 errors.");
    app_.require_subcommand(0, 1);
    app_.allow_extras();  // rejected in first_unknown_word(), with a suggestion
    add_reading_commands();
    std::apply([this](auto&... commands) { (add_local(commands), ...); }, locals_);
    add_options_commands();
    add_changing_commands();
    add_playing_commands();
    add_footers();
  }

  [[nodiscard]] tl::expected<Invocation, EarlyExit> parse(std::span<const std::string> arguments) {
    wants_json_errors_ = asks_for_json(arguments);
    operands_.assign(std::find(arguments.begin(), arguments.end(), "--"), arguments.end());
    std::vector<std::string> reversed = as_options(with_seconds_joined(arguments));
    std::reverse(reversed.begin(), reversed.end());  // as CLI11 expects
    try {
      app_.parse(reversed);
    } catch (const CLI::Success& asked_for) {
      // For a command that does not exist, do not print the help of another one.
      const auto unknown = first_unknown_word();
      return unknown ? usage(*unknown) : tl::unexpected(EarlyExit{kExitOk, text_for(asked_for)});
    } catch (const CLI::ArgumentMismatch& error) {
      return usage(missing_value(error.what()));
    } catch (const CLI::ParseError& error) {
      return usage(error.what());
    }
    if (const auto unknown = first_unknown_word()) {
      return usage(*unknown);
    }
    if (!make_ && app_.get_subcommands().empty()) {
      if (operands_.size() > 1) {  // the name of a command, which CLI11 swallows there
        return usage(fmt::format("there is no argument '{}'", operands_[1]));
      }
      make_ = [] { return Result<AnyCommand>(OverviewRun{}); };
    }
    if (!make_) {
      return usage(missing_command());
    }
    auto command = make_();
    if (!command) {
      return usage(command.error().message);
    }
    const auto format =
        find_choice("-o", "format", shared_.format, {kListFormats.begin(), kListFormats.end()});
    if (!format) {
      return usage(format.error().message);
    }
    Invocation invocation;
    invocation.format = static_cast<ListFormat>(*format);
    invocation.shape.format = invocation.format;
    const bool is_of_sim = wants_sim_ || (app_.got_subcommand("sim") && socket_->count() == 0);
    invocation.sim = wants_sim_;
    invocation.socket_path = is_of_sim ? sim_socket(sim_folder()) : socket_path_;
    invocation.json = json_ || invocation.format == ListFormat::kJson;
    invocation.watch = shared_.watch >= 0;
    invocation.watch_seconds = std::max<std::int64_t>(shared_.watch, 0);
    invocation.wait = wait_;
    invocation.command = std::move(*command);
    invocation.full_screen = app_.got_subcommand("top") && !once_ && !json_ && !invocation.watch;
    return invocation;
  }

  [[nodiscard]] CommandInfo table() const { return info_of(app_); }

 private:
  /// `path`: the words that lead to the command.
  [[nodiscard]] CommandInfo info_of(const CLI::App& app, const std::string& path = "") const {
    CommandInfo info{app.get_name(), app.get_description(), {}, {}, {}, {}};
    for (const Example& example : kExamples) {
      if (example.command == path) {
        info.examples.emplace_back(example.line);
      }
    }
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
        const auto choices = shared_.choices.find(option);
        added.value = choices != shared_.choices.end()        ? choices->second.words
                      : option->get_items_expected_max() == 0 ? ""
                                                              : option->get_type_name();
        added.help =
            choices != shared_.choices.end() ? choices->second.help : option->get_description();
        added.repeatable = repeatable;
      } else {
        info.arguments.push_back({option->get_name(), option->get_description(), repeatable});
      }
    }
    for (const CLI::App* command : commands_of(app)) {
      info.commands.push_back(
          info_of(*command, path + (path.empty() ? "" : " ") + command->get_name()));
    }
    return info;
  }

  /// Adds examples and notes below the help of each command.
  void add_footers() {
    std::map<CLI::App*, std::string> footers;
    for (const Example& example : kExamples) {
      CLI::App* command = &app_;
      std::istringstream words{std::string(example.command)};
      for (std::string word; words >> word;) {
        command = command->get_subcommand(word);
      }
      std::string& footer = footers[command];
      footer += fmt::format("{}\n  {:<42}  {}", footer.empty() ? "Examples:" : "", example.line,
                            example.what);
    }
    for (const auto& [command, note] : notes_) {
      footers[command] += "\n\n" + note;
    }
    for (const auto& [command, footer] : footers) {
      command->footer(footer);
    }
  }

  /// Adds a command; `make` returns it once the line has been parsed.
  CommandSyntax& add(CLI::App& parent, const std::string& name, const std::string& help,
                     std::function<Result<AnyCommand>()> make) {
    CLI::App* command = parent.add_subcommand(name, help);
    command->fallthrough();  // so that `vmnuma status --json` equals `vmnuma --json status`
    CommandSyntax& line = lines_.emplace_back(*command, shared_, now_unix_s_);
    command->callback([this, &line, make = std::move(make)] {
      make_ = [&line, make] { return line.read().and_then(make); };
    });
    return line;
  }

  CLI::App* add_group(const CommandGroup& group) {
    CLI::App* added = app_.add_subcommand(std::string(group.name), std::string(group.help));
    added->fallthrough();
    added->require_subcommand(0, 1);
    return added;
  }

  /// Adds a command that the program carries out itself.
  template <class Run>
  void add_local(Run& run) {
    CLI::App* parent = &app_;
    if (constexpr CommandGroup kGroup = Run::kName.group; !kGroup.name.empty()) {
      const auto known = app_.get_subcommands(
          [&](const CLI::App* command) { return command->get_name() == kGroup.name; });
      parent = known.empty() ? add_group(kGroup) : known.front();
    }
    CommandSyntax& line = add(*parent, std::string(Run::kName.name), std::string(Run::kName.help),
                              [&run] { return AnyCommand(run); });
    if constexpr (requires { Run::kExitStatus; }) {
      notes_[&line.command()] = fmt::format("Exit status: {}", Run::kExitStatus);
    }
    run.describe(line);
  }

  /// Converts `help COMMAND` to `COMMAND --help`, `version` to `--version`, and `-o FORMAT COMMAND`
  /// to `COMMAND -o FORMAT`; likewise --watch=SECONDS.
  static std::vector<std::string> as_options(std::span<const std::string> arguments) {
    std::vector<std::string> words;
    std::vector<std::string> of_command;
    auto word = arguments.begin();
    for (; word != arguments.end() && word->starts_with('-') && *word != "--"; ++word) {
      const bool has_value = (*word == "--socket" || *word == "-o") && word + 1 != arguments.end();
      const bool is_of_command = word->starts_with("-o") || word->starts_with("--watch=");
      std::vector<std::string>& target = is_of_command ? of_command : words;
      target.push_back(*word);
      if (has_value) {
        target.push_back(*++word);
      }
    }
    if (word != arguments.end() && *word == "help") {
      words.insert(words.end(), word + 1, arguments.end());
      words.emplace_back("--help");
    } else if (word != arguments.end() && *word == "version" && word + 1 == arguments.end()) {
      words.emplace_back("--version");
    } else {
      const auto options_end = std::find(word, arguments.end(), "--");
      words.insert(words.end(), word, options_end);
      words.insert(words.end(), of_command.begin(), of_command.end());
      words.insert(words.end(), options_end, arguments.end());
    }
    return words;
  }

  /// Returns whether JSON is requested; also works for an invalid line.
  static bool asks_for_json(std::span<const std::string> arguments) {
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    for (auto word = arguments.begin(); word != end; ++word) {
      if (*word == "--json" || *word == "-ojson" || *word == "-o=json" ||
          (*word == "-o" && word + 1 != end && word[1] == "json")) {
        return true;
      }
    }
    return false;
  }

  /// Returns the message for a missing subcommand.
  [[nodiscard]] std::string missing_command() const {
    const CLI::App* group = app_.get_subcommands().front();
    std::vector<std::string> names = names_of_commands(*group);
    const std::string last = names.back();
    names.pop_back();
    return fmt::format("{} needs one of {} and {}", group->get_name(), fmt::join(names, ", "),
                       last);
  }

  /// Converts CLI11's "-o: 1 required table|csv missing" to plain words: "-o table|csv: the value
  /// is missing".
  static std::string missing_value(const std::string& problem) {
    constexpr std::string_view kBefore = ": 1 required ";
    constexpr std::string_view kAfter = " missing";
    const std::size_t before = problem.find(kBefore);
    if (before == std::string::npos || !problem.ends_with(kAfter)) {
      return problem;
    }
    const std::size_t type = before + kBefore.size();
    return fmt::format("{} {}: the value is missing", problem.substr(0, before),
                       problem.substr(type, problem.size() - kAfter.size() - type));
  }

  /// Adds a command that shows something.
  CommandSyntax& add_reading(CLI::App& parent, const std::string& name, const std::string& help,
                             std::function<Result<AnyCommand>()> make) {
    CommandSyntax& line = add(parent, name, help, std::move(make));
    line.watch("Repeat every epoch, or every SECONDS");
    return line;
  }

  /// Joins "--watch" and "--follow" with their numbers by "=", because CLI11 would take any word
  /// that follows for the number.
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
    add_reading(app_, "status", "What the balancer is doing",
                [] { return Command(balancer::StatusRequest{}); });

    add_reading(app_, "top", "Nodes and VMs, full screen", [] {
      return Command(balancer::HostRequest{});
    }).flag("--once", once_, "Print one screen as text and exit");

    CommandSyntax& stats = add_reading(app_, "stats", "The tables of ESXi's sched-stats",
                                       [this] { return Command(balancer::StatsRequest{type_}); });
    stats.known_text("-t", "report", type_, stats::report_types(), "TYPE", "Which table")
        ->required();
    stats.listing();

    add_reading(app_, "memory", "Memory of VMs, and which of them lose some first", [] {
      return Command(balancer::MemoryRequest{});
    }).listing();

    add_reading(app_, "explain", "Why a VM is where it is", [this] {
      return Command(balancer::ExplainRequest{vm_});
    }).argument("VM", vm_, kVmHelp);

    CommandSyntax& history =
        add_reading(app_, "history", "Past moves, newest first", [this] { return make_history(); });
    history.number("--limit", history_.limit, {1, balancer::kMostHistoryRows},
                   "Show at most N moves; a swap is two rows");
    history.when("--since", history_.since_unix_s, kSinceHelp);
    history.when("--until", history_.until_unix_s, "Only before WHEN");
    history.text("--vm", history_.vm, "VM", "Only this VM (name or UUID)");
    history.number("--node", node_, {0, kMostNode}, "Only moves from or to this node", "NODE");
    history.known_text("--reason", "reason", history_.reason, balancer::history_reasons(), "REASON",
                       "Only moves made for this reason");
    history.listing();

    CommandSyntax& plan =
        add_reading(app_, "plan", "The last plan: what was chosen, and what was not", [this] {
          return wants_optimum_ ? AnyCommand(optimal_)
                                : AnyCommand(Command(balancer::PlanRequest{}));
        });
    CLI::Option* optimal =
        plan.flag("--optimal", wants_optimum_, "The best homes for all VMs, and how to get there");
    plan.either("--optimal", "--watch");
    optimal_.describe(plan);
    for (CLI::Option* option : plan.options()) {
      option->needs(optimal);
    }

    CommandSyntax& what_if =
        add_reading(app_, "what-if", "What adding, removing or moving VMs would bring",
                    [this] { return Command(supposed_); });
    what_if.parsed_all("--add", supposed_.add, parse_new_vm, "VM",
                       "Suppose a new VM, such as vcpus=32,memory=128GiB");
    what_if.texts("--remove", supposed_.remove, "VM", "Suppose this VM is gone (name or UUID)");
    what_if.parsed_all("--move", supposed_.move, parse_move, "VM[/CLIENT]=NODE",
                       "Suppose a VM, or one client of it, lives on NODE");
    what_if.parsed_all("--option", supposed_.options, parse_option_value, "NAME=VALUE",
                       "Suppose another value of an option");
  }

  void add_options_commands() {
    CLI::App* options = add_group({"options", "Options that steer decisions"});
    add_reading(*options, "list", "All options", [] {
      return Command(balancer::OptionsListRequest{});
    }).listing();
    add_reading(*options, "get", "One option, with its range and meaning",
                [this] { return Command(balancer::OptionsGetRequest{name_}); })
        .word("NAME", name_, "Such as Numa.MigThreshold")
        ->required();
    CommandSyntax& set = add(*options, "set", "Change an option of the running daemon",
                             [this] { return make_options_set(); });
    set.word("NAME", name_, "Such as Numa.MigThreshold")->required();
    set.word("VALUE", value_, "An integer")->required();
    set.flag("--persist", persist_, "Keep it across restarts of the daemon");
  }

  void add_changing_commands() {
    add(app_, "pause", "Start no more moves", [] { return Command(balancer::PauseRequest{}); });
    add(app_, "resume", "Resume after a pause", [] { return Command(balancer::ResumeRequest{}); });

    CommandSyntax& move =
        add(app_, "move", "Move a VM to a node", [this] { return Command(move_); });
    move.argument("VM", move_.vm, kVmHelp);
    move.required_number("NODE", move_.node.value, {0, kMostNode}, "The node's number");
    move.number("--client", move_.client, {0, kMostNode}, "Which client, if the VM has several");
    move.flag("--wait", wait_, "Wait until the move is done");
    notes_[&move.command()] = "Exit status: with --wait 1 also if the move was not done";

    add_reservation_commands();

    CommandSyntax& set = add(app_, "set", "Show a VM's policy, or change it in its metadata",
                             [this] { return make_set(); });
    set.argument("VM", vm_, kVmHelp);
    set.arguments("SETTING", settings_, "KEY=VALUE; KEY= removes the key");
    set.listing();
    std::vector<std::string_view> keys;
    for (const auto& key : balancer::policy_keys()) {
      keys.push_back(key.name);
    }
    notes_[&set.command()] = "Keys (vmnuma-metadata(5) explains them):\n" + listed(keys);
    set.flag("--persistent", persistent_, "Also in the VM's definition, for its next starts");

    add(app_, "release", "Stop balancing VMs, and restore their pins", [this] {
      return Command(release_);
    }).optional_argument("VM", release_.vm, kVmHelp);
    add(app_, "manage", "Manage a released VM, or all of them, again", [this] {
      return Command(manage_);
    }).optional_argument("VM", manage_.vm, kVmHelp);
  }

  void add_reservation_commands() {
    CommandSyntax& reserve = add(app_, "reserve", "Reserve room for a VM that does not run yet",
                                 [this] { return make_reserve(); });
    reserve.word("NAME", reserve_.name, "Name of the reservation")->required();
    reserve.required_number("--vcpus", reserve_.vcpus, {1, balancer::kMostVcpus},
                            "Number of vCPUs of the VM", "N");
    const auto add_parsed = [&](const char* name, auto& value, auto read, const char* type,
                                const char* help) {
      return reserve.parsed(name, value, read, type, help)->check(not_empty());
    };
    add_parsed("--memory", reserve_.memory_bytes, parse_memory, "SIZE",
               "Memory of the VM, such as 64GiB")
        ->required();
    add_parsed("--hugepages", reserve_.huge_page_bytes, parse_memory, "SIZE",
               "Size of the VM's huge pages");
    add_parsed("--on", reserve_.nodes, parse_node_list, "NODES",
               "Only on these nodes, such as 0-1");
    reserve.text("--for", reserve_.vm, "WHOM", "The VM or group it is for (default: NAME)");
    reserve.text("--for-owner", reserve_.owner, "OWNER", "For all VMs of this owner instead");
    reserve.either("--for-owner", "--for");
    add_parsed("--until", reserve_.until_unix_s, parse_when, "WHEN", "Drop it at this time");
    add_parsed("--lasting", reserve_.lasting_s, parse_duration, "DURATION",
               "Drop it after this long, such as 8h");
    reserve.either("--lasting", "--until");
    reserve.flag("--shared", reserve_.shared, "Keep a VM's room again when it has stopped");

    CommandSyntax& reservations =
        add_reading(app_, "reservations", "Room reserved for VMs that do not run yet", [this] {
          return reservation_history_ ? Command(reservation_events_)
                                      : Command(balancer::ReservationsRequest{});
        });
    CLI::Option* past =
        reservations.flag("--history", reservation_history_, "What happened to them, newest first");
    reservations.word("NAME", reservation_events_.name, "Of --history, only this one")->needs(past);
    reservations.when("--since", reservation_events_.since_unix_s, kSinceHelp)->needs(past);
    reservations
        .number("--limit", reservation_events_.limit, {1, balancer::kMostHistoryRows},
                "Show at most N events")
        ->needs(past);
    reservations.listing();

    add(app_, "unreserve", "Drop a reservation",
        [this] { return Command(balancer::UnreserveRequest{name_}); })
        .word("NAME", name_, "Name of the reservation")
        ->required();
  }

  void add_playing_commands() {
    CLI::App& sim = *app_.get_subcommand("sim");
    CommandSyntax& start =
        add(sim, "start", "Start a VM on the simulated host", [this] { return make_sim_start(); });
    start.argument("VM", sim_start_.vm, kVmHelp);
    start.number("--vcpus", sim_start_.vcpus, {1, balancer::kMostVcpus}, "Number of vCPUs");
    start.parsed("--memory", sim_memory_bytes_, parse_memory, "SIZE", "Size of its memory")
        ->default_str("8GiB");
    start.number("--load", sim_start_.load_pct, {0, kWholeCpu}, kLoadHelp, "PCT");
    CommandSyntax& load = add(sim, "load", "Change the load of a VM on the simulated host",
                              [this] { return Command(sim_load_); });
    load.argument("VM", sim_load_.vm, kVmHelp);
    load.required_number("PCT", sim_load_.load_pct, {0, kWholeCpu}, kLoadHelp);
    add(sim, "stop", "Stop a VM on the simulated host", [this] {
      return Command(balancer::SimStopRequest{vm_});
    }).argument("VM", vm_, kVmHelp);
    CommandSyntax& step = add(sim, "step", "Step through the recording the daemon shows", [this] {
      return Command(balancer::SimStepRequest{sim_back_ ? -sim_step_ : sim_step_});
    });
    step.number("EPOCHS", sim_step_, {1, kMostSteps}, "Number of epochs", "");
    step.flag("--back", sim_back_, "Step back instead of forward");
  }

  [[nodiscard]] Command make_sim_start() const {
    constexpr unsigned kMibBits = 20;
    balancer::SimStartRequest request = sim_start_;
    request.memory_mib = sim_memory_bytes_ >> kMibBits;
    return request;
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
    const auto value = whole_number<std::int64_t>(value_);
    if (!value) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("VALUE is '{}', but must be an integer", value_));
    }
    return Command(balancer::OptionsSetRequest{name_, *value, persist_});
  }

  Result<Command> make_reserve() {
    if (reserve_.lasting_s == 0) {
      return failure(ErrorCode::kInvalidArgument, "--lasting is 0, so nothing would be reserved");
    }
    balancer::ReserveRequest request = reserve_;
    request.group = request.vm;
    return Command(std::move(request));
  }

  [[nodiscard]] Command make_history() const {
    balancer::HistoryRequest request = history_;
    request.node = node_ ? std::optional(NodeId{*node_}) : std::nullopt;
    return request;
  }

  /// Returns help or version as CLI11 prints them.
  [[nodiscard]] std::string text_for(const CLI::Success& asked_for) {
    std::ostringstream out;
    (void)app_.exit(asked_for, out, out);  // the exit code is that of success
    return out.str();
  }

  /// Returns what is wrong with the first word that no command accepted, if there is one.
  [[nodiscard]] std::optional<std::string> first_unknown_word() const {
    for (const std::string& word : app_.remaining(/*recurse=*/true)) {
      if (word != "--") {  // CLI11 keeps the "--" that ends the options
        const bool is_operand =
            std::find(operands_.begin(), operands_.end(), word) != operands_.end();
        return is_operand ? fmt::format("there is no argument '{}'", word) : unknown_word(word);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string unknown_word(const std::string& word) const {
    const CLI::App* at = innermost();
    if (word.starts_with('-')) {
      return no_such_option(*at, word);
    }
    const std::vector<std::string> known = names_of_commands(*at);
    return fmt::format("there is no {} '{}'{}", known.empty() ? "argument" : "command", word,
                       did_you_mean(word, {known.begin(), known.end()}));
  }

  /// Returns the innermost command that was recognized, or the program itself.
  [[nodiscard]] const CLI::App* innermost() const {
    const CLI::App* at = &app_;
    while (!at->get_subcommands().empty()) {
      at = at->get_subcommands().front();
    }
    return at;
  }

  [[nodiscard]] tl::unexpected<EarlyExit> usage(const std::string& problem) const {
    if (wants_json_errors_) {
      return tl::unexpected(
          EarlyExit{kExitUsage, error_json({ErrorCode::kInvalidArgument, 0, problem})});
    }
    std::string words;
    for (const CLI::App* at = innermost(); at != nullptr; at = at->get_parent()) {
      words.insert(0, at->get_name() + " ");
    }
    return tl::unexpected(
        EarlyExit{kExitUsage, fmt::format("vmnuma: {}\nTry '{}--help'.\n", problem, words)});
  }

  static constexpr const char* kVmHelp = "Name or UUID of the VM";
  static constexpr const char* kLoadHelp = "CPU time that each vCPU wants, in % of a CPU";
  static constexpr const char* kSinceHelp = "Only since WHEN: an age such as 2h or 7d, or a time";
  static constexpr std::int64_t kWholeCpu = 100;
  static constexpr std::int64_t kMostSteps = 1'000'000;
  static constexpr std::int32_t kMostNode = 1023;  // CONFIG_NODES_SHIFT is at most 10 (Linux 6.1)

  CLI::App app_{"Shows and steers the NUMA balancer of this host."};
  std::int64_t now_unix_s_;
  std::function<Result<AnyCommand>()> make_;
  std::string socket_path_{balancer::kDefaultSocketPath};
  CLI::Option* socket_ = nullptr;
  bool wants_sim_ = false;
  bool json_ = false;
  bool wants_json_errors_ = false;
  std::vector<std::string> operands_;  ///< the words after the end of the options
  SharedOptions shared_;
  std::map<CLI::App*, std::string> notes_;  ///< per command, below its examples
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
  balancer::HistoryRequest history_;
  balancer::WhatIfRequest supposed_;
  balancer::MoveRequest move_;
  balancer::ReleaseRequest release_;
  balancer::ManageRequest manage_;
  balancer::ReserveRequest reserve_;
  bool reservation_history_ = false;
  balancer::ReservationHistoryRequest reservation_events_;
  balancer::SimStartRequest sim_start_;
  std::int64_t sim_memory_bytes_ = std::int64_t{8} << 30U;
  balancer::SimLoadRequest sim_load_;
  std::int64_t sim_step_ = 1;
  bool sim_back_ = false;
  OptimalRun optimal_;
  bool wants_optimum_ = false;
  WithLocalCommands<std::tuple> locals_;
  std::deque<CommandSyntax> lines_;  ///< of all commands
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
