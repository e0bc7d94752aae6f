// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/terminal/progress_bar.h"

#include <limits>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProgressLineTest, SaysWhatHowFarAndTheNote) {
  EXPECT_EQ(progress_line("pile-up", 0, 200, "epoch 0 of 200"),
            "pile-up  [....................]    0 %  epoch 0 of 200");
  EXPECT_EQ(progress_line("pile-up", 75, 200, ""), "pile-up  [#######.............]   37 %");
  EXPECT_EQ(progress_line("pile-up", 200, 200, "x"), "pile-up  [####################]  100 %  x");
}

TEST(ProgressLineTest, IsNeverFullBeforeTheEndNorMoreThanFull) {
  EXPECT_EQ(progress_line("a", 999'999, 1'000'000, ""), "a  [###################.]   99 %");
  EXPECT_EQ(progress_line("a", 7, 3, ""), "a  [####################]  100 %");
  EXPECT_EQ(progress_line("a", -7, 3, ""), "a  [....................]    0 %");
}

TEST(ProgressLineTest, WithoutAnEndThereIsNoShare) {
  EXPECT_EQ(progress_line("replay", 5, 0, "waiting"), "replay  waiting");
  EXPECT_EQ(progress_line("replay", 5, -1, ""), "replay");
}

TEST(ProgressLineTest, LargeAmountsDoNotOverflow) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(progress_line("a", kMost / 2, kMost, ""), "a  [##########..........]   50 %");
}

TEST(ProgressLineTest, FitsIntoATerminalAndCannotSteerIt) {
  const std::string line = progress_line(std::string(100, 'v'), 1, 2, std::string(100, 'n'));
  EXPECT_EQ(width_of(line), kTerminalWidth - 1);
  EXPECT_THAT(progress_line("a\x1b[2J", 1, 2, "b\n"), Not(HasSubstr("\x1b")));
}

class ProgressBarTest : public ::testing::Test {
 protected:
  std::ostringstream out_;
  std::ostringstream err_;
  Surroundings surroundings_{out_, err_, false, {}};
  Invocation invocation_;
};

TEST_F(ProgressBarTest, IsGoneWhenTheWorkIsDone) {
  surroundings_.err_is_terminal = true;
  {
    ProgressBar bar({invocation_, surroundings_}, "work");
    bar.show(1, 2, "");
    EXPECT_TRUE(bar.is_shown());
  }
  EXPECT_EQ(err_.str(), "\r\x1b[Kwork  [##########..........]   50 %\r\x1b[K");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ProgressBarTest, WritesALineThatHasNotChangedOnce) {
  surroundings_.err_is_terminal = true;
  ProgressBar bar({invocation_, surroundings_}, "work");
  bar.show(500, 1000, "");
  const std::string once = err_.str();
  bar.show(501, 1000, "");
  EXPECT_EQ(err_.str(), once);
  bar.hide();
  bar.hide();
  EXPECT_EQ(err_.str(), once + "\r\x1b[K");
  bar.show(501, 1000, "");
  EXPECT_EQ(err_.str(), once + "\r\x1b[K" + once);
}

TEST_F(ProgressBarTest, SomethingThatWasNeverShownLeavesNoTrace) {
  surroundings_.err_is_terminal = true;
  { ProgressBar bar({invocation_, surroundings_}, "work"); }
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ProgressBarTest, WritesNothingWhereNoUserLooks) {
  const auto written = [this] {
    ProgressBar bar({invocation_, surroundings_}, "work");
    bar.show(1, 2, "");
    EXPECT_FALSE(bar.is_shown());
    return err_.str();
  };
  EXPECT_EQ(written(), "");  // no terminal
  surroundings_.err_is_terminal = true;
  invocation_.json = true;
  EXPECT_EQ(written(), "");
  invocation_.json = false;
  invocation_.watch = true;
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressBarTest, ColoursOnlyWhatIsDoneAndOnlyIfTheyAreWanted) {
  surroundings_.err_is_terminal = true;
  surroundings_.err_colours = true;
  ProgressBar bar({invocation_, surroundings_}, "work");
  bar.show(1, 4, "");
  EXPECT_EQ(err_.str(), "\r\x1b[Kwork  [\x1b[32m#####\x1b[0m...............]   25 %");
  bar.show(0, 4, "");
  EXPECT_THAT(err_.str(), ::testing::EndsWith("\r\x1b[Kwork  [....................]    0 %"));
  bar.show(4, 4, "");
  EXPECT_THAT(err_.str(), ::testing::EndsWith("[\x1b[32m####################\x1b[0m]  100 %"));
}

}  // namespace
}  // namespace vmnuma::tools
