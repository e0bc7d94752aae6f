// SPDX-License-Identifier: Apache-2.0
/// CPU sets in libvirt's format: one bit per CPU, lowest first, as many bytes as the host needs.
///
/// Properties: a map has room for every CPU of the host, however many; a CPU that the host does not
/// have is refused; an offline CPU stays in the set, so that a pin can be restored exactly; a set
/// without any online CPU becomes all online CPUs, as in the kernel when a thread's last CPU goes
/// offline.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/ids.h"

namespace vmnuma::balancer {

using CpuMap = std::vector<unsigned char>;

/// The host's CPUs as reported by virNodeGetCPUMap() (libvirt 9.0).
struct HostCpus {
  CpuMap online;
  std::size_t count = 0;  ///< the numbers of its CPUs, online or not, are below this
};

/// Converts `cpus` to a map of the size of `host.online`, which must have a bit for each CPU.
/// Errors: invalid-argument (empty set, a CPU that the host does not have).
[[nodiscard]] Result<CpuMap> make_cpu_map(const std::vector<CpuId>& cpus, const HostCpus& host);

/// The CPUs in the map, ascending.
[[nodiscard]] std::vector<CpuId> cpus_in(const CpuMap& map);

/// `map` without the CPUs that are not in `online`, which has the same size.
[[nodiscard]] CpuMap online_part(CpuMap map, const CpuMap& online);

}  // namespace vmnuma::balancer
