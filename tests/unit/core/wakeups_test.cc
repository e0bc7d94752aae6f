// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/wakeups.h"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr CpuTime kHalfLife{60 * 1'000'000};

VmId vm_number(std::uint8_t number) {
  VmId id;
  id.uuid[15] = number;
  return id;
}

/// Gives samples, an epoch of 2 s each, in which VMs 1 and 2 wake each other.
class WakeupsTest : public testing::Test {
 protected:
  /// Nothing: wake-ups are not counted.
  void see(std::optional<std::int64_t> count) {
    Sample sample;
    sample.taken_at = {++epochs_ * 2'000'000};
    for (const std::uint8_t vm : {std::uint8_t{1}, std::uint8_t{2}}) {
      VmSample row;
      row.id = vm_number(vm);
      row.process = {100 + vm, start_time_};
      sample.vms.push_back(row);
    }
    if (count) {
      sample.wakeups = {{vm_number(1), vm_number(2), *count}};
    }
    see(std::move(sample));
  }
  void see(Sample sample) {
    wakeups_.advance(last_ ? &*last_ : nullptr, sample, kHalfLife);
    last_ = std::move(sample);
  }
  /// For so many epochs.
  void talk(int epochs, std::int64_t per_second) {
    for (int i = 0; i < epochs; ++i) {
      count_ += per_second * 2;
      see(count_);
    }
  }
  [[nodiscard]] std::int64_t rate() const {
    return wakeups_.chats().empty() ? 0 : wakeups_.chats().front().rate.value;
  }

  Wakeups wakeups_;
  std::optional<Sample> last_;
  std::int64_t epochs_ = 0;
  std::int64_t count_ = 0;
  std::uint64_t start_time_ = 5;
};

TEST_F(WakeupsTest, TalkCountsHalfAfterAHalfLife) {
  talk(1, 0);
  talk(30, 100'000);
  EXPECT_NEAR(static_cast<double>(rate()), 50'000, 500);
  EXPECT_THAT(wakeups_.chats(), ElementsAre(Chat{vm_number(1), vm_number(2), WakeupRate{rate()}}));
  talk(30, 0);
  EXPECT_NEAR(static_cast<double>(rate()), 25'000, 500);
}

TEST_F(WakeupsTest, OneCountIsNoRate) {
  talk(1, 1'000'000);
  EXPECT_THAT(wakeups_.chats(), IsEmpty());
}

TEST_F(WakeupsTest, VmsThatHardlyTalkAreLeftOut) {
  talk(300, 90);
  EXPECT_THAT(wakeups_.chats(), IsEmpty());
}

TEST_F(WakeupsTest, ACounterThatWentBackBeginsAnew) {
  talk(30, 100'000);
  count_ = 0;
  talk(1, 0);
  EXPECT_THAT(wakeups_.chats(), IsEmpty());
  talk(1, 100'000);
  EXPECT_LT(rate(), 3000);
  EXPECT_GT(rate(), 0);
}

TEST_F(WakeupsTest, ANewProcessBeginsAnew) {
  talk(30, 100'000);
  start_time_ = 6;
  talk(1, 100'000);
  EXPECT_THAT(wakeups_.chats(), IsEmpty());
}

TEST_F(WakeupsTest, APairThatIsNotCountedAnyMoreIsForgotten) {
  talk(30, 100'000);
  Sample sample = *last_;
  sample.taken_at = {++epochs_ * 2'000'000};
  sample.wakeups->clear();
  see(std::move(sample));
  EXPECT_THAT(wakeups_.chats(), IsEmpty());
}

TEST_F(WakeupsTest, IsHeldForAMinuteWhileNothingIsCounted) {
  talk(30, 100'000);
  const std::int64_t before = rate();
  for (int i = 0; i < 30; ++i) {
    see(std::nullopt);
    ASSERT_EQ(rate(), before);
  }
  see(std::nullopt);
  EXPECT_THAT(wakeups_.chats(), IsEmpty());
}

TEST_F(WakeupsTest, GoesOnAfterAGap) {
  talk(30, 100'000);
  const std::int64_t before = rate();
  see(std::nullopt);
  talk(2, 100'000);
  EXPECT_GT(rate(), before);
}

}  // namespace
}  // namespace vmnuma::balancer
