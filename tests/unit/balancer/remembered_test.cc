// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/remembered.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/config/parse.h"
#include "balancer/service/history_journal.h"
#include "tests/support/temp_directory.h"

namespace vmnuma::tests {
namespace {

using balancer::keep_in;
using balancer::MemoryOriginals;
using balancer::Released;
using balancer::Remembered;
using migration::ActionState;
using migration::PinChange;
using testing::IsEmpty;

constexpr VmProcess kProcess{77, 18'446'744'073'709'551'615U};

TEST(HistoryOptionsTest, AreThoseOfTheConfiguration) {
  const auto config = balancer::parse_config(R"(
      state_dir = "/srv/vmnuma"
      [history]
      max_mib = 7
      moves_days = 8
      epoch_samples_minutes = 9
      minute_samples_days = 10
      hour_samples_days = 11
      )",
                                             "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  const stats::HistoryOptions options = balancer::history_options(*config);
  EXPECT_EQ(options.path, "/srv/vmnuma/history.sqlite");
  EXPECT_EQ(options.max_bytes, std::int64_t{7} << 20U);
  EXPECT_EQ(options.kept.actions, std::chrono::days(8));
  EXPECT_EQ(options.kept.epochs, std::chrono::minutes(9));
  EXPECT_EQ(options.kept.minutes, std::chrono::days(10));
  EXPECT_EQ(options.kept.hours, std::chrono::days(11));
}

class RememberedTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = stats::History::open({directory_.path() + "/h.sqlite", std::int64_t{16} << 20U});
    ASSERT_TRUE(opened) << opened.error().message;
    history_ = std::move(*opened);
    vm_.uuid[15] = 1;
  }
  void carried_out(std::int64_t number, std::vector<CpuId> before, std::vector<CpuId> after,
                   ActionState state = ActionState::kDone, NodeId to = NodeId{1}) {
    migration::Order order;
    order.action = number;
    order.reason = Reason::kLoadMove;
    order.changes.push_back({});
    order.changes[0].vm = vm_;
    order.changes[0].process = kProcess;
    order.changes[0].homes = {{0, NodeId{0}, to}};
    order.changes[0].pins = {{PinChange::Thread::kVcpu, 0, std::move(before), std::move(after)}};
    balancer::HistoryJournal journal(history_.get());
    ASSERT_TRUE(journal.open(order));
    ASSERT_TRUE(journal.close(number, state, "as ordered"));
  }

  [[nodiscard]] Remembered remembered() { return balancer::remember(*history_, log_); }

  TempDirectory directory_;
  std::unique_ptr<stats::History> history_;
  balancer::EventLog log_{balancer::Severity::kError, balancer::HostTime()};
  VmId vm_;
};

TEST_F(RememberedTest, WhatWasFoundIsToldByTheFirstOrder) {
  ASSERT_TRUE(history_->save_home(vm_, 0, NodeId{1}));
  carried_out(1, {CpuId{9}}, {CpuId{0}}, ActionState::kUndone);
  carried_out(2, {CpuId{5}}, {CpuId{0}});
  carried_out(3, {CpuId{0}}, {CpuId{1}});
  const Remembered known = remembered();
  EXPECT_EQ(known.remembered_homes.at({vm_, 0}), NodeId{1});
  EXPECT_TRUE(known.originals_known);
  const balancer::Original& original = known.originals.at(vm_);
  EXPECT_EQ(original.process, kProcess);
  EXPECT_EQ(original.threads.at({PinChange::Thread::kVcpu, 0}).found, std::vector{CpuId{5}});
  EXPECT_EQ(original.threads.at({PinChange::Thread::kVcpu, 0}).ours.size(), 2U);
}

TEST_F(RememberedTest, AVmWithoutAHomeIsKnownByItsOrders) {
  carried_out(1, {CpuId{5}}, {CpuId{0}});
  EXPECT_EQ(remembered().originals.at(vm_).process, kProcess);
}

TEST_F(RememberedTest, AVmThatWasReleasedIsFoundAnew) {
  carried_out(1, {CpuId{5}}, {CpuId{0}});
  carried_out(2, {CpuId{0}}, {CpuId{5}}, ActionState::kDone, NodeId{});
  const PinChange::Thread kind = PinChange::Thread::kVcpu;
  EXPECT_EQ(remembered().originals.at(vm_).threads.at({kind, 0}).found, std::vector{CpuId{5}});
  carried_out(3, {CpuId{7}}, {CpuId{1}});
  EXPECT_EQ(remembered().originals.at(vm_).threads.at({kind, 0}).found, std::vector{CpuId{7}});
}

TEST_F(RememberedTest, WhatWasFoundIsKnownWithoutTheOrdersThatToldIt) {
  using Thread = PinChange::Thread;
  balancer::Originals originals;
  balancer::Original& moved = originals[vm_];
  moved.process = kProcess;
  moved.threads[{Thread::kVcpu, 0}] = {{}, {{CpuId{0}}, {CpuId{1}}, {CpuId{2}}}};
  moved.threads[{Thread::kEmulator, 0}] = {{CpuId{5}}, {{CpuId{0}, CpuId{1}}}};
  VmId masked = vm_;
  masked.uuid[0] = 1;
  originals[masked].process = {78, 1};
  originals[masked].memory_nodes = std::vector{NodeId{0}, NodeId{1}};
  ASSERT_TRUE(keep_in(*history_, originals));
  const Remembered known = remembered();
  EXPECT_EQ(known.originals, originals);
  EXPECT_TRUE(known.originals_known);
}

