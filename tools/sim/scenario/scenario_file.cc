// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/scenario/scenario_file.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "balancer/policy/policy_keys.h"
#include "placement/base/mapped.h"
#include "placement/model/suggest.h"
#include "placement/model/topology.h"
#include "stats/files/file.h"
#include "tools/sim/scenario/random.h"
#include "tools/sim/scenario/toml_reader.h"

namespace vmnuma::tools {

namespace {

constexpr std::size_t kLargestFile = std::size_t{1024} * 1024;
constexpr Range kEpochs{0, 1'000'000};
constexpr std::int64_t kMostNodes = 64;
constexpr std::int64_t kMostVms = 10'000;
constexpr Range kNodeNumbers{0, 1023};
constexpr Range kCores{0, 1024};
constexpr Range kThreadsPerCore{1, 8};
constexpr std::string_view kStandardInput = "-";
constexpr std::int64_t kLongestFault = 10'000;
constexpr std::int64_t kMostWakeups = 10'000'000;
constexpr std::int64_t kStandardEpochs = 300;
constexpr std::int64_t kStandardFault = 10;
constexpr std::int64_t kMostKnownMinutes = 14 * 24 * 60;

/// One function per table of a scenario file and per kind of value.
class ScenarioParser {
 public:
  ScenarioParser(const std::string& file, Problems& problems) : problems_(problems) {
    scenario_.name = std::filesystem::path(file).stem().string();
  }

  Scenario parse(const toml::table& root) {
    const TableReader top(problems_, root, "");
    scenario_.description = top.text("description").value_or("");
    scenario_.not_first_because = top.text("not_first_because").value_or("");
    top.set("seed", {0, INT64_MAX}, scenario_.seed);
    scenario_.epochs = top.integer("epochs", {1, kEpochs.largest}, kStandardEpochs);
    scenario_.strategy =
        choice(top, "strategy", PlacementStrategy::kLeastLostTime).value_or(scenario_.strategy);
    top.set("known_minutes", {0, kMostKnownMinutes}, scenario_.known_minutes);
    top.require("host");
    if (const toml::table* host = top.table("host")) {
      read_host(*host);
    }
    scenario_.options =
        options_of(choice(top, "preset", Preset::kVmnuma).value_or(Preset::kVmnuma));
    if (const toml::table* options = top.table("options")) {
      balancer::OptionValues values;
      read_options(problems_, values, *options);
      for (const auto& [name, value] : values) {
        VMNUMA_CHECK(set_option(scenario_.options, name, value));
      }
    }
    for (const toml::table* vm : top.tables("vm")) {
      read_vms(*vm);
    }
    if (static_cast<std::int64_t>(scenario_.vms.size()) > kMostVms) {
      top.complain("vm", fmt::format("there are more than {} VMs", kMostVms));
    }
    for (const toml::table* talk : top.tables("talk")) {
      read_talk(*talk);
    }
    for (const toml::table* fault : top.tables("fault")) {
      read_fault(*fault);
    }
    if (problems_.empty()) {
      check_homes(top);
    }
    return std::move(scenario_);
  }

 private:
  /// Returns the value of an enumeration by its name; reports a problem for any other name.
  template <Named Enum>
  static std::optional<Enum> choice(const TableReader& reader, std::string_view key,
                                    Enum first = Enum{}) {
    constexpr auto kNames = names(Enum{});
    const auto from = static_cast<std::size_t>(first);
    const std::optional<std::size_t> word = reader.word(key, {kNames.begin() + from, kNames.end()});
    return word ? std::optional(static_cast<Enum>(from + *word)) : std::nullopt;
  }

  void read_host(const toml::table& table) {
    const TableReader host(problems_, table, " in [host]");
    const bool alike = host.has("nodes");
    if (alike == host.has("node")) {
      host.complain("node", "[host] must have either 'nodes', a number, or [[host.node]] tables");
    }
    ScenarioNode standard;
    host.set("cores_per_node", kCores, standard.cores);
    host.set("threads_per_core", kThreadsPerCore, standard.threads_per_core);
    standard.memory = host.size("memory_per_node").value_or(Bytes{});
    standard.huge_pages = host.size("huge_pages_per_node").value_or(Bytes{});
    host.set("caches_per_node", {1, 64}, standard.caches);
    if (alike) {
      host.require("cores_per_node");
      host.require("memory_per_node");
      check_huge_pages(host, "huge_pages_per_node", standard);
      const std::int64_t count = host.integer("nodes", {1, kMostNodes}, 0);
      for (std::int32_t i = 0; i < count; ++i) {
        standard.id = NodeId{i};
        scenario_.host.nodes.push_back(standard);
      }
    } else {
      read_nodes(host, standard);
    }
    read_distances(host);
    for (const toml::table* other : host.tables("other")) {
      read_other(*other);
    }
  }

