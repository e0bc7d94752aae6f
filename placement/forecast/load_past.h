// SPDX-License-Identifier: Apache-2.0
/// The load of a VM in the last hour by minute and in the last eight days by quarter of an hour.
///
/// Problem: what a VM will want depends on what it wants now and on what it wanted at this time
/// yesterday and a week ago; all minutes of a week of hundreds of VMs are too much to keep in
/// memory. Approach: two rings, one of minutes, one of quarters with their mean and peak. A minute
/// in which the VM did not run or was not measured is a gap.
///
/// Terms: *minute* - counted from 1970 (UTC); *load* - what the VM's vCPUs wanted in that minute,
/// in thousandths of their full time.
///
/// Properties:
///  - a minute that is not later than the last one changes nothing;
///  - the figures of a time span are made of the minutes that are known; without any there is no
///    figure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma {

class LoadPast {
 public:
  static constexpr std::int64_t kMinutes = 60;
  static constexpr std::int64_t kQuarter = 15;
  static constexpr std::int64_t kDay = 24 * 60;
  static constexpr std::int64_t kWeek = 7 * kDay;
  static constexpr std::int64_t kDays = 8;

  struct Span {
    Permille mean;
    Permille peak;
    Permille least;  ///< of a quarter: its mean
    bool operator==(const Span&) const = default;
  };

  LoadPast();

  void add(std::int64_t minute, Permille load);

  [[nodiscard]] bool empty() const { return empty_; }
  [[nodiscard]] std::int64_t last_minute() const { return last_minute_; }
  /// Returns the load in a minute of the hour up to the last one.
  [[nodiscard]] std::optional<Permille> at(std::int64_t minute) const;
  /// Returns mean, peak and least over the `minutes` up to `minute`; only minutes of the hour up to
  /// the last one are known.
  [[nodiscard]] std::optional<Span> up_to(std::int64_t minute, std::int64_t minutes) const;
  /// Returns the same over those quarters containing the minutes `from` to `until` that are known.
  [[nodiscard]] std::optional<Span> around(std::int64_t from, std::int64_t until) const;

 private:
  struct Quarter {
    std::int32_t sum = 0;
    std::int16_t count = 0;
    std::int16_t peak = 0;
  };
  static constexpr std::int64_t kQuarters = kDays * kDay / kQuarter;

  std::array<std::int16_t, kMinutes> minutes_{};  ///< negative: a gap
  std::vector<Quarter> quarters_;
  std::int64_t last_minute_ = 0;
  bool empty_ = true;
};

}  // namespace vmnuma
