// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/numa_maps.h"

#include <charconv>
#include <limits>
#include <map>

#include "stats/linux/fields.h"

namespace vmnuma::stats {
namespace {

using placement::Bytes;
using placement::NodeId;

constexpr std::string_view kFormat = "a line of numa_maps";

std::optional<std::uint64_t> to_address(std::string_view text) {
  constexpr int kHexadecimal = 16;
  std::uint64_t address = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), address, kHexadecimal);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return address;
}

/// The policy is one word, but for "prefer (many):NODES" (Linux 5.15, mm/mempolicy.c).
std::string_view take_policy(std::string_view& fields) {
  const auto first = take_word(fields).value_or("");
  const std::string_view here = fields;
  const auto second = take_word(fields);
  if (first == "prefer" && second && second->starts_with("(many)")) {
    return {first.data(), static_cast<std::size_t>(second->data() + second->size() - first.data())};
  }
  fields = here;
  return first;
}

/// "N3=17": pages on a node.
struct NodePages {
  NodeId node;
  std::int64_t pages = 0;
};
std::optional<NodePages> to_node_pages(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (!word.starts_with('N') || equals == std::string_view::npos) {
    return std::nullopt;
  }
  const auto node = to_number<std::int32_t>(word.substr(1, equals - 1));
  const auto pages = to_number<std::int64_t>(word.substr(equals + 1));
  if (!node || !pages) {
    return std::nullopt;
  }
  return NodePages{NodeId{*node}, *pages};
}

bool may_be_guest_memory(const NumaMapping& mapping) {
  return mapping.huge || mapping.file.empty() || mapping.file.starts_with("/memfd:") ||
         mapping.file.starts_with("/dev/zero") || mapping.file.starts_with("/dev/shm/");
}

}  // namespace

Result<NumaMapping> parse_numa_map(std::string_view line) {
  // 128 TiB: no mapping is larger, and a process has at most 65,530 of them (vm.max_map_count), so
  // sums fit.
  constexpr std::int64_t kMostBytes = std::numeric_limits<std::int64_t>::max() >> 16;
  NumaMapping mapping;
  std::string_view fields = line;
  const auto start = to_address(take_word(fields).value_or(""));
  mapping.policy = take_policy(fields);
  if (!start || mapping.policy.empty()) {
    return bad_line(kFormat, line);
  }
  mapping.start = *start;
  std::vector<NodePages> counts;
  while (const auto word = take_word(fields)) {
    if (const auto file = after(*word, "file=")) {
      mapping.file = *file;
    } else if (*word == "huge") {
      mapping.huge = true;
    } else if (const auto size = after(*word, "kernelpagesize_kB=")) {
      const auto kib = to_number<std::int32_t>(*size);
      if (!kib || *kib == 0) {
        return bad_line(kFormat, line);
      }
      mapping.page_size = placement::kKiB * *kib;
    } else if (word->starts_with('N')) {
      const auto pages = to_node_pages(*word);
      if (!pages) {
        return bad_line(kFormat, line);
      }
      counts.push_back(*pages);
    }
    // Others (heap, stack, anon=, dirty=, mapped=, active=, ...) do not say where pages are.
  }
  if (!counts.empty() && mapping.page_size == Bytes{}) {
    return bad_line(kFormat, line);
  }
  for (const NodePages& count : counts) {
    if (count.pages > kMostBytes / mapping.page_size.value) {
      return bad_line(kFormat, line);
    }
    mapping.memory.push_back({count.node, mapping.page_size * count.pages});
  }
  return mapping;
}

Result<std::vector<NodeMemory>> sum_guest_memory(std::string_view numa_maps) {
  if (const auto complete = check_complete(numa_maps, "numa_maps"); !complete) {
    return tl::unexpected(complete.error());
  }
  std::map<NodeId, Bytes> sum;
  while (const auto line = take_line(numa_maps)) {
    const auto mapping = parse_numa_map(*line);
    if (!mapping) {
      return tl::unexpected(mapping.error());
    }
    if (!may_be_guest_memory(*mapping)) {
      continue;
    }
    for (const NodeMemory& part : mapping->memory) {
      sum[part.node] += part.bytes;
    }
  }
  std::vector<NodeMemory> by_node;
  by_node.reserve(sum.size());
  for (const auto& [node, bytes] : sum) {
    by_node.push_back({node, bytes});
  }
  return by_node;
}

}  // namespace vmnuma::stats
