// SPDX-License-Identifier: Apache-2.0
#include "migration/pacing.h"

#include <algorithm>
#include <initializer_list>

namespace vmnuma::migration {

namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr Microseconds kAskAgain{kSecond};

}  // namespace

Bytes TokenBucket::size() const {
  return std::max(kSmallestBucket, rate_ / 10);
}

void TokenBucket::fill(Microseconds now) {
  if (!started_) {
    started_ = true;
    filled_at_ = now;
    level_ = size();
    return;
  }
  if (now <= filled_at_) {
    return;
  }
  // Whole seconds and the remainder are filled separately, so that nothing overflows after a long
  // sleep or at the highest rate.
  const Microseconds passed = now - filled_at_;
  const Bytes missing = size() - level_;
  if (missing <= Bytes{}) {
    filled_at_ = now;
    return;
  }
  if (passed.value / kSecond > missing.value / rate_.value) {
    level_ = size();
    filled_at_ = now;
    return;
  }
  const Bytes gained =
      rate_ * (passed.value / kSecond) + rate_ * (passed.value % kSecond) / kSecond;
  if (gained <= Bytes{}) {
    return;  // less than a byte: keep the start time, so that small steps add up
  }
  level_ = std::min(size(), level_ + gained);
  filled_at_ = now;
}

void TokenBucket::set_rate(Bytes bytes_per_second) {
  rate_ = bytes_per_second;
  level_ = std::min(level_, size());
}

Bytes TokenBucket::available(Microseconds now) {
  if (unlimited()) {
    return kLargestChunk;
  }
  fill(now);
  return level_;
}

Microseconds TokenBucket::when(Microseconds now, Bytes bytes) {
  if (unlimited()) {
    return now;
  }
  fill(now);
  const Bytes missing = std::min(bytes, size()) - level_;
  if (missing <= Bytes{}) {
    return now;
  }
  const std::int64_t seconds = missing.value / rate_.value;
  const std::int64_t rest = missing.value % rate_.value;
  return now + Microseconds{seconds * kSecond + (rest * kSecond + rate_.value - 1) / rate_.value};
}

void TokenBucket::take(Microseconds now, Bytes bytes) {
  if (!unlimited()) {
    fill(now);
    level_ -= bytes;
  }
}

void Pacer::set_rates(Bytes bytes_per_second, Bytes vm_bytes_per_second) {
  host_.set_rate(bytes_per_second);
  vm_rate_ = vm_bytes_per_second;
  for (auto& [vm, bucket] : vms_) {
    bucket.set_rate(vm_rate_);
  }
}

TokenBucket& Pacer::bucket_of(const VmId& vm) {
  return vms_.try_emplace(vm, vm_rate_).first->second;
}

Allowance Pacer::allow(Microseconds now, const VmId& vm, Bytes want) {
  if (pressure_) {
    return now + kAskAgain;
  }
  const Bytes least = std::min(want, kSmallestChunk);
  Bytes allowed = want;
  Microseconds start = now;
  for (TokenBucket* bucket : {&host_, &bucket_of(vm)}) {
    if (bucket->unlimited()) {
      continue;
    }
    allowed = std::min(allowed, bucket->available(now));
    start = std::max(start, bucket->when(now, least));
  }
  if (start > now) {
    return start;
  }
  return allowed;
}

void Pacer::charge(Microseconds now, const VmId& vm, Bytes moved) {
  host_.take(now, moved);
  bucket_of(vm).take(now, moved);
}

}  // namespace vmnuma::migration
