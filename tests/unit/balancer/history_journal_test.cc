// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/history_journal.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace vmnuma::tests {
namespace {

using balancer::HistoryJournal;
using migration::ActionState;
using testing::IsEmpty;
using testing::SizeIs;

class HistoryJournalTest : public testing::Test {
 protected:
  HistoryJournalTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "vmnuma-journal-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    reopen();
  }
  ~HistoryJournalTest() override {
    history_.reset();
    std::filesystem::remove_all(directory_);
  }
  void reopen() {
    history_.reset();
    Result<std::unique_ptr<stats::History>> opened =
        stats::History::open({directory_ / "history.sqlite", std::int64_t{16} << 20U});
    ASSERT_TRUE(opened) << opened.error().message;
    history_ = std::move(*opened);
  }
  static migration::Order order(std::int64_t number) {
    migration::Order order;
    order.action = number;
    order.epoch = 12;
    order.reason = Reason::kLoadMove;
    migration::VmChange change;
    change.vm.uuid[15] = 1;
    change.vm_name = "web1";
    change.process = {77, 5};
    change.homes = {{0, NodeId{0}, NodeId{1}}};
    change.pins = {{migration::PinChange::Thread::kVcpu, 0, {}, {CpuId{2}}}};
    change.memory.quotas = {{NodeId{1}, kGiB}};
    order.changes = {change};
    return order;
  }

  std::filesystem::path directory_;
  std::unique_ptr<stats::History> history_;
};

TEST_F(HistoryJournalTest, FindsAnOpenActionAgainAfterARestart) {
  {
    HistoryJournal journal(history_.get());
    ASSERT_TRUE(journal.open(order(3)));
    ASSERT_TRUE(journal.begin_step(3, 1, "pin vCPU 0"));
    ASSERT_TRUE(journal.end_step(3, 1, migration::kStepSucceeded));
    ASSERT_TRUE(journal.begin_step(3, 2, "pin the emulator"));
  }
  reopen();
  HistoryJournal journal(history_.get());
  const auto open = journal.open_actions();
  ASSERT_TRUE(open) << open.error().message;
  ASSERT_THAT(*open, SizeIs(1));
  EXPECT_EQ(open->front().order, order(3));
  ASSERT_THAT(open->front().steps, SizeIs(2));
  EXPECT_EQ(open->front().steps[0].outcome, migration::kStepSucceeded);
  EXPECT_FALSE(open->front().steps[1].outcome);
}

TEST_F(HistoryJournalTest, AClosedActionIsHistoryWithItsReason) {
  HistoryJournal journal(history_.get());
  ASSERT_TRUE(journal.open(order(1)));
  ASSERT_TRUE(journal.close(1, ActionState::kDropped, "the VM ended"));
  EXPECT_THAT(*journal.open_actions(), IsEmpty());
  const auto past = history_->recent_actions({});
  ASSERT_TRUE(past);
  ASSERT_THAT(*past, SizeIs(1));
  EXPECT_EQ(past->front().state, stats::ActionState::kDropped);
  EXPECT_EQ(past->front().detail, "the VM ended");
  EXPECT_EQ(past->front().action.epoch, 12);
  EXPECT_EQ(past->front().action.relocations.front().to, NodeId{1});
}

TEST_F(HistoryJournalTest, DropsAnActionWhoseOrderCannotBeRead) {
  stats::ActionRow row;
  row.id = 9;
  row.reason = "load-move";
  row.order_text = "no order";
  ASSERT_TRUE(history_->open_action(row));
  HistoryJournal journal(history_.get());
  const auto open = journal.open_actions();
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_THAT(*open, IsEmpty());
  EXPECT_EQ(history_->recent_actions({})->front().state, stats::ActionState::kDropped);
}

TEST_F(HistoryJournalTest, WithoutAHistoryNothingCanBeBegun) {
  HistoryJournal journal(nullptr);
  const Result<void> opened = journal.open(order(1));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(*journal.open_actions(), IsEmpty());
}

}  // namespace
}  // namespace vmnuma::tests
