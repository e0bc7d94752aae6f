// SPDX-License-Identifier: Apache-2.0
/// How fast pages may be moved.
///
/// Problem: moving memory costs the guests memory bandwidth and TLB flushes; the administrator
/// limits it per second for the host and per VM. Chunks must not shrink merely because little is
/// allowed at the moment: each call has a fixed cost on every CPU of the host. Approach: a token
/// bucket for the host and one per VM. A chunk is allowed when both hold at least its minimum; what
/// was moved is deducted afterwards, which may leave a debt (one 1 GiB page is more than a bucket
/// holds). Under memory pressure nothing is allowed.
///
/// Terms: a bucket holds a tenth of a second's rate, at least kSmallestBucket.
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

/// Bounds of one call's work: 512 to 16384 pages of 4 KiB. Below that, the fixed cost of a call
/// (draining every CPU's page lists) dominates; at 16 MiB it was still a tenth of a call (Linux
/// 6.1). The largest is only reached where the target stall is far above the default.
inline constexpr placement::Bytes kSmallestChunk = placement::kMiB * 2;
inline constexpr placement::Bytes kLargestChunk = placement::kMiB * 64;
/// If there is a rate, this much may be moved at once: more than a call at the default target.
inline constexpr placement::Bytes kSmallestBucket = placement::kMiB * 24;

/// Fills with `rate` bytes per second.
class TokenBucket {
 public:
  explicit TokenBucket(placement::Bytes bytes_per_second) : rate_(bytes_per_second) {}

  /// Zero = unlimited. The content of the bucket stays, up to the new size.
  void set_rate(placement::Bytes bytes_per_second);
  /// What may be taken now; the bucket starts full. Negative while in debt.
  [[nodiscard]] placement::Bytes available(placement::Microseconds now);
  /// When `bytes` will be available; at the latest when the bucket will be full.
  [[nodiscard]] placement::Microseconds when(placement::Microseconds now, placement::Bytes bytes);
  void take(placement::Microseconds now, placement::Bytes bytes);
  [[nodiscard]] bool unlimited() const { return rate_ <= placement::Bytes{}; }

 private:
  [[nodiscard]] placement::Bytes size() const;
  void fill(placement::Microseconds now);

  placement::Bytes rate_;
  bool started_ = false;
  placement::Microseconds filled_at_;
  placement::Bytes level_;
};

/// Either that many bytes now, or nothing before that time.
using Allowance = std::variant<placement::Bytes, placement::Microseconds>;

class Pacer {
 public:
  void set_rates(placement::Bytes bytes_per_second, placement::Bytes vm_bytes_per_second);
  /// While set, nothing is allowed, and callers are told to ask again after a second.
  void set_memory_pressure(bool high) { pressure_ = high; }

  [[nodiscard]] Allowance allow(placement::Microseconds now, const placement::VmId& vm,
                                placement::Bytes want);
  /// What was actually moved.
  void charge(placement::Microseconds now, const placement::VmId& vm, placement::Bytes moved);
  /// Drops the VM's bucket when its last transfer has ended.
  void forget(const placement::VmId& vm) { vms_.erase(vm); }

 private:
  [[nodiscard]] TokenBucket& bucket_of(const placement::VmId& vm);

  TokenBucket host_{placement::Bytes{}};
  placement::Bytes vm_rate_;
  std::map<placement::VmId, TokenBucket> vms_;
  bool pressure_ = false;
};

}  // namespace vmnuma::migration
