// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/maps.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace vmnuma::migration {

using placement::Bytes;
using placement::NodeId;

namespace {

/// The next line without its newline; nothing at the end.
std::optional<std::string_view> take_line(std::string_view& rest) {
  if (rest.empty()) {
    return std::nullopt;
  }
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

/// The next word; empty at the end.
std::string_view take_word(std::string_view& rest) {
  const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
  rest.remove_prefix(begin);
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

template <class Number>
std::optional<Number> to_number(std::string_view text, int base) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size() || number < Number{}) {
    return std::nullopt;
  }
  return number;
}

tl::unexpected<Error> bad_line(std::string_view format, std::string_view line) {
  return failure(ErrorCode::kCorrupt,
                 fmt::format("this is no line of {}: '{}'", format, line.substr(0, 200)));
}

std::optional<Mapping> read_mapping(std::string_view line) {
  const std::string_view range = take_word(line);
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) {
    return std::nullopt;
  }
  const auto start = to_number<std::uint64_t>(range.substr(0, dash), 16);
  const auto end = to_number<std::uint64_t>(range.substr(dash + 1), 16);
  const std::string_view permissions = take_word(line);
  if (!start || !end || *end <= *start || permissions.size() != 4) {
    return std::nullopt;
  }
  const std::string_view offset = take_word(line);
  const std::string_view device = take_word(line);
  const std::string_view inode = take_word(line);
  if (offset.empty() || device.empty() || inode.empty()) {
    return std::nullopt;
  }
  const std::size_t name = line.find_first_not_of(' ');
  return Mapping{.start = *start,
                 .end = *end,
                 .writable = permissions[1] == 'w',
                 .shared = permissions[3] == 's',
                 .name = std::string(name == std::string_view::npos ? "" : line.substr(name))};
}

/// The policy is one word, but for "prefer (many):NODES" (mm/mempolicy.c).
std::string take_policy(std::string_view& rest) {
  std::string policy(take_word(rest));
  if (policy == "prefer" && rest.starts_with(" (many)")) {
    policy += ' ';
    policy += take_word(rest);
  }
  return policy;
}

std::optional<MappingPages> read_mapping_pages(std::string_view line) {
  MappingPages pages;
  const auto start = to_number<std::uint64_t>(take_word(line), 16);
  pages.policy = take_policy(line);
  if (!start || pages.policy.empty()) {
    return std::nullopt;
  }
  pages.start = *start;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
    if (word == "huge") {
      pages.hugetlb = true;
    } else if (key == "anon") {
      const auto count = to_number<std::int64_t>(value, 10);
      if (!count) {
        return std::nullopt;
      }
      pages.anonymous = Bytes{*count};
    } else if (key == "kernelpagesize_kB") {
      const auto size = to_number<std::int32_t>(value, 10);
      if (!size || *size == 0) {
        return std::nullopt;
      }
      pages.page_size = placement::kKiB * *size;
    } else if (key.size() > 1 && key[0] == 'N' && key[1] >= '0' && key[1] <= '9') {
      const auto node = to_number<std::int32_t>(key.substr(1), 10);
      const auto count = to_number<std::int64_t>(value, 10);
      if (!node || !count) {
        return std::nullopt;
      }
      pages.resident.push_back({NodeId{*node}, Bytes{*count}});
    }
  }
  // The page size comes last, so counts become bytes here.
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 52;  // more than any address space
  if (pages.anonymous > Bytes{}) {
    if (pages.page_size == Bytes{} || pages.anonymous.value > kMostBytes / pages.page_size.value) {
      return std::nullopt;
    }
    pages.anonymous = pages.page_size * pages.anonymous.value;
  }
  for (NodeBytes& part : pages.resident) {
    if (pages.page_size == Bytes{} || part.bytes.value > kMostBytes / pages.page_size.value) {
      return std::nullopt;
    }
    part.bytes = pages.page_size * part.bytes.value;
  }
  return pages;
}

}  // namespace

Result<std::vector<Mapping>> parse_maps(std::string_view text) {
  std::vector<Mapping> mappings;
  while (const auto line = take_line(text)) {
    auto mapping = read_mapping(*line);
    if (!mapping) {
      return bad_line("maps", *line);
    }
    mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

Result<std::vector<MappingPages>> parse_numa_maps(std::string_view text) {
  std::vector<MappingPages> mappings;
  while (const auto line = take_line(text)) {
    auto pages = read_mapping_pages(*line);
    if (!pages) {
      return bad_line("numa_maps", *line);
    }
    mappings.push_back(std::move(*pages));
  }
  return mappings;
}

bool has_swapped_pages(std::string_view status) {
  constexpr std::string_view kKey = "VmSwap:\t";
  while (auto line = take_line(status)) {
    if (line->starts_with(kKey)) {
      line->remove_prefix(kKey.size());
      return take_word(*line) != "0";
    }
  }
  return false;
}

Result<ProcessStat> parse_process_stat(std::string_view text) {
  constexpr int kFieldsBetween =
      18;  // after the state (field 3) and before the start time (field 22)
  const std::size_t command_end = text.rfind(')');
  if (command_end == std::string_view::npos) {
    return bad_line("stat", text);
  }
  std::string_view rest = text.substr(command_end + 1);
  const std::string_view state = take_word(rest);
  for (int i = 0; i < kFieldsBetween; ++i) {
    take_word(rest);
  }
  const auto start_time = to_number<std::uint64_t>(take_word(rest), 10);
  if (state.size() != 1 || !start_time) {
    return bad_line("stat", text);
  }
  return ProcessStat{state[0], *start_time};
}

}  // namespace vmnuma::migration
