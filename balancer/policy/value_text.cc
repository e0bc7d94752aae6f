// SPDX-License-Identifier: Apache-2.0
#include "balancer/policy/value_text.h"

#include <algorithm>

#include "placement/base/number.h"

namespace vmnuma::balancer {

namespace {

constexpr std::size_t kLongestText = 4096;

}  // namespace

std::string in_quotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::string switch_text(bool value) {
  return value ? "true" : "false";
}

std::string_view take_part(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

Result<void> set_text(std::string& target, std::string_view text) {
  const bool has_control = std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (text.size() > kLongestText || has_control) {
    return refuse("must be at most 4096 bytes without control characters");
  }
  target = text;
  return {};
}

Result<void> set_switch(bool& target, std::string_view text) {
  if (text != "true" && text != "false") {
    return refuse("is " + in_quotes(text) + ", but must be true or false");
  }
  target = text == "true";
  return {};
}

Result<std::int64_t> read_number(std::string_view text, std::int64_t smallest,
                                 std::int64_t largest) {
  const auto value = whole_number<std::int64_t>(text);
  if (!value || *value < smallest || *value > largest) {
    return refuse("is " + std::string(text) + ", but must be a number from " +
                  std::to_string(smallest) + " to " + std::to_string(largest));
  }
  return *value;
}

}  // namespace vmnuma::balancer
