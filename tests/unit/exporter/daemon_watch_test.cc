// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/daemon_watch.h"

#include <condition_variable>
#include <mutex>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/wake_up.h"

namespace vmnuma::tools {
namespace {

using ::testing::ElementsAre;

constexpr std::chrono::seconds kBeforeLong{20};

TEST(DaemonWatchTest, HasReadOnceWhenItIsMade) {
  std::vector<bool> told;
  const DaemonWatch watch(
      {[] { return Result<Views>(Views{}); },
       [&told](const Reading& reading) { told.push_back(reading.views.has_value()); },
       [](const std::string&) {}, std::chrono::hours(1)});
  EXPECT_THAT(told, ElementsAre(true));
}

TEST(DaemonWatchTest, GoesOnAndSaysOnceWhatIsWrong) {
  std::mutex mutex;
  int reads = 0;
  std::vector<std::int64_t> failures;
  std::vector<std::string> log;
  tests::WakeUp round;
  {
    const DaemonWatch watch({[&]() -> Result<Views> {
                               // The second and third reading fail.
                               if (++reads == 2 || reads == 3) {
                                 return failure(ErrorCode::kUnavailable, "it is gone");
                               }
                               return Views{};
                             },
                             [&](const Reading& reading) {
                               const std::lock_guard lock(mutex);
                               failures.push_back(reading.failures);
                               round.notify();
                             },
                             [&](const std::string& sentence) { log.push_back(sentence); },
                             std::chrono::milliseconds(1)});
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(round.wait(kBeforeLong));
    }
  }
  failures.resize(5);
  EXPECT_THAT(failures, ElementsAre(0, 1, 2, 2, 2));
  EXPECT_THAT(log, ElementsAre("it is gone; trying again", "the daemon answers again"));
}

}  // namespace
}  // namespace vmnuma::tools
