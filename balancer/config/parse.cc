// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/parse.h"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "balancer/config/config.h"
#include "balancer/config/keys.h"
#include "balancer/config/toml_problems.h"
#include "balancer/policy/policy_keys.h"
#include "placement/model/suggest.h"
#include "placement/model/text.h"
#include "stats/files/file.h"

namespace vmnuma::balancer {

namespace {

/// A thousand VMs with every key set take about 300 KiB.
constexpr std::size_t kMostConfigBytes = 4 * 1024 * 1024;

std::uint32_t line_of(const toml::key& key) {
  return key.source().begin.line;
}

template <class Target>
void unknown_key(TomlProblems& problems, const toml::key& key, std::string_view where,
                 std::span<const KeyInfo<Target>> rows) {
  std::string hint = hint_of_top_key(key.str());
  if (hint.empty()) {
    hint = did_you_mean(key.str(), names_of(rows));
  }
  problems.add(line_of(key), fmt::format("there is no key '{}'{}{}", key.str(), where, hint));
}

/// The table below `key`, or null with a problem noted.
const toml::table* table_of(TomlProblems& problems, const toml::key& key, const toml::node& node) {
  if (!node.is_table()) {
    problems.add(line_of(key),
                 fmt::format("'{}' is {}, but must be a table", key.str(), kind_of(node)));
  }
  return node.as_table();
}

void read_history(TomlProblems& problems, Config& config, const toml::table& table) {
  for (const auto& [key, node] : table) {
    const auto* row = find_key(history_keys(), key.str());
    if (row == nullptr) {
      unknown_key(problems, key, " in [history]", history_keys());
    } else if (read_key(problems, config.history, *row, key, node)) {
      config.origins["history." + std::string(row->name)] = Origin::kFile;
    }
  }
}

void read_policy(TomlProblems& problems, const Config& config, VmPolicy& policy,
                 const toml::table& table) {
  for (const auto& [key, node] : table) {
    const auto* row = find_key(policy_keys(), key.str());
    if (row == nullptr) {
      unknown_key(problems, key, " in a [vm] table", policy_keys());
    } else if (read_key(problems, policy, *row, key, node) && row->name == "device_pool") {
      if (auto there = check_device_pools(policy, config.device_pools); !there) {
        problems.add(line_of(key), there.error().message);
      }
    }
  }
}

/// Reads `[vm."NAME"]` for every VM, after everything else.
void read_vms(TomlProblems& problems, Config& config, const toml::table& table) {
  for (const auto& [key, node] : table) {
    std::string name(key.str());
    if (name.empty()) {
      problems.add(line_of(key), "a [vm] table needs the VM's name or UUID");
      continue;
    }
    const toml::table* policy_table = table_of(problems, key, node);
    if (policy_table == nullptr) {
      continue;
    }
    if (const auto id = parse_vm_id(name)) {
      name = to_text(*id);
    }
    const auto [policy, is_new] = config.vms.try_emplace(name);
    if (!is_new) {
      problems.add(line_of(key), fmt::format("the VM '{}' has a second table", name));
      continue;
    }
    read_policy(problems, config, policy->second, *policy_table);
    if (auto agrees = check_policy(policy->second); !agrees) {
      problems.add(line_of(key), agrees.error().message);
    }
  }
}

void read_top(TomlProblems& problems, Config& config, const toml::table& table) {
  OptionValues values;
  const toml::table* vms = nullptr;
  for (const auto& [key, node] : table) {
    if (const auto* row = find_key(top_keys(), key.str())) {
      if (read_key(problems, config, *row, key, node)) {
        config.origins[std::string(row->name)] = Origin::kFile;
      }
      continue;
    }
    if (key.str() != "options" && key.str() != "history" && key.str() != "vm") {
      auto known = names_of(top_keys());
      known.insert(known.end(), {"options", "history", "vm"});
      problems.add(line_of(key), fmt::format("there is no key '{}'{}", key.str(),
                                             did_you_mean(key.str(), known)));
      continue;
    }
    const toml::table* inner = table_of(problems, key, node);
    if (inner == nullptr) {
      continue;
    }
    if (key.str() == "vm") {
      vms = inner;
    } else if (key.str() == "history") {
      read_history(problems, config, *inner);
    } else {
      read_options(problems, values, *inner);
    }
  }
  if (vms != nullptr) {
    read_vms(problems, config, *vms);
  }
  config.options = options_of(config.preset);
  apply_options(config, values, Origin::kFile);
}

Result<toml::table> parse_toml(std::string_view text, std::string_view file) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("{}:{}: {}", file, error.source().begin.line, error.description()));
  }
}

}  // namespace

Origin Config::origin_of(std::string_view key) const {
  const auto found = origins.find(key);
  return found == origins.end() ? Origin::kDefault : found->second;
}

const VmPolicy* Config::policy_of(const VmId& vm, std::string_view name) const {
  auto found = vms.find(to_text(vm));
  if (found == vms.end()) {
    found = vms.find(name);
  }
  return found == vms.end() ? nullptr : &found->second;
}

void apply_options(Config& config, const OptionValues& values, Origin origin) {
  for (const auto& [name, value] : values) {
    VMNUMA_CHECK(set_option(config.options, name, value));
    config.origins[name] = origin;
  }
}

ParsedOptions parse_options(std::string_view text, std::string_view file) {
  ParsedOptions parsed;
  const auto table = parse_toml(text, file);
  if (!table) {
    parsed.problem = table.error();
    return parsed;
  }
  TomlProblems problems(file);
  for (const auto& [key, node] : *table) {
    if (key.str() != "options") {
      problems.add(line_of(key),
                   fmt::format("there is no key '{}' in this file, only [options]", key.str()));
    } else if (const toml::table* inner = table_of(problems, key, node)) {
      read_options(problems, parsed.values, *inner);
    }
  }
  if (!problems.empty()) {
    parsed.problem = problems.as_error();
  }
  return parsed;
}

Result<Config> parse_config(std::string_view text, std::string_view file) {
  VMNUMA_ASSIGN_OR_RETURN(const auto table, parse_toml(text, file));
  TomlProblems problems(file);
  Config config;
  read_top(problems, config, table);
  if (!problems.empty()) {
    return tl::unexpected(problems.as_error());
  }
  return config;
}

Result<Config> load_config(const std::string& path, FileIs file_is) {
  auto text = files::read_file(path, kMostConfigBytes);
  if (!text) {
    if (text.error().code == ErrorCode::kNotFound && file_is == FileIs::kOptional) {
      return Config{};
    }
    return failure(std::move(text).error(), "while reading the configuration");
  }
  return parse_config(*text, path);
}

}  // namespace vmnuma::balancer
