// SPDX-License-Identifier: Apache-2.0
/// Parses domain XML, within libvirt's own limits. Internal to this folder.
#pragma once

#include <pugixml.hpp>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::balancer {

/// Parses `xml` into `document`, which owns it, and returns its <domain>. `flags` are pugixml's.
/// Error: invalid-argument if it is too long, nested too deeply, not XML, or has no <domain>.
[[nodiscard]] Result<pugi::xml_node> load_domain_document(std::string_view xml, unsigned int flags,
                                                          pugi::xml_document& document);

}  // namespace vmnuma::balancer
