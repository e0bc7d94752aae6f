// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/numa_maps.h"

#include <limits>
#include <map>

#include "stats/formats/fields.h"

namespace vmnuma::stats {
namespace {

constexpr std::string_view kNumaMapsLine = "a line of numa_maps";

/// Takes the policy, which is one word, except "prefer (many):NODES" (Linux 5.15, mm/mempolicy.c).
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
  if (equals == std::string_view::npos) {
    return std::nullopt;
  }
  const auto node = to_number<std::int32_t>(word.substr(1, equals - 1));
  const auto pages = to_number<std::int64_t>(word.substr(equals + 1));
  if (!node || !pages) {
    return std::nullopt;
  }
  return NodePages{NodeId{*node}, *pages};
}

bool names_a_node(std::string_view word) {
  return word.size() > 1 && word[0] == 'N' && word[1] >= '0' && word[1] <= '9';
}

/// Converts pages to bytes; nothing if the page size is missing or no address space is that large.
std::optional<Bytes> bytes_of(std::int64_t pages, Bytes page_size) {
  // 128 TiB: no mapping is larger than that, and a process has at most 65,530 mappings
  // (vm.max_map_count), so sums fit.
  constexpr std::int64_t kMostBytes = std::numeric_limits<std::int64_t>::max() >> 16;
  if (page_size == Bytes{} || pages > kMostBytes / page_size.value) {
    return std::nullopt;
  }
  return page_size * pages;
}

bool may_be_guest_memory(const NumaMapping& mapping) {
  return mapping.huge || mapping.file.empty() || mapping.file.starts_with("/memfd:") ||
         mapping.file.starts_with("/dev/zero") || mapping.file.starts_with("/dev/shm/");
}

}  // namespace

Result<NumaMapping> parse_numa_map(std::string_view line) {
  NumaMapping mapping;
  std::string_view fields = line;
  const auto start = to_address(take_word(fields).value_or(""));
  mapping.policy = take_policy(fields);
  if (!start || mapping.policy.empty()) {
    return bad_line(kNumaMapsLine, line);
  }
  mapping.start = *start;
  // The page size comes last, so counts are converted to bytes after all words were read.
  std::int64_t anonymous = 0;
  std::vector<NodePages> counts;
  while (const auto word = take_word(fields)) {
    if (const auto file = after(*word, "file=")) {
      mapping.file = *file;
    } else if (*word == "huge") {
      mapping.huge = true;
    } else if (const auto own = after(*word, "anon=")) {
      const auto pages = to_number<std::int64_t>(*own);
      if (!pages) {
        return bad_line(kNumaMapsLine, line);
      }
      anonymous = *pages;
    } else if (const auto size = after(*word, "kernelpagesize_kB=")) {
      const auto kib = to_number<std::int32_t>(*size);
      if (!kib || *kib == 0) {
        return bad_line(kNumaMapsLine, line);
      }
      mapping.page_size = kKiB * *kib;
    } else if (names_a_node(*word)) {
      const auto pages = to_node_pages(*word);
      if (!pages) {
        return bad_line(kNumaMapsLine, line);
      }
      counts.push_back(*pages);
    }
    // Other words (heap, stack, dirty=, mapped=, active=, ...) do not affect where pages are.
  }
  if (anonymous > 0) {
    const auto bytes = bytes_of(anonymous, mapping.page_size);
    if (!bytes) {
      return bad_line(kNumaMapsLine, line);
    }
    mapping.anonymous = *bytes;
  }
  for (const NodePages& count : counts) {
    const auto bytes = bytes_of(count.pages, mapping.page_size);
    if (!bytes) {
      return bad_line(kNumaMapsLine, line);
    }
    mapping.memory.push_back({count.node, *bytes});
  }
  return mapping;
}

Result<std::vector<NumaMapping>> parse_numa_maps(std::string_view text) {
  VMNUMA_RETURN_IF_ERROR(check_complete(text, "numa_maps"));
  std::vector<NumaMapping> mappings;
  while (const auto line = take_line(text)) {
    VMNUMA_ASSIGN_OR_RETURN(auto mapping, parse_numa_map(*line));
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

Result<std::vector<NodeBytes>> sum_guest_memory(std::string_view numa_maps) {
  VMNUMA_ASSIGN_OR_RETURN(const auto mappings, parse_numa_maps(numa_maps));
  std::map<NodeId, Bytes> sum;
  for (const NumaMapping& mapping : mappings) {
    if (may_be_guest_memory(mapping)) {
      for (const NodeBytes& part : mapping.memory) {
        sum[part.node] += part.bytes;
      }
    }
  }
  return by_node(sum);
}

}  // namespace vmnuma::stats
