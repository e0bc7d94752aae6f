// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/finding.h"

#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

const std::vector<Finding> kTwo = {
    {"cgroup", Severity::kOk, "cgroup v2", "", {}},
    {"hook", Severity::kWarning, "it is old", "Replace it:", {"install a b"}}};

TEST(FindingTest, WorstIsTheHighestThereIs) {
  EXPECT_EQ(worst_of({}), Severity::kOk);
  EXPECT_EQ(worst_of(kTwo), Severity::kWarning);
}

TEST(FindingTest, TextHasOneLineForWhatIsWellAndSaysHowToMendTheRest) {
  EXPECT_EQ(text_of(kTwo, /*colours=*/false),
            "ok       cgroup      cgroup v2\n"
            "warning  hook        it is old\n"
            "                     Replace it:\n"
            "                         install a b\n");
}

TEST(FindingTest, ColoursAreInTheSeverityOnly) {
  EXPECT_EQ(text_of({kTwo[0]}, /*colours=*/true),
            "\x1b[32mok\x1b[0m       cgroup      cgroup v2\n");
}

TEST(FindingTest, LongSentencesAreWrapped) {
  const std::string text =
      text_of({{"a", Severity::kNote, std::string(50, 'x') + " " + std::string(50, 'y'), "", {}}},
              /*colours=*/false);
  EXPECT_EQ(text, "note     a           " + std::string(50, 'x') + "\n" + std::string(21, ' ') +
                      std::string(50, 'y') + "\n");
}

TEST(FindingTest, ALongNameIsStillAWord) {
  EXPECT_EQ(text_of({{"configuration", Severity::kOk, "x", "", {}}}, /*colours=*/false),
            "ok       configuration x\n");
}

TEST(FindingTest, FindingsAreRowsAsWell) {
  EXPECT_EQ(text_of(listing_of(kTwo), ListFormat::kCsv),
            "check,severity,what,mend,lines\ncgroup,ok,cgroup v2,,\n"
            "hook,warning,it is old,Replace it:,install a b\n");
}

TEST(FindingTest, JsonHasTheWorstAndAll) {
  EXPECT_EQ(
      json_of(kTwo),
      R"({"worst":"warning","findings":[{"check":"cgroup","severity":"ok","what":"cgroup v2",)"
      R"("mend":"","lines":[]},{"check":"hook","severity":"warning","what":"it is old",)"
      R"("mend":"Replace it:","lines":["install a b"]}]})");
  EXPECT_EQ(json_of({}), R"({"worst":"ok","findings":[]})");
}

}  // namespace
}  // namespace vmnuma::tools
