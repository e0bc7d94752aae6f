// SPDX-License-Identifier: Apache-2.0
/// CPU sets in libvirt's format: one bit per CPU, lowest first, as many bytes as the host needs.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/model/ids.h"

namespace vmnuma::balancer {

using CpuMap = std::vector<unsigned char>;

/// The map of a host with CPU numbers below `count`. `cpus` are among them.
[[nodiscard]] CpuMap map_of(const std::vector<CpuId>& cpus, std::size_t count);

/// The CPUs in the map, ascending.
[[nodiscard]] std::vector<CpuId> cpus_in(const CpuMap& map);

}  // namespace vmnuma::balancer
