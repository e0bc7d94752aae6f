// SPDX-License-Identifier: Apache-2.0
/// Changes to JSON that keep it JSON, for libFuzzer: most of what it would change by itself is
/// refused by the parser.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vmnuma::tests {

/// Changes one value in one line of JSON: another number, another type, one element less or twice,
/// a member gone. Returns the new size.
std::size_t mutate_json_line(std::uint8_t* data, std::size_t size, std::size_t max_size,
                             unsigned int seed);

}  // namespace vmnuma::tests
