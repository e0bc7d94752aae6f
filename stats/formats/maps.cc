// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/maps.h"

#include <algorithm>
#include <optional>

#include "stats/formats/fields.h"

namespace vmnuma::stats {
namespace {

std::optional<Mapping> read_mapping(std::string_view line) {
  const std::string_view range = take_word(line).value_or("");
  const std::size_t dash = std::min(range.find('-'), range.size());
  const auto start = to_address(range.substr(0, dash));
  const auto end = to_address(range.substr(std::min(dash + 1, range.size())));
  const std::string_view rights = take_word(line).value_or("");
  if (!start || !end || *end <= *start || rights.size() != 4) {
    return std::nullopt;
  }
  for (int field = 0; field < 3; ++field) {  // offset, device, inode
    if (!take_word(line)) {
      return std::nullopt;
    }
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return Mapping{.start = *start,
                 .end = *end,
                 .writable = rights[1] == 'w',
                 .shared = rights[3] == 's',
                 .name = std::string(line)};
}

}  // namespace

Result<std::vector<Mapping>> parse_maps(std::string_view text) {
  std::vector<Mapping> mappings;
  while (const auto line = take_line(text)) {
    auto mapping = read_mapping(*line);
    if (!mapping) {
      return bad_line("a line of maps", *line);
    }
    mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

bool has_swapped_pages(std::string_view status) {
  while (auto line = take_line(status)) {
    if (take_word(*line) == "VmSwap:") {
      return take_word(*line) != "0";
    }
  }
  return false;
}

}  // namespace vmnuma::stats
