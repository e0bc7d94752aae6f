// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/report/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/time_zone.h"

namespace vmnuma::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ChartTest : public ::testing::Test {
 private:
  tests::TimeZone zone_{"UTC"};
};

TEST_F(ChartTest, TextCannotBecomeMarkup) {
  EXPECT_EQ(html_escaped("<a href=\"x\" b='&'>\x1b"),
            "&lt;a href=&quot;x&quot; b=&#39;&amp;&#39;&gt;\\x1b");
}

TEST_F(ChartTest, FewPointsStayAsTheyAre) {
  const std::vector<ChartPoint> points{{1, 10}, {2, 20}};
  EXPECT_EQ(thinned(points, 2), points);
  EXPECT_EQ(thinned({}, 2), std::vector<ChartPoint>{});
}

TEST_F(ChartTest, ManyPointsBecomeAverages) {
  EXPECT_THAT(thinned({{1, 10}, {2, 20}, {3, 30}, {4, 50}}, 2),
              ElementsAre(ChartPoint{2, 15}, ChartPoint{4, 40}));
}

TEST_F(ChartTest, LinesStayWithinTheChart) {
  // 50 % in the beginning and 100 % in the end, on a scale that ends at 100 %: half way and all the
  // way up the plot, which spans x 50..890 and y 10..195.
  const std::string svg = svg_of({"t", 1000, 2000, {{"node 0", {{1000, 500}, {2000, 1000}}}}}, 100);
  EXPECT_THAT(svg, HasSubstr("points=\"50,103 890,10\""));
  EXPECT_THAT(svg, HasSubstr(">100 %<"));
}

TEST_F(ChartTest, ALineIsBrokenWhereNothingWasRecorded) {
  // x = 50 + 840 * (time - 1000) / 1000; y = 195 - 185 * permille / 1000.
  const Chart chart{"t",
                    1000,
                    2000,
                    {{"node 0", {{1000, 0}, {1100, 0}, {1800, 1000}, {1900, 1000}}}},
                    /*longest_step_s=*/100};
  const std::string svg = svg_of(chart, 100);
  EXPECT_THAT(svg, HasSubstr("points=\"50,195 134,195\""));
  EXPECT_THAT(svg, HasSubstr("points=\"722,10 806,10\""));
  // Too many gaps to draw them all: one line with as many points as may be.
  EXPECT_THAT(svg_of(chart, 1), HasSubstr("points=\"722,103\""));
}

TEST_F(ChartTest, ScaleGrowsToTheNextHundredPerCent) {
  const std::string svg = svg_of({"t", 0, 10, {{"a", {{5, 1310}}}}}, 100);
  EXPECT_THAT(svg, HasSubstr(">200 %<"));
  EXPECT_THAT(svg, Not(HasSubstr(">300 %<")));
}

TEST_F(ChartTest, NothingRecordedIsSaid) {
  EXPECT_EQ(svg_of({"t", 0, 10, {}}, 100), "<p>Nothing was recorded.</p>\n");
  EXPECT_EQ(svg_of({"t", 0, 10, {{"a", {}}}}, 100), "<p>Nothing was recorded.</p>\n");
}

TEST_F(ChartTest, NamesAreEscaped) {
  EXPECT_THAT(svg_of({"<t>", 0, 10, {{"<a>", {{5, 1}}}}}, 100), Not(HasSubstr("<a>")));
}

}  // namespace
}  // namespace vmnuma::tools
