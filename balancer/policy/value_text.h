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
                                      std::span<const Choice> choices) {
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

// Rows for members: `switch_key<&VmPolicy::do_not_move>("do_not_move", "true places the VM ...")`.

template <class Member>
struct MemberTypes;
template <class Class, class Type>
struct MemberTypes<Type Class::*> {
  using Target = Class;
  using Value = Type;
};
template <auto kMember>
using TargetOf = typename MemberTypes<decltype(kMember)>::Target;

template <auto kMember>
[[nodiscard]] constexpr auto text_key(std::string_view name, std::string_view allowed,
                                      std::string_view help) {
  using Target = TargetOf<kMember>;
  const auto set = [](Target& target, std::string_view text) {
    return set_text(target.*kMember, text);
  };
  const auto get = [](const Target& target) { return target.*kMember; };
  return KeyInfo<Target>{name, KeyKind::kText, allowed, help, set, get};
}
template <auto kMember>
[[nodiscard]] constexpr auto switch_key(std::string_view name, std::string_view help) {
  using Target = TargetOf<kMember>;
  const auto set = [](Target& target, std::string_view text) {
    return set_switch(target.*kMember, text);
  };
  const auto get = [](const Target& target) { return switch_text(target.*kMember); };
  return KeyInfo<Target>{name, KeyKind::kSwitch, "true or false", help, set, get};
}
template <auto kMember, std::int64_t kSmallest, std::int64_t kLargest>
[[nodiscard]] constexpr auto number_key(std::string_view name, std::string_view allowed,
                                        std::string_view help) {
  using Target = TargetOf<kMember>;
  const auto set = [](Target& target, std::string_view text) {
    return set_number(target.*kMember, text, kSmallest, kLargest);
  };
  const auto get = [](const Target& target) { return std::to_string(target.*kMember); };
  return KeyInfo<Target>{name, KeyKind::kNumber, allowed, help, set, get};
}
template <auto kMember>
using ValueOf = typename MemberTypes<decltype(kMember)>::Value;
/// An enumeration that may have these values.
template <auto kMember, const auto& kValues>
[[nodiscard]] constexpr auto choice_key(std::string_view name, std::string_view allowed,
                                        std::string_view help) {
  using Target = TargetOf<kMember>;
  const auto set = [](Target& target, std::string_view text) {
    return set_choice<ValueOf<kMember>>(target.*kMember, text, kValues);
  };
  const auto get = [](const Target& target) { return std::string(name_of(target.*kMember)); };
  return KeyInfo<Target>{name, KeyKind::kText, allowed, help, set, get};
}
/// An enumeration that may have any of its values.
template <auto kMember>
[[nodiscard]] constexpr auto choice_key(std::string_view name, std::string_view help) {
  return choice_key<kMember, kValuesOf<ValueOf<kMember>>>(name, kChoices<ValueOf<kMember>>, help);
}

}  // namespace vmnuma::balancer
