// SPDX-License-Identifier: Apache-2.0
/// Prefixed names, as in foreign metadata (Namespaces in XML 1.0); pugixml does not resolve them.
/// Internal to this folder.
#pragma once

#include <pugixml.hpp>
#include <string_view>

namespace vmnuma::balancer {

/// "os" from "libosinfo:os".
[[nodiscard]] std::string_view local_name_of(std::string_view name);

/// The namespace of an element (section 6): declared by itself or its nearest ancestor. Empty if
/// not declared.
[[nodiscard]] std::string_view namespace_of(pugi::xml_node element);

}  // namespace vmnuma::balancer
