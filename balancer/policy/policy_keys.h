// SPDX-License-Identifier: Apache-2.0
/// A VM's policy as text: the keys of `[vm."NAME"]` in the configuration file and of the policy
/// element in a domain's metadata.
///
/// Problem: a policy is written in two places by people who make typing mistakes, and a VM must not
/// be treated by half of a policy. Approach: one table of keys for both. The policy in the domain's
/// metadata overrides that of the file, key by key, but only if all of it is valid.
///
/// Properties:
///  - a wrong key or value is an error that names the valid ones, and then nothing of the metadata
///    counts;
///  - keys that contradict each other are an error as well;
///  - keys that the metadata does not have keep the file's values;
///  - a value that is set and shown again is the same.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/policy/key.h"
#include "placement/base/result.h"
#include "placement/model/device_pool.h"
#include "placement/model/domain.h"

namespace vmnuma::balancer {

/// Returns the keys, in the order in which they are shown.
[[nodiscard]] std::span<const KeyInfo<VmPolicy>> policy_keys();

/// Sets one key of a VM's policy from text. Errors: not-found (naming the nearest key),
/// invalid-argument.
[[nodiscard]] Result<void> set_policy_key(VmPolicy& policy, std::string_view name,
                                          std::string_view text);

/// Returns an error, invalid-argument, if the policy names a pool that is not among these.
[[nodiscard]] Result<void> check_device_pools(const VmPolicy& policy,
                                              const std::vector<DevicePool>& pools);

/// Returns an error, invalid-argument, if keys of the policy contradict each other.
[[nodiscard]] Result<void> check_policy(const VmPolicy& policy);

/// Returns `base` with all of these settings. Errors: as set_policy_key(), for the first that is
/// wrong, then as check_policy().
[[nodiscard]] Result<VmPolicy> with_settings(const VmPolicy& base,
                                             const std::vector<PolicySetting>& settings);

/// Returns `settings` with these changes, in the order of the keys; an empty value removes a key.
/// Keys that do not exist come last.
[[nodiscard]] std::vector<PolicySetting> changed_settings(
    std::vector<PolicySetting> settings, const std::vector<PolicySetting>& changes);

}  // namespace vmnuma::balancer
