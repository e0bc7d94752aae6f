// SPDX-License-Identifier: Apache-2.0
/// The key `device_pool`: pools of interchangeable PCI devices.
///
///     gpu=0000:3b:00.0,0000:86:00.0;vf=0000:3b:10.0
///
/// Properties: a value that is set and shown reads back the same; no device is in two pools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/device_pool.h"

namespace vmnuma::balancer {

/// Sets `target` from the key's text. Error: invalid-argument, naming what is allowed; `target` is
/// then unchanged.
[[nodiscard]] Result<void> set_device_pools(std::vector<DevicePool>& target, std::string_view text);
[[nodiscard]] std::string device_pools_text(const std::vector<DevicePool>& pools);

}  // namespace vmnuma::balancer
