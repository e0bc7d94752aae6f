// SPDX-License-Identifier: Apache-2.0
/// Fits the definition of a VM that comes from another host, or is old, to this host.
///
/// Problem: a VM that is migrated or restored brings its old pins and node masks, and libvirt does
/// not start it if they name a CPU or node that does not exist here. Approach: every set of host
/// CPUs or nodes in the XML is reduced to what this host has. An empty set is removed with its
/// element, so that nothing restricts the VM there; the exception is <numatune><memory>, without
/// which libvirt might refuse the rest of <numatune>: it then names all nodes with memory.
/// Everything else is left as it is, byte for byte except where XML has several ways to write the
/// same thing.
///
/// Terms: *host sets* - <vcpu cpuset>, <vcpupin>, <emulatorpin>, <iothreadpin>, <numatune> nodesets
/// and <nodemask> of memory devices; the nodes in <hugepages>, <cell> and <target> are the guest's.
///
/// Properties:
///  - any input gives an XML that libvirt can read, or none, or an error, never a crash;
///  - what is returned needs no further change;
///  - an XML that fits is not changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/ids.h"

namespace vmnuma::balancer {

/// What this host has. Both ascending and not empty.
struct HostSets {
  std::vector<CpuId> cpus;           ///< online
  std::vector<NodeId> memory_nodes;  ///< online and with memory
};

struct FittedXml {
  std::string xml;                   ///< the whole document
  std::vector<std::string> changes;  ///< one sentence each
};

/// Returns nothing if the XML already fits. Error: invalid-argument.
[[nodiscard]] Result<std::optional<FittedXml>> fit_xml(std::string_view xml, const HostSets& host);

}  // namespace vmnuma::balancer
