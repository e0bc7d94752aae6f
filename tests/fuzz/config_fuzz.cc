// SPDX-License-Identifier: Apache-2.0
// Any bytes as the configuration file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "balancer/config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vmnuma::balancer;
  auto config = parse_config(std::string(data, data + size), "f");
  if (!config) {
    VMNUMA_CHECK(config.error().message.starts_with("f:"));
    return 0;
  }
  // What was accepted, written down and read again, is the same.
  auto again = parse_config(render_config(*config), "f");
  VMNUMA_CHECK(again.has_value());
  config->origins.clear();
  again->origins.clear();
  VMNUMA_CHECK(*again == *config);
  return 0;
}
