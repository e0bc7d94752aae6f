// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/config_view.h"

#include <string>
#include <utility>

#include "balancer/config/keys.h"
#include "balancer/policy/policy_keys.h"
#include "placement/model/options.h"

namespace vmnuma::balancer {

ConfigView config_view(const Config& config) {
  ConfigView view;
  view.notices = config.notices;
  const auto add = [&](const std::string& key, std::string value) {
    view.settings.push_back({key, std::move(value), config.origin_of(key)});
  };
  for (const auto& key : top_keys()) {
    add(std::string(key.name), key.get(config));
  }
  for (const auto& key : history_keys()) {
    add("history." + std::string(key.name), key.get(config.history));
  }
  for (const OptionRow& option : option_table()) {
    add(std::string(option.name), std::to_string(config.options.*option.value));
  }
  for (const auto& [vm, policy] : config.vms) {
    for (const auto& key : policy_keys()) {
      const std::string value = key.get(policy);
      const bool is_set = value != key.get(VmPolicy{});
      view.settings.push_back({"vm." + vm + "." + std::string(key.name), value,
                               is_set ? Origin::kFile : Origin::kDefault});
    }
  }
  return view;
}

}  // namespace vmnuma::balancer
