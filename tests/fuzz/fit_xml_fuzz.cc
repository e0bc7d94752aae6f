// SPDX-License-Identifier: Apache-2.0
/// Any bytes as the XML of an arriving VM: an error, nothing to change, or an XML that is whole and
/// fits.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "balancer/host/fit_xml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using vmnuma::CpuId;
  using vmnuma::NodeId;
  const vmnuma::balancer::HostSets host{{CpuId{0}, CpuId{2}}, {NodeId{0}, NodeId{3}}};
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  const auto fitted = fit_xml(xml, host);
  if (!fitted) {
    VMNUMA_CHECK(fitted.error().code == vmnuma::ErrorCode::kInvalidArgument);
    return 0;
  }
  if (*fitted) {
    VMNUMA_CHECK(!(*fitted)->changes.empty());
    const auto again = fit_xml((*fitted)->xml, host);
    VMNUMA_CHECK(again.has_value() && !again->has_value());
  }
  return 0;
}
