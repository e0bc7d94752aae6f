// SPDX-License-Identifier: Apache-2.0
/// Values from text, for the rows of tables of keys. Each leaves the target alone on error; the
/// message goes on from the key's name: "is 12x, but must be a number from 0 to 4096".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "placement/result.h"

namespace vmnuma::balancer {

[[nodiscard]] inline tl::unexpected<Error> refuse(std::string message) {
  return failure(ErrorCode::kInvalidArgument, std::move(message));
}

[[nodiscard]] std::string quoted(std::string_view text);
[[nodiscard]] std::string switch_text(bool value);

/// At most 4096 bytes without control characters.
[[nodiscard]] Result<void> set_text(std::string& target, std::string_view text);
[[nodiscard]] Result<void> set_switch(bool& target, std::string_view text);
[[nodiscard]] Result<std::int64_t> read_number(std::string_view text, std::int64_t smallest,
                                               std::int64_t largest);

/// For numbers kept in an integer type of the target's choice.
template <class Number>
[[nodiscard]] Result<void> set_number(Number& target, std::string_view text, std::int64_t smallest,
                                      std::int64_t largest) {
  return read_number(text, smallest, largest).map([&target](std::int64_t value) {
    target = static_cast<Number>(value);
  });
}

/// Sets an enumeration from the name_of() of one of its values.
template <class Choice, std::size_t kCount>
[[nodiscard]] Result<void> set_choice(Choice& target, std::string_view text,
                                      const std::array<Choice, kCount>& choices) {
  std::string allowed;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (name_of(choices[i]) == text) {
      target = choices[i];
      return {};
    }
    allowed += i == 0 ? "" : (i + 1 == kCount ? " or " : ", ");
    allowed += quoted(name_of(choices[i]));
  }
  return refuse("is " + quoted(text) + ", but must be " + allowed);
}

}  // namespace vmnuma::balancer
