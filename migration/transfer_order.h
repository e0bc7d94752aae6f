// SPDX-License-Identifier: Apache-2.0
/// Chooses the VM whose pages go next when memory of several VMs is in flight.
///
/// Approach: choose the action that gains most per byte still to be moved; every fourth turn, the
/// contender that has waited longest, so that none starves. The two VMs of an exchange are equally
/// useful, so they take turns, each making room for the other. Properties: with n contenders each
/// gets a turn within 4 n turns; equal ones take turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "placement/model/amounts.h"

namespace vmnuma::migration {

struct Contender {
  CpuTime gain;                  ///< lost time that its action is predicted to save per epoch
  Bytes action_remaining;        ///< over all VMs of the action
  std::int64_t last_served = 0;  ///< number of its last turn
};

/// Index of the contender that gets turn number `turn`. `contenders` not empty.
[[nodiscard]] inline std::size_t next_contender(std::span<const Contender> contenders,
                                                std::int64_t turn) {
  constexpr std::int64_t kTurnOfTheLongestWaiting = 4;
  const bool by_gain = turn % kTurnOfTheLongestWaiting != 0;
  const auto mebibytes = [](const Contender& contender) {
    return 1 + contender.action_remaining.value / kMiB.value;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    const Contender& a = contenders[i];
    const Contender& b = contenders[best];
    // Gains are below 2^40 and MiB below 2^23, so the products fit.
    const std::int64_t a_gain = a.gain.value * mebibytes(b);
    const std::int64_t b_gain = b.gain.value * mebibytes(a);
    if (by_gain && a_gain != b_gain ? a_gain > b_gain : a.last_served < b.last_served) {
      best = i;
    }
  }
  return best;
}

}  // namespace vmnuma::migration
