// SPDX-License-Identifier: Apache-2.0
#include "migration/setbacks.h"

#include <gtest/gtest.h>

namespace vmnuma::migration {
namespace {

constexpr Microseconds kSetBackAt{5'000'000};

TEST(SetbacksTest, AnErrorIsWaitedOutLongerEachTimeUntilTheFourthInARow) {
  Setbacks setbacks;
  for (const std::int64_t wait : {100'000, 200'000, 400'000}) {
    setbacks.note({ErrorCode::kIo, 0, "no"}, Setbacks::Call::kRead, kSetBackAt);
    EXPECT_EQ(setbacks.ready_at(), kSetBackAt + Microseconds{wait});
    EXPECT_FALSE(setbacks.error());
  }
  setbacks.note({ErrorCode::kIo, 0, "no"}, Setbacks::Call::kRead, kSetBackAt);
  EXPECT_TRUE(setbacks.error());
}

TEST(SetbacksTest, ASuccessBeginsTheCountAnewOfItsKindOfCallOnly) {
  Setbacks setbacks;
  for (int i = 0; i < 3; ++i) {
    setbacks.note({ErrorCode::kIo, 0, "no"}, Setbacks::Call::kRead, kSetBackAt);
    setbacks.note({ErrorCode::kIo, 0, "no"}, Setbacks::Call::kMove, kSetBackAt);
  }
  setbacks.record_success(Setbacks::Call::kRead);
  setbacks.note({ErrorCode::kIo, 0, "no"}, Setbacks::Call::kRead, kSetBackAt);
  EXPECT_FALSE(setbacks.error());
  setbacks.note({ErrorCode::kIo, 0, "no"}, Setbacks::Call::kMove, kSetBackAt);
  EXPECT_TRUE(setbacks.error());
}

TEST(SetbacksTest, AProcessThatEndedOrMayNotBeTouchedIsNotTriedAgain) {
  for (const ErrorCode code : {ErrorCode::kVanished, ErrorCode::kPermissionDenied}) {
    Setbacks setbacks;
    setbacks.note({code, 0, "no"}, Setbacks::Call::kMove, kSetBackAt);
    EXPECT_TRUE(setbacks.error());
  }
}

}  // namespace
}  // namespace vmnuma::migration
