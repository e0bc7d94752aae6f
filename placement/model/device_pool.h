// SPDX-License-Identifier: Apache-2.0
/// Interchangeable devices of the host, and which VM has which.
#pragma once

#include <string>
#include <vector>

#include "placement/model/domain.h"

namespace vmnuma {

struct DevicePool {
  std::string name;
  std::vector<PciDevice> devices;
  bool operator==(const DevicePool&) const = default;
};

/// A device that a VM has, by its definition or because it was hot-plugged.
struct HeldDevice {
  std::string address;
  VmId vm;
  std::string vm_name;
  bool operator==(const HeldDevice&) const = default;
};

}  // namespace vmnuma
