// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "balancer/config/config.h"
#include "balancer/config/keys.h"
#include "balancer/policy/policy_keys.h"
#include "placement/model/options.h"

namespace vmnuma::balancer {

namespace {

/// A TOML basic string (TOML 1.0, "String"). Bytes above 0x7f are copied, because the input was
/// valid UTF-8.
std::string toml_string(std::string_view text) {
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
  return key.kind == KeyKind::kText ? toml_string(text) : text;
}

std::string allowed_values(const OptionRow& option) {
  return fmt::format("{} to {}{}{}", option.smallest, option.largest,
                     option.unit.empty() ? "" : " ", option.unit);
}

/// Formats sentences as comment lines of at most 80 columns.
std::string comment(std::string_view text) {
  constexpr std::size_t kWidth = 80;
  std::string out = "#";
  std::size_t line_begin = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (out.size() - line_begin + 1 + word.size() > kWidth) {
      out += "\n#";
      line_begin = out.size() - 1;
    }
    out += ' ';
    out += word;
  }
  return out + "\n";
}

/// A setting at its default, commented out.
std::string example_setting(std::string_view name, std::string_view value, std::string_view help,
                            std::string_view allowed) {
  return "\n" + comment(fmt::format("{}. Allowed: {}.", help, allowed)) +
         fmt::format("#{} = {}\n", name, value);
}

template <class Target>
std::string example_keys(std::span<const KeyInfo<Target>> keys) {
  std::string out;
  for (const auto& key : keys) {
    out += example_setting(key.name, value_of(key, Target{}), key.help, key.allowed);
  }
  return out;
}

}  // namespace

std::string example_config() {
  std::string out =
      comment(
          "The configuration of vmnumad. Lines that begin with '#' and no blank show the defaults. "
          "vmnuma.toml(5) explains more; `vmnumad --check-config` checks this file.") +
      example_keys(top_keys()) + "\n[history]\n" + example_keys(history_keys()) + "\n[options]\n";
  for (const auto& option : option_table()) {
    out += example_setting(toml_string(option.name), std::to_string(Options{}.*option.value),
                           option.help, allowed_values(option));
  }
  return out + "\n" +
         comment(
             "One table, named by the VM's name or UUID, for each VM that is treated "
             "differently.") +
         "#[vm.\"web1\"]\n" + example_keys(policy_keys());
}

}  // namespace vmnuma::balancer
