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
#include "tools/vmnuma/arguments/command_options.h"
#include "tools/vmnuma/arguments/command_table.h"
#include "tools/vmnuma/arguments/examples.h"
#include "tools/vmnuma/arguments/local_line.h"
#include "tools/vmnuma/arguments/since.h"
#include "tools/vmnuma/arguments/what_if_arguments.h"
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

/// The command line and the variables for its values. `make` is that of the last command given. The
/// many members are for the words and options of the daemon's commands, because CLI11 needs a
/// variable for each; commands that share an option share its variable.
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

  /// Adds a command; `make` returns its request once the line has been parsed.
  CLI::App* add(CLI::App& parent, const std::string& name, const std::string& help,
                std::function<Result<Command>()> make) {
    CLI::App* command = parent.add_subcommand(name, help);
    command->fallthrough();  // so that `vmnuma status --json` equals `vmnuma --json status`
    command->callback([this, make = std::move(make)] {
      make_ = [make] {
        return make().map([](Command asked) { return AnyCommand(std::move(asked)); });
      };
    });
    return command;
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
    CLI::App* command =
        parent->add_subcommand(std::string(Run::kName.name), std::string(Run::kName.help));
    command->fallthrough();
    if constexpr (requires { Run::kExitStatus; }) {
      notes_[command] = fmt::format("Exit status: {}", Run::kExitStatus);
    }
    LocalLine& line = lines_.emplace_back(*command, shared_, now_unix_s_);
    run.describe(line);
    command->callback([this, &line, &run] {
      make_ = [&line, &run] { return line.read().map([&run] { return AnyCommand(run); }); };
    });
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
  CLI::App* add_reading(CLI::App& parent, const std::string& name, const std::string& help,
                        std::function<Result<Command>()> make) {
    CLI::App* command = add(parent, name, help, std::move(make));
    add_watch(*command);
    return command;
  }

  CLI::Option* add_watch(CLI::App& command) {
    return add_period(command, "--watch", shared_.watch, "Repeat every epoch, or every SECONDS");
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

    CLI::App* top = add_reading(app_, "top", "Nodes and VMs, full screen",
                                [] { return Command(balancer::HostRequest{}); });
    top->add_flag("--once", once_, "Print one screen as text and exit");

    CLI::App* stats = add_reading(app_, "stats", "The tables of ESXi's sched-stats",
                                  [this] { return make_stats(); });
    take_one_of(stats->add_option("-t", type_, "Which table"), stats::report_types(), "TYPE",
                shared_)
        ->required();
    add_format(*stats, shared_);

    CLI::App* memory =
        add_reading(app_, "memory", "Memory of VMs, and which of them lose some first",
                    [] { return Command(balancer::MemoryRequest{}); });
    add_format(*memory, shared_);

    CLI::App* explain = add_reading(app_, "explain", "Why a VM is where it is",
                                    [this] { return Command(balancer::ExplainRequest{vm_}); });
    add_vm(*explain)->required();

    CLI::App* history =
        add_reading(app_, "history", "Past moves, newest first", [this] { return make_history(); });
    history->add_option("--limit", history_.limit, "Show at most N moves; a swap is two rows")
        ->check(in_range(1, balancer::kMostHistoryRows))
        ->type_name("N")
        ->capture_default_str();
    history->add_option("--since", since_, "Only since WHEN: an age such as 2h or 7d, or a time")
        ->type_name("WHEN");
    history->add_option("--until", until_, "Only before WHEN")->type_name("WHEN");
    history->add_option("--vm", history_.vm, "Only this VM (name or UUID)")
        ->check(not_empty())
        ->type_name("VM");
    history->add_option("--node", node_, "Only moves from or to this node")
        ->check(in_range(0, kMostNode))
        ->type_name("NODE");
    take_one_of(history->add_option("--reason", history_.reason, "Only moves made for this reason"),
                balancer::history_reasons(), "REASON", shared_);
    add_format(*history, shared_);

    add_plan_command();
    add_what_if_command();
  }

  void add_plan_command() {
    CLI::App* plan = add(app_, "plan", "The last plan: what was chosen, and what was not",
                         [] { return Command(balancer::PlanRequest{}); });
    CLI::Option* watch = add_watch(*plan);
    CLI::Option* optimal = plan->add_flag("--optimal", wants_optimum_,
                                          "The best homes for all VMs, and how to get there");
    optimal->excludes(watch);
    LocalLine& line = lines_.emplace_back(*plan, shared_, now_unix_s_);
    optimal_.describe(line);
    for (CLI::Option* option : line.options()) {
      option->needs(optimal);
    }
    plan->callback([this] {
      make_ = [this] {
        return Result<AnyCommand>(wants_optimum_ ? AnyCommand(optimal_)
                                                 : AnyCommand(Command(balancer::PlanRequest{})));
      };
    });
  }

  void add_what_if_command() {
    CLI::App* what_if =
        add_reading(app_, "what-if", "What adding, removing or moving VMs would bring",
                    [this] { return make_what_if(); });
    const auto add_supposed = [&](const char* name, std::vector<std::string>& texts,
                                  const char* help, const char* type) {
      what_if->add_option(name, texts, help)->type_name(type)->allow_extra_args(false);
    };
    add_supposed("--add", supposed_.add, "Suppose a new VM, such as vcpus=32,memory=128GiB", "VM");
    add_supposed("--remove", supposed_.remove, "Suppose this VM is gone (name or UUID)", "VM");
    add_supposed("--move", supposed_.move, "Suppose a VM, or one client of it, lives on NODE",
                 "VM[/CLIENT]=NODE");
    add_supposed("--option", supposed_.options, "Suppose another value of an option", "NAME=VALUE");
  }

  void add_options_commands() {
    CLI::App* options = add_group({"options", "Options that steer decisions"});
    CLI::App* list = add_reading(*options, "list", "All options",
                                 [] { return Command(balancer::OptionsListRequest{}); });
    add_format(*list, shared_);
    CLI::App* get = add_reading(*options, "get", "One option, with its range and meaning",
                                [this] { return Command(balancer::OptionsGetRequest{name_}); });
    get->add_option("NAME", name_, "Such as Numa.MigThreshold")->required()->type_name("");
    CLI::App* set = add(*options, "set", "Change an option of the running daemon",
                        [this] { return make_options_set(); });
    set->add_option("NAME", name_, "Such as Numa.MigThreshold")->required()->type_name("");
    set->add_option("VALUE", value_, "An integer")->required()->type_name("");
    set->add_flag("--persist", persist_, "Keep it across restarts of the daemon");
  }

  void add_changing_commands() {
    add(app_, "pause", "Start no more moves", [] { return Command(balancer::PauseRequest{}); });
    add(app_, "resume", "Resume after a pause", [] { return Command(balancer::ResumeRequest{}); });

    CLI::App* move = add(app_, "move", "Move a VM to a node", [this] {
      return Command(balancer::MoveRequest{vm_, {node_.value_or(-1)}, client_});
    });
    add_vm(*move)->required();
    move->add_option("NODE", node_, "The node's number")
        ->required()
        ->check(in_range(0, kMostNode))
        ->type_name("");
    move->add_option("--client", client_, "Which client, if the VM has several")
        ->check(in_range(0, kMostNode))
        ->type_name("N");
    move->add_flag("--wait", wait_, "Wait until the move is done");
    notes_[move] = "Exit status: with --wait 1 also if the move was not done";

    add_reservation_commands();

    CLI::App* set = add(app_, "set", "Show a VM's policy, or change it in its metadata",
                        [this] { return make_set(); });
    add_vm(*set)->required();
    set->add_option("SETTING", settings_, "KEY=VALUE; KEY= removes the key")->type_name("");
    add_format(*set, shared_);
    std::vector<std::string_view> keys;
    for (const auto& key : balancer::policy_keys()) {
      keys.push_back(key.name);
    }
    notes_[set] = "Keys (vmnuma-metadata(5) explains them):\n" + listed(keys);
    set->add_flag("--persistent", persistent_, "Also in the VM's definition, for its next starts");

    CLI::App* release = add(app_, "release", "Stop balancing VMs, and restore their pins", [this] {
      return Command(balancer::ReleaseRequest{vm_.empty() ? std::nullopt : std::optional(vm_)});
    });
    add_vm(*release);
    CLI::App* manage = add(app_, "manage", "Manage a released VM, or all of them, again", [this] {
      return Command(balancer::ManageRequest{vm_.empty() ? std::nullopt : std::optional(vm_)});
    });
    add_vm(*manage);
  }

  void add_reservation_commands() {
    CLI::App* reserve = add(app_, "reserve", "Reserve room for a VM that does not run yet",
                            [this] { return make_reserve(); });
    reserve->add_option("NAME", name_, "Name of the reservation")->required()->type_name("");
    reserve->add_option("--vcpus", reserve_.request.vcpus, "Number of vCPUs of the VM")
        ->required()
        ->check(in_range(1, balancer::kMostVcpus))
        ->type_name("N");
    const auto add_text = [&](const char* name, std::optional<std::string>& text, const char* type,
                              const char* help) {
      return reserve->add_option(name, text, help)->check(not_empty())->type_name(type);
    };
    add_text("--memory", reserve_.memory, "SIZE", "Memory of the VM, such as 64GiB")->required();
    add_text("--hugepages", reserve_.huge_pages, "SIZE", "Size of the VM's huge pages");
    add_text("--on", reserve_.nodes, "NODES", "Only on these nodes, such as 0-1");
    CLI::Option* whom =
        add_text("--for", reserve_.whom, "WHOM", "The VM or group it is for (default: NAME)");
    add_text("--for-owner", reserve_.request.owner, "OWNER", "For all VMs of this owner instead")
        ->excludes(whom);
    CLI::Option* until = add_text("--until", reserve_.until, "WHEN", "Drop it at this time");
    add_text("--lasting", reserve_.lasting, "DURATION", "Drop it after this long, such as 8h")
        ->excludes(until);
    reserve->add_flag("--shared", reserve_.request.shared,
                      "Keep a VM's room again when it has stopped");

    CLI::App* reservations =
        add_reading(app_, "reservations", "Room reserved for VMs that do not run yet",
                    [this] { return make_reservations(); });
    CLI::Option* past = reservations->add_flag("--history", reservation_history_,
                                               "What happened to them, newest first");
    reservations->add_option("NAME", reservation_events_.name, "Of --history, only this one")
        ->needs(past)
        ->type_name("");
    reservations
        ->add_option("--since", since_, "Only since WHEN: an age such as 2h or 7d, or a time")
        ->needs(past)
        ->type_name("WHEN");
    reservations->add_option("--limit", reservation_events_.limit, "Show at most N events")
        ->needs(past)
        ->check(in_range(1, balancer::kMostHistoryRows))
        ->type_name("N")
        ->capture_default_str();
    add_format(*reservations, shared_);

    CLI::App* unreserve = add(app_, "unreserve", "Drop a reservation",
                              [this] { return Command(balancer::UnreserveRequest{name_}); });
    unreserve->add_option("NAME", name_, "Name of the reservation")->required()->type_name("");
  }

  void add_playing_commands() {
    CLI::App& sim = *app_.get_subcommand("sim");
    CLI::App* start =
        add(sim, "start", "Start a VM on the simulated host", [this] { return make_sim_start(); });
    add_vm(*start)->required();
    start->add_option("--vcpus", sim_start_.vcpus, "Number of vCPUs")
        ->check(in_range(1, balancer::kMostVcpus))
        ->type_name("N")
        ->capture_default_str();
    start->add_option("--memory", sim_memory_, "Size of its memory")
        ->type_name("SIZE")
        ->capture_default_str();
    start->add_option("--load", sim_start_.load_pct, "CPU time that each vCPU wants, in % of a CPU")
        ->check(in_range(0, kWholeCpu))
        ->type_name("PCT")
        ->capture_default_str();
    CLI::App* load = add(sim, "load", "Change the load of a VM on the simulated host", [this] {
      return Command(balancer::SimLoadRequest{vm_, sim_load_});
    });
    add_vm(*load)->required();
    load->add_option("PCT", sim_load_, "CPU time that each vCPU wants, in % of a CPU")
        ->required()
        ->check(in_range(0, kWholeCpu))
        ->type_name("");
    CLI::App* stop = add(sim, "stop", "Stop a VM on the simulated host",
                         [this] { return Command(balancer::SimStopRequest{vm_}); });
    add_vm(*stop)->required();
    CLI::App* step = add(sim, "step", "Step through the recording the daemon shows", [this] {
      return Command(balancer::SimStepRequest{sim_back_ ? -sim_step_ : sim_step_});
    });
    step->add_option("EPOCHS", sim_step_, "Number of epochs")
        ->check(in_range(1, kMostSteps))
        ->type_name("")
        ->capture_default_str();
    step->add_flag("--back", sim_back_, "Step back instead of forward");
  }

  Result<Command> make_sim_start() {
    constexpr unsigned kMibBits = 20;
    return parse_memory(sim_memory_)
        .map_error([](Error error) { return std::move(error).within("--memory"); })
        .map([this](std::int64_t bytes) {
          balancer::SimStartRequest request = sim_start_;
          request.vm = vm_;
          request.memory_mib = bytes >> kMibBits;
          return Command(std::move(request));
        });
  }

  CLI::Option* add_vm(CLI::App& command) {
    return command.add_option("VM", vm_, "Name or UUID of the VM")
        ->check(not_empty())
        ->type_name("");
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

  Result<Command> make_what_if() {
    balancer::WhatIfRequest request;
    request.remove = supposed_.remove;
    VMNUMA_RETURN_IF_ERROR(read_all("--add", supposed_.add, parse_new_vm, request.add));
    VMNUMA_RETURN_IF_ERROR(read_all("--move", supposed_.move, parse_move, request.move));
    VMNUMA_RETURN_IF_ERROR(
        read_all("--option", supposed_.options, parse_option_value, request.options));
    return Command(std::move(request));
  }

  Result<Command> make_reserve() {
    balancer::ReserveRequest request = reserve_.request;
    request.name = name_;
    request.vm = request.group = reserve_.whom;
    const Result<void> read =
        read_one("--memory", reserve_.memory, parse_memory, request.memory_bytes)
            .and_then([&] {
              return read_one("--hugepages", reserve_.huge_pages, parse_memory,
                              request.huge_page_bytes);
            })
            .and_then(
                [&] { return read_one("--on", reserve_.nodes, parse_node_list, request.nodes); })
            .and_then([&] {
              return read_one("--until", reserve_.until, parse_when, request.until_unix_s);
            })
            .and_then([&] {
              return read_one("--lasting", reserve_.lasting, parse_duration, request.lasting_s);
            });
    if (!read) {
      return tl::unexpected(read.error());
    }
    if (request.lasting_s == 0) {
      return failure(ErrorCode::kInvalidArgument, "--lasting is 0, so nothing would be reserved");
    }
    return Command(std::move(request));
  }

  Result<Command> make_stats() {
    return find_choice("-t", "report", type_, stats::report_types()).map([this](std::size_t) {
      return Command(balancer::StatsRequest{type_});
    });
  }

  Result<Command> make_reservations() {
    if (!reservation_history_) {
      return Command(balancer::ReservationsRequest{});
    }
    return read_since("--since", since_, reservation_events_.since_unix_s).map([this] {
      return Command(reservation_events_);
    });
  }

  /// Reads the value of an option, if it is given.
  Result<void> read_since(const char* option, const std::optional<std::string>& text,
                          std::optional<std::int64_t>& unix_s) const {
    const auto parse = [this](std::string_view when) { return parse_since(when, now_unix_s_); };
    return read_one(option, text, parse, unix_s);
  }

  Result<Command> make_history() {
    const Result<void> read = read_since("--since", since_, history_.since_unix_s).and_then([this] {
      return read_since("--until", until_, history_.until_unix_s);
    });
    if (!read) {
      return tl::unexpected(read.error());
    }
    if (history_.reason) {
      constexpr auto kReasons = balancer::history_reasons();
      VMNUMA_RETURN_IF_ERROR(
          find_choice("--reason", "reason", *history_.reason, {kReasons.begin(), kReasons.end()}));
    }
    if (node_) {
      history_.node = NodeId{*node_};
    }
    return Command(history_);
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
  std::optional<std::int32_t> client_;
  std::optional<std::string> since_;
  std::optional<std::string> until_;
  balancer::HistoryRequest history_;
  bool reservation_history_ = false;
  balancer::ReservationHistoryRequest reservation_events_;
  struct {
    std::vector<std::string> add;
    std::vector<std::string> remove;
    std::vector<std::string> move;
    std::vector<std::string> options;
  } supposed_;
  struct {
    balancer::ReserveRequest request;
    std::optional<std::string> memory;
    std::optional<std::string> huge_pages;
    std::optional<std::string> nodes;
    std::optional<std::string> whom;
    std::optional<std::string> until;
    std::optional<std::string> lasting;
  } reserve_;
  balancer::SimStartRequest sim_start_;
  std::int64_t sim_step_ = 1;
  bool sim_back_ = false;
  std::string sim_memory_ = "8GiB";
  std::int64_t sim_load_ = 0;
  OptimalRun optimal_;
  bool wants_optimum_ = false;
  WithLocalCommands<std::tuple> locals_;
  std::deque<LocalLine> lines_;  ///< of `locals_`, and of the search of `plan`
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
