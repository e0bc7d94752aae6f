// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/backoff.h"

#include <gtest/gtest.h>

namespace vmnuma::tests {
namespace {

using balancer::Backoff;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(BackoffTest, TriesSoonAtFirstThenEverLessOften) {
  Backoff backoff(seconds(2), seconds(30));
  Backoff::Time now{std::chrono::hours(1)};
  EXPECT_TRUE(backoff.is_due(now));
  for (const int pause : {2, 4, 8, 16, 30, 30}) {
    backoff.failed(now);
    EXPECT_FALSE(backoff.is_due(now + seconds(pause) - milliseconds(1)));
    now += seconds(pause);
    EXPECT_TRUE(backoff.is_due(now));
  }
}

TEST(BackoffTest, BeginsAnewAfterALongTimeWithoutAFailure) {
  Backoff backoff(seconds(2), seconds(30));
  Backoff::Time now{std::chrono::hours(1)};
  backoff.failed(now);
  backoff.failed(now);  // due in 4 s
  now += seconds(4 + 30);
  backoff.failed(now);
  EXPECT_FALSE(backoff.is_due(now + seconds(7)));  // it goes on where it was
  now += seconds(8 + 30) + milliseconds(1);
  backoff.failed(now);
  EXPECT_TRUE(backoff.is_due(now + seconds(2)));
}

}  // namespace
}  // namespace vmnuma::tests
