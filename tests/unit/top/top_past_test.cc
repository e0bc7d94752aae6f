// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/top/top_past.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/top/small_host.h"

namespace vmnuma::tools {
namespace {

using balancer::Figure;
using ::testing::SizeIs;

const std::string kDb7 = "11111111-2222-3333-4444-555555555555";
const std::string kWeb1 = "c7a5fdbd-edaf-9455-926a-d65c16db1809";

TopHost host_at(std::int64_t epoch, Figure demand_ms = 23000) {
  TopHost host = small_host();
  host.status.epoch = epoch;
  host.clients[2].demand_ms = demand_ms;
  return host;
}

TEST(TopPastTest, AnEpochCountsOnceHoweverOftenItIsSeen) {
  TopPast past;
  past.add(host_at(7));
  past.add(host_at(7));
  past.add(host_at(8));
  EXPECT_THAT(past.of(kDb7, 0), SizeIs(2));
  EXPECT_EQ(past.of(kDb7, 0)[0].load, Figure(383));  // 23 s of 30 vCPUs' 60 s
}

TEST(TopPastTest, TenMinutesAreKeptHoweverLongAnEpochIs) {
  TopPast past;
  for (std::int64_t epoch = 1; epoch <= 400; ++epoch) {
    past.add(host_at(epoch, epoch));
  }
  ASSERT_THAT(past.of(kDb7, 0), SizeIs(300));
  past.add([] {
    TopHost host = host_at(401);
    host.epoch_length_ms = 60'000;
    return host;
  }());
  EXPECT_THAT(past.of(kDb7, 0), SizeIs(10));
}

TEST(TopPastTest, WhatWasSeenBeforeAStepBackIsForgotten) {
  TopPast past;
  past.add(host_at(20));
  past.add(host_at(21));
  past.add(host_at(20));
  EXPECT_THAT(past.of(kDb7, 0), SizeIs(1));
}

TEST(TopPastTest, AClientThatIsGoneIsForgotten) {
  TopPast past;
  past.add(host_at(1));
  TopHost without = host_at(2);
  without.clients.pop_back();
  past.add(without);
  EXPECT_THAT(past.of(kDb7, 0), SizeIs(0));
  EXPECT_THAT(past.of(kWeb1, 1), SizeIs(2));
  past.add(host_at(3));
  EXPECT_THAT(past.of(kDb7, 0), SizeIs(1));
}

TEST(SparklineTest, ACharacterIsAsHighAsTheFigureAndBlankIfNotKnown) {
  EXPECT_EQ(sparkline({0, 124, 125, 500, 999, 1000, 5000, std::nullopt, 0}, 80, false),
            "..:+### .");
  EXPECT_EQ(sparkline({0, 500, 1000}, 80, true), "\u2581\u2585\u2588");
}

TEST(SparklineTest, SharesColumnsWhereThereAreMoreMomentsThanColumns) {
  std::vector<Figure> halves(300, Figure(0));
  std::fill(halves.begin() + 150, halves.end(), Figure(1000));
  EXPECT_EQ(sparkline(halves, 4, false), "..##");
  EXPECT_EQ(sparkline({0, 1000, std::nullopt, 1000}, 2, false), "+#");
  EXPECT_EQ(sparkline(halves, 0, false), "");
  EXPECT_EQ(sparkline({}, 10, false), "");
}

TEST(SparklineTest, NoLineIsWiderThanTheScreenAndNoneIsDrawnOfWhatWasNeverKnown) {
  const std::vector<TopMoment> past(300, TopMoment{500, 0, std::nullopt});
  for (const std::size_t columns : {1U, 22U, 23U, 40U, 80U, 200U, 500U}) {
    const std::vector<Line> lines = past_lines(past, {24, columns, true});
    ASSERT_THAT(lines, SizeIs(2));
    EXPECT_LE(width_of(lines[0]), std::max<std::size_t>(columns, 22));
  }
  EXPECT_EQ(plain_text(past_lines({{500, 0, 1000}, {750, 10, 1000}}, {24, 80})),
            "load  +%  50% to 75%\nowed  ..  0% to 1%\nlocal ##  100% to 100%\n");
}

}  // namespace
}  // namespace vmnuma::tools
