// SPDX-License-Identifier: Apache-2.0
/// Which operating system a guest has, as virt-install and virt-manager leave it in the metadata:
///
///     <metadata>
///       <libosinfo:libosinfo xmlns:libosinfo="http://libosinfo.org/xmlns/libvirt/domain/1.0">
///         <libosinfo:os id="http://debian.org/debian/12"/>
///       </libosinfo:libosinfo>
///     </metadata>
///
/// Nobody checks what is there, and nothing but forecasts is made of it, so what is not understood
/// is as if it were not there.
#pragma once

#include <pugixml.hpp>
#include <string>

namespace vmnuma::balancer {

/// libosinfo's id; empty if there is none, or none that could be one: longer than 255 bytes.
[[nodiscard]] std::string guest_os_of(pugi::xml_node domain);

}  // namespace vmnuma::balancer
