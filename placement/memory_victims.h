// SPDX-License-Identifier: Apache-2.0
/// Predicts from which VM the kernel takes memory first when it is short, and which VM it kills if
/// that is not enough.
///
/// Problem: both follow from a dozen files per VM, and should be known before they happen.
/// Approach: the kernel's rules (Linux 6.1) applied to the contents of those files. Reclaim first
/// takes from any cgroup above memory.high, then from all in proportion to their memory that
/// neither memory.min nor memory.low protects, then from memory that only memory.low protects, and
/// never below memory.min (Documentation/admin-guide/cgroup-v2.rst). The OOM killer takes the
/// process with the most memory and swap, each adjusted by oom_score_adj thousandths of the host's
/// memory and swap (mm/oom_kill.c, oom_badness()); no protection counts there.
/// Terms: *takeable* - memory that is neither protected nor locked and has somewhere to go: page
/// cache to its file, the rest to swap.
/// Properties:
///  1. Every VM is in the order of reclaim once; it has nothing to lose exactly if its turn is
///     kNever.
///  2. A VM with oom_score_adj -1000 is in no order of killing.
///  3. Of equals the first comes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma {

struct MemoryUser {
  Bytes guest;  ///< anonymous and shared
  Bytes file;   ///< page cache
  Bytes unevictable;
  Bytes swap;
  Bytes min;  ///< how much of its memory.min is effective
  Bytes low;
  std::optional<Bytes> high;
  bool may_swap = true;
  std::int32_t oom_score_adj = 0;
};

enum class ReclaimTurn {
  kAboveHigh,    ///< above memory.high: it has to give memory back already
  kUnprotected,  ///< part of its memory is protected by nothing
  kBelowLow,     ///< only when nothing unprotected is left anywhere
  kNever,        ///< all its memory is protected, locked, or has nowhere to go
};

struct ReclaimPlace {
  std::size_t user = 0;
  ReclaimTurn turn{};
  Bytes takeable;  ///< in that turn
  bool operator==(const ReclaimPlace&) const = default;
};
/// Returns the VMs in the order in which they lose memory, first to last.
[[nodiscard]] std::vector<ReclaimPlace> reclaim_order(const std::vector<MemoryUser>& users);

struct KillPlace {
  std::size_t user = 0;
  Bytes badness;  ///< the kernel's points; may be negative
  bool operator==(const KillPlace&) const = default;
};
/// Returns the VMs in the order in which they are killed, first to last. `host` is the host's
/// memory and swap.
[[nodiscard]] std::vector<KillPlace> kill_order(const std::vector<MemoryUser>& users, Bytes host);

/// Returns the effective protections below a cgroup that itself has `available`: each in full while
/// their sum fits, else in proportion (cgroup-v2.rst, "memory.min").
[[nodiscard]] std::vector<Bytes> effective_protection(std::vector<Bytes> claimed, Bytes available);

}  // namespace vmnuma
