// SPDX-License-Identifier: Apache-2.0
/// What other programs record in a domain's metadata: the guest's operating system, by virt-install
/// and virt-manager, and the VM's owner, by OpenStack's Nova for the VMs that it starts:
///
///     <metadata>
///       <libosinfo:libosinfo xmlns:libosinfo="http://libosinfo.org/xmlns/libvirt/domain/1.0">
///         <libosinfo:os id="http://debian.org/debian/12"/>
///       </libosinfo:libosinfo>
///       <nova:instance xmlns:nova="http://openstack.org/xmlns/libvirt/nova/1.1">
///         <nova:owner>
///           <nova:user uuid="...">alice</nova:user>
///           <nova:project uuid="83c8fbf1a3d2442aa9e6b9ee1a3a4e51">shop</nova:project>
///         </nova:owner>
///       </nova:instance>
///     </metadata>
///
/// Older versions of Nova have the namespace .../nova/1.0, with the same elements. The contents are
/// unchecked, so anything not understood is ignored.
#pragma once

#include <pugixml.hpp>
#include <string>

#include "placement/model/domain.h"

namespace vmnuma::balancer {

/// libosinfo's id, for forecasts only; empty if there is none, or if it is longer than 255 bytes
/// and therefore invalid.
[[nodiscard]] std::string guest_os_of(pugi::xml_node domain);

/// The VM's project. Empty if there is none; name or UUID empty if longer than 255 bytes.
[[nodiscard]] NovaProject nova_project_of(pugi::xml_node domain);

}  // namespace vmnuma::balancer
