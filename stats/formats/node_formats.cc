// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/node_formats.h"

#include <limits>
#include <string>
#include <utility>

#include "stats/formats/fields.h"

namespace vmnuma::stats {
namespace {

/// Converts "1234 kB" or "1234kB" to bytes.
std::optional<Bytes> kibibytes(std::string_view text) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / kKiB.value;
  if (!text.ends_with("kB")) {
    return std::nullopt;
  }
  text.remove_suffix(2);
  if (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  const auto number = to_number<std::int64_t>(text);
  if (!number || *number > kMost) {
    return std::nullopt;
  }
  return kKiB * *number;
}

constexpr std::string_view kMeminfo = "a node's meminfo";

/// The member for the line of this name; null for other lines.
std::optional<Bytes>* member_named(std::string_view name, NodeMeminfo& info) {
  const std::pair<std::string_view, std::optional<Bytes>*> lines[] = {
      {"MemTotal:", &info.total},
      {"MemFree:", &info.free},
      {"Inactive(file):", &info.inactive_file},
      {"Dirty:", &info.dirty},
      {"Writeback:", &info.writeback}};
  for (const auto& [known, member] : lines) {
    if (known == name) {
      return member;
    }
  }
  return nullptr;
}

/// The value of a hexadecimal digit in lower or upper case.
std::optional<unsigned> hexadecimal_digit(char digit) {
  const auto value = to_address(std::string_view(&digit, 1));
  return value ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
}

}  // namespace

Result<NodeMeminfo> parse_node_lines(NodeId node, std::string_view text) {
  VMNUMA_RETURN_IF_ERROR(check_complete(text, kMeminfo));
  NodeMeminfo info;
  while (const auto line = take_line(text)) {
    if (line->empty()) {
      continue;
    }
    auto fields = *line;
    const auto word = take_word(fields);
    const auto number = take_number<std::int32_t>(fields);
    const auto name = take_word(fields);
    if (word != "Node" || number != node.value || !name) {
      return bad_line(kMeminfo, *line);
    }
    std::optional<Bytes>* member = member_named(*name, info);
    if (member == nullptr) {
      continue;
    }
    fields.remove_prefix(std::min(fields.find_first_not_of(' '), fields.size()));
    *member = kibibytes(fields);
    if (!*member) {
      return bad_line(kMeminfo, *line);
    }
  }
  return info;
}

Result<NodeSample> parse_node_meminfo(NodeId node, std::string_view text) {
  VMNUMA_ASSIGN_OR_RETURN(const auto info, parse_node_lines(node, text));
  if (!info.total || !info.free || *info.free > *info.total) {
    return failure(ErrorCode::kCorrupt,
                   "there is no MemTotal or no MemFree below it in a node's meminfo");
  }
  return NodeSample{.id = node, .free = *info.free, .total = *info.total};
}

Result<Bytes> parse_node_memory(NodeId node, std::string_view text) {
  VMNUMA_ASSIGN_OR_RETURN(const auto info, parse_node_lines(node, text));
  if (!info.total) {
    return failure(ErrorCode::kCorrupt, "there is no MemTotal in a node's meminfo");
  }
  return *info.total;
}

Result<std::vector<CpuId>> parse_cpu_map(std::string_view text) {
  constexpr std::string_view kFormat = "a mask of CPUs";
  constexpr std::size_t kDigitsOfAWord = 8;
  constexpr std::size_t kMostDigits = 65536 / 4;
  const std::string_view line = single_line(text).value_or("");
  std::string digits;
  std::size_t digits_of_word = 0;
  for (auto at = line.rbegin(); at != line.rend(); ++at) {
    if (*at == ',' && digits_of_word == kDigitsOfAWord) {
      digits_of_word = 0;
    } else {
      digits += *at;
      ++digits_of_word;
    }
  }
  if (digits_of_word == 0 || digits_of_word > kDigitsOfAWord || digits.size() > kMostDigits) {
    return bad_line(kFormat, text);
  }
  std::vector<CpuId> cpus;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    const auto digit = hexadecimal_digit(digits[at]);
    if (!digit) {
      return bad_line(kFormat, text);
    }
    for (std::size_t bit = 0; bit < 4; ++bit) {
      if ((*digit >> bit & 1U) != 0) {
        cpus.push_back(CpuId{static_cast<std::int32_t>(at * 4 + bit)});
      }
    }
  }
  return cpus;
}

Result<std::vector<std::int32_t>> parse_node_distances(std::string_view text) {
  auto line = single_line(text).value_or("");
  std::vector<std::int32_t> distances;
  while (const auto word = take_word(line)) {
    const auto distance = to_number<std::int32_t>(*word);
    if (!distance || *distance == 0) {
      return bad_line("a node's distances", text);
    }
    distances.push_back(*distance);
  }
  if (distances.empty()) {
    return bad_line("a node's distances", text);
  }
  return distances;
}

std::optional<Bytes> page_size_of_pool_name(std::string_view name) {
  const auto size = after(name, "hugepages-");
  return size ? kibibytes(*size) : std::nullopt;
}

Result<std::int64_t> parse_page_count(std::string_view text) {
  return parse_single_number("a number of huge pages", text);
}

Result<std::int64_t> parse_single_number(std::string_view format, std::string_view text) {
  const auto number = to_number<std::int64_t>(single_line(text).value_or(""));
  if (!number) {
    return bad_line(format, text);
  }
  return *number;
}

}  // namespace vmnuma::stats
