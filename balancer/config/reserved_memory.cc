// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/reserved_memory.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "balancer/policy/value_text.h"
#include "placement/base/number.h"

namespace vmnuma::balancer {
namespace {

constexpr std::string_view kMemory = "memory";
constexpr std::string_view kHugePages = "hugepages-";
constexpr std::int64_t kMostMemory = std::int64_t{1} << 50;
constexpr std::int32_t kMostNodes = 1024;
constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kUnits{
    {{"Ti", std::int64_t{1} << 40},
     {"Gi", std::int64_t{1} << 30},
     {"Mi", std::int64_t{1} << 20},
     {"Ki", std::int64_t{1} << 10}}};

std::optional<std::int64_t> number_in(std::string_view text) {
  const auto number = whole_number<std::int64_t>(text);
  return number.value_or(-1) >= 0 ? number : std::nullopt;
}

std::optional<Bytes> amount_in(std::string_view text) {
  std::int64_t unit = 1;
  for (const auto& [name, size] : kUnits) {
    if (text.ends_with(name)) {
      unit = size;
      text.remove_suffix(name.size());
      break;
    }
  }
  const auto number = number_in(text);
  return number && *number <= kMostMemory / unit ? std::optional(Bytes{*number * unit})
                                                 : std::nullopt;
}

std::string amount_text(Bytes amount) {
  for (const auto& [name, size] : kUnits) {
    if (amount.value > 0 && amount.value % size == 0) {
      return fmt::format("{}{}", amount.value / size, name);
    }
  }
  return std::to_string(amount.value);
}

std::optional<MemoryOnNode> reserved_in(NodeId node, std::string_view text) {
  const std::string_view name = take_part(text, '=');
  const auto memory = amount_in(text);
  const bool is_huge = name.starts_with(kHugePages);
  const auto page_size =
      is_huge ? amount_in(name.substr(kHugePages.size())) : std::optional(Bytes{});
  if (!memory || !page_size || (!is_huge && name != kMemory) ||
      (is_huge && *page_size == Bytes{})) {
    return std::nullopt;
  }
  return MemoryOnNode{node, *page_size, *memory};
}

}  // namespace

Result<void> set_reserved_memory(ReservedMemory& target, std::string_view text) {
  const auto wrong = [all = text] {
    return refuse("is " + in_quotes(all) +
                  ", but must be like '0:memory=2Gi,hugepages-2Mi=64Mi;1:memory=1Gi', each node "
                  "and page size once");
  };
  ReservedMemory reserved;
  while (!text.empty()) {
    std::string_view of_node = take_part(text, ';');
    const auto node = number_in(take_part(of_node, ':'));
    if (!node || *node >= kMostNodes || of_node.empty()) {
      return wrong();
    }
    while (!of_node.empty()) {
      const auto one =
          reserved_in(NodeId{static_cast<std::int32_t>(*node)}, take_part(of_node, ','));
      const bool is_second =
          one && std::ranges::any_of(reserved, [&one](const MemoryOnNode& other) {
            return other.node == one->node && other.page_size == one->page_size;
          });
      if (!one || is_second) {
        return wrong();
      }
      reserved.push_back(*one);
    }
  }
  std::ranges::sort(reserved);
  target = std::move(reserved);
  return {};
}

std::string reserved_memory_text(const ReservedMemory& reserved) {
  std::string text;
  NodeId node;
  for (const MemoryOnNode& one : reserved) {
    text += one.node == node ? std::string(",")
                             : fmt::format("{}{}:", text.empty() ? "" : ";", one.node.value);
    node = one.node;
    text += one.page_size == Bytes{} ? std::string(kMemory)
                                     : fmt::format("{}{}", kHugePages, amount_text(one.page_size));
    text += "=" + amount_text(one.memory);
  }
  return text;
}

}  // namespace vmnuma::balancer
