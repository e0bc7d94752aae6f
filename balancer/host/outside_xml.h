// SPDX-License-Identifier: Apache-2.0
/// What libvirt reports outside the XML: the host's CPUs, and what it was advised for a VM with
/// placement='auto'.
#pragma once

#include <cstddef>
#include <vector>

#include "balancer/host/connection.h"
#include "balancer/host/handles.h"
#include "placement/base/result.h"
#include "placement/model/ids.h"

namespace vmnuma::balancer {

/// The host's CPUs as reported by virNodeGetCPUMap() (libvirt 9.0).
struct HostCpus {
  std::vector<CpuId> online;  ///< ascending
  std::size_t count = 0;      ///< the numbers of its CPUs, online or not, are below this
};
/// Queried each time, because CPUs come and go. Any thread.
[[nodiscard]] Result<HostCpus> host_cpus(const Connection& connection);

/// The CPUs on which libvirt was advised to start the VM. Known only while no thread of it has a
/// pin of its own: libvirt reports them as the emulator's pin (qemuDomainGetEmulatorPinInfo(),
/// libvirt 9.0). Ascending; empty if libvirt reports none, or all of the host. Two calls; any
/// thread.
[[nodiscard]] std::vector<CpuId> advised_cpus(const Connection& connection, _virDomain* domain);

/// The nodes that the VM's memory may use; with placement='auto' those that libvirt was advised at
/// the start (qemuDomainGetNumaParameters(), libvirt 9.0). Ascending; empty if libvirt reports
/// none. Two calls; any thread.
[[nodiscard]] std::vector<NodeId> allowed_memory_nodes(_virDomain* domain);

}  // namespace vmnuma::balancer
