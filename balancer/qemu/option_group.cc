// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/option_group.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "placement/base/trimmed.h"
#include "stats/formats/fields.h"

namespace vmnuma::balancer::qemu {
namespace {

using nlohmann::json;

constexpr std::size_t kMostJson = std::size_t{1} << 20U;
constexpr int kDeepestJson = 32;
constexpr std::size_t kMostSettings = 4096;

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char character) {
    return character >= '0' && character <= '9';
  });
}

/// Takes one value, up to a single comma; two commas represent one in the value.
std::string take_value(std::string_view& rest) {
  std::string value;
  while (!rest.empty()) {
    if (rest.front() == ',') {
      if (!rest.starts_with(",,")) {
        break;
      }
      rest.remove_prefix(1);
    }
    value += rest.front();
    rest.remove_prefix(1);
  }
  rest.remove_prefix(std::min<std::size_t>(rest.size(), 1));
  return value;
}

std::string scalar(const json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_boolean()) {
    return value.get<bool>() ? "on" : "off";
  }
  return value.is_number() ? value.dump() : std::string();
}

void flatten(const json& value, const std::string& key, std::vector<Setting>& settings) {
  if (settings.size() >= kMostSettings) {
    return;
  }
  const std::string prefix = key.empty() ? "" : key + ".";
  if (value.is_object()) {
    for (const auto& [name, part] : value.items()) {
      flatten(part, prefix + name, settings);
    }
  } else if (value.is_array()) {
    for (std::size_t index = 0; index < value.size(); ++index) {
      flatten(value[index], prefix + std::to_string(index), settings);
    }
  } else {
    settings.push_back({key, scalar(value)});
  }
}

std::string_view option_of_section(std::string_view section) {
  if (section == "smp-opts") {
    return "smp";
  }
  return section == "memory" ? "m" : section;
}

std::optional<std::string_view> unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') {
    return std::nullopt;
  }
  return text.substr(1, text.size() - 2);
}

/// `[object "mem0"]`
std::optional<OptionGroup> section_of(std::string_view line) {
  if (!line.starts_with('[') || !line.ends_with(']')) {
    return std::nullopt;
  }
  const std::string_view inside = trimmed(line.substr(1, line.size() - 2));
  const std::size_t blank = inside.find_first_of(" \t");
  OptionGroup group{std::string(option_of_section(inside.substr(0, blank))), {}};
  if (blank != std::string_view::npos) {
    const auto id = unquoted(trimmed(inside.substr(blank)));
    if (!id) {
      return std::nullopt;
    }
    group.settings.push_back({"id", std::string(*id)});
  }
  return group;
}

}  // namespace

std::optional<std::string_view> OptionGroup::value(std::string_view key) const {
  const auto found = std::ranges::find(settings.rbegin(), settings.rend(), key, &Setting::key);
  return found == settings.rend() ? std::nullopt : std::optional<std::string_view>(found->value);
}

bool OptionGroup::is_on(std::string_view key) const {
  const auto text = value(key);
  return text == "on" || text == "yes" || text == "true" || text == "y";
}

std::vector<std::string_view> OptionGroup::values(std::string_view key) const {
  std::vector<std::string_view> found;
  for (const Setting& setting : settings) {
    const std::string_view own = setting.key;
    const bool is_element = own.size() > key.size() + 1 && own.starts_with(key) &&
                            own[key.size()] == '.' && is_digits(own.substr(key.size() + 1));
    if (own == key || is_element) {
      found.emplace_back(setting.value);
    }
  }
  return found;
}

std::vector<Setting> parse_settings(std::string_view text, std::string_view implied_key) {
  std::vector<Setting> settings;
  while (!text.empty() && settings.size() < kMostSettings) {
    const std::size_t end = text.find_first_of("=,");
    const bool has_key = end != std::string_view::npos && text[end] == '=';
    if (has_key) {
      std::string key(text.substr(0, end));
      text.remove_prefix(end + 1);
      settings.push_back({std::move(key), take_value(text)});
    } else if (settings.empty() && !implied_key.empty()) {
      settings.push_back({std::string(implied_key), take_value(text)});
    } else {
      settings.push_back({take_value(text), "on"});
    }
  }
  return settings;
}

std::optional<std::vector<Setting>> parse_json_settings(std::string_view text) {
  if (text.size() > kMostJson) {
    return std::nullopt;
  }
  bool too_deep = false;
  const auto limit_depth = [&](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kDeepestJson;
    return !too_deep;
  };
  const json value = json::parse(text, limit_depth, /*allow_exceptions=*/false);
  if (value.is_discarded() || too_deep || !value.is_object()) {
    return std::nullopt;
  }
  std::vector<Setting> settings;
  flatten(value, "", settings);
  return settings;
}

ConfigFile parse_config_file(std::string_view text) {
  ConfigFile file;
  while (const auto raw = stats::take_line(text)) {
    const std::string_view line = trimmed(*raw);
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    if (auto section = section_of(line)) {
      file.groups.push_back(std::move(*section));
      continue;
    }
    const std::size_t equals = line.find('=');
    const auto value = equals == std::string_view::npos
                           ? std::nullopt
                           : unquoted(trimmed(line.substr(equals + 1)));
    if (!value || file.groups.empty()) {
      ++file.not_understood;
      continue;
    }
    file.groups.back().settings.push_back(
        {std::string(trimmed(line.substr(0, equals))), std::string(*value)});
  }
  return file;
}

}  // namespace vmnuma::balancer::qemu
