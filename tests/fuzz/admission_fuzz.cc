// SPDX-License-Identifier: Apache-2.0
// Any bytes as the file that the hook reads while the daemon is away.
#include <cstddef>
#include <cstdint>
#include <string>

#include "balancer/controller/admission_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vmnuma::balancer;
  const auto read = parse_admission(std::string(data, data + size));
  if (!read) {
    return 0;
  }
  // What was accepted, written down and read again, is the same.
  const std::string text = to_text(read->state, read->stamp);
  const auto again = parse_admission(text);
  VMNUMA_CHECK(again.has_value());
  VMNUMA_CHECK(to_text(again->state, again->stamp) == text);
  return 0;
}
