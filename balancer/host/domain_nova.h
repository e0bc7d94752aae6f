// SPDX-License-Identifier: Apache-2.0
/// The VM's owner, as recorded by OpenStack's Nova in the metadata of the VMs that it starts:
///
///     <metadata>
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

#include "placement/model/domain.h"

namespace vmnuma::balancer {

/// The VM's project. Empty if there is none; name or UUID empty if longer than 255 bytes.
[[nodiscard]] NovaProject nova_project_of(pugi::xml_node domain);

}  // namespace vmnuma::balancer
