// SPDX-License-Identifier: Apache-2.0
// Any bytes as the configuration file.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "balancer/config/config.h"
#include "balancer/config/keys.h"
#include "balancer/policy/policy_keys.h"

namespace {

/// What was accepted, shown and read again, is the same.
template <class Target>
void check_shown(std::span<const vmnuma::balancer::KeyInfo<Target>> keys, const Target& target) {
  Target again;
  for (const auto& key : keys) {
    const std::string shown = key.get(target);
    VMNUMA_CHECK(key.set(again, shown).has_value());
    VMNUMA_CHECK(key.get(again) == shown);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vmnuma::balancer;
  const auto config = parse_config(std::string(data, data + size), "f");
  if (!config) {
    VMNUMA_CHECK(config.error().message.starts_with("f:"));
    return 0;
  }
  check_shown(top_keys(), *config);
  check_shown(history_keys(), config->history);
  for (const auto& [vm, policy] : config->vms) {
    check_shown(policy_keys(), policy);
  }
  return 0;
}
