// SPDX-License-Identifier: Apache-2.0
/// Any text as a recording: it is refused, or replayed; never a crash. The input has what is
/// between
/// {"frame": and ,"crc32": of each line; the rest is put around it here, with the checksum that it
/// asks for, or else no input would ever come past that.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "balancer/record/replay.h"
#include "tests/fuzz/json_mutation.h"
#include "tests/support/recording_lines.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  std::string_view rest = text;
  const auto report = vmnuma::balancer::replay(
      [&]() -> std::optional<std::string> {
        if (rest.empty()) {
          return std::nullopt;
        }
        const std::size_t end = rest.find('\n');
        const std::string line = vmnuma::tests::recording_line(rest.substr(0, end));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        return line;
      },
      {});
  VMNUMA_CHECK(report || !report.error().message.empty());
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  return vmnuma::tests::mutate_json_line(data, size, max_size, seed);
}
