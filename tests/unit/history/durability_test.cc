// SPDX-License-Identifier: Apache-2.0
/// What is flushed to the disk, and what is not, seen from below: this program's own fsync() and
/// fdatasync() stand before the C library's for SQLite's shared library too.
#include <atomic>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/history/rows.h"

namespace {
std::atomic<int> flushes = 0;
}  // namespace

extern "C" {
int fsync(int fd) {
  ++flushes;
  return static_cast<int>(::syscall(SYS_fsync, fd));
}
int fdatasync(int fd) {
  ++flushes;
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}
}

namespace vmnuma::stats::tests {
namespace {

using std::chrono::seconds;

class DurabilityTest : public HistoryTest {
 protected:
  void SetUp() override { ASSERT_TRUE(history().append_epoch(epoch_at(at(seconds(0))))); }
  // How often something was flushed during `call`.
  template <class Call>
  int flushes_of(Call call) {
    const int before = flushes;
    const auto result = call();
    EXPECT_TRUE(result) << result.error().message;
    return flushes - before;
  }
};

TEST_F(DurabilityTest, AnIntentIsOnTheDiskBeforeTheCallReturns) {
  EXPECT_GE(flushes_of([&] { return history().open_action(action_row(1)); }), 1);
  EXPECT_GE(flushes_of([&] { return history().close_action(1, ActionState::kDone, ""); }), 1);
}

TEST_F(DurabilityTest, EpochsAndStepsDoNotWaitForTheDisk) {
  EXPECT_EQ(flushes_of([&] { return history().append_epoch(epoch_at(at(seconds(2)))); }), 0);
  ASSERT_TRUE(history().open_action(action_row(1)));
  EXPECT_EQ(flushes_of([&] { return history().begin_step(1, 1, "pin"); }), 0);
  EXPECT_EQ(flushes_of([&] { return history().end_step(1, 1, "ok"); }), 0);
  EXPECT_EQ(flushes_of([&] { return history().append_epoch(epoch_at(at(seconds(4)))); }), 0);
}

}  // namespace
}  // namespace vmnuma::stats::tests
