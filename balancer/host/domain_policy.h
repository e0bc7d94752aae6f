// SPDX-License-Identifier: Apache-2.0
/// The policy element in a domain's metadata, documented in vmnuma-metadata(5):
///
///     <metadata>
///       <vmnuma:policy xmlns:vmnuma="https://vmnuma.org/policy/1.0" nodes="0-1"
///                      do_not_move="true"/>
///     </metadata>
///
/// libvirt keeps one element of each namespace there (virDomainSetMetadata, 9.0). Approach: every
/// attribute is a setting, whatever its name, and content that belongs to no policy becomes an
/// unknown setting, which the check (balancer/policy/policy_keys.h) then reports. Properties: any
/// prefix is accepted, only the namespace matters; nothing in our namespace is silently ignored;
/// what is written is read back the same.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <vector>

#include "placement/model/domain.h"

namespace vmnuma::balancer {

inline constexpr const char* kPolicyNamespace = "https://vmnuma.org/policy/1.0";
/// The prefix that we ask libvirt to use; any other is accepted as well.
inline constexpr const char* kPolicyPrefix = "vmnuma";

/// The settings in the metadata of `domain`, in order. Empty if it has no policy.
[[nodiscard]] std::vector<PolicySetting> policy_settings_of(pugi::xml_node domain);

/// The element for virDomainSetMetadata, which adds namespace and prefix itself.
[[nodiscard]] std::string policy_element(const std::vector<PolicySetting>& settings);

}  // namespace vmnuma::balancer
