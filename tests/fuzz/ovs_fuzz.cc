// SPDX-License-Identifier: Apache-2.0
/// Any text as the answer of Open vSwitch's database: an error, or bridges whose adapters are names
/// of files.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stats/devices/ovs_bridges.h"
#include "tests/fuzz/json_mutation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bridges = vmnuma::stats::parse_ovs_answer(std::string(data, data + size));
  if (!bridges) {
    VMNUMA_CHECK(bridges.error().code == vmnuma::ErrorCode::kCorrupt);
    return 0;
  }
  for (const char* bridge : {"", "br-ex", "br-int", "br-bond", "fake1", "eth1"}) {
    const std::vector<std::string> adapters = bridges->adapters_below(bridge);
    VMNUMA_CHECK(std::adjacent_find(adapters.begin(), adapters.end(), std::greater_equal<>()) ==
                 adapters.end());
    for (const std::string& adapter : adapters) {
      VMNUMA_CHECK(adapter.find('/') == std::string::npos && adapter != "." && adapter != "..");
    }
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  return vmnuma::tests::mutate_json_line(data, size, max_size, seed);
}
