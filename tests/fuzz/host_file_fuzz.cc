// SPDX-License-Identifier: Apache-2.0
/// Any text as a host that advice is asked for: an error, or a host that is the same once it was
/// written and read again, and that advice can be given for.
#include <cstddef>
#include <cstdint>
#include <string>

#include "placement/advice/advice.h"
#include "placement/advice/common_host.h"
#include "tests/fuzz/json_mutation.h"
#include "tools/vmnuma/advise/host_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vmnuma;
  const auto host = tools::parse_host_file(std::string(data, data + size), "'host'");
  if (!host) {
    VMNUMA_CHECK(host.error().code == ErrorCode::kCorrupt);
    return 0;
  }
  const Topology& topology = host->topology;
  VMNUMA_CHECK(topology.distances.size() == topology.nodes.size() * topology.nodes.size());
  const auto again = tools::parse_host_file(tools::host_file_text(*host, "name", -1), "'host'");
  VMNUMA_CHECK(again && *again == *host);
  AdviceRequest request;
  request.vm.max_vcpus = 12;
  for (std::int32_t vcpu = 0; vcpu < request.vm.max_vcpus; ++vcpu) {
    request.vm.vcpus.push_back(vcpu);
  }
  request.vm.memory = request.vm.max_memory = kGiB * 8;
  (void)advise(request, *host);
  (void)advise(request, common_host({*host, *host}));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  return vmnuma::tests::mutate_json_line(data, size, max_size, seed);
}