  static void check_huge_pages(const TableReader& reader, std::string_view key,
                               const ScenarioNode& node) {
    if (node.huge_pages > node.memory) {
      reader.complain(key, "there are more huge pages than memory");
    }
  }

  void read_nodes(const TableReader& host, const ScenarioNode& standard) {
    std::int32_t next_id = 0;
    for (const toml::table* table : host.tables("node")) {
      const TableReader reader(problems_, *table, " in [[host.node]]");
      ScenarioNode node = standard;
      node.id.value = next_id;
      reader.set("id", {next_id, kNodeNumbers.largest}, node.id.value);
      reader.set("cores", kCores, node.cores);
      reader.set("threads_per_core", kThreadsPerCore, node.threads_per_core);
      node.memory = reader.size("memory").value_or(standard.memory);
      node.huge_pages = reader.size("huge_pages").value_or(standard.huge_pages);
      check_huge_pages(reader, "huge_pages", node);
      scenario_.host.nodes.push_back(node);
      next_id = node.id.value + 1;
    }
    if (scenario_.host.nodes.size() > static_cast<std::size_t>(kMostNodes)) {
      host.complain("node", fmt::format("there are more than {} nodes", kMostNodes));
    }
  }

  void read_distances(const TableReader& host) {
    scenario_.host.distances = host.has("distances")
                                   ? read_matrix(host, "distances")
                                   : even_distances(scenario_.host.nodes.size(), kRemoteDistance);
    if (host.has("firmware_distances")) {
      scenario_.host.firmware_distances = read_matrix(host, "firmware_distances");
    }
    scenario_.host.distances_are_measured =
        host.word("decisions_use", {"measured", "firmware"}).value_or(0) == 0;
    scenario_.host.counts_reads = host.truth("counts_reads");
  }

  /// Returns the matrix row by row; if there is a problem, the part before it.
  std::vector<std::int32_t> read_matrix(const TableReader& host, const char* key) {
    const std::size_t count = scenario_.host.nodes.size();
    std::vector<std::int32_t> distances;
    const toml::array* rows = host.array(key);
    const std::string wanted = fmt::format("'{0}' must be {1} arrays of {1} integers", key, count);
    if (rows == nullptr || rows->size() != count) {
      host.complain(key, wanted);
      return distances;
    }
    for (const toml::node& row : *rows) {
      if (!row.is_array() || row.as_array()->size() != count) {
        host.complain(key, wanted);
        return distances;
      }
      for (const toml::node& element : *row.as_array()) {
        const bool diagonal = distances.size() % (count + 1) == 0;
        const std::optional<std::int32_t> value = element.value<std::int32_t>();
        const bool fits =
            element.is_integer() && value &&
            (diagonal ? *value == kLocalDistance : *value >= kLocalDistance && *value <= 254);
        if (!fits) {
          host.complain(
              key, fmt::format("'{}' must have 10 on the diagonal and 10 to 254 elsewhere", key));
          return distances;
        }
        distances.push_back(*value);
      }
    }
    return distances;
  }

  void read_other(const toml::table& table) {
    const TableReader reader(problems_, table, " in [[host.other]]");
    reader.require("pct");
    OtherLoad other;
    other.node = read_node(reader);
    reader.set("from", kEpochs, other.from);
    other.until = reader.integer("until", kEpochs);
    reader.set("pct", {0, 1'000'000}, other.pct);
    scenario_.host.others.push_back(other);
  }

  /// Reads one VM, or `count` of them, which differ in their names and random values.
  void read_vms(const toml::table& table) {
    const TableReader reader(problems_, table, " in [[vm]]");
    for (const std::string_view key : {"name", "vcpus", "memory"}) {
      reader.require(key);
    }
    const std::string name = reader.text("name").value_or("");
    if (reader.has("name") && name.empty()) {
      reader.complain("name", "'name' is empty");
    }
    const std::optional<std::int64_t> count = reader.integer("count", {1, kMostVms});
    for (std::int64_t number = 1; number <= count.value_or(1); ++number) {
      read_vm(reader, count ? fmt::format("{}{}", name, number) : name);
    }
  }

