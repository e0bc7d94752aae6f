// SPDX-License-Identifier: Apache-2.0
/// Names of enumerations.
///
/// Problem: an enumeration's names are printed, read back from files, stored in journals and
/// recordings, and listed in manual pages; a second list of them goes out of date silently.
/// Approach: the names are written once, below the enumeration, and everything else follows from
/// there:
///
///     enum class MemoryMode { kSoft, kMask, kHandsOff };
///     [[nodiscard]] constexpr auto names(MemoryMode) {
///       return names_in_order<MemoryMode>("soft", "mask", "hands-off");
///     }
///
/// Properties:
///  - an enumerator without a name, or a name too many, does not compile;
///  - every value's name gives the value back, and no two names of an enumeration are equal.
/// All functions: any thread, no errors but the empty optional.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace vmnuma {

namespace internal {

/// GCC and clang print a value that is not an enumerator as a cast: "(Enum)7".
template <auto kValue>
consteval bool is_enumerator() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t at = text.find("kValue = ");
  return at != std::string_view::npos && text[at + 9] != '(';
}

}  // namespace internal

/// The table of an enumeration with the enumerators 0, 1, 2, ...
template <class Enum, class... Texts>
[[nodiscard]] consteval std::array<std::string_view, sizeof...(Texts)> names_in_order(
    Texts... texts) {
  constexpr std::size_t kCount = sizeof...(Texts);
  static_assert(internal::is_enumerator<static_cast<Enum>(kCount - 1)>(), "a name too many");
  static_assert(!internal::is_enumerator<static_cast<Enum>(kCount)>(), "an enumerator has no name");
  return {texts...};
}

/// An enumeration that has such a table.
template <class Enum>
concept Named = requires {
  names(Enum{});
};

/// "unknown" for a value that is not an enumerator.
template <Named Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) {
  constexpr auto kNames = names(Enum{});
  const auto place = static_cast<std::size_t>(value);
  return place < kNames.size() ? kNames[place] : std::string_view("unknown");
}

/// The value with exactly that name.
template <Named Enum>
[[nodiscard]] constexpr std::optional<Enum> value_named(std::string_view name) {
  constexpr auto kNames = names(Enum{});
  for (std::size_t place = 0; place < kNames.size(); ++place) {
    if (kNames[place] == name) {
      return static_cast<Enum>(place);
    }
  }
  return std::nullopt;
}

/// All enumerators, in their order.
template <Named Enum>
inline constexpr auto kValuesOf = [] {
  std::array<Enum, names(Enum{}).size()> values{};
  for (std::size_t place = 0; place < values.size(); ++place) {
    values[place] = static_cast<Enum>(place);
  }
  return values;
}();

namespace internal {

constexpr std::string_view separator(std::size_t place, std::size_t count) {
  return place == 0 ? "" : place + 1 == count ? " or " : ", ";
}

template <Named Enum>
consteval std::size_t choice_length() {
  std::size_t length = 0;
  for (std::size_t place = 0; const std::string_view name : names(Enum{})) {
    length += separator(place++, names(Enum{}).size()).size() + name.size();
  }
  return length;
}

template <Named Enum>
inline constexpr auto kChoiceText = [] {
  std::array<char, choice_length<Enum>()> text{};
  std::size_t end = 0;
  for (std::size_t place = 0; const std::string_view name : names(Enum{})) {
    for (const std::string_view part : {separator(place++, names(Enum{}).size()), name}) {
      for (const char c : part) {
        text[end++] = c;
      }
    }
  }
  return text;
}();

}  // namespace internal

/// The names for people: "soft, mask or hands-off".
template <Named Enum>
inline constexpr std::string_view kChoices{internal::kChoiceText<Enum>.data(),
                                           internal::kChoiceText<Enum>.size()};

}  // namespace vmnuma
