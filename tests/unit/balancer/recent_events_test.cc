// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/recent_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

LogLine line(Severity severity, std::string message,
             std::multimap<std::string, std::string> fields = {}) {
  return {severity, std::move(message), std::move(fields)};
}

std::vector<std::string> messages(const EventsView& view) {
  std::vector<std::string> texts;
  for (const EventView& event : view.events) {
    texts.push_back(event.message);
  }
  return texts;
}

class RecentEventsTest : public ::testing::Test {
 protected:
  RecentEventsTest() {
    events_.add(line(Severity::kInfo, "a moves",
                     {{"VM", "a"}, {"VM", "b"}, {"ACTION", "7"}, {"REASON", "load-move"}}),
                100);
    events_.add(line(Severity::kDebug, "nothing"), 101);
    events_.add(line(Severity::kWarning, "c is odd", {{"VM", "c"}}), 102);
    events_.add(line(Severity::kNotice, "b is released", {{"VM", "b"}}), 103);
  }
  RecentEvents events_;
};

TEST_F(RecentEventsTest, AnEventHasWhatItsLineSays) {
  const EventView event = events_.answer({}).events.front();
  EXPECT_EQ(event, (EventView{1, 100, Severity::kInfo, "a moves", {"a", "b"}, 7, "load-move"}));
}

TEST_F(RecentEventsTest, AreInTheOrderInWhichTheyWereToldAndWithoutDebugging) {
  const EventsView view = events_.answer({});
  EXPECT_THAT(messages(view), ElementsAre("a moves", "c is odd", "b is released"));
  EXPECT_EQ(view.last, 3);
  EXPECT_FALSE(view.truncated);
}

TEST_F(RecentEventsTest, TellOfTheVmsThatTheyAreAbout) {
  EXPECT_TRUE(events_.mentions_vm("b"));
  EXPECT_FALSE(events_.mentions_vm("d"));
}

TEST_F(RecentEventsTest, EveryFilterMustMatch) {
  EventsRequest request;
  request.vm = "b";
  EXPECT_THAT(messages(events_.answer(request)), ElementsAre("a moves", "b is released"));
  request.level = Severity::kNotice;
  EXPECT_THAT(messages(events_.answer(request)), ElementsAre("b is released"));
  request.since_unix_s = 104;
  EXPECT_THAT(messages(events_.answer(request)), IsEmpty());
}

TEST_F(RecentEventsTest, TheLimitKeepsTheNewestAndSaysThatThereAreMore) {
  EventsRequest request;
  request.limit = 2;
  const EventsView view = events_.answer(request);
  EXPECT_THAT(messages(view), ElementsAre("c is odd", "b is released"));
  EXPECT_TRUE(view.truncated);
}

TEST_F(RecentEventsTest, AFollowerGetsWhatCameSince) {
  EventsRequest request;
  request.after = 2;
  EXPECT_THAT(messages(events_.answer(request)), ElementsAre("b is released"));
  EXPECT_FALSE(events_.answer(request).truncated);
  request.after = 3;
  EXPECT_THAT(messages(events_.answer(request)), IsEmpty());
}

TEST_F(RecentEventsTest, WhatIsNotKeptAnyMoreIsSaidToBeMissing) {
  EventsRequest request;
  request.after = 2;
  for (std::size_t i = 0; i < RecentEvents::kMost; ++i) {
    events_.add(line(Severity::kInfo, "x"), 200);
  }
  request.limit = kMostHistoryRows;
  EXPECT_TRUE(events_.answer(request).truncated);
  request.after = events_.answer(request).last - 1;
  EXPECT_FALSE(events_.answer(request).truncated);
}

}  // namespace
}  // namespace vmnuma::balancer
