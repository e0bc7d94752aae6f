// SPDX-License-Identifier: Apache-2.0
/// The guest's operating system, as recorded in the metadata by virt-install and virt-manager:
///
///     <metadata>
///       <libosinfo:libosinfo xmlns:libosinfo="http://libosinfo.org/xmlns/libvirt/domain/1.0">
///         <libosinfo:os id="http://debian.org/debian/12"/>
///       </libosinfo:libosinfo>
///     </metadata>
///
/// The contents are unchecked and used for forecasts only, so anything not understood is ignored.
#pragma once

#include <pugixml.hpp>
#include <string>

namespace vmnuma::balancer {

/// libosinfo's id; empty if there is none, or if it is longer than 255 bytes and therefore invalid.
[[nodiscard]] std::string guest_os_of(pugi::xml_node domain);

}  // namespace vmnuma::balancer
