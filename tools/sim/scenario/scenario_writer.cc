// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/scenario/scenario_writer.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "balancer/policy/policy_keys.h"

namespace vmnuma::tools {

namespace {

/// Returns a basic string of TOML 1.0.
std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string size_text(Bytes bytes) {
  const bool whole = bytes.value % kGiB.value == 0;
  return whole ? fmt::format("\"{}GiB\"", bytes.value / kGiB.value)
               : fmt::format("\"{}MiB\"", bytes.value / kMiB.value);
}

std::string list_text(const std::vector<NodeId>& nodes) {
  std::vector<std::int32_t> numbers;
  for (const NodeId node : nodes) {
    numbers.push_back(node.value);
  }
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

/// "key = value" lines of one table.
class Lines {
 public:
  explicit Lines(std::string head) : text_(std::move(head)) {}

  void add(std::string_view key, std::string_view value) {
    text_ += fmt::format("{} = {}\n", key, value);
  }
  template <class Number>
  void add_unless(std::string_view key, Number value, Number standard) {
    if (value != standard) {
      add(key, fmt::format("{}", value));
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string matrix_text(const std::vector<std::int32_t>& distances, std::size_t count) {
  std::vector<std::string> rows;
  for (std::size_t row = 0; row < count; ++row) {
    const auto* const begin = distances.data() + row * count;
    rows.push_back(fmt::format("[{}]", fmt::join(begin, begin + count, ", ")));
  }
  return fmt::format("[{}]", fmt::join(rows, ", "));
}

bool are_standard(const std::vector<std::int32_t>& distances, std::size_t count) {
  constexpr std::int32_t kRemote = 21;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (distances[i] != (i % (count + 1) == 0 ? kLocalDistance : kRemote)) {
      return false;
    }
  }
  return true;
}

std::string text_of(const ScenarioHost& host) {
  Lines lines("\n[host]\n");
  const std::size_t count = host.nodes.size();
  bool alike = count > 0;
  for (std::size_t i = 0; i < count; ++i) {
    ScenarioNode like_first = host.nodes.front();
    like_first.id = NodeId{static_cast<std::int32_t>(i)};
    alike = alike && host.nodes[i] == like_first;
  }
  if (alike) {
    const ScenarioNode& node = host.nodes.front();
    lines.add("nodes", std::to_string(count));
    lines.add("cores_per_node", std::to_string(node.cores));
    lines.add_unless("threads_per_core", node.threads_per_core, 1);
    lines.add("memory_per_node", size_text(node.memory));
    if (node.huge_pages > Bytes{}) {
      lines.add("huge_pages_per_node", size_text(node.huge_pages));
    }
  }
  lines.add_unless("caches_per_node", host.nodes.front().caches, 1);
  if (!are_standard(host.distances, count)) {
    lines.add("distances", matrix_text(host.distances, count));
  }
  if (!host.firmware_distances.empty()) {
    lines.add("firmware_distances", matrix_text(host.firmware_distances, count));
  }
  if (!host.distances_are_measured) {
    lines.add("decisions_use", toml_string("firmware"));
  }
  if (host.counts_reads) {
    lines.add("counts_reads", "true");
  }
  std::string text = lines.text();
  std::int32_t next_id = 0;
  for (const ScenarioNode& node : alike ? std::vector<ScenarioNode>{} : host.nodes) {
    Lines its("\n[[host.node]]\n");
    its.add_unless("id", node.id.value, next_id);
    its.add("cores", std::to_string(node.cores));
    its.add_unless("threads_per_core", node.threads_per_core, 1);
    its.add("memory", size_text(node.memory));
    if (node.huge_pages > Bytes{}) {
      its.add("huge_pages", size_text(node.huge_pages));
    }
    text += its.text();
    next_id = node.id.value + 1;
  }
  for (const OtherLoad& other : host.others) {
    Lines its("\n[[host.other]]\n");
    if (other.node) {
      its.add("node", std::to_string(other.node->value));
    }
    its.add_unless<std::int64_t>("from", other.from, 0);
    if (other.until) {
      its.add("until", std::to_string(*other.until));
    }
    its.add("pct", std::to_string(other.pct));
    text += its.text();
  }
  return text;
}

std::string text_of(const Options& options) {
  Lines lines("\n[options]\n");
  bool any = false;
  for (const OptionRow& option : option_table()) {
    const std::int64_t value = options.*option.value;
    if (value != Options{}.*option.value) {
      lines.add(toml_string(option.name), std::to_string(value));
      any = true;
    }
  }
  return any ? lines.text() : "";
}

void add_policy(Lines& lines, const VmPolicy& policy) {
  if (!policy.anti_affinity_group.empty()) {
    lines.add("group", toml_string(policy.anti_affinity_group));
    lines.add("anti_affinity", toml_string(policy.anti_affinity_hard ? "hard" : "soft"));
  } else if (!policy.affinity_group.empty()) {
    lines.add("group", toml_string(policy.affinity_group));
  }
  if (!policy.nodes.empty()) {
    lines.add("nodes", list_text(policy.nodes));
  }
  // Settings that have the same name and the same values in both kinds of file.
  for (const std::string_view name :
       {"memory_mode", "consolidate", "do_not_move", "strategy", "cpu_binding", "cpu_policy",
        "class", "reservation", "locality_weight"}) {
    const auto* const key = balancer::find_key(balancer::policy_keys(), name);
    const std::string value = key->get(policy);
    if (value != key->get(VmPolicy{})) {
      lines.add(name, key->kind == balancer::KeyKind::kText ? toml_string(value) : value);
    }
  }
}

std::string text_of(const ScenarioVm& vm) {
  Lines lines("\n[[vm]]\n");
  const ScenarioVm standard;
  lines.add("name", toml_string(vm.name));
  lines.add("vcpus", std::to_string(vm.vcpus));
  lines.add("memory", size_text(vm.memory));
  lines.add_unless("start", vm.start, standard.start);
  if (vm.stop) {
    lines.add("stop", std::to_string(*vm.stop));
  }
  lines.add_unless("shares", vm.shares, standard.shares);
  if (!vm.load.empty()) {
    std::vector<std::string> steps;
    for (const LoadStep& step : vm.load) {
      steps.push_back(fmt::format("{{ from = {}, pct = {} }}", step.from, step.pct));
    }
    lines.add("load", fmt::format("[{}]", fmt::join(steps, ", ")));
  }
  lines.add_unless("load_repeats", vm.load_repeats, standard.load_repeats);
  lines.add_unless("noise", vm.noise_pct, standard.noise_pct);
  if (vm.stall != standard.stall) {
    lines.add("stall", fmt::format("{}.{:03}", vm.stall.value / 1000, vm.stall.value % 1000));
  }
  if (vm.qemu != standard.qemu) {
    lines.add("qemu", fmt::format("{}.{:03}", vm.qemu.value / 1000, vm.qemu.value % 1000));
  }
  if (vm.limit_pct) {
    lines.add("limit", std::to_string(*vm.limit_pct));
  }
  if (vm.huge_pages) {
    lines.add("huge_pages", "true");
  }
  lines.add_unless("cells", vm.cells, standard.cells);
  if (!vm.pinned_on.empty()) {
    lines.add("pinned_on", list_text(vm.pinned_on));
  }
  if (!vm.placed_on.empty()) {
    lines.add("placed_on", list_text(vm.placed_on));
  }
  if (!vm.memory_on.empty()) {
    std::vector<std::string> parts;
    for (const NodeBytes& part : vm.memory_on) {
      parts.push_back(fmt::format("\"{}\" = {}", part.node.value, size_text(part.bytes)));
    }
    lines.add("memory_on", fmt::format("{{ {} }}", fmt::join(parts, ", ")));
  }
  if (vm.numatune != standard.numatune) {
    lines.add("numatune", toml_string(name_of(vm.numatune)));
  }
  add_policy(lines, vm.policy);
  return lines.text();
}

std::string text_of(const ScenarioTalk& talk, const std::vector<ScenarioVm>& vms) {
  std::vector<std::string> names;
  for (const std::size_t vm : talk.vms) {
    names.push_back(toml_string(vms[vm].name));
  }
  Lines lines("\n[[talk]]\n");
  lines.add("between", fmt::format("[{}]", fmt::join(names, ", ")));
  lines.add("wakeups_per_second", std::to_string(talk.wakeups_per_second));
  return lines.text();
}

std::string text_of(const Fault& fault, const std::vector<ScenarioVm>& vms) {
  Lines lines("\n[[fault]]\n");
  lines.add("epoch", std::to_string(fault.epoch));
  lines.add("epochs", std::to_string(fault.epochs));
  lines.add("kind", toml_string(name_of(fault.kind)));
  if (fault.vm) {
    lines.add("vm", toml_string(vms[*fault.vm].name));
  }
  if (fault.node) {
    lines.add("node", std::to_string(fault.node->value));
  }
  if (fault.cores > 0) {
    lines.add("cores", std::to_string(fault.cores));
  }
  return lines.text();
}

}  // namespace

std::string to_toml(const Scenario& scenario) {
  Lines top("# SPDX-License-Identifier: Apache-2.0\n");
  const Scenario standard;
  if (!scenario.description.empty()) {
    top.add("description", toml_string(scenario.description));
  }
  if (!scenario.not_first_because.empty()) {
    top.add("not_first_because", toml_string(scenario.not_first_because));
  }
  top.add_unless("seed", scenario.seed, standard.seed);
  top.add("epochs", std::to_string(scenario.epochs));
  if (scenario.strategy != standard.strategy) {
    top.add("strategy", toml_string(name_of(scenario.strategy)));
  }
  top.add_unless("known_minutes", scenario.known_minutes, standard.known_minutes);
  std::string text = top.text() + text_of(scenario.host) + text_of(scenario.options);
  for (const ScenarioVm& vm : scenario.vms) {
    text += text_of(vm);
  }
  for (const ScenarioTalk& talk : scenario.talks) {
    text += text_of(talk, scenario.vms);
  }
  for (const Fault& fault : scenario.faults) {
    text += text_of(fault, scenario.vms);
  }
  return text;
}

}  // namespace vmnuma::tools
