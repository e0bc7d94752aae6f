// SPDX-License-Identifier: Apache-2.0
/// Parses domain XML, within libvirt's own limits, and resolves prefixed names (Namespaces in XML
/// 1.0), as in foreign metadata, which pugixml does not. Internal to this folder.
#pragma once

#include <pugixml.hpp>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::balancer {

/// Parses `xml` into `document`, which owns it, and returns its <domain>. `flags` are pugixml's.
/// Error: invalid-argument if it is too long, nested too deeply, not XML, or has no <domain>.
[[nodiscard]] Result<pugi::xml_node> load_domain_document(std::string_view xml, unsigned int flags,
                                                          pugi::xml_document& document);

/// "os" from "libosinfo:os".
[[nodiscard]] std::string_view local_name_of(std::string_view name);

/// The namespace of an element (section 6): declared by itself or its nearest ancestor. Empty if
/// not declared.
[[nodiscard]] std::string_view namespace_of(pugi::xml_node element);

}  // namespace vmnuma::balancer
