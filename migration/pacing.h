// SPDX-License-Identifier: Apache-2.0
/// Limits how fast pages are moved.
///
/// Problem: moving memory costs the guests memory bandwidth and TLB flushes, so the administrator
/// limits it per second for the host and per VM. Chunks must not shrink merely because little is
/// allowed at the moment: each call has a fixed cost on every CPU of the host. Approach: a token
/// bucket for the host and one per VM. A chunk is allowed when both hold at least its minimum; the
/// amount moved is deducted afterwards, which may leave a debt (one 1 GiB page is more than a
/// bucket holds). Under memory pressure nothing is allowed.
///
/// Terms: Bucket: holds the amount of a tenth of a second at its rate, at least kSmallestBucket.
///
/// Properties:
///  - in any period t at most rate x t + one bucket + one chunk is moved;
///  - an allowance is never below the minimum unless less was requested;
///  - a wait never ends later than necessary;
///  - time that goes backwards adds nothing.
#pragma once

#include <map>
#include <variant>

#include "placement/model/amounts.h"
#include "placement/model/ids.h"

namespace vmnuma::migration {

/// Bounds of one call's work: 512 to 16384 pages of 4 KiB. Below the minimum, the fixed cost of a
/// call (draining every CPU's page lists) dominates; at 16 MiB it was still a tenth of a call
/// (Linux 6.1). The maximum is only reached where the target stall is far above the default.
inline constexpr Bytes kSmallestChunk = kMiB * 2;
inline constexpr Bytes kLargestChunk = kMiB * 64;
/// With a rate, this much may be moved at once: more than a call at the default target.
inline constexpr Bytes kSmallestBucket = kMiB * 24;

/// A token bucket that fills at a rate in bytes per second.
class TokenBucket {
 public:
  explicit TokenBucket(Bytes bytes_per_second) : rate_(bytes_per_second) {}

  /// Sets the rate; zero = unlimited. The content of the bucket stays, up to the new size.
  void set_rate(Bytes bytes_per_second);
  /// What may be taken now; the bucket starts full. Negative while in debt.
  [[nodiscard]] Bytes available(Microseconds now);
  /// The time at which `bytes` will be available; at the latest, when the bucket will be full.
  [[nodiscard]] Microseconds when(Microseconds now, Bytes bytes);
  void take(Microseconds now, Bytes bytes);
  [[nodiscard]] bool unlimited() const { return rate_ <= Bytes{}; }

 private:
  [[nodiscard]] Bytes size() const;
  void fill(Microseconds now);

  Bytes rate_;
  bool started_ = false;
  Microseconds filled_at_;
  Bytes level_;
};

/// Either the bytes allowed now, or the time before which nothing is allowed.
using Allowance = std::variant<Bytes, Microseconds>;

class Pacer {
 public:
  void set_rates(Bytes bytes_per_second, Bytes vm_bytes_per_second);
  /// While set, nothing is allowed, and callers must ask again after a second.
  void set_memory_pressure(bool high) { pressure_ = high; }

  [[nodiscard]] Allowance allow(Microseconds now, const VmId& vm, Bytes want);
  /// Deducts what was actually moved.
  void charge(Microseconds now, const VmId& vm, Bytes moved);
  /// Drops the VM's bucket when its last transfer has ended.
  void forget(const VmId& vm) { vms_.erase(vm); }

 private:
  [[nodiscard]] TokenBucket& bucket_of(const VmId& vm);

  TokenBucket host_{Bytes{}};
  Bytes vm_rate_;
  std::map<VmId, TokenBucket> vms_;
  bool pressure_ = false;
};

}  // namespace vmnuma::migration