TEST_F(RememberedTest, OrdersThatAreKeptAsWellChangeNothing) {
  carried_out(1, {CpuId{5}}, {CpuId{0}});
  carried_out(2, {CpuId{0}}, {CpuId{1}});
  carried_out(3, {CpuId{7}}, {CpuId{0}});  // it was pinned externally before
  const balancer::Originals before = remembered().originals;
  ASSERT_TRUE(keep_in(*history_, before));
  EXPECT_EQ(remembered().originals, before);
  carried_out(4, {CpuId{0}}, {CpuId{1}});
  EXPECT_EQ(remembered().originals.at(vm_).threads.at({PinChange::Thread::kVcpu, 0}),
            (balancer::Original::Pins{{CpuId{7}}, {{CpuId{0}}, {CpuId{1}}}}));
}

TEST_F(RememberedTest, AnEmptyHistoryKnowsThatNothingWasDone) {
  const Remembered known = remembered();
  EXPECT_THAT(known.remembered_homes, IsEmpty());
  EXPECT_THAT(known.released, IsEmpty());
  EXPECT_TRUE(known.originals_known);
}

TEST_F(RememberedTest, ReleasedVmsAreKept) {
  ASSERT_TRUE(keep_in(*history_, Released{{vm_, kProcess}}));
  EXPECT_EQ(remembered().released, (Released{{vm_, kProcess}}));
  ASSERT_TRUE(keep_in(*history_, Released{}));
  EXPECT_THAT(remembered().released, IsEmpty());
}

TEST_F(RememberedTest, ReservationsAreKeptWhateverTheirNames) {
  balancer::Reservation reservation;
  reservation.name = "for the night\n";
  reservation.vm = "db \"1\"";
  reservation.group = "db";
  reservation.vcpus = 8;
  reservation.homes = {NodeId{1}, NodeId{3}};
  reservation.memory = {{NodeId{1}, {}, kGiB}, {NodeId{3}, kMiB * 2, kGiB}};
  reservation.until_unix_s = 1738324800;
  reservation.served = {vm_};
  reservation.owner = "shop";
  reservation.shared = true;
  reservation.taken = {{vm_, "web \"1\"", 2, {{NodeId{3}, kMiB * 2, kGiB}}}};
  balancer::Reservation other = reservation;
  other.name = "y";
  other.vm.clear();
  other.vm_id = vm_;
  other.until_unix_s.reset();
  other.lasting = true;
  ASSERT_TRUE(keep_in(*history_, std::vector{reservation, other}));
  EXPECT_THAT(remembered().reservations, testing::ElementsAre(reservation, other));
}

TEST_F(RememberedTest, WhatAControllerKnewIsKeptInANewHistory) {
  Remembered known;
  known.remembered_homes = {{{vm_, 0}, NodeId{1}}, {{vm_, 1}, NodeId{3}}};
  known.released = {{vm_, kProcess}};
  known.reservations.emplace_back();
  known.reservations[0].name = "db";
  known.reservations[0].memory = {{NodeId{1}, {}, kGiB}};
  known.memory_originals["machine.slice"] = {};
  known.touched_units = {{"machine.slice", false}, {"a.scope", true}};
  known.originals[vm_].process = kProcess;
  ASSERT_TRUE(balancer::keep_known(*history_, known));
  const Remembered kept = remembered();
  EXPECT_EQ(kept.remembered_homes, known.remembered_homes);
  EXPECT_EQ(kept.released, known.released);
  EXPECT_EQ(kept.reservations, known.reservations);
  EXPECT_EQ(kept.memory_originals, known.memory_originals);
  EXPECT_EQ(kept.touched_units, known.touched_units);
  EXPECT_EQ(kept.originals, known.originals);
}

TEST_F(RememberedTest, WhatIsNotUnderstoodIsSetAsideAndLoggedOnce) {
  const std::vector<std::string> keys{"originals", "released", "reservations", "memory_originals",
                                      "memory_settings"};
  for (const char* text : {"c7a5fdbd 1 2\n", "{}", R"({"originals":[1]})", R"({"released":[1]})"}) {
    for (const std::string& key : keys) {
      ASSERT_TRUE(history_->set_meta(key, text));
    }
    const std::size_t logged = log_.recent().answer({}).events.size();
    const Remembered known = remembered();
    EXPECT_THAT(known.released, IsEmpty());
    EXPECT_FALSE(known.originals_known);
    EXPECT_EQ(log_.recent().answer({}).events.size(), logged + keys.size());
    for (const std::string& key : keys) {
      EXPECT_EQ(history_->meta(key + ".damaged")->value(), text);
    }
    EXPECT_TRUE(remembered().originals_known);
    EXPECT_TRUE(balancer::remember_touched_units(*history_));
    EXPECT_EQ(log_.recent().answer({}).events.size(), logged + keys.size());
  }
  EXPECT_THAT(log_.recent().answer({}).events.front().message,
              testing::HasSubstr("what was kept as 'originals' cannot be read"));
}

TEST_F(RememberedTest, WhatCgroupsWereLikeComesThroughUnchanged) {
  MemoryOriginals originals;
  balancer::MemoryOriginal scope;
  scope.vm = vm_;
  scope.process = kProcess;
  scope.found = {kMiB, {}, kGiB, std::nullopt, Bytes{}};
  scope.ours = {kGiB, kMiB, std::nullopt, kGiB, std::nullopt};
  originals["machine.slice/machine-qemu\\x2d1\\x2da.scope"] = scope;
  originals["machine.slice"] = {};
  ASSERT_TRUE(keep_in(*history_, originals));
  EXPECT_EQ(remembered().memory_originals, originals);
  ASSERT_TRUE(keep_in(*history_, MemoryOriginals{}));
  EXPECT_THAT(remembered().memory_originals, IsEmpty());
}

}  // namespace
}  // namespace vmnuma::tests
