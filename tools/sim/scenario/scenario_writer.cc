// SPDX-License-Identifier: Apache-2.0
#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "balancer/policy/policy_keys.h"
#include "placement/base/mapped.h"
#include "tools/sim/scenario/scenario_file.h"

namespace vmnuma::tools {

namespace {

/// Returns a basic string of TOML 1.0.
std::string in_toml(std::string_view text) {
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

template <std::integral Number>
std::string in_toml(Number number) {
  return fmt::format("{}", number);  // of a bool, "true" or "false"
}

template <Named Enum>
std::string in_toml(Enum value) {
  return in_toml(name_of(value));
}

std::string in_toml(NodeId node) {
  return in_toml(node.value);
}

std::string in_toml(Bytes bytes) {
  const bool whole = bytes.value % kGiB.value == 0;
  return whole ? fmt::format("\"{}GiB\"", bytes.value / kGiB.value)
               : fmt::format("\"{}MiB\"", bytes.value / kMiB.value);
}

std::string in_toml(Permille share) {
  return fmt::format("{}.{:03}", share.value / 1000, share.value % 1000);
}

std::string in_toml(const LoadStep& step) {
  return fmt::format("{{ from = {}, pct = {} }}", step.from, step.pct);
}

std::string in_toml(const std::vector<NodeBytes>& parts) {
  const std::vector<std::string> texts = mapped(parts, [](const NodeBytes& part) {
    return fmt::format("\"{}\" = {}", part.node.value, in_toml(part.bytes));
  });
  return fmt::format("{{ {} }}", fmt::join(texts, ", "));
}

template <class T>
std::string in_toml(const std::vector<T>& list) {
  const std::vector<std::string> texts =
      mapped(list, [](const T& element) { return in_toml(element); });
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

template <class T>
std::string in_toml(const std::optional<T>& value) {
  return in_toml(*value);
}

/// "key = value" lines of one table.
class Lines {
 public:
  explicit Lines(std::string head) : text_(std::move(head)) {}

  void add_text(std::string_view key, std::string_view value) {
    text_ += fmt::format("{} = {}\n", key, value);
  }
  template <class T>
  void add(std::string_view key, const T& value) {
    add_text(key, in_toml(value));
  }
  template <class T>
  void add_unless(std::string_view key, const T& value, const std::type_identity_t<T>& standard) {
    if (value != standard) {
      add(key, value);
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Returns the matrix by rows.
std::vector<std::vector<std::int32_t>> rows_of(const std::vector<std::int32_t>& distances,
                                               std::size_t count) {
  std::vector<std::vector<std::int32_t>> rows;
  for (std::size_t row = 0; row < count; ++row) {
    const auto* const begin = distances.data() + row * count;
    rows.emplace_back(begin, begin + count);
  }
  return rows;
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
    lines.add("nodes", count);
    lines.add("cores_per_node", node.cores);
    lines.add_unless("threads_per_core", node.threads_per_core, 1);
    lines.add("memory_per_node", node.memory);
    lines.add_unless("huge_pages_per_node", node.huge_pages, {});
  }
  lines.add_unless("caches_per_node", host.nodes.front().caches, 1);
  if (host.distances != even_distances(count, kRemoteDistance)) {
    lines.add("distances", rows_of(host.distances, count));
  }
  if (!host.firmware_distances.empty()) {
    lines.add("firmware_distances", rows_of(host.firmware_distances, count));
  }
  if (!host.distances_are_measured) {
    lines.add("decisions_use", std::string_view("firmware"));
  }
  lines.add_unless("counts_reads", host.counts_reads, false);
  std::string text = lines.text();
  std::int32_t next_id = 0;
  for (const ScenarioNode& node : alike ? std::vector<ScenarioNode>{} : host.nodes) {
    Lines its("\n[[host.node]]\n");
    its.add_unless("id", node.id.value, next_id);
    its.add("cores", node.cores);
    its.add_unless("threads_per_core", node.threads_per_core, 1);
    its.add("memory", node.memory);
    its.add_unless("huge_pages", node.huge_pages, {});
    text += its.text();
    next_id = node.id.value + 1;
  }
  for (const OtherLoad& other : host.others) {
    Lines its("\n[[host.other]]\n");
    its.add_unless("node", other.node, std::nullopt);
    its.add_unless("from", other.from, 0);
    its.add_unless("until", other.until, std::nullopt);
    its.add("pct", other.pct);
    text += its.text();
  }
  return text;
}

std::string text_of(const Options& options) {
  Lines lines("");
  for (const OptionRow& option : option_table()) {
    lines.add_unless(in_toml(option.name), options.*option.value, Options{}.*option.value);
  }
  return lines.text().empty() ? "" : "\n[options]\n" + lines.text();
}

void add_policy(Lines& lines, const VmPolicy& policy) {
  if (!policy.anti_affinity_group.empty()) {
    lines.add("group", policy.anti_affinity_group);
    lines.add("anti_affinity", std::string_view(policy.anti_affinity_hard ? "hard" : "soft"));
  } else {
    lines.add_unless("group", policy.affinity_group, "");
  }
  lines.add_unless("nodes", policy.nodes, {});
  for (const std::string_view name : kPolicySettings) {
    const auto* const key = balancer::find_key(balancer::policy_keys(), name);
    const std::string value = key->get(policy);
    if (value != key->get(VmPolicy{})) {
      lines.add_text(name, key->kind == balancer::KeyKind::kText ? in_toml(value) : value);
    }
  }
}

std::string text_of(const ScenarioVm& vm) {
  Lines lines("\n[[vm]]\n");
  const ScenarioVm standard;
  lines.add("name", vm.name);
  lines.add("vcpus", vm.vcpus);
  lines.add("memory", vm.memory);
  lines.add_unless("start", vm.start, standard.start);
  lines.add_unless("stop", vm.stop, standard.stop);
  lines.add_unless("shares", vm.shares, standard.shares);
  lines.add_unless("load", vm.load, standard.load);
  lines.add_unless("load_repeats", vm.load_repeats, standard.load_repeats);
  lines.add_unless("noise", vm.noise_pct, standard.noise_pct);
  lines.add_unless("stall", vm.stall, standard.stall);
  lines.add_unless("qemu", vm.qemu, standard.qemu);
  lines.add_unless("limit", vm.limit_pct, standard.limit_pct);
  lines.add_unless("huge_pages", vm.huge_pages, standard.huge_pages);
  lines.add_unless("cells", vm.cells, standard.cells);
  lines.add_unless("pinned_on", vm.pinned_on, standard.pinned_on);
  lines.add_unless("placed_on", vm.placed_on, standard.placed_on);
  lines.add_unless("memory_on", vm.memory_on, standard.memory_on);
  lines.add_unless("numatune", vm.numatune, standard.numatune);
  add_policy(lines, vm.policy);
  return lines.text();
}

std::string text_of(const ScenarioTalk& talk, const std::vector<ScenarioVm>& vms) {
  std::vector<std::string> names;
  for (const std::size_t vm : talk.vms) {
    names.push_back(vms[vm].name);
  }
  Lines lines("\n[[talk]]\n");
  lines.add("between", names);
  lines.add("wakeups_per_second", talk.wakeups_per_second);
  return lines.text();
}

std::string text_of(const Fault& fault, const std::vector<ScenarioVm>& vms) {
  Lines lines("\n[[fault]]\n");
  lines.add("epoch", fault.epoch);
  lines.add("epochs", fault.epochs);
  lines.add("kind", fault.kind);
  if (fault.vm) {
    lines.add("vm", vms[*fault.vm].name);
  }
  lines.add_unless("node", fault.node, std::nullopt);
  lines.add_unless("cores", fault.cores, 0);
  return lines.text();
}

}  // namespace

std::string to_toml(const Scenario& scenario) {
  Lines top("# SPDX-License-Identifier: Apache-2.0\n");
  const Scenario standard;
  top.add_unless("description", scenario.description, standard.description);
  top.add_unless("not_first_because", scenario.not_first_because, standard.not_first_because);
  top.add_unless("seed", scenario.seed, standard.seed);
  top.add("epochs", scenario.epochs);
  top.add_unless("strategy", scenario.strategy, standard.strategy);
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
