// SPDX-License-Identifier: Apache-2.0
#include "placement/forecast/tree_model.h"

#include <set>

#include <gtest/gtest.h>

namespace vmnuma {
namespace {

constexpr std::int64_t kBegin = 20'000 * LoadPast::kDay;

/// Below 500 in the fourth figure a quarter of a thousandth less, else four thousandths more.
const Tree kTree{{3, 500, 1, 2, 0}, {-1, 0, 0, 0, -250}, {-1, 0, 0, 0, 4000}};

FeaturesAt figures(std::int32_t fourth, std::int64_t usual) {
  FeaturesAt at;
  at.features[3] = fourth;
  at.usual = Permille{usual};
  return at;
}

KnownLoad minutes(std::int64_t count, std::int64_t load) {
  KnownLoad known;
  for (std::int64_t minute = 0; minute < count; ++minute) {
    known.add(kBegin + minute, Permille{load});
  }
  return known;
}

TEST(TreeModelTest, LessGoesLeft) {
  EXPECT_EQ(leaf_of(kTree, figures(499, 0).features), 1U);
  EXPECT_EQ(leaf_of(kTree, figures(500, 0).features), 2U);
}

TEST(TreeModelTest, AddsAllTreesToTheHistogramsForecast) {
  const TreeModel model{{kTree, kTree}, 0};
  EXPECT_EQ(corrected(model, figures(500, 300)), Permille{308});
  EXPECT_EQ(corrected(model, figures(0, 300)), Permille{300});  // 299.5, rounded
  EXPECT_EQ(corrected({}, figures(0, 300)), Permille{300});
}

TEST(TreeModelTest, StaysWithinTheVmsFullTime) {
  const TreeModel model{{{{-1, 0, 0, 0, 900'000}}}, 0};
  EXPECT_EQ(corrected(model, figures(0, 300)), Permille{1000});
  const TreeModel lower{{{{-1, 0, 0, 0, -900'000}}}, 0};
  EXPECT_EQ(corrected(lower, figures(0, 300)), Permille{0});
}

TEST(TreeModelTest, OnlyTreesInWhichAWalkEndsAreSound) {
  EXPECT_TRUE(is_sound({}));
  EXPECT_TRUE(is_sound({{kTree}, 0}));
  EXPECT_FALSE(is_sound({{kTree, {}}, 0}));
  for (const TreeNode& root :
       {TreeNode{3, 500, 0, 2, 0}, TreeNode{3, 500, 1, 3, 0}, TreeNode{3, 500, 1, -1, 0},
        TreeNode{static_cast<std::int32_t>(kFeatures), 500, 1, 2, 0}}) {
    Tree tree = kTree;
    tree[0] = root;
    EXPECT_FALSE(is_sound({{tree}, 0}));
  }
}

TEST(TreeModelTest, SaysNothingOfMinutesItWasTrainedOn) {
  const KnownLoad load = minutes(100, 300);
  const Predictor predictor = trained_predictor({{}, kBegin + 99});
  EXPECT_EQ(predictor.forecast({}, load, kBegin + 98), std::nullopt);
  EXPECT_EQ(predictor.forecast({}, load, kBegin + 99), load.quantile(kBegin + 99, Permille{950}));
}

TEST(TreeModelTest, SaysNothingWhereTheHistogramCannot) {
  EXPECT_EQ(trained_predictor({}).forecast({}, minutes(10, 300), kBegin + 9), std::nullopt);
}

TEST(FeaturesTest, AreNamedOnceAndMadeOfWhatIsKnown) {
  const std::set<std::string_view> names(feature_names().begin(), feature_names().end());
  EXPECT_EQ(names.size(), kFeatures);
  const auto at = features_at({"web-12", 4, 8192, 200, "x"}, minutes(100, 300), kBegin + 99);
  ASSERT_TRUE(at);
  const auto figure = [&](std::string_view name) {
    const auto found = std::find(feature_names().begin(), feature_names().end(), name);
    return at->features[static_cast<std::size_t>(found - feature_names().begin())];
  };
  EXPECT_EQ(figure("last"), 300);
  EXPECT_EQ(figure("peak60"), 300);
  EXPECT_EQ(figure("steady_for"), 60);
  EXPECT_EQ(figure("day_mean"), -1);
  EXPECT_EQ(figure("minute_of_day"), 99);
  EXPECT_EQ(figure("minute_of_hour"), 39);
  EXPECT_EQ(figure("weekday"), 4);  // 2024-10-04, a Friday, from Monday = 0
  EXPECT_EQ(figure("vcpus"), 4);
  EXPECT_EQ(figure("memory_mib"), 8192);
  EXPECT_EQ(figure("shares"), 200);
}

TEST(FeaturesTest, VmsOfOneNameGroupAreTakenTogether) {
  const KnownLoad load = minutes(100, 300);
  const auto group = [&](const char* name) {
    return features_at({name, 1, 1, 100, ""}, load, kBegin + 99)->features[kFeatures - 2];
  };
  EXPECT_EQ(group("web-12"), group("web-13"));
  EXPECT_EQ(group("web"), group("web7"));
  EXPECT_NE(group("web-12"), group("db-12"));
}

}  // namespace
}  // namespace vmnuma
