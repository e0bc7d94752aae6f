// SPDX-License-Identifier: Apache-2.0
/// A setting as a row of a table: its name, its allowed values, and how it is set from text.
///
/// A value is set and shown as text, so that the same row serves the configuration file, the
/// command line and the attributes of a domain's metadata.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"

namespace vmnuma::balancer {

/// How a value is written in the file.
enum class KeyKind {
  kText,    ///< "..."
  kNumber,  ///< 12
  kSwitch,  ///< true or false
};

template <class Target>
struct KeyInfo {
  std::string_view name;
  KeyKind kind{};
  std::string_view allowed;  ///< what a value may be, for people: "leave or restore", "0 to 4096"
  std::string_view help;     ///< a sentence without a full stop
  /// Sets the value from text ("dry-run", "12", "true"). Error: invalid-argument, with the allowed
  /// values. The target is untouched on error.
  Result<void> (*set)(Target&, std::string_view text) = nullptr;
  std::string (*get)(const Target&) = nullptr;  ///< returns the same text
};

/// Returns the names of the rows, in their order.
template <class Target>
[[nodiscard]] std::vector<std::string_view> names_of(std::span<const KeyInfo<Target>> keys) {
  std::vector<std::string_view> names;
  for (const KeyInfo<Target>& key : keys) {
    names.push_back(key.name);
  }
  return names;
}

/// Returns the row with that exact name, or null.
template <class Target>
[[nodiscard]] const KeyInfo<Target>* find_key(std::span<const KeyInfo<Target>> keys,
                                              std::string_view name) {
  const auto found = std::ranges::find(keys, name, &KeyInfo<Target>::name);
  return found == keys.end() ? nullptr : &*found;
}

}  // namespace vmnuma::balancer
