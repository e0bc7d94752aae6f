// SPDX-License-Identifier: Apache-2.0
/// CPU sets in libvirt's format: one bit per CPU, lowest first, as many bytes as the host needs.
///
/// Properties: a map has room for every CPU of the host, however many; a CPU that is not online is
/// refused, because the kernel would silently drop it from the set.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/ids.h"

namespace vmnuma::balancer {

using CpuMap = std::vector<unsigned char>;

/// `cpus` as a map of `online`'s size, which must have a bit for each. Errors: invalid-argument
/// (empty set, a CPU that is not in `online`).
[[nodiscard]] Result<CpuMap> make_cpu_map(const std::vector<placement::CpuId>& cpus,
                                          const CpuMap& online);

}  // namespace vmnuma::balancer
