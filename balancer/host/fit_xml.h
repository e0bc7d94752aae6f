// SPDX-License-Identifier: Apache-2.0
/// Fits the definition of a VM that arrives from another host, or from long ago, to this one.
///
/// Problem: a VM that is migrated or restored brings the pins and node masks it had, and libvirt
/// does not start it if they name a CPU or node that is not here. Approach: every set of host CPUs
/// or nodes in the XML is cut to what this host has. A set of which nothing is left goes away with
/// its element, so that the VM is free in that; only <numatune><memory>, without which libvirt
/// might refuse the rest of <numatune>, then names all nodes with memory. Everything else is left
/// as it is, byte for byte as far as XML has one way to write it.
///
/// Terms: *host sets* - <vcpu cpuset>, <vcpupin>, <emulatorpin>, <iothreadpin>, <numatune> nodesets
/// and <nodemask> of memory devices; the nodes in <hugepages>, <cell> and <target> are the guest's.
///
/// Properties:
///  - any input gives an XML that libvirt can read, or none, or an error, never a crash;
///  - what is returned needs no further change;
///  - an XML that fits is not touched.
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
  std::vector<placement::CpuId> cpus;           ///< online
  std::vector<placement::NodeId> memory_nodes;  ///< online and with memory
};

struct FittedXml {
  std::string xml;                   ///< the whole document
  std::vector<std::string> changes;  ///< a sentence each
};

/// Nothing if the XML fits as it is. Error: invalid-argument.
[[nodiscard]] Result<std::optional<FittedXml>> fit_xml(std::string_view xml, const HostSets& host);

}  // namespace vmnuma::balancer
