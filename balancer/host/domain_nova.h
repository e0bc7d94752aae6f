// SPDX-License-Identifier: Apache-2.0
/// Whose VM it is, as OpenStack's Nova leaves it in the metadata of the VMs that it starts:
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
/// Older versions of Nova have the namespace .../nova/1.0, with the same elements. Nobody checks
/// what is there, so what is not understood is as if it were not there.
#pragma once

#include <pugixml.hpp>

#include "placement/model/domain.h"

namespace vmnuma::balancer {

/// Its project. Empty if there is none; name and UUID each if longer than 255 bytes.
[[nodiscard]] placement::NovaProject nova_project_of(pugi::xml_node domain);

}  // namespace vmnuma::balancer
