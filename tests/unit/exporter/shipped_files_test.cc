// SPDX-License-Identifier: Apache-2.0
// The alert rules and the Grafana dashboard use metrics that exist. The manual needs no test: its
// list is made from the table.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/exporter/metric_table.h"

namespace vmnuma::tools {
namespace {

using Json = nlohmann::json;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::Not;

std::string file(const std::string& name) {
  std::ifstream stream(VMNUMA_SOURCE_DIR "/" + name);
  EXPECT_TRUE(stream) << name;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::set<std::string> known() {
  std::set<std::string> names;
  for (const MetricInfo& metric : metric_table()) {
    names.emplace(metric.name);
  }
  return names;
}

std::set<std::string> metrics_in(const std::string& text) {
  std::set<std::string> names;
  for (auto at = text.find("vmnuma_"); at != std::string::npos; at = text.find("vmnuma_", at)) {
    const auto end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
    names.insert(text.substr(at, end - at));
    at = std::min(end, text.size());
  }
  return names;
}

TEST(ShippedFilesTest, TheTableNamesEachMetricOnce) {
  EXPECT_EQ(known().size(), metric_table().size());
}

TEST(ShippedFilesTest, AlertRulesOnlyUseMetricsThatExist) {
  const auto used = metrics_in(file("tools/exporter/alerts.yml"));
  EXPECT_THAT(used, Not(IsEmpty()));
  EXPECT_THAT(used, IsSubsetOf(known()));
}

TEST(ShippedFilesTest, TheDashboardOnlyUsesMetricsThatExist) {
  const Json dashboard = Json::parse(file("tools/exporter/dashboard.json"));
  std::set<std::string> used;
  for (const Json& panel : dashboard.at("panels")) {
    EXPECT_FALSE(panel.at("title").get<std::string>().empty());
    for (const Json& target : panel.at("targets")) {
      const auto in_query = metrics_in(target.at("expr").get<std::string>());
      EXPECT_THAT(in_query, Not(IsEmpty())) << target;
      used.insert(in_query.begin(), in_query.end());
    }
  }
  for (const Json& variable : dashboard.at("templating").at("list")) {
    const auto in_query = metrics_in(variable.value("definition", ""));
    used.insert(in_query.begin(), in_query.end());
  }
  EXPECT_THAT(used, IsSubsetOf(known()));
}

TEST(ShippedFilesTest, PanelsOfTheDashboardDoNotOverlap) {
  const Json dashboard = Json::parse(file("tools/exporter/dashboard.json"));
  std::set<std::pair<int, int>> taken;
  std::set<int> ids;
  for (const Json& panel : dashboard.at("panels")) {
    EXPECT_TRUE(ids.insert(panel.at("id").get<int>()).second);
    const Json& place = panel.at("gridPos");
    EXPECT_LE(place.at("x").get<int>() + place.at("w").get<int>(), 24);  // Grafana's grid
    for (int x = 0; x < place.at("w").get<int>(); ++x) {
      for (int y = 0; y < place.at("h").get<int>(); ++y) {
        EXPECT_TRUE(
            taken.emplace(place.at("x").get<int>() + x, place.at("y").get<int>() + y).second)
            << panel.at("title");
      }
    }
  }
}

}  // namespace
}  // namespace vmnuma::tools
