// SPDX-License-Identifier: Apache-2.0
/// Writes the host in the formats of two cluster schedulers.
///
/// Problem: a cluster scheduler must know what each node of each host has, and does not understand
/// the daemon's answers. Approach: a pure function per format, from the daemon's view of the host
/// to one JSON document.
///
/// Terms: a VM is *promised* its vCPUs and memory on the homes of its clients, and the devices
/// passed through to it, no matter what it uses now.
///
/// Properties, each with a test:
///  - the document follows the published schema, even if a node has no memory or no CPUs;
///  - nothing is offered on a node with missing readings, nor on any node until the running VMs are
///    known;
///  - resources that are promised to a VM or not free are not offered;
///  - equal views give equal bytes.
#pragma once

#include <string>
#include <string_view>

#include "balancer/model/view.h"
#include "tools/vmnuma/export/host_resources.h"

namespace vmnuma::tools {

struct ExportedHost {
  std::string name;  ///< the host's name in the cluster
  balancer::HostView host;
  HostResources resources = {};
};

/// The layout of a document.
enum class JsonLayout { kOneLine, kIndented };

/// Returns whether it is a valid name of a Kubernetes object: an RFC 1123 subdomain of at most 253
/// characters (kubernetes/website, "Object Names and IDs").
[[nodiscard]] bool is_object_name(std::string_view name);

/// Returns a NodeResourceTopology of topology.node.k8s.io/v1alpha2
/// (k8stopologyawareschedwg/noderesourcetopology-api v0.1.3, pkg/apis/topology/v1alpha2/types.go).
/// A zone "node-N" of type "Node" for each node, with
///  - `cpu` (logical CPUs), `memory` and `hugepages-SIZE` (bytes; names and meaning are the
///  kubelet's, kubernetes/website, "Manage HugePages": allocatable memory is without the pools),
///  - `vmnuma/pci-VENDOR-DEVICE` for the PCI devices that guests may be given,
///  - the distances that decisions use as costs,
///  - load and shortage as attributes.
/// `topologyManagerPolicy` and `topologyManagerScope` (kubernetes-sigs/scheduler-plugins at
/// 903da7df, pkg/noderesourcetopology/nodeconfig) are those of a VM without requests, because each
/// VM has a policy of its own; `topologyPolicies` has the same information for older readers.
/// `name` must be a valid object name.
[[nodiscard]] std::string node_resource_topology(const ExportedHost& exported, JsonLayout layout);

/// Returns for each node a resource provider "HOST_NUMAn" of OpenStack's placement and its
/// inventories, as the bodies of POST /resource_providers and PUT
/// /resource_providers/{uuid}/inventories (openstack/placement at 7ad9ef07, placement/schemas/;
/// classes of os-resource-classes 1.1.0). Inventories are totals, not what is left: placement
/// itself counts allocations.
[[nodiscard]] std::string placement_inventories(const ExportedHost& exported, JsonLayout layout);

}  // namespace vmnuma::tools
