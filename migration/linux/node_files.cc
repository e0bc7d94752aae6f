// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/node_files.h"

#include <algorithm>
#include <charconv>
#include <string>

#include <fmt/format.h>

namespace vmnuma::migration {

using placement::Bytes;

namespace {

std::optional<std::int64_t> to_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) {
    return std::nullopt;
  }
  return number;
}

/// The kB after " KEY:" on a line of its own.
Result<Bytes> kilobytes_of(std::string_view text, std::string_view key) {
  const std::string label = fmt::format(" {}:", key);
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) {
    return failure(ErrorCode::kCorrupt, fmt::format("a node's meminfo has no line '{}'", key));
  }
  std::string_view line = text.substr(at + label.size());
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const auto number = to_number(line.substr(0, line.find(' ')));
  constexpr std::int64_t kMostKilobytes = std::int64_t{1} << 42;
  if (!number || *number > kMostKilobytes || !line.ends_with(" kB")) {
    return failure(ErrorCode::kCorrupt,
                   fmt::format("a node's meminfo has a strange line '{}: {}'", key, line));
  }
  return placement::kKiB * *number;
}

}  // namespace

Result<NodeMemory> parse_node_meminfo(std::string_view text) {
  const auto total = kilobytes_of(text, "MemTotal");
  const auto free = kilobytes_of(text, "MemFree");
  const auto cache = kilobytes_of(text, "Inactive(file)");
  const auto dirty = kilobytes_of(text, "Dirty");
  const auto writeback = kilobytes_of(text, "Writeback");
  for (const auto* value : {&total, &free, &cache, &dirty, &writeback}) {
    if (!*value) {
      return tl::unexpected(value->error());
    }
  }
  return NodeMemory{.total = *total,
                    .available = *free + std::max(Bytes{}, *cache - *dirty - *writeback),
                    .pools = {}};
}

std::optional<Bytes> pool_page_size(std::string_view name) {
  constexpr std::string_view kPrefix = "hugepages-";
  constexpr std::string_view kSuffix = "kB";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  const auto number = to_number(name);
  return number && *number > 0 ? std::optional(placement::kKiB * *number) : std::nullopt;
}

Result<NodeMemory> read_node_memory(const Folder& root, placement::NodeId node) {
  const auto folder = root.folder(fmt::format("sys/devices/system/node/node{}", node.value));
  if (!folder) {
    return tl::unexpected(folder.error());
  }
  const auto text = folder->read("meminfo");
  if (!text) {
    return tl::unexpected(text.error());
  }
  auto memory = parse_node_meminfo(*text);
  if (!memory) {
    return failure(std::move(memory).error(), fmt::format("while reading node {}", node.value));
  }
  const auto pools = folder->folder("hugepages");
  if (!pools) {
    // A kernel without hugetlb has no such folder.
    return pools.error().code == ErrorCode::kNotFound ? std::move(memory)
                                                      : tl::unexpected(pools.error());
  }
  const auto names = pools->names();
  if (!names) {
    return tl::unexpected(names.error());
  }
  for (const std::string& name : *names) {
    const auto size = pool_page_size(name);
    if (!size) {
      continue;
    }
    const auto free = pools->read(name + "/free_hugepages");
    if (!free) {
      return tl::unexpected(free.error());
    }
    const auto number = to_number(std::string_view(*free).substr(0, free->find('\n')));
    if (!number) {
      return failure(ErrorCode::kCorrupt, fmt::format("'{}' of node {} holds no number: '{}'",
                                                      name + "/free_hugepages", node.value, *free));
    }
    memory->pools.push_back({*size, *number});
  }
  std::sort(memory->pools.begin(), memory->pools.end(),
            [](const PoolFree& a, const PoolFree& b) { return a.page_size < b.page_size; });
  return memory;
}

}  // namespace vmnuma::migration
