// SPDX-License-Identifier: Apache-2.0
/// Values from text, for the rows of tables of keys. Each function leaves the target unchanged on
/// error; the message continues after the key's name: "is 12x, but must be a number from 0 to
/// 4096".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "balancer/policy/key.h"
#include "placement/base/names.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

[[nodiscard]] inline tl::unexpected<Error> refuse(std::string message) {
  return failure(ErrorCode::kInvalidArgument, std::move(message));
}

[[nodiscard]] std::string in_quotes(std::string_view text);
[[nodiscard]] std::string switch_text(bool value);

/// Cuts off and returns the part before `separator`, or everything if there is none.
std::string_view take_part(std::string_view& text, char separator);

/// Accepts at most 4096 bytes without control characters.
[[nodiscard]] Result<void> set_text(std::string& target, std::string_view text);
[[nodiscard]] Result<void> set_switch(bool& target, std::string_view text);
[[nodiscard]] Result<std::int64_t> read_number(std::string_view text, std::int64_t smallest,
                                               std::int64_t largest);

/// For numbers that the target holds in any integer type.
template <class Number>
[[nodiscard]] Result<void> set_number(Number& target, std::string_view text, std::int64_t smallest,
                                      std::int64_t largest) {
  return read_number(text, smallest, largest).map([&target](std::int64_t value) {
    target = static_cast<Number>(value);
  });
}

/// Sets an enumeration from the name of one of `choices`.
template <Named Choice>
[[nodiscard]] Result<void> set_choice(Choice& target, std::string_view text,
                                      std::span<const Choice> choices = kValuesOf<Choice>) {
  std::string allowed;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (name_of(choices[i]) == text) {
      target = choices[i];
      return {};
    }
    allowed += i == 0 ? "" : (i + 1 == choices.size() ? " or " : ", ");
    allowed += in_quotes(name_of(choices[i]));
  }
  return refuse("is " + in_quotes(text) + ", but must be " + allowed);
}

/// A row for a member that is an enumeration and may have any of its values:
/// `choice_key<&VmPolicy::memory_mode>("memory_mode", "soft moves pages ...")`.
template <auto kMember, class Target, Named Choice>
[[nodiscard]] constexpr KeyInfo<Target> choice_key_of(std::string_view name, std::string_view help,
                                                      Choice Target::* /*member*/) {
  return {name,
          KeyKind::kText,
          kChoices<Choice>,
          help,
          [](Target& target, std::string_view text) { return set_choice(target.*kMember, text); },
          [](const Target& target) { return std::string(name_of(target.*kMember)); }};
}
template <auto kMember>
[[nodiscard]] constexpr auto choice_key(std::string_view name, std::string_view help) {
  return choice_key_of<kMember>(name, help, kMember);
}

}  // namespace vmnuma::balancer
