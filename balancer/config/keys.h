// SPDX-License-Identifier: Apache-2.0
/// Every key of the configuration file, and of a VM's policy wherever it is written down. The
/// options that steer decisions have a table of their own: placement/model/options.h.
///
/// A value is set and shown as text, so that the same row serves the configuration file and the
/// attributes of a domain's metadata.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/config/config.h"
#include "placement/model/domain.h"
#include "placement/result.h"

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
  /// Sets it from text ("dry-run", "12", "true"). Error: invalid-argument, saying what is allowed.
  /// The target is untouched on error.
  Result<void> (*set)(Target&, std::string_view text) = nullptr;
  std::string (*get)(const Target&) = nullptr;  ///< the same text back
};

/// The keys outside any table: uri, mode, ...
[[nodiscard]] std::span<const KeyInfo<Config>> top_keys();
/// The keys of `[history]`.
[[nodiscard]] std::span<const KeyInfo<HistoryLimits>> history_keys();
/// The keys of `[vm."NAME"]` and of the policy element in a domain's metadata.
[[nodiscard]] std::span<const KeyInfo<placement::VmPolicy>> policy_keys();

/// Sets one key of a VM's policy from text. Errors: not-found (naming the nearest key),
/// invalid-argument.
[[nodiscard]] Result<void> set_policy_key(placement::VmPolicy& policy, std::string_view name,
                                          std::string_view text);

/// The names of the rows, in their order.
template <class Target>
[[nodiscard]] std::vector<std::string_view> names_of(std::span<const KeyInfo<Target>> keys) {
  std::vector<std::string_view> names;
  for (const KeyInfo<Target>& key : keys) {
    names.push_back(key.name);
  }
  return names;
}

/// The row with that exact name, or null.
template <class Target>
[[nodiscard]] const KeyInfo<Target>* find_key(std::span<const KeyInfo<Target>> keys,
                                              std::string_view name) {
  for (const KeyInfo<Target>& key : keys) {
    if (key.name == name) {
      return &key;
    }
  }
  return nullptr;
}

}  // namespace vmnuma::balancer
