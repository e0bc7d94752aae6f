// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "balancer/config/config.h"
#include "balancer/config/keys.h"
#include "placement/model/options.h"

namespace vmnuma::balancer {

namespace {

/// A TOML basic string (TOML 1.0, "String"). Bytes above 0x7f pass: what was read was valid UTF-8.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out + '"';
}

template <class Target>
std::string value_of(const KeyInfo<Target>& key, const Target& target) {
  const std::string text = key.get(target);
  return key.kind == KeyKind::kText ? quoted(text) : text;
}

std::string with_comment(const std::string& setting, std::string_view comment) {
  return fmt::format("{:<44} # {}\n", setting, comment);
}

std::string allowed_values(const placement::OptionInfo& option) {
  return fmt::format("{} to {}{}{}", option.smallest, option.largest,
                     option.unit.empty() ? "" : " ", option.unit);
}

template <class Target>
std::string example_key(const KeyInfo<Target>& key) {
  return fmt::format("\n# {}: {}.\n# {} = {}\n", key.help, key.allowed, key.name,
                     value_of(key, Target{}));
}

}  // namespace

std::string render_config(const Config& config) {
  std::string out;
  for (const auto& key : top_keys()) {
    out += with_comment(fmt::format("{} = {}", key.name, value_of(key, config)),
                        name_of(config.origin_of(key.name)));
  }
  out += "\n[history]\n";
  for (const auto& key : history_keys()) {
    out += with_comment(fmt::format("{} = {}", key.name, value_of(key, config.history)),
                        name_of(config.origin_of("history." + std::string(key.name))));
  }
  out += "\n[options]\n";
  for (const auto& option : placement::option_table()) {
    out += with_comment(fmt::format("{} = {}", quoted(option.name), config.options.*option.value),
                        name_of(config.origin_of(option.name)));
  }
  for (const auto& [vm, policy] : config.vms) {
    out += fmt::format("\n[vm.{}]\n", quoted(vm));
    for (const auto& key : policy_keys()) {
      out += fmt::format("{} = {}\n", key.name, value_of(key, policy));
    }
  }
  return out;
}

std::string example_config() {
  std::string out =
      "# The configuration of vmnumad. Every line that is commented out shows the default.\n"
      "# vmnuma.toml(5) explains the settings; `vmnumad --check-config` checks this file.\n";
  for (const auto& key : top_keys()) {
    out += example_key(key);
  }
  out += "\n[history]\n";
  for (const auto& key : history_keys()) {
    out += example_key(key);
  }
  out += "\n[options]\n";
  for (const auto& option : placement::option_table()) {
    out += fmt::format("\n# {}: {}.\n# {} = {}\n", option.help, allowed_values(option),
                       quoted(option.name), placement::Options{}.*option.value);
  }
  out +=
      "\n# One table for each VM that is to be treated differently, by its name or UUID.\n"
      "# [vm.\"web1\"]\n";
  for (const auto& key : policy_keys()) {
    out += example_key(key);
  }
  return out;
}

}  // namespace vmnuma::balancer
