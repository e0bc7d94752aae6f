// SPDX-License-Identifier: Apache-2.0
/// The commands that the program carries out itself, even if they query the daemon.
///
/// Everything that the command line knows about a command is in its struct: its group, name and
/// help (`kName`), its options with the members that they fill (`describe`), and `run`, which is in
/// the command's own file. It prints what was asked for and returns the exit code, or returns why
/// the command failed. Every struct that is listed in LocalCommands is a command.
///
/// A command with exit codes of its own describes them in `kExitStatus`.
///
/// `line.flag`, `line.text`, `line.number`, `line.choice`, `line.usually`, `line.since`,
/// `line.texts`, `line.values` and `line.period` add options, `line.listing` the option -o,
/// `line.either` makes two exclude each other, `line.needs` one need another, `line.argument`,
/// `line.optional_argument` and `line.arguments` add words, `line.watch` the option --watch
/// (arguments/command_syntax.h).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "balancer/protocol/request.h"
#include "placement/base/names.h"
#include "tools/vmnuma/arguments/failure.h"

namespace vmnuma::tools {

struct Context;

/// A parent command.
struct CommandGroup {
  std::string_view name;  ///< empty: no parent
  std::string_view help;
};
inline constexpr CommandGroup kForecastGroup{"forecast", "Forecasts of what VMs will want"};
inline constexpr CommandGroup kConfigGroup{"config", "The daemon's configuration"};
inline constexpr CommandGroup kPveGroup{"pve", "The hookscript for Proxmox VE"};
inline constexpr CommandGroup kSimGroup{"sim", "The balancer on a simulated host"};

struct CommandName {
  CommandGroup group;
  std::string_view name;
  std::string_view help;
};

/// The options of `plan --optimal`, and of the search of `repack`.
struct OptimalRun {
  std::int64_t seconds = 5;  ///< for the search
  std::int64_t gap = 1;  ///< stop when within this of the optimum, in thousandths of what VMs want
  std::int64_t memory_mib = 2048;  ///< for the search
  template <class Line>
  void describe(Line& line) {
    line.number("--seconds", seconds, {1, 3600}, "Time limit of the search");
    line.number("--gap", gap, {0, 1000}, "Stop this close to the optimum, in 1/1000 of demand");
    line.number("--memory-mib", memory_mib, {64, 1'048'576}, "Memory limit of the search, in MiB");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct RepackRun {
  static constexpr CommandName kName{{}, "repack", "Move all VMs to their best homes"};
  OptimalRun search;
  std::int64_t least_gain = 5;  ///< do nothing for a smaller gain, in thousandths of what VMs want
  std::int64_t at_most = 100;   ///< maximum number of clients that move
  template <class Line>
  void describe(Line& line) {
    search.describe(line);
    line.number("--least-gain", least_gain, {0, 1000},
                "Smallest gain worth moving for, in 1/1000 of demand");
    line.number("--at-most", at_most, {1, 1'000'000}, "Move at most N clients");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct MakeRoomRun {
  static constexpr CommandName kName{
      {}, "make-room", "Find moves that make room on one node for a VM"};
  static constexpr std::string_view kExitStatus = "1 also if no moves make that room";
  std::optional<std::int64_t> vcpus;
  std::string memory;
  std::string hugepages;
  std::vector<std::string> devices;  ///< PCI addresses
  std::string on;                    ///< a list of nodes; empty: any
  bool carry_out = false;
  bool yes = false;
  std::int64_t seconds = 5;        ///< for the search
  std::int64_t memory_mib = 2048;  ///< for the search
  std::string root = "/";          ///< the host's root directory
  template <class Line>
  void describe(Line& line) {
    line.number("--vcpus", vcpus, {1, 4096}, "Number of vCPUs of the VM");
    line.text("--memory", memory, "SIZE", "Memory of the VM, such as 64GiB");
    line.text("--hugepages", hugepages, "SIZE", "Size of the VM's huge pages");
    line.texts("--device", devices, "PCI",
               "PCI device to be near, such as 0000:3b:00.0; repeatable");
    line.text("--on", on, "NODES", "On one of these nodes, such as 0-1");
    line.flag("--do", carry_out, "Carry the moves out, after asking");
    line.flag("--yes", yes, "With --do: do not ask");
    line.needs("--yes", {"--do"});
    line.number("--seconds", seconds, {1, 3600}, "Time limit of the search");
    line.number("--memory-mib", memory_mib, {64, 1'048'576}, "Memory limit of the search, in MiB");
    line.text("--root", root, "DIR", "Read the host's files below DIR");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct ForecastShowRun {
  static constexpr CommandName kName{kForecastGroup, "show",
                                     "Forecast of a VM's next ten minutes, and past accuracy"};
  std::string vm;            ///< name or UUID
  std::string history_path;  ///< empty: the daemon's
  template <class Line>
  void describe(Line& line) {
    line.argument("VM", vm, "Name or UUID of the VM");
    line.text("--history", history_path, "FILE", "History file (default: the daemon's)");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct ForecastTrainRun {
  static constexpr CommandName kName{kForecastGroup, "train",
                                     "Learn from the history how to correct forecasts"};
  std::string history_path;
  std::string model_path;  ///< empty: next to the history
  template <class Line>
  void describe(Line& line) {
    line.text("--history", history_path, "FILE", "History file (default: the daemon's)");
    line.text("--model", model_path, "FILE", "File to write (default: beside the history)");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

/// Sort order of `list`: by name, or the worst or largest first.
enum class ListOrder { kName, kLocality, kOwed, kLoad, kMemory };
[[nodiscard]] constexpr auto names(ListOrder) {
  return names_in_order<ListOrder>("name", "locality", "owed", "load", "memory");
}
struct ListRun {
  static constexpr CommandName kName{{}, "list", "VMs, where they live and how they run"};
  ListOrder order{};
  template <class Line>
  void describe(Line& line) {
    line.usually("--sort", order, "By name, or worst or largest first");
    line.listing();
    line.watch("Repeat every epoch, or every SECONDS");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct EventsRun {
  static constexpr CommandName kName{{}, "events", "What happened, one line per event"};
  balancer::EventsRequest request;
  bool follow = false;
  std::int64_t follow_seconds = 0;  ///< how often the daemon is asked; 0: every epoch
  template <class Line>
  void describe(Line& line) {
    line.text("--vm", request.vm, "VM", "Only events about the VM of this name");
    line.usually("--level", request.level, "Lowest level to show");
    line.since("--since", request.since_unix_s,
               "Only since WHEN: an age such as 2h or 7d, or a time");
    line.number("--limit", request.limit, {1, 1000}, "Show at most the N newest");
    line.period("--follow", follow, follow_seconds,
                "Keep going; look every epoch, or every SECONDS");
    line.listing();
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

/// `vmnuma` without a command.
struct OverviewRun {
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

/// Output of `advise`, unless JSON.
enum class AdviseFormat { kText, kXml, kDiff, kVirtInstall, kNova, kPve, kKubevirt };
[[nodiscard]] constexpr auto names(AdviseFormat) {
  return names_in_order<AdviseFormat>("text", "xml", "diff", "virt-install", "nova", "pve",
                                      "kubevirt");
}

struct AdviseRun {
  static constexpr CommandName kName{{}, "advise", "What a VM's definition should say, and why"};
  std::string vm;  ///< name or UUID; empty: one of the other sources
  std::string xml_path;
  std::optional<std::int64_t> vcpus;
  std::string memory;
  std::string hugepages;
  std::vector<std::string> policy;      ///< "KEY=VALUE"
  std::vector<std::string> host_paths;  ///< empty: this host
  AdviseFormat format{};
  bool apply = false;
  bool undo = false;
  bool yes = false;
  std::string uri = "qemu:///system";
  std::string definitions_path = "/var/lib/vmnuma-definitions";
  std::string root = "/";  ///< the host's root directory
  template <class Line>
  void describe(Line& line) {
    line.optional_argument("VM", vm, "Name or UUID of the VM whose definition to check");
    line.text("--xml", xml_path, "FILE", "Check this domain XML instead of a VM's");
    line.number("--vcpus", vcpus, {1, 4096}, "Advise on a new VM with N vCPUs instead");
    line.text("--memory", memory, "SIZE", "Memory of the new VM, such as 8GiB");
    line.text("--hugepages", hugepages, "SIZE", "Size of the new VM's huge pages");
    line.texts("--policy", policy, "KEY=VALUE", "Assume this policy setting; repeatable");
    line.texts("--host", host_paths, "FILE", "A host, from `export --format host`; repeatable");
    line.usually("--format", format, "What to print");
    line.flag("--apply", apply, "Define the VM as advised, for its next start");
    line.flag("--undo", undo, "Undo --apply; without a VM, list what can be undone");
    line.either("--apply", "--undo");
    line.flag("--yes", yes, "With --apply or --undo: do not ask");
    line.needs("--yes", {"--apply", "--undo"});
    line.text("--definitions", definitions_path, "DIR", "Where --apply keeps earlier definitions");
    line.text("--connect", uri, "URI", "libvirt connection");
    line.text("--root", root, "DIR", "Read the host's files below DIR");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct DoctorRun {
  static constexpr CommandName kName{{}, "doctor", "What is wrong on this host, and how to fix it"};
  static constexpr std::string_view kExitStatus = "0 all is well, 4 warnings, 5 errors";
  std::string root = "/";  ///< the host's root directory
  template <class Line>
  void describe(Line& line) {
    line.text("--root", root, "DIR", "Read the host's files below DIR");
    line.listing();
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct ConfigShowRun {
  static constexpr CommandName kName{kConfigGroup, "show",
                                     "The configuration in effect, and where it comes from"};
  std::string path;  ///< empty: the running daemon's, or its file if none is running
  template <class Line>
  void describe(Line& line) {
    line.text("--config", path, "FILE", "Show what this file sets, not the daemon's configuration");
    line.listing();
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct ConfigCheckRun {
  static constexpr CommandName kName{kConfigGroup, "check", "Check the configuration file"};
  static constexpr std::string_view kExitStatus =
      "2 also if something is wrong with the configuration";
  std::string path;  ///< empty: the daemon's
  template <class Line>
  void describe(Line& line) {
    line.text("--config", path, "FILE", "File to check (default: the daemon's)");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct ReportRun {
  static constexpr CommandName kName{{}, "report", "Report on what happened, as text or HTML"};
  bool html = false;
  std::int64_t since_unix_s = 0;
  std::int64_t until_unix_s = 0;
  std::string history_path;  ///< empty: the daemon's
  template <class Line>
  void describe(Line& line) {
    line.flag("--html", html, "Print one self-contained HTML page");
    line.since("--since", since_unix_s, until_unix_s, "1d",
               "Only since WHEN: an age such as 2h or 7d, or a time");
    line.text("--history", history_path, "FILE", "History file (default: the daemon's)");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

/// Output of `export`.
enum class ExportFormat { kNodeResourceTopology, kPlacementInventories, kHost };
[[nodiscard]] constexpr auto names(ExportFormat) {
  return names_in_order<ExportFormat>("nrt", "openstack", "host");
}

struct ExportRun {
  static constexpr CommandName kName{{}, "export", "Describe the host for a cluster's scheduler"};
  ExportFormat format{};
  std::optional<std::string> name;  ///< of the host; its own name if left out
  bool follow = false;              ///< continue, printing on every change
  std::int64_t follow_seconds = 0;  ///< how often to look; 0: every epoch
  std::string root = "/";           ///< the host's root directory
  template <class Line>
  void describe(Line& line) {
    line.watch("Repeat every epoch, or every SECONDS");
    line.choice("--format", format, "nrt is for Kubernetes, host for `advise --host`");
    line.text("--name", name, "HOST", "Name of this host in the cluster");
    line.period("--follow", follow, follow_seconds,
                "Print every change; look every epoch, or every SECONDS");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct RecordRun {
  static constexpr CommandName kName{{}, "record", "Record what the daemon sees and plans"};
  std::string path;
  balancer::RecordStartRequest request;
  template <class Line>
  void describe(Line& line) {
    line.argument("FILE", path, "File to write, which must not exist yet");
    line.number("--epochs", request.epochs, {1, 1'000'000},
                "Stop after N epochs (default: when interrupted)");
    line.flag("--anonymize", request.anonymize, "Leave out names and UUIDs of VMs");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct ReplayRun {
  static constexpr CommandName kName{{}, "replay", "Recompute the plans of a recording"};
  static constexpr std::string_view kExitStatus =
      "1 also if a plan comes out differently or the recording is damaged";
  std::string path;
  std::vector<std::pair<std::string, std::int64_t>> options;
  template <class Line>
  void describe(Line& line) {
    line.argument("FILE", path, "File written by `record`");
    line.values("--options", options, "Also plan with this value of an option; repeatable");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct SimRunRequest {
  static constexpr CommandName kName{kSimGroup, "run", "Run a scenario"};
  static constexpr std::string_view kExitStatus =
      "1 also if something happened that must never happen";
  std::string scenario;  ///< a file, or the name of one that comes with the program
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> seed;
  std::string policy = "vmnuma";
  std::optional<std::string> record;   ///< a file to create
  std::optional<std::string> explain;  ///< a VM; if given, only its explanation is printed
  template <class Line>
  void describe(Line& line) {
    line.argument("SCENARIO", scenario, "Name, file, - (standard input) or drawn-SEED-NUMBER");
    line.number("--epochs", epochs, {1, 1'000'000},
                "Run N epochs instead of the scenario's number");
    line.number("--seed", seed, {0, std::numeric_limits<std::int64_t>::max()},
                "Random seed instead of the scenario's");
    line.text("--policy", policy, "POLICY", "Run it under another policy of `sim compare`");
    line.text("--record", record, "FILE", "Also write a recording to this new file");
    line.text("--explain", explain, "VM", "Print only why this VM is where it is at the end");
    line.watch("Show the tables after every epoch, of SECONDS");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct SimListRequest {
  static constexpr CommandName kName{kSimGroup, "list", "The scenarios that come with the program"};
  template <class Line>
  void describe(Line& line) {
    line.listing();
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct SimCompareRequest {
  static constexpr CommandName kName{kSimGroup, "compare",
                                     "Run scenarios under other policies as well"};
  std::vector<std::string> scenarios;  ///< empty: all that come with the program
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> drawn;  ///< this many more scenarios, drawn at random
  std::int64_t seed = 1;              ///< for the drawn scenarios
  template <class Line>
  void describe(Line& line) {
    line.arguments("SCENARIO", scenarios, "As for `run` (default: all that come with the program)");
    line.number("--epochs", epochs, {1, 1'000'000}, "Run at most N epochs");
    line.number("--drawn", drawn, {1, 1'000'000}, "Add N scenarios drawn at random");
    line.number("--seed", seed, {0, std::numeric_limits<std::int32_t>::max()},
                "With --drawn: seed of the random scenarios");
    line.needs("--seed", {"--drawn"});
    line.listing();
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct SimSearchRequest {
  static constexpr CommandName kName{kSimGroup, "search",
                                     "Search for scenarios in which vmnuma does worst"};
  static constexpr std::string_view kExitStatus =
      "1 also if something happened that must never happen";
  std::int64_t seconds = 60;
  std::optional<std::int64_t> rounds;  ///< instead of seconds
  std::int64_t seed = 1;
  std::string against = "best";
  std::optional<std::string> out;  ///< a directory for the scenarios that are found
  template <class Line>
  void describe(Line& line) {
    line.number("--seconds", seconds, {1, 1'000'000},
                "Stop after the round that is running by then");
    line.number("--rounds", rounds, {1, 1'000'000}, "Stop after N rounds");
    line.either("--rounds", "--seconds");
    line.number("--seed", seed, {0, std::numeric_limits<std::int64_t>::max()},
                "Random seed of the search");
    line.text("--against", against, "POLICY", "What to compare with: best, optimal or one policy");
    line.text("--out", out, "DIR", "Write findings to DIR as scenario files");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct SimCheckRequest {
  static constexpr CommandName kName{kSimGroup, "check", "Check a scenario file"};
  static constexpr std::string_view kExitStatus = "2 also if something is wrong with the scenario";
  std::string scenario;  ///< as for `sim run`
  template <class Line>
  void describe(Line& line) {
    line.argument("SCENARIO", scenario, "As for `run`");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct SimShowRequest {
  static constexpr CommandName kName{kSimGroup, "show", "Print a scenario as a file to start from"};
  std::string scenario;  ///< as for `sim run`
  template <class Line>
  void describe(Line& line) {
    line.argument("SCENARIO", scenario, "As for `run`");
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

/// Where Proxmox VE looks for hookscripts.
struct PvePlace {
  std::string storage = "local";
  std::string snippets = "/var/lib/vz/snippets";
  std::string root = "/";  ///< the host's root directory
  template <class Line>
  void describe(Line& line) {
    line.text("--storage", storage, "STORAGE", "Proxmox VE's name of the storage");
    line.text("--snippets", snippets, "DIR", "Directory of its snippets");
    line.text("--root", root, "DIR", "Read the host's files below DIR");
  }
};

struct PveInstallRun {
  static constexpr CommandName kName{kPveGroup, "install",
                                     "Install the hookscript, and show how to give it to VMs"};
  std::vector<std::string> vmids;  ///< of VMs that get it now
  PvePlace place;
  template <class Line>
  void describe(Line& line) {
    line.texts("--for", vmids, "VMID", "Give it to this VM with `qm set`; repeatable");
    place.describe(line);
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct PveRemoveRun {
  static constexpr CommandName kName{kPveGroup, "remove",
                                     "Remove the hookscript, once no VM uses it"};
  std::vector<std::string> vmids;  ///< of VMs from which it is removed now
  PvePlace place;
  template <class Line>
  void describe(Line& line) {
    line.texts("--for", vmids, "VMID", "Take it from this VM with `qm set`; repeatable");
    place.describe(line);
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

struct PveStatusRun {
  static constexpr CommandName kName{kPveGroup, "status", "The hookscript, and which VMs have it"};
  PvePlace place;
  template <class Line>
  void describe(Line& line) {
    place.describe(line);
    line.listing();
  }
  [[nodiscard]] OrFailure<int> run(const Context& context) const;
};

/// The commands in the order of the help, except OptimalRun, which is an option of `plan`, and
/// OverviewRun, which has no name.
template <template <class...> class List, class... Others>
using WithLocalCommands =
    List<Others..., ListRun, EventsRun, RepackRun, MakeRoomRun, ForecastShowRun, ForecastTrainRun,
         AdviseRun, DoctorRun, ConfigShowRun, ConfigCheckRun, ReportRun, ExportRun, RecordRun,
         ReplayRun, PveInstallRun, PveRemoveRun, PveStatusRun, SimRunRequest, SimListRequest,
         SimCompareRequest, SimSearchRequest, SimCheckRequest, SimShowRequest>;

}  // namespace vmnuma::tools
