// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/past.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/views.h"

namespace vmnuma::tools {
namespace {

using Json = nlohmann::json;

Reading at(std::int64_t time_ms) {
  Reading reading;
  reading.views = Views{tests::status_view(), tests::host_view(), "{}", "{}", "null"};
  reading.time_unix_ms = time_ms;
  return reading;
}

TEST(PastTest, KeepsFiguresByNode) {
  Past past;
  past.add(at(1000));
  past.add(at(3000));
  EXPECT_EQ(Json::parse(past.json()),
            Json::parse(R"({"times":[1000,3000],"imbalance":[12,12],"lost":[431,431],"nodes":[0,1],
                            "load":[[80,80],[20,20]],"others":[[3,3],[4,4]],"owed":[[1,1],[0,0]],
                            "locality":[[94,94],[null,null]],
                            "free":[[21474836480,21474836480],[53687091200,53687091200]]})"));
}

TEST(PastTest, AReadingWithoutTheDaemonIsAGap) {
  Past past;
  past.add(at(1000));
  Reading none;
  none.time_unix_ms = 3000;
  past.add(none);
  const Json json = Json::parse(past.json());
  EXPECT_EQ(json["times"], Json({1000, 3000}));
  EXPECT_EQ(json["load"][0], Json({80, nullptr}));
  EXPECT_EQ(json["lost"], Json({431, nullptr}));
}

TEST(PastTest, IsBounded) {
  Past past;
  for (std::int64_t i = 1; i <= 1000; ++i) {
    past.add(at(i));
  }
  const Json json = Json::parse(past.json());
  EXPECT_EQ(json["times"].size(), Past::kMostPoints);
  EXPECT_EQ(json["times"].back(), 1000);
  EXPECT_EQ(json["free"][1].size(), Past::kMostPoints);
}

TEST(PastTest, BeginsAnewWhenTheNodesChange) {
  Past past;
  past.add(at(1000));
  Reading other = at(3000);
  other.views->host.nodes.pop_back();
  past.add(other);
  const Json json = Json::parse(past.json());
  EXPECT_EQ(json["times"], Json::array({3000}));
  EXPECT_EQ(json["nodes"], Json::array({0}));
}

TEST(PastTest, IsEmptyBeforeTheFirstReading) {
  EXPECT_EQ(Json::parse(Past().json())["times"], Json::array());
}

}  // namespace
}  // namespace vmnuma::tools
