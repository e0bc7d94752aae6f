// SPDX-License-Identifier: Apache-2.0
/// Makes lines of recordings without a daemon.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace vmnuma::tests {

/// Computes the CRC-32 of IEEE 802.3.
[[nodiscard]] inline std::uint32_t crc32_of(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1U) != 0 ? 0xedb88320U ^ (crc >> 1U) : crc >> 1U;
    }
  }
  return crc ^ 0xffffffffU;
}

/// Returns the line of a frame with this text, whatever the text is.
[[nodiscard]] inline std::string recording_line(std::string_view frame) {
  return fmt::format("{{\"frame\":{},\"crc32\":\"{:08x}\"}}", frame, crc32_of(frame));
}

/// Returns the frame of such a line.
[[nodiscard]] inline std::string_view frame_of(std::string_view line) {
  constexpr std::size_t kBefore = 9;  // {"frame":
  constexpr std::size_t kAfter = 20;  // ,"crc32":"01234567"}
  return line.substr(kBefore, line.find_last_of('}') + 1 - kAfter - kBefore);
}

}  // namespace vmnuma::tests
