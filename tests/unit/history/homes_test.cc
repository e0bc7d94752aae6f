// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/history/rows.h"

namespace vmnuma::stats::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

TEST_F(HomesTest, ThoseOfAVmOfWhichNothingElseIsLeftAreForgotten) {
  using std::chrono::days;
  options_.kept = {std::chrono::minutes(10), days(1), days(2), days(3)};
  for (const VmId& vm : {vm_id(1), vm_id(2), vm_id(3), vm_id(4)}) {
    ASSERT_TRUE(history().save_home(vm, 0, {1}));
  }
  ActionRow open = action_row(1);
  open.relocations[0].vm = vm_id(3);
  ASSERT_TRUE(history().open_action(open));
  for (int i = 0; i < 6 * 4; ++i) {  // six days; only VM 1 runs on
    EpochRows epoch = epoch_at(at(std::chrono::hours(6 * i)));
    epoch.clients = {client_row(1, 0, 10)};  // VM 4 has not been measured yet
    if (i == 0) {
      epoch.clients.push_back(client_row(2, 0, 10));
      epoch.clients.push_back(client_row(3, 0, 10));
    }
    ASSERT_TRUE(history().append_epoch(epoch));
    if (i == 3 * 4) {
      EXPECT_THAT(history().load_homes().value(), SizeIs(4));
    }
  }
  EXPECT_EQ(number("SELECT count(*) FROM vm"), 2);
  EXPECT_THAT(
      history().load_homes().value(),
      ElementsAre(HomeRow{vm_id(1), 0, {1}}, HomeRow{vm_id(3), 0, {1}}, HomeRow{vm_id(4), 0, {1}}));
  ASSERT_TRUE(history().close_action(1, ActionState::kDone, ""));
  ASSERT_TRUE(history().append_epoch(epoch_at(at(days(6)))));
  EXPECT_EQ(number("SELECT count(*) FROM vm"), 1);
  EXPECT_THAT(history().load_homes().value(),
              ElementsAre(HomeRow{vm_id(1), 0, {1}}, HomeRow{vm_id(4), 0, {1}}));
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
