// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/pve_config.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "balancer/qemu/description_parts.h"
#include "placement/base/number.h"
#include "placement/base/trimmed.h"
#include "stats/formats/fields.h"

namespace vmnuma::balancer::qemu {
namespace {

constexpr std::size_t kMostSettings = 1000;
constexpr std::size_t kMostOfAPolicy = 100;

/// Replaces %XX by the character; anything else stays as it is.
std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto code = text[at] == '%' && at + 2 < text.size()
                          ? whole_number<std::uint8_t>(text.substr(at + 1, 2), 16)
                          : std::nullopt;
    if (code) {
      plain += static_cast<char>(*code);
      at += 2;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

void add_policy(std::string_view words, std::vector<PolicySetting>& policy) {
  while (const auto word = stats::take_word(words)) {
    if (policy.size() >= kMostOfAPolicy) {
      return;
    }
    const std::size_t equals = word->find('=');
    policy.push_back(
        {std::string(word->substr(0, equals)),
         equals == std::string_view::npos ? std::string() : std::string(word->substr(equals + 1))});
  }
}

void read_description(std::string_view text, PveConfig& config) {
  while (const auto line = stats::take_line(text)) {
    if (const auto words = stats::after(trimmed(*line), "vmnuma:")) {
      add_policy(*words, config.policy);
    }
  }
}

void read_tags(std::string_view tags, std::vector<PolicySetting>& policy) {
  constexpr std::string_view kBetweenTags = ";, ";
  while (!tags.empty()) {
    const std::string_view tag = tags.substr(0, tags.find_first_of(kBetweenTags));
    tags.remove_prefix(std::min(tags.size(), tag.size() + 1));
    const auto setting = stats::after(tag, "vmnuma.");
    if (!setting || policy.size() >= kMostOfAPolicy) {
      continue;
    }
    const std::size_t dot = setting->find('.');
    const std::string_view key = setting->substr(0, dot);
    std::string value(dot == std::string_view::npos ? "true" : setting->substr(dot + 1));
    std::replace(value.begin(), value.end(), '+', ',');
    if (std::ranges::find(policy, key, &PolicySetting::key) == policy.end()) {
      policy.push_back({std::string(key), std::move(value)});
    }
  }
}

}  // namespace

PveConfig parse_pve_config(std::string_view text) {
  PveConfig config;
  std::string description;
  while (const auto raw = stats::take_line(text)) {
    const std::string_view line = trimmed(*raw);
    if (line.starts_with('[')) {
      break;
    }
    if (const auto words = stats::after(line, "#")) {
      description += decoded(*words) + '\n';
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      continue;
    }
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (key == "description") {  // in older versions
      description += decoded(value) + '\n';
    } else if (!key.empty() && config.settings.size() < kMostSettings) {
      config.settings.push_back({std::string(key), std::string(value)});
    }
  }
  read_description(description, config);
  read_tags(config.value("tags"), config.policy);
  return config;
}

std::string_view value_of(const std::vector<Setting>& settings, std::string_view key) {
  const auto found = std::ranges::find(settings, key, &Setting::key);
  return found == settings.end() ? std::string_view() : std::string_view(found->value);
}

Result<PveConfig> read_pve_config(const files::Directory& root, std::int32_t vmid) {
  const std::string file = fmt::format("qemu-server/{}.conf", vmid);
  auto text = root.read("etc/pve/" + file);
  if (text || text.error().code != ErrorCode::kNotFound) {
    return std::move(text).map(parse_pve_config);
  }
  const auto nodes = root.directory("etc/pve/nodes").and_then([](const files::Directory& all) {
    return all.names();
  });
  for (const std::string& node : nodes.value_or(std::vector<std::string>{})) {
    if (const auto of_node = root.read(fmt::format("etc/pve/nodes/{}/{}", node, file))) {
      return parse_pve_config(*of_node);
    }
  }
  return tl::unexpected(std::move(text).error());
}

std::vector<PolicySetting> policy_of(const PveConfig& config) {
  std::vector<PolicySetting> policy = config.policy;
  if (config.value("affinity").empty()) {
    return policy;
  }
  for (const PolicySetting& rule :
       {PolicySetting{"do_not_move", "true"}, PolicySetting{"memory_mode", "hands-off"}}) {
    std::erase_if(policy, [&](const auto& setting) { return setting.key == rule.key; });
    policy.push_back(rule);
  }
  return policy;
}

void add_pve_policy(const files::Directory& root, std::string_view cgroup, DescribedVm& vm) {
  const auto vmid = vmid_of_scope(cgroup);
  if (!vmid) {
    return;
  }
  const auto config = read_pve_config(root, *vmid);
  if (!config) {
    if (config.error().code != ErrorCode::kNotFound) {
      note(vm, fmt::format("its configuration in Proxmox VE cannot be read, so the policy there "
                           "has no effect: {}",
                           config.error().message));
    }
    return;
  }
  vm.description.own_policy = policy_of(*config);
  if (const auto affinity = config->value("affinity"); !affinity.empty()) {
    note(vm, fmt::format("it has affinity {} in Proxmox VE, so it is left where it is", affinity));
  }
}

std::optional<std::int32_t> vmid_of_scope(std::string_view cgroup) {
  constexpr std::string_view kScope = ".scope";
  const auto name = stats::after(cgroup, "/qemu.slice/");
  if (!name || !name->ends_with(kScope)) {
    return std::nullopt;
  }
  return stats::to_number<std::int32_t>(name->substr(0, name->size() - kScope.size()));
}

}  // namespace vmnuma::balancer::qemu