  void read_vm(const TableReader& reader, std::string name) {
    ScenarioVm vm;
    vm.name = std::move(name);
    if (find_vm(vm.name)) {
      reader.complain("name", fmt::format("there are two VMs named '{}'", vm.name));
    }
    vm.vcpus = static_cast<std::int32_t>(reader.integer("vcpus", {1, 1024}, 1));
    vm.memory = reader.size("memory").value_or(kSimPage);
    if (vm.memory < kSimPage) {
      reader.complain("memory", "a VM needs at least 2MiB of memory");
    }
    reader.set("start", kEpochs, vm.start);
    vm.stop = reader.integer("stop", {vm.start + 1, kEpochs.largest});
    reader.set("shares", {1, 10'000}, vm.shares);
    vm.limit_pct = reader.integer("limit", {1, 102'400});
    reader.set("noise", {0, 100}, vm.noise_pct);
    vm.stall = reader.share("stall").value_or(vm.stall);
    vm.qemu = reader.share("qemu").value_or(vm.qemu);
    reader.set("cells", {0, vm.vcpus}, vm.cells);
    vm.huge_pages = reader.truth("huge_pages");
    read_load(reader, vm);
    read_places(reader, vm);
    read_policy(reader, vm);
    check_size(reader, vm);
    scenario_.vms.push_back(std::move(vm));
  }

  /// Rejects a VM that could not be started on a host of this size.
  void check_size(const TableReader& reader, const ScenarioVm& vm) const {
    Bytes all;
    for (const ScenarioNode& node : scenario_.host.nodes) {
      all += vm.huge_pages ? node.huge_pages : node.memory - node.huge_pages;
    }
    if (vm.memory > all) {
      reader.complain("memory", fmt::format("'{}' has {} MiB of memory, but all nodes together "
                                            "have {}{}",
                                            vm.name, vm.memory.value >> 20U, all.value >> 20U,
                                            vm.huge_pages ? " of huge pages" : ""));
    }
  }

  void read_load(const TableReader& vm_reader, ScenarioVm& vm) {
    std::int64_t earliest = -known_epochs(scenario_);
    for (const toml::table* table : vm_reader.tables("load")) {
      const TableReader reader(problems_, *table, " in 'load'");
      reader.require("pct");
      LoadStep step;
      step.from =
          reader.integer("from", {earliest, kEpochs.largest}, std::max<std::int64_t>(earliest, 0));
      reader.set("pct", {0, 100}, step.pct);
      vm.load.push_back(step);
      earliest = step.from + 1;
    }
    vm_reader.set("load_repeats", {std::max<std::int64_t>(earliest, 0), kEpochs.largest},
                  vm.load_repeats);
    if (const toml::table* table = vm_reader.table("on_off")) {
      read_on_off(*table, vm);
    }
  }

  /// Reads a load that is on and off alternately, for a random number of epochs each, from the
  /// first known minute on, and only between `from` and `until` of each `every` epochs.
  void read_on_off(const toml::table& table, ScenarioVm& vm) {
    const TableReader reader(problems_, table, " in 'on_off'");
    const std::int64_t pct = reader.integer("pct", {0, 100}, 100);
    const std::int64_t idle_pct = reader.integer("idle_pct", {0, 100}, 0);
    const std::int64_t shortest = reader.integer("shortest", {1, kEpochs.largest}, 1);
    const std::int64_t longest = reader.integer("longest", {shortest, kEpochs.largest}, shortest);
    const std::int64_t every = reader.integer("every", {1, kEpochs.largest}, 1);
    const std::int64_t begins = reader.integer("from", {0, every - 1}, 0);
    const std::int64_t ends = reader.integer("until", {begins + 1, every}, every);
    if (!vm.load.empty()) {
      reader.complain("pct", "a VM has either 'load' or 'on_off'");
    }
    Random random = random_for(scenario_.seed, scenario_.vms.size());
    bool works = random.below(2) == 0;
    for (std::int64_t from = -known_epochs(scenario_); from < scenario_.epochs; works = !works) {
      const std::int64_t now = (from % every + every) % every;
      vm.load.push_back({from, works && begins <= now && now < ends ? pct : idle_pct});
      from += shortest + random.below(longest - shortest + 1);
    }
  }

  void read_places(const TableReader& reader, ScenarioVm& vm) {
    vm.pinned_on = reader.nodes("pinned_on");
    for (const NodeId node : vm.pinned_on) {
      check_node(reader, "pinned_on", node);
      const ScenarioNode* known = find_node(scenario_.host, node);
      if (known != nullptr && known->cores == 0) {
        reader.complain("pinned_on", fmt::format("node {} has no CPUs", node.value));
      }
    }
    vm.placed_on = read_node_list(reader, "placed_on");
    const toml::table* memory = reader.table("memory_on");
    if (memory == nullptr) {
      return;
    }
    const TableReader sizes(problems_, *memory, "");
    Bytes sum;
    for (const ScenarioNode& node : scenario_.host.nodes) {
      if (const std::optional<Bytes> bytes = sizes.size(std::to_string(node.id.value))) {
        vm.memory_on.push_back({node.id, *bytes});
        sum += *bytes;
      }
    }
    for (const std::string_view key : sizes.others()) {
      sizes.complain(key, fmt::format("there is no node '{}'", key));
    }
    if (sum > vm.memory) {
      reader.complain("memory_on",
                      fmt::format("'{}' has more memory on nodes than in all", vm.name));
    }
  }

  void read_policy(const TableReader& reader, ScenarioVm& vm) {
    const std::string group = reader.text("group").value_or("");
    const std::optional<std::size_t> apart = reader.word("anti_affinity", {"soft", "hard"});
    (apart ? vm.policy.anti_affinity_group : vm.policy.affinity_group) = group;
    vm.policy.anti_affinity_hard = apart == 1U;
    if (apart && group.empty()) {
      reader.complain("anti_affinity", "'anti_affinity' needs a 'group'");
    }
    vm.policy.nodes = read_node_list(reader, "nodes");
    if (const auto mode = choice(reader, "numatune", NumatuneMode::kStrict)) {
      vm.numatune = *mode;
      if (vm.memory_on.empty()) {
        reader.complain("numatune", "'numatune' needs 'memory_on', which says on which nodes");
      }
    }
    for (const std::string_view name : kPolicySettings) {
      reader.set(*balancer::find_key(balancer::policy_keys(), name), vm.policy);
    }
  }

  void read_talk(const toml::table& table) {
    const TableReader reader(problems_, table, " in [[talk]]");
    reader.require("between");
    reader.require("wakeups_per_second");
    ScenarioTalk talk;
    reader.set("wakeups_per_second", {0, kMostWakeups}, talk.wakeups_per_second);
    const toml::array* names = reader.array("between");
    for (std::size_t i = 0; names != nullptr && i < names->size(); ++i) {
      const auto name = names->get(i)->value<std::string>();
      const std::optional<std::size_t> vm = name ? find_vm(*name) : std::nullopt;
      if (!vm) {
        reader.complain("between", name ? fmt::format("there is no VM '{}'", *name)
                                        : "'between' must be an array of names of VMs");
      } else if (std::ranges::find(talk.vms, *vm) != talk.vms.end()) {
        reader.complain("between", fmt::format("'{}' cannot talk to itself", *name));
      } else {
        talk.vms.push_back(*vm);
      }
    }
    if (names != nullptr && names->size() < 2) {
      reader.complain("between", "it takes two VMs to talk");
    }
    scenario_.talks.push_back(std::move(talk));
  }

  void read_fault(const toml::table& table) {
    const TableReader reader(problems_, table, " in [[fault]]");
    reader.require("epoch");
    reader.require("kind");
    const std::optional<FaultKind> kind = choice<FaultKind>(reader, "kind");
    Fault fault;
    fault.kind = kind.value_or(FaultKind{});
    reader.set("epoch", kEpochs, fault.epoch);
    fault.epochs = reader.integer("epochs", {1, kLongestFault},
                                  fault.kind == FaultKind::kDaemonRestart ? 1 : kStandardFault);
    if (const std::optional<std::string> name = reader.text("vm")) {
      fault.vm = find_vm(*name);
      if (!fault.vm) {
        std::vector<std::string_view> names =
            mapped<std::string_view>(scenario_.vms, &ScenarioVm::name);
        reader.complain(
            "vm", fmt::format("there is no VM named '{}'{}", *name, did_you_mean(*name, names)));
      }
    }
    fault.node = read_node(reader);
    reader.set("cores", {1, kCores.largest}, fault.cores);
    if (kind) {
      check_victim(reader, fault);
    }
    scenario_.faults.push_back(fault);
  }

  /// Rejects a host on which, at any time, no VM can have a home.
  void check_homes(const TableReader& top) const {
    const ScenarioHost& host = scenario_.host;
    if (std::ranges::none_of(host.nodes, can_be_home)) {
      top.complain("host", "no node has both CPUs and memory, so that no VM can have a home");
      return;
    }
    const auto takes = [](const Fault& fault, const ScenarioNode& node) {
      return fault.kind == FaultKind::kNodeOffline && fault.node == node.id &&
             (fault.cores == 0 || fault.cores >= node.cores);
    };
    const auto has_a_home = [&](std::int64_t epoch) {
      return std::ranges::any_of(host.nodes, [&](const ScenarioNode& node) {
        return can_be_home(node) && std::ranges::none_of(scenario_.faults, [&](const Fault& fault) {
                 return lasts(fault, epoch) && takes(fault, node);
               });
      });
    };
    for (const Fault& fault : scenario_.faults) {
      if (fault.kind == FaultKind::kNodeOffline && !has_a_home(fault.epoch)) {
        top.complain("fault", fmt::format("in epoch {} all nodes with CPUs and memory are offline",
                                          fault.epoch));
        return;
      }
    }
  }

  /// What a fault is about.
  struct Victim {
    bool may_be_vm = false;
    bool may_be_node = false;
    bool is_needed = false;
  };
  static Victim victim_of(FaultKind kind) {
    switch (kind) {
      case FaultKind::kVmVanishes:
      case FaultKind::kPinRefused:
      case FaultKind::kPagesBusy:
        return {.may_be_vm = true, .is_needed = true};
      case FaultKind::kNodeOffline:
        return {.may_be_node = true, .is_needed = true};
      case FaultKind::kNoMemory:
        return {.may_be_vm = true, .may_be_node = true, .is_needed = true};
      case FaultKind::kSlowLibvirt:
        return {.may_be_vm = true};
      case FaultKind::kStaleSample:
        return {.may_be_vm = true, .may_be_node = true};
      case FaultKind::kDaemonRestart:
      case FaultKind::kLibvirtGone:
        break;
    }
    return {};
  }

  static void check_victim(const TableReader& reader, const Fault& fault) {
    const Victim victim = victim_of(fault.kind);
    for (const auto& [key, allowed] :
         {std::pair("vm", victim.may_be_vm), std::pair("node", victim.may_be_node),
          std::pair("cores", fault.kind == FaultKind::kNodeOffline)}) {
      if (!allowed && reader.has(key)) {
        reader.complain(key, fmt::format("a fault '{}' has no '{}'", name_of(fault.kind), key));
      }
    }
    const bool has_vm = reader.has("vm");
    if (victim.is_needed && !has_vm && !reader.has("node")) {
      reader.complain("kind", fmt::format("a fault '{}' needs a '{}'", name_of(fault.kind),
                                          victim.may_be_node ? "node" : "vm"));
    }
    if (victim.may_be_node && has_vm && reader.has("node")) {
      reader.complain("node", "a fault is about a 'vm' or a 'node', not both");
    }
  }

  void check_node(const TableReader& reader, std::string_view key, NodeId id) const {
    if (find_node(scenario_.host, id) == nullptr) {
      reader.complain(key, fmt::format("there is no node {}", id.value));
    }
  }

  [[nodiscard]] std::optional<NodeId> read_node(const TableReader& reader) const {
    const auto number = reader.integer("node", kNodeNumbers);
    if (!number) {
      return std::nullopt;
    }
    const NodeId node{static_cast<std::int32_t>(*number)};
    check_node(reader, "node", node);
    return node;
  }

  [[nodiscard]] std::vector<NodeId> read_node_list(const TableReader& reader,
                                                   std::string_view key) const {
    std::vector<NodeId> nodes = reader.nodes(key);
    for (const NodeId node : nodes) {
      check_node(reader, key, node);
    }
    return nodes;
  }

  [[nodiscard]] std::optional<std::size_t> find_vm(std::string_view name) const {
    const auto found = std::ranges::find(scenario_.vms, name, &ScenarioVm::name);
    return found == scenario_.vms.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(found - scenario_.vms.begin()));
  }

  Problems& problems_;
  Scenario scenario_;
};

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, const std::string& file) {
  Problems problems(file);
  toml::table root;
  try {
    root = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    problems.add(error.source().begin.line, std::string(error.description()));
    return tl::unexpected(problems.as_error());
  }
  Scenario scenario = ScenarioParser(file, problems).parse(root);
  if (!problems.empty()) {
    return tl::unexpected(problems.as_error());
  }
  return scenario;
}

Result<Scenario> read_scenario(const std::string& path) {
  if (path == kStandardInput) {
    std::string text(kLargestFile + 1, '\0');
    std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::cin.gcount()));
    if (text.size() > kLargestFile) {
      return failure(ErrorCode::kInvalidArgument, "standard input is longer than 1 MiB");
    }
    return parse_scenario(text, "standard input");
  }
  return files::read_file(path, kLargestFile).and_then([&](const std::string& text) {
    return parse_scenario(text, path);
  });
}

}  // namespace vmnuma::tools
