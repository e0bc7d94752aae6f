// SPDX-License-Identifier: Apache-2.0
/// Any bytes as the XML of a VM that advice is asked for: an error, or an XML that can be read and
/// is as advised.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "balancer/host/advise_xml.h"
#include "placement/advice/advice.h"

namespace {

using namespace vmnuma;

constexpr Bytes kHugePage = kMiB * 2;

/// Two nodes of four cores with two threads each, and 64 GiB.
AdviceHost some_host() {
  AdviceHost host;
  std::int32_t next = 0;
  for (std::int32_t id = 0; id < 2; ++id) {
    Node node{.id = {id},
              .cpus = {},
              .memory = kGiB * 64,
              .package = id,
              .huge_pages = {{kHugePage, 1024}}};
    for (std::int32_t core = 0; core < 4; ++core) {
      for (int thread = 0; thread < 2; ++thread) {
        node.cpus.push_back({{next++}, id * 4 + core, id});
      }
    }
    host.topology.nodes.push_back(std::move(node));
  }
  host.topology.distances = {10, 21, 21, 10};
  return host;
}

Result<std::string> advised(std::string_view xml, const AdviceHost& host) {
  return balancer::read_advice_request(xml, kHugePage)
      .and_then([&](const AdviceRequest& request) { return advise(request, host); })
      .and_then([&](const Advice& advice) { return balancer::advised_xml(xml, advice); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const AdviceHost kHost = some_host();
  const auto once = advised({reinterpret_cast<const char*>(data), size}, kHost);
  if (!once) {
    VMNUMA_CHECK(!once.error().message.empty());
    return 0;
  }
  const auto twice = advised(*once, kHost);
  VMNUMA_CHECK(twice && *twice == *once);
  return 0;
}
