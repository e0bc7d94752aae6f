// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/node_formats.h"

#include <limits>
#include <string>

#include "stats/formats/fields.h"

namespace vmnuma::stats {
namespace {

using placement::Bytes;

/// "1234 kB" or "1234kB" as bytes.
std::optional<Bytes> kibibytes(std::string_view text) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / placement::kKiB.value;
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
  return placement::kKiB * *number;
}

}  // namespace

Result<placement::NodeSample> parse_node_meminfo(placement::NodeId node, std::string_view text) {
  constexpr std::string_view kFormat = "a node's meminfo";
  if (const auto complete = check_complete(text, kFormat); !complete) {
    return tl::unexpected(complete.error());
  }
  std::optional<Bytes> total;
  std::optional<Bytes> free;
  while (const auto line = take_line(text)) {
    auto fields = *line;
    const auto word = take_word(fields);
    const auto number = take_number<std::int32_t>(fields);
    const auto name = take_word(fields);
    if (word != "Node" || number != node.value || !name) {
      return bad_line(kFormat, *line);
    }
    if (name != "MemTotal:" && name != "MemFree:") {
      continue;
    }
    fields.remove_prefix(std::min(fields.find_first_not_of(' '), fields.size()));
    const auto bytes = kibibytes(fields);
    if (!bytes) {
      return bad_line(kFormat, *line);
    }
    (name == "MemTotal:" ? total : free) = bytes;
  }
  if (!total || !free || *free > *total) {
    return failure(ErrorCode::kCorrupt,
                   "there is no MemTotal or no MemFree below it in a node's meminfo");
  }
  return placement::NodeSample{.id = node, .free = *free, .total = *total};
}

Result<std::vector<std::int32_t>> parse_node_distances(std::string_view text) {
  std::string_view rest = text;
  auto line = take_line(rest).value_or("");
  std::vector<std::int32_t> distances;
  while (const auto word = take_word(line)) {
    const auto distance = to_number<std::int32_t>(*word);
    if (!distance || *distance == 0) {
      return bad_line("a node's distances", text);
    }
    distances.push_back(*distance);
  }
  if (!text.ends_with('\n') || !rest.empty() || distances.empty()) {
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
  std::string_view rest = text;
  const auto number = to_number<std::int64_t>(take_line(rest).value_or(""));
  if (!text.ends_with('\n') || !rest.empty() || !number) {
    return bad_line(format, text);
  }
  return *number;
}

}  // namespace vmnuma::stats
