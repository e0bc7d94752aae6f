// SPDX-License-Identifier: Apache-2.0
/// Amounts with their unit in the type. All are 64-bit integers; decisions never use floating
/// point.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace vmnuma {

/// An amount of one unit: adds, subtracts and compares with its own kind, scales with plain
/// numbers.
template <class Unit>
struct Amount {
  std::int64_t value = 0;

  auto operator<=>(const Amount&) const = default;
  constexpr Amount& operator+=(Amount other) {
    value += other.value;
    return *this;
  }
  constexpr Amount& operator-=(Amount other) {
    value -= other.value;
    return *this;
  }
  friend constexpr Amount operator+(Amount a, Amount b) { return {a.value + b.value}; }
  friend constexpr Amount operator-(Amount a, Amount b) { return {a.value - b.value}; }
  friend constexpr Amount operator-(Amount a) { return {-a.value}; }
  friend constexpr Amount operator*(Amount a, std::int64_t factor) { return {a.value * factor}; }
  friend constexpr Amount operator/(Amount a, std::int64_t divisor) { return {a.value / divisor}; }
};

/// CPU time in microseconds of one core ("core-us"): two threads busy for 1 ms are 2000.
using CpuTime = Amount<struct CpuTimeUnit>;
/// Memory in bytes.
using Bytes = Amount<struct BytesUnit>;
/// A share in thousandths.
using Permille = Amount<struct PermilleUnit>;
/// Wake-ups per second.
using WakeupRate = Amount<struct WakeupRateUnit>;
/// A point or span of monotonic time in microseconds. The core never reads a clock; time is passed
/// in.
using Microseconds = Amount<struct MicrosecondsUnit>;

/// For Microseconds and CpuTime alike.
inline constexpr std::int64_t kMicrosecondsPerSecond = 1'000'000;

inline constexpr Bytes kKiB{1024};
inline constexpr Bytes kMiB{1024 * 1024};
inline constexpr Bytes kGiB{1024 * 1024 * 1024};

/// For products that may exceed 64 bits.
__extension__ using WideInt = __int128;

/// amount / by, rounded up; for positive `by` and amounts that are not negative.
[[nodiscard]] constexpr std::int64_t divided_up(std::int64_t amount, std::int64_t by) {
  return (amount + by - 1) / by;
}

/// Returns MiB, rounded up.
[[nodiscard]] constexpr std::int64_t whole_mib(Bytes memory) {
  return divided_up(memory.value, kMiB.value);
}

template <class Unit>
[[nodiscard]] constexpr Amount<Unit> sum_of(const std::vector<Amount<Unit>>& amounts) {
  Amount<Unit> sum;
  for (const Amount<Unit> amount : amounts) {
    sum += amount;
  }
  return sum;
}

/// Returns the sum of a member, or of what a function returns, over all elements.
template <class Range, class Of>
[[nodiscard]] constexpr auto sum_of(const Range& range, Of of) {
  std::remove_cvref_t<decltype(std::invoke(of, *std::begin(range)))> sum{};
  for (const auto& element : range) {
    sum += std::invoke(of, element);
  }
  return sum;
}

/// part / whole in thousandths, rounded towards zero; `when_empty` if whole is not positive.
[[nodiscard]] constexpr Permille permille_of(std::int64_t part, std::int64_t whole,
                                             Permille when_empty) {
  return whole > 0 ? Permille{part * 1000 / whole} : when_empty;
}

/// amount x part / whole, rounded towards zero, without overflow on the way; zero if whole is not
/// positive.
template <class Unit>
[[nodiscard]] constexpr Amount<Unit> scaled(Amount<Unit> amount, std::int64_t part,
                                            std::int64_t whole) {
  return whole > 0 ? Amount<Unit>{static_cast<std::int64_t>(WideInt{amount.value} * part / whole)}
                   : Amount<Unit>{};
}

}  // namespace vmnuma
