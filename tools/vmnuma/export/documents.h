// SPDX-License-Identifier: Apache-2.0
/// The host in the words of two cluster schedulers.
///
/// Problem: who schedules over many hosts must know what each node of each host has, and does not
/// read what the daemon answers. Approach: a pure function for each format, from the daemon's view
/// of the host to one JSON document.
///
/// Terms: what is *reserved* by a VM is what it was promised (vCPUs, memory size) on the homes of
/// its clients, whatever it uses now. Properties, each with a test:
///  - the document follows the published schema, also on a host without memory or CPUs on a node;
///  - of a node whose readings are missing nothing is offered;
///  - nothing is offered that is promised to a VM, or that is not free;
///  - equal views, equal bytes.
#pragma once

#include <string>
#include <string_view>

#include "balancer/view.h"

namespace vmnuma::tools {

struct ExportedHost {
  std::string name;  ///< the host's name in the cluster
  balancer::HostView host;
};

/// How a document is laid out.
enum class JsonLayout { kOneLine, kIndented };

/// True for a name that an object of Kubernetes may have: an RFC 1123 subdomain of at most 253
/// characters (kubernetes/website, "Object Names and IDs").
[[nodiscard]] bool is_object_name(std::string_view name);

/// A NodeResourceTopology of topology.node.k8s.io/v1alpha2
/// (k8stopologyawareschedwg/noderesourcetopology-api v0.1.3, pkg/apis/topology/v1alpha2/types.go).
/// A zone "node-N" of type "Node" for each node, with `cpu` (logical CPUs) and `memory` (bytes),
/// the SLIT as costs, and load and shortage as attributes. `name` must be an object's name.
[[nodiscard]] std::string node_resource_topology(const ExportedHost& exported, JsonLayout layout);

/// For each node a resource provider "HOST_NUMAn" of OpenStack's placement and its inventories, as
/// the bodies of POST /resource_providers and PUT /resource_providers/{uuid}/inventories
/// (openstack/placement at 7ad9ef07, placement/schemas/; classes of os-resource-classes 1.1.0).
/// Inventories are what there is, not what is left: placement itself counts allocations.
[[nodiscard]] std::string placement_inventories(const ExportedHost& exported, JsonLayout layout);

}  // namespace vmnuma::tools
