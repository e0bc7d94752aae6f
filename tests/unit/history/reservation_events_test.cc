// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/history/rows.h"

namespace vmnuma::stats::tests {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ReservationEventsTest : public HistoryTest {
 protected:
  static ReservationEventRow event(WallTime time, const std::string& reservation) {
    return {.time = time,
            .reservation = reservation,
            .what = "taken-up",
            .vm_uuid = "00000000-0000-0000-0000-000000000001",
            .vm_name = "web1",
            .memory = kGiB,
            .detail = "it takes up 1024 MiB"};
  }
  void note(const ReservationEventRow& event) {
    const auto noted = history().record_reservation_event(event);
    ASSERT_TRUE(noted) << noted.error().message;
  }
};

TEST_F(ReservationEventsTest, AreReadAsTheyWereNotedNewestFirstAlsoAfterARestart) {
  note(event(at(seconds(1)), "web"));
  note(event(at(seconds(2)), "db \"1\""));
  reopen();
  EXPECT_THAT(history().reservation_events({}).value(),
              ElementsAre(event(at(seconds(2)), "db \"1\""), event(at(seconds(1)), "web")));
}

TEST_F(ReservationEventsTest, AreFoundByReservationAndTimeAndAtMostSoMany) {
  for (int i = 0; i < 6; ++i) {
    note(event(at(seconds(i)), i % 2 == 0 ? "web" : "db"));
  }
  EXPECT_THAT(history().reservation_events({.reservation = "web"}).value(),
              ElementsAre(event(at(seconds(4)), "web"), event(at(seconds(2)), "web"),
                          event(at(seconds(0)), "web")));
  EXPECT_THAT(history().reservation_events({.since = at(seconds(4))}).value(), SizeIs(2));
  EXPECT_THAT(history().reservation_events({.limit = 1}).value(),
              ElementsAre(event(at(seconds(5)), "db")));
}

TEST_F(ReservationEventsTest, AreKeptAsLongAsActions) {
  options_.kept.actions = days(3);
  reopen();
  note(event(at(seconds(0)), "web"));
  for (int i = 0; i <= 24 * 4; ++i) {
    if (i == 24 * 2) {
      EXPECT_THAT(history().reservation_events({}).value(), SizeIs(1));
    }
    ASSERT_TRUE(history().append_epoch(epoch_at(at(hours(i)))));
  }
  EXPECT_THAT(history().reservation_events({}).value(), IsEmpty());
}

}  // namespace
}  // namespace vmnuma::stats::tests
