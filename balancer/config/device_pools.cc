// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/device_pools.h"

#include <algorithm>
#include <set>
#include <utility>

#include "balancer/policy/value_text.h"
#include "placement/model/device_names.h"

namespace vmnuma::balancer {

Result<void> set_device_pools(std::vector<DevicePool>& target, std::string_view text) {
  const auto wrong = [all = text] {
    return refuse("is " + in_quotes(all) +
                  ", but must be like 'gpu=0000:3b:00.0,0000:86:00.0;vf=0000:3b:10.0', each pool "
                  "and each device once");
  };
  std::vector<DevicePool> pools;
  std::set<std::string_view> names;
  std::set<std::string_view> addresses;
  while (!text.empty()) {
    std::string_view devices = take_part(text, ';');
    const std::string_view name = take_part(devices, '=');
    if (!is_pool_name(name) || !names.insert(name).second || devices.empty()) {
      return wrong();
    }
    DevicePool pool{std::string(name), {}};
    while (!devices.empty()) {
      const std::string_view address = take_part(devices, ',');
      if (!is_pci_address(address) || !addresses.insert(address).second) {
        return wrong();
      }
      pool.devices.push_back({std::string(address), {}});
    }
    pools.push_back(std::move(pool));
  }
  target = std::move(pools);
  return {};
}

std::string device_pools_text(const std::vector<DevicePool>& pools) {
  std::string text;
  for (const DevicePool& pool : pools) {
    text += (text.empty() ? "" : ";") + pool.name;
    char separator = '=';
    for (const PciDevice& device : pool.devices) {
      text += std::exchange(separator, ',') + device.address;
    }
  }
  return text;
}

}  // namespace vmnuma::balancer
