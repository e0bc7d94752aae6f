// SPDX-License-Identifier: Apache-2.0
/// Every key of the configuration file except those of a VM's policy
/// (balancer/policy/policy_keys.h) and the options that steer decisions
/// (placement/model/options.h).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "balancer/config/config.h"
#include "balancer/policy/key.h"

namespace vmnuma::balancer {

/// The keys that are in no table of the file: uri, mode, ...
[[nodiscard]] std::span<const KeyInfo<Config>> top_keys();
/// Returns a hint for a key of the file's top that was written below the head of a table, and so is
/// taken for one of that table; empty for any other key.
[[nodiscard]] std::string hint_of_top_key(std::string_view name);
/// The keys of `[history]`.
[[nodiscard]] std::span<const KeyInfo<HistoryLimits>> history_keys();

}  // namespace vmnuma::balancer
