// SPDX-License-Identifier: Apache-2.0
/// Names with a prefix, as metadata of others have them (Namespaces in XML 1.0); pugixml leaves
/// them as they are written. Internal to this folder.
#pragma once

#include <pugixml.hpp>
#include <string_view>

namespace vmnuma::balancer {

/// "os" of "libosinfo:os".
[[nodiscard]] std::string_view local_name_of(std::string_view name);

/// The namespace of an element (section 6): declared by itself or the nearest element around it.
/// Empty if nobody declares it.
[[nodiscard]] std::string_view namespace_of(pugi::xml_node element);

}  // namespace vmnuma::balancer
