// SPDX-License-Identifier: Apache-2.0
#include "placement/model/text.h"

#include <algorithm>
#include <charconv>

#include "placement/base/mapped.h"
#include "placement/base/number.h"
#include "placement/base/sorted.h"

namespace vmnuma {
namespace {

constexpr std::size_t kMostEntries = 65536;
constexpr std::string_view kHexDigits = "0123456789abcdef";

template <class Id>
std::string ids_to_list(std::vector<Id> ids) {
  std::ranges::sort(ids);
  std::string text;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t last = i;
    while (last + 1 < ids.size() && ids[last + 1].value <= ids[last].value + 1) {
      ++last;
    }
    if (!text.empty()) {
      text += ',';
    }
    text += std::to_string(ids[i].value);
    if (ids[last].value > ids[i].value) {
      text += '-';
      text += std::to_string(ids[last].value);
    }
    i = last + 1;
  }
  return text;
}

tl::unexpected<Error> not_a_list(std::string_view text) {
  return failure(ErrorCode::kInvalidArgument,
                 "'" + std::string(text.substr(0, 200)) + "' is not a list like 0-3,8");
}

template <class Id>
Result<std::vector<Id>> parse_list(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == ' ' || rest.back() == '\0')) {
    rest.remove_suffix(1);
  }
  std::vector<Id> ids;
  const char* at = rest.data();
  const char* const end = rest.data() + rest.size();
  while (at != end) {
    std::int32_t first = 0;
    auto parsed = std::from_chars(at, end, first);
    if (parsed.ec != std::errc{} || first < 0) {
      return not_a_list(text);
    }
    std::int32_t last = first;
    at = parsed.ptr;
    if (at != end && *at == '-') {
      parsed = std::from_chars(at + 1, end, last);
      if (parsed.ec != std::errc{} || last < first) {
        return not_a_list(text);
      }
      at = parsed.ptr;
    }
    if (ids.size() + static_cast<std::size_t>(last - first) + 1 > kMostEntries) {
      return failure(ErrorCode::kInvalidArgument,
                     "'" + std::string(text.substr(0, 200)) + "' names more than 65536 numbers");
    }
    for (std::int32_t number = first;; ++number) {
      ids.push_back(Id{number});
      if (number == last) {
        break;  // before the largest number of all would overflow
      }
    }
    if (at != end) {
      if (*at != ',' || at + 1 == end) {
        return not_a_list(text);
      }
      ++at;
    }
  }
  return sorted_unique(std::move(ids));
}

bool is_dash_position(std::size_t position) {
  return position == 8 || position == 13 || position == 18 || position == 23;
}

}  // namespace

std::string to_text(const VmId& id) {
  std::string text;
  text.reserve(36);
  for (const std::uint8_t byte : id.uuid) {
    if (is_dash_position(text.size())) {
      text += '-';
    }
    text += kHexDigits[byte >> 4U];
    text += kHexDigits[byte & 0x0fU];
  }
  return text;
}

Result<VmId> parse_vm_id(std::string_view text) {
  const auto refuse = [&] {
    return failure(ErrorCode::kInvalidArgument,
                   "'" + std::string(text.substr(0, 100)) + "' is not a UUID");
  };
  if (text.size() != 36) {
    return refuse();
  }
  VmId id;
  std::size_t at = 0;
  for (std::uint8_t& byte : id.uuid) {
    if (is_dash_position(at) && text[at++] != '-') {
      return refuse();
    }
    const auto value = whole_number<std::uint8_t>(text.substr(at, 2), 16);
    if (!value) {
      return refuse();
    }
    byte = *value;
    at += 2;
  }
  return id;
}

std::string to_list(const std::vector<CpuId>& cpus) {
  return ids_to_list(cpus);
}
std::string to_list(const std::vector<NodeId>& nodes) {
  return ids_to_list(nodes);
}
std::string to_list(const std::vector<std::int32_t>& numbers) {
  return ids_to_list(mapped(numbers, [](std::int32_t number) { return CpuId{number}; }));
}
std::string node_or_nodes(const std::vector<NodeId>& nodes) {
  return (nodes.size() == 1 ? "node " : "nodes ") + to_list(nodes);
}
Result<std::vector<CpuId>> parse_cpu_list(std::string_view text) {
  return parse_list<CpuId>(text);
}
Result<std::vector<NodeId>> parse_node_list(std::string_view text) {
  return parse_list<NodeId>(text);
}

}  // namespace vmnuma
