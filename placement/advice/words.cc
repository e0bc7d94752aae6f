// SPDX-License-Identifier: Apache-2.0
#include "placement/advice/words.h"

#include <algorithm>
#include <functional>

namespace vmnuma {

std::string counted(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string memory_text(Bytes bytes) {
  constexpr std::int64_t kTenths = 10;
  struct Unit {
    Bytes size;
    std::string_view name;
  };
  for (const Unit unit : {Unit{kGiB, " GiB"}, Unit{kMiB, " MiB"}}) {
    if (bytes >= unit.size) {
      const std::int64_t tenths =
          scaled(Bytes{kTenths}, bytes.value, unit.size.value).value;  // no overflow on the way
      const std::int64_t rest = tenths % kTenths;
      return std::to_string(tenths / kTenths) + (rest == 0 ? "" : "." + std::to_string(rest)) +
             std::string(unit.name);
    }
  }
  return std::to_string(bytes.value / kKiB.value) + " KiB";
}

std::string each_text(const std::vector<std::string>& parts) {
  if (parts.empty()) {
    return {};
  }
  if (std::ranges::adjacent_find(parts, std::not_equal_to<>()) == parts.end()) {
    return parts.front();
  }
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

}  // namespace vmnuma
