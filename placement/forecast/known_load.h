// SPDX-License-Identifier: Apache-2.0
/// All that is known of a VM's load, and what usually followed.
///
/// Problem: what a VM may want in the next ten minutes is best predicted from what it wanted
/// before; but before *what*? The load of one VM stays near where it is, that of another recurs
/// every hour or every day. Approach: every minute, the load is compared with several *anchors*:
/// nothing (the load itself), the last minute, the mean and the peak of the last minutes, the peak
/// of the last hour, that of the same time a day and a week ago. For each anchor a decaying
/// histogram records how far above it the load of the next ten minutes was; anchor plus percentile
/// is a forecast. The loss of each anchor's forecasts (score.h) is averaged with the same
/// half-life, and the anchor with the least loss is used. For the mean it is the one with the least
/// squared errors.
/// Terms: *rise* - load less anchor, in thousandths of the VM's full time; *usual* - the percentile
/// of the load itself, which needs no recent minutes.
/// Properties:
///  1. A forecast lies between nothing and the VM's full time.
///  2. It is made only of minutes up to the one it is made in.
///  3. A constant load is forecast within one bucket.
///  4. While the VM is off, the usual load is forecast.
///  5. Equal minutes give equal forecasts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "placement/forecast/decaying_histogram.h"
#include "placement/forecast/load_past.h"
#include "placement/forecast/score.h"
#include "placement/model/amounts.h"

namespace vmnuma {

class KnownLoad {
 public:
  /// What a rise is measured from.
  enum class Anchor { kNothing, kMinute, kNow, kLately, kHour, kDayBefore, kWeekBefore };
  static constexpr std::size_t kAnchors = 7;
  /// How many minutes it takes until the histograms give forecasts.
  static constexpr std::int64_t kLeastMinutes = 60;

  KnownLoad();

  /// Times ascend; a minute that is not later than the last one changes nothing.
  void add(std::int64_t minute, Permille load);

  [[nodiscard]] const LoadPast& past() const { return past_; }
  [[nodiscard]] std::int64_t minutes() const { return minutes_; }

  /// Returns the load that `share` of the next ten minutes' loads will not exceed, as seen at the
  /// end of `minute`, which must not be before the last one added; nothing before kLeastMinutes.
  [[nodiscard]] std::optional<Permille> quantile(std::int64_t minute, Permille share) const;
  /// Returns the expected mean load of the next ten minutes; otherwise as quantile().
  [[nodiscard]] std::optional<Permille> mean(std::int64_t minute) const;

 private:
  struct Guess {
    std::optional<Permille> anchor;
    std::optional<Permille> p95;
    std::optional<Permille> mean;
  };
  /// In 2^-16, exponentially weighted.
  struct Mean {
    std::int64_t value = 0;
    std::int64_t count = 0;  ///< of values in it
    void take_in(std::int64_t more);
  };
  struct Record {
    DecayingHistogram rises;
    Mean loss = {};  ///< of pinball_loss()
    Mean rise = {};
    Mean error = {};  ///< of the means, squared
  };
  struct Minute {
    std::int64_t minute = 0;
    std::array<Guess, kAnchors> guesses;
  };

  [[nodiscard]] std::optional<Permille> anchor_at(std::int64_t minute, Anchor anchor) const;
  /// What a forecast is made from: an anchor, and the load there.
  struct Start {
    std::size_t anchor = 0;
    Permille at;
  };
  /// Returns the anchor whose forecasts have the least `loss`, of those that can be made now; the
  /// first one, kNothing, if none can. Nothing before kLeastMinutes.
  [[nodiscard]] std::optional<Start> best_start(std::int64_t minute, Mean Record::*loss) const;
  [[nodiscard]] std::optional<Permille> mean_from(const Start& start) const;
  [[nodiscard]] std::optional<Permille> quantile_from(const Start& start, Permille share) const;
  void judge(std::int64_t minute, Permille load);

  LoadPast past_;
  std::vector<Record> records_;                   ///< by Anchor
  std::array<Minute, kForecastMinutes> guesses_;  ///< of the last minutes, a ring
  std::int64_t minutes_ = 0;
};

}  // namespace vmnuma
