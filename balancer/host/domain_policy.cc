// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/domain_policy.h"

#include <sstream>
#include <string_view>

#include "balancer/host/domain_document.h"

namespace vmnuma::balancer {
namespace {

constexpr std::string_view kElement = "policy";
/// There are fewer valid keys than this, so a longer policy has invalid ones and is refused anyway.
constexpr std::size_t kMostSettings = 64;
/// Longer values are refused, so they need not be kept in full.
constexpr std::size_t kMostOfValue = 4097;

bool is_declaration(std::string_view attribute) {
  return attribute == "xmlns" || attribute.starts_with("xmlns:");
}

}  // namespace

std::vector<PolicySetting> policy_settings_of(pugi::xml_node domain) {
  std::vector<PolicySetting> settings;
  const auto add = [&settings](const std::string& key, std::string_view value) {
    if (settings.size() < kMostSettings) {
      settings.push_back({key.substr(0, kMostOfValue), std::string(value.substr(0, kMostOfValue))});
    }
  };
  for (const pugi::xml_node element : domain.child("metadata").children()) {
    if (element.type() != pugi::node_element || namespace_of(element) != kPolicyNamespace) {
      continue;
    }
    if (local_name_of(element.name()) != kElement) {
      add("<" + std::string(element.name()) + ">", "");
      continue;
    }
    for (const pugi::xml_attribute attribute : element.attributes()) {
      if (!is_declaration(attribute.name())) {
        add(attribute.name(), attribute.value());
      }
    }
    for (const pugi::xml_node inside : element.children()) {
      add(inside.type() == pugi::node_element ? "<" + std::string(inside.name()) + ">" : "text",
          "");
    }
  }
  return settings;
}

std::string policy_element(const std::vector<PolicySetting>& settings) {
  pugi::xml_document document;
  pugi::xml_node element = document.append_child(kElement.data());
  for (const PolicySetting& setting : settings) {
    element.append_attribute(setting.key.c_str()) = setting.value.c_str();
  }
  std::ostringstream text;
  element.print(text, "", pugi::format_raw);
  return text.str();
}

}  // namespace vmnuma::balancer
