// SPDX-License-Identifier: Apache-2.0
#include "balancer/record/anonymizer.h"

#include <iterator>

#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

std::string alias(std::map<std::string, std::string>& known, const std::string& name,
                  const char* prefix) {
  if (name.empty()) {
    return name;
  }
  const auto [entry, is_new] = known.try_emplace(name);
  if (is_new) {
    entry->second = prefix + std::to_string(known.size());
  }
  return entry->second;
}

}  // namespace

VmId Anonymizer::id(const VmId& vm) {
  constexpr Number kFirst = Number{1} << 127U;
  constexpr Number kGap = Number{1} << 96U;
  const auto [entry, is_new] = numbers_.try_emplace(vm, kFirst);
  if (is_new && numbers_.size() > 1) {
    const auto after = std::next(entry);
    if (after == numbers_.end()) {
      entry->second = std::prev(entry)->second + kGap;
    } else if (entry == numbers_.begin()) {
      entry->second = after->second - kGap;
    } else {
      const Number before = std::prev(entry)->second;
      entry->second = before + (after->second - before) / 2;
      order_is_kept_ = order_is_kept_ && entry->second != before;
    }
  }
  VmId other;
  Number rest = entry->second;
  for (std::size_t byte = other.uuid.size(); byte > 0; --byte, rest >>= 8U) {
    other.uuid[byte - 1] = static_cast<std::uint8_t>(rest & 0xffU);
  }
  return other;
}

std::string Anonymizer::vm_name(const std::string& name) {
  return alias(vm_names_, name, "vm");
}

std::string Anonymizer::group(const std::string& name) {
  return alias(groups_, name, "group");
}

std::string Anonymizer::name_or_uuid(const std::string& text) {
  const auto uuid = parse_vm_id(text);
  return uuid ? to_text(id(*uuid)) : vm_name(text);
}

}  // namespace vmnuma::balancer
