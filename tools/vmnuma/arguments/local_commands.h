// SPDX-License-Identifier: Apache-2.0
/// The commands that the program carries out itself, whatever it asks the daemon meanwhile.
///
/// All that the command line knows of one is in its struct: its place and help (`kName`), its
/// options with the members that they fill (`describe`), and `run`, which returns the exit code and
/// is in the command's own file. A struct that is listed in LocalCommands is a command.
///
/// `line.flag`, `line.text`, `line.number`, `line.choice`, `line.usually`, `line.since`,
/// `line.texts`, `line.values` and `line.period` add options, `line.listing` the option -o,
/// `line.either` says which two exclude each other, `line.argument`, `line.optional_argument` and
/// `line.arguments` words, `line.watch` the option
/// --watch (arguments/invocation.cc).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "balancer/model/severity.h"

namespace vmnuma::tools {

struct Invocation;
struct Surroundings;

struct CommandName {
  std::string_view group;  ///< the command it belongs to; empty: it stands by itself
  std::string_view name;
  std::string_view help;
};

/// `plan --optimal`, and what `repack` searches.
struct OptimalRun {
  std::int64_t seconds = 5;        ///< for the search
  std::int64_t gap = 1;            ///< so close is enough, in thousandths of what VMs want
  std::int64_t memory_mib = 2048;  ///< for the search
  template <class Line>
  void describe(Line& line) {
    line.number("--seconds", seconds, {1, 3600}, "The search ends after so long");
    line.number("--gap", gap, {0, 1000}, "So near is enough, in 1/1000 of what VMs want");
    line.number("--memory-mib", memory_mib, {64, 1'048'576}, "The search has so much memory");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct RepackRun {
  static constexpr CommandName kName{"", "repack", "Take all VMs to their best homes"};
  OptimalRun search;
  std::int64_t least_gain = 5;  ///< nothing is done for less, in thousandths of what VMs want
  std::int64_t at_most = 100;   ///< so many clients move
  template <class Line>
  void describe(Line& line) {
    search.describe(line);
    line.number("--least-gain", least_gain, {0, 1000},
                "Nothing is done for less, in 1/1000 of what VMs want");
    line.number("--at-most", at_most, {1, 1'000'000}, "So many clients move");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct MakeRoomRun {
  static constexpr CommandName kName{"", "make-room", "Which moves make room on one node for a VM"};
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
    line.number("--vcpus", vcpus, {1, 4096}, "The VM has so many");
    line.text("--memory", memory, "SIZE", "The VM's memory, such as 64GiB");
    line.text("--hugepages", hugepages, "SIZE", "Its memory is made of such pages");
    line.texts("--device", devices, "PCI", "Near this device, such as 0000:3b:00.0; repeatable");
    line.text("--on", on, "NODES", "On one of these nodes, such as 0-1");
    line.flag("--do", carry_out, "Move them, after asking");
    line.flag("--yes", yes, "Do so without asking");
    line.number("--seconds", seconds, {1, 3600}, "The search ends after so long");
    line.number("--memory-mib", memory_mib, {64, 1'048'576}, "The search has so much memory");
    line.text("--root", root, "DIR", "Look at the files below this directory");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct ForecastShowRun {
  static constexpr CommandName kName{"forecast", "show",
                                     "A VM's next ten minutes, and how good forecasts were"};
  std::string vm;            ///< name or UUID
  std::string history_path;  ///< empty: the daemon's
  template <class Line>
  void describe(Line& line) {
    line.argument("VM", vm, "The VM's name or UUID");
    line.text("--history", history_path, "FILE", "Another history than the daemon's");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct ForecastTrainRun {
  static constexpr CommandName kName{"forecast", "train",
                                     "Learn from the history how to correct forecasts"};
  std::string history_path;
  std::string model_path;  ///< empty: beside the history
  template <class Line>
  void describe(Line& line) {
    line.text("--history", history_path, "FILE", "Another history than the daemon's");
    line.text("--model", model_path, "FILE", "Write this file, not one beside the history");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

/// By what `list` sorts: by name, or the VMs first of which it is worst or most.
enum class ListOrder { kName, kLocality, kOwed, kLoad, kMemory };
inline constexpr std::array<std::string_view, 5> kListOrders{"name", "locality", "owed", "load",
                                                             "memory"};
struct ListRun {
  static constexpr CommandName kName{"", "list", "The VMs, where they live and how they get on"};
  ListOrder order{};
  template <class Line>
  void describe(Line& line) {
    line.usually("--sort", order, kListOrders, "Worst or largest first, or by name");
    line.listing();
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct EventsRun {
  static constexpr CommandName kName{"", "events", "What happens, one line each"};
  std::string vm;  ///< its name; empty: of all
  balancer::Severity level = balancer::Severity::kInfo;
  std::optional<std::int64_t> since_unix_s;
  std::int64_t limit = 50;
  bool follow = false;
  std::int64_t follow_seconds = 0;  ///< how often it is asked; 0: every epoch
  static constexpr auto kLevels = names(balancer::Severity{});
  template <class Line>
  void describe(Line& line) {
    line.text("--vm", vm, "VM", "Only of the VM of this name");
    line.usually("--level", level, kLevels, "This bad or worse");
    line.since("--since", since_unix_s, "Not before: an age such as 2h or 7d, or a time");
    line.number("--limit", limit, {1, 1000}, "At most so many, the newest");
    line.period("--follow", follow, follow_seconds,
                "Go on, looking every epoch or so many seconds");
    line.listing();
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

/// `vmnuma` without a command.
struct OverviewRun {
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

/// What `advise` prints, if not as JSON.
enum class AdviseFormat { kText, kXml, kDiff, kVirtInstall, kNova, kPve, kKubevirt };
inline constexpr std::array<std::string_view, 7> kAdviseFormats{
    "text", "xml", "diff", "virt-install", "nova", "pve", "kubevirt"};

struct AdviseRun {
  static constexpr CommandName kName{"", "advise", "What a VM's definition should say, and why"};
  std::string vm;  ///< name or UUID; empty: one of the others
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
    line.optional_argument("VM", vm, "The VM's name or UUID; its definition counts");
    line.text("--xml", xml_path, "FILE", "A domain XML instead of a VM");
    line.number("--vcpus", vcpus, {1, 4096}, "A new VM of so many, instead");
    line.text("--memory", memory, "SIZE", "Of the new VM, such as 8GiB");
    line.text("--hugepages", hugepages, "SIZE", "The new VM's memory is made of such pages");
    line.texts("--policy", policy, "KEY=VALUE", "Another policy than the VM has; repeatable");
    line.texts("--host", host_paths, "FILE", "A host by `export --format host`; what all have");
    line.usually("--format", format, kAdviseFormats, "For whom");
    line.flag("--apply", apply, "Define the VM as advised, for its next start");
    line.flag("--undo", undo, "Undo --apply; without a VM, list what can be undone");
    line.either("--apply", "--undo");
    line.flag("--yes", yes, "Do so without asking");
    line.text("--definitions", definitions_path, "DIR", "Where --apply keeps what was before");
    line.text("--connect", uri, "URI", "Ask this libvirt");
    line.text("--root", root, "DIR", "Look at the files below this directory");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct DoctorRun {
  static constexpr CommandName kName{"", "doctor", "What is wrong on this host, and the cure"};
  std::string root = "/";  ///< the host's root directory
  template <class Line>
  void describe(Line& line) {
    line.text("--root", root, "DIR", "Look at the files below this directory");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct ConfigShowRun {
  static constexpr CommandName kName{"config", "show",
                                     "The configuration that counts, and where it is from"};
  std::string path;  ///< empty: what counts for the daemon, or the daemon's if there is none
  template <class Line>
  void describe(Line& line) {
    line.text("--config", path, "FILE", "What this file would set, not what the daemon goes by");
    line.listing();
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct ConfigCheckRun {
  static constexpr CommandName kName{"config", "check", "Say what is wrong with the configuration"};
  std::string path;  ///< empty: the daemon's
  template <class Line>
  void describe(Line& line) {
    line.text("--config", path, "FILE", "Another file than the daemon's");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct ReportRun {
  static constexpr CommandName kName{"", "report", "What happened, as a text or as a page"};
  bool html = false;
  std::int64_t since_unix_s = 0;
  std::int64_t until_unix_s = 0;
  std::string history_path;  ///< empty: the daemon's
  template <class Line>
  void describe(Line& line) {
    line.flag("--html", html, "A page that needs nothing but itself");
    line.since("--since", since_unix_s, until_unix_s, "1d",
               "Not before: an age such as 2h or 7d, or a time");
    line.text("--history", history_path, "FILE", "Another history than the daemon's");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

/// What `export` prints.
enum class ExportFormat { kNodeResourceTopology, kPlacementInventories, kHost };
/// What --format takes, in the order of ExportFormat.
inline constexpr std::array<std::string_view, 3> kExportFormats{"nrt", "openstack", "host"};

struct ExportRun {
  static constexpr CommandName kName{"", "export",
                                     "The host in the words of a cluster's scheduler"};
  ExportFormat format{};
  std::optional<std::string> name;  ///< of the host; its own if left out
  bool follow = false;              ///< on and on, whenever it has changed
  std::int64_t follow_seconds = 0;  ///< how often it is looked at; 0: every epoch
  std::string root = "/";           ///< the host's root directory
  template <class Line>
  void describe(Line& line) {
    line.watch("Again every epoch, or every so many seconds");
    line.choice("--format", format, kExportFormats,
                "nrt is for Kubernetes, host for `advise --host`");
    line.text("--name", name, "HOST", "What the cluster calls this host");
    line.period("--follow", follow, follow_seconds,
                "A line whenever it has changed; how often to look");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct RecordRun {
  static constexpr CommandName kName{"", "record", "Write down what the daemon sees and plans"};
  std::string path;
  std::optional<std::int64_t> epochs;
  bool anonymize = false;
  template <class Line>
  void describe(Line& line) {
    line.argument("FILE", path, "A file, which must not exist yet");
    line.number("--epochs", epochs, {1, 1'000'000}, "So many; until interrupted if left out");
    line.flag("--anonymize", anonymize, "Without names and UUIDs of VMs");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct ReplayRun {
  static constexpr CommandName kName{"", "replay", "Make the plans of a recording again"};
  std::string path;
  std::vector<std::pair<std::string, std::int64_t>> options;
  template <class Line>
  void describe(Line& line) {
    line.argument("FILE", path, "A file that `record` has written");
    line.values("--options", options, "Also plan with other options; may be given several times");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct SimRunRequest {
  static constexpr CommandName kName{"sim", "run", "Run a scenario"};
  std::string scenario;  ///< a file, or the name of one that comes with the program
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> seed;
  std::optional<std::string> record;   ///< a file that is made
  std::optional<std::string> explain;  ///< a VM; its explanation is then all that is printed
  template <class Line>
  void describe(Line& line) {
    line.argument("SCENARIO", scenario, "A file, - for input, a name, or drawn-SEED-NUMBER");
    line.number("--epochs", epochs, {1, 1'000'000}, "So many epochs, whatever the scenario says");
    line.number("--seed", seed, {0, std::numeric_limits<std::int64_t>::max()},
                "This seed, whatever the scenario says");
    line.text("--record", record, "FILE", "Also write a recording into this new file");
    line.text("--explain", explain, "VM", "At the end only say why this VM is where it is");
    line.watch("The tables after every epoch, of so long");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct SimListRequest {
  static constexpr CommandName kName{"sim", "list", "The scenarios that come with the program"};
  template <class Line>
  void describe(Line& line) {
    line.listing();
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct SimCompareRequest {
  static constexpr CommandName kName{"sim", "compare", "Run scenarios under other policies, too"};
  std::vector<std::string> scenarios;  ///< all that come with the program if nothing is chosen
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> drawn;  ///< so many as well, drawn at random
  std::int64_t seed = 1;              ///< of these
  template <class Line>
  void describe(Line& line) {
    line.arguments("SCENARIO", scenarios, "As for `run`; all that come with it if left out");
    line.number("--epochs", epochs, {1, 1'000'000}, "So many epochs at most");
    line.number("--drawn", drawn, {1, 1'000'000}, "So many that are drawn at random");
    line.number("--seed", seed, {0, std::numeric_limits<std::int32_t>::max()}, "Decides which");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct SimSearchRequest {
  static constexpr CommandName kName{"sim", "search",
                                     "Look for scenarios in which vmnuma does worst"};
  std::int64_t seconds = 60;
  std::optional<std::int64_t> rounds;  ///< instead of seconds
  std::int64_t seed = 1;
  std::string against = "best";
  std::optional<std::string> out;  ///< a directory for what is found
  template <class Line>
  void describe(Line& line) {
    line.number("--seconds", seconds, {1, 1'000'000}, "End with the round in which they pass");
    line.number("--rounds", rounds, {1, 1'000'000}, "End after so many rounds");
    line.either("--rounds", "--seconds");
    line.number("--seed", seed, {0, std::numeric_limits<std::int64_t>::max()},
                "Decides what is tried");
    line.text("--against", against, "POLICY", "best, optimal, or one other policy");
    line.text("--out", out, "DIR", "Write what is found as scenario files there");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct SimCheckRequest {
  static constexpr CommandName kName{"sim", "check", "Say what is wrong with a scenario file"};
  std::string scenario;  ///< as for `sim run`
  template <class Line>
  void describe(Line& line) {
    line.argument("SCENARIO", scenario, "As for `run`");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct SimShowRequest {
  static constexpr CommandName kName{"sim", "show", "Print a scenario as a file to start from"};
  std::string scenario;  ///< as for `sim run`
  template <class Line>
  void describe(Line& line) {
    line.argument("SCENARIO", scenario, "As for `run`");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

/// Where Proxmox VE looks for hookscripts.
struct PvePlace {
  std::string storage = "local";
  std::string snippets = "/var/lib/vz/snippets";
  template <class Line>
  void describe(Line& line) {
    line.text("--storage", storage, "STORAGE", "The storage, as Proxmox VE calls it");
    line.text("--snippets", snippets, "DIR", "Where it keeps its snippets");
  }
};

struct PveInstallRun {
  static constexpr CommandName kName{"pve", "install",
                                     "Put the hookscript in place, and say how VMs get it"};
  std::vector<std::string> vmids;  ///< of VMs that get it now
  PvePlace place;
  std::string root = "/";  ///< the host's root directory
  template <class Line>
  void describe(Line& line) {
    line.texts("--for", vmids, "VMID", "Give it to this VM, by `qm set`; repeatable");
    place.describe(line);
    line.text("--root", root, "DIR", "Look at the files below this directory");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct PveRemoveRun {
  static constexpr CommandName kName{"pve", "remove",
                                     "Take the hookscript away, once no VM names it"};
  std::vector<std::string> vmids;  ///< of VMs that lose it now
  PvePlace place;
  std::string root = "/";  ///< the host's root directory
  template <class Line>
  void describe(Line& line) {
    line.texts("--for", vmids, "VMID", "Take it from this VM, by `qm set`; repeatable");
    place.describe(line);
    line.text("--root", root, "DIR", "Look at the files below this directory");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

struct PveStatusRun {
  static constexpr CommandName kName{"pve", "status", "The hookscript, and which VMs have it"};
  PvePlace place;
  std::string root = "/";  ///< the host's root directory
  template <class Line>
  void describe(Line& line) {
    place.describe(line);
    line.text("--root", root, "DIR", "Look at the files below this directory");
  }
  [[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings) const;
};

/// In the order in which help lists them. OptimalRun is an option of `plan`, OverviewRun has no
/// name.
template <template <class...> class List, class... Others>
using WithLocalCommands =
    List<Others..., ListRun, EventsRun, RepackRun, MakeRoomRun, ForecastShowRun, ForecastTrainRun,
         AdviseRun, DoctorRun, ConfigShowRun, ConfigCheckRun, ReportRun, ExportRun, RecordRun,
         ReplayRun, PveInstallRun, PveRemoveRun, PveStatusRun, SimRunRequest, SimListRequest,
         SimCompareRequest, SimSearchRequest, SimCheckRequest, SimShowRequest>;

}  // namespace vmnuma::tools
