// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/history/rows.h"

namespace vmnuma::stats::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using HomesTest = HistoryTest;

TEST_F(HomesTest, ARestartedDaemonKnowsTheLastHomes) {
  ASSERT_TRUE(history().save_home(vm_id(2), 1, {0}));
  ASSERT_TRUE(history().save_home(vm_id(2), 0, {1}));
  ASSERT_TRUE(history().save_home(vm_id(1), 0, {0}));
  ASSERT_TRUE(history().save_home(vm_id(1), 0, {8}));
  reopen();
  EXPECT_THAT(
      history().load_homes().value(),
      ElementsAre(HomeRow{vm_id(1), 0, {8}}, HomeRow{vm_id(2), 0, {1}}, HomeRow{vm_id(2), 1, {0}}));
}

TEST_F(HomesTest, ForgetsOneVmOnly) {
  ASSERT_TRUE(history().save_home(vm_id(1), 0, {0}));
  ASSERT_TRUE(history().save_home(vm_id(2), 0, {0}));
  ASSERT_TRUE(history().forget_homes(vm_id(1)));
  ASSERT_TRUE(history().forget_homes(vm_id(7)));  // was never there
  EXPECT_THAT(history().load_homes().value(), ElementsAre(HomeRow{vm_id(2), 0, {0}}));
}

TEST_F(HomesTest, IsEmptyAtFirst) {
  EXPECT_THAT(history().load_homes().value(), IsEmpty());
}

TEST_F(HomesTest, NotesOutliveTheDaemon) {
  EXPECT_EQ(history().meta("boot").value(), std::nullopt);
  ASSERT_TRUE(history().set_meta("boot", "a"));
  ASSERT_TRUE(history().set_meta("boot", "b"));
  reopen();
  EXPECT_EQ(history().meta("boot").value(), "b");
}

}  // namespace
}  // namespace vmnuma::stats::tests
