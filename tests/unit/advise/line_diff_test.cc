// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/line_diff.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/temp_directory.h"

namespace vmnuma::tools {
namespace {

std::string lines(int first, int last) {
  std::string text;
  for (int i = first; i <= last; ++i) {
    text += std::to_string(i) + "\n";
  }
  return text;
}

TEST(LineDiffTest, OfEqualTextsIsNothing) {
  EXPECT_EQ(line_diff("a\nb\n", "a\nb\n", "old", "new"), "");
  EXPECT_EQ(line_diff("", "", "old", "new"), "");
}

TEST(LineDiffTest, ShowsThreeLinesAround) {
  EXPECT_EQ(line_diff(lines(1, 9), lines(1, 4) + "x\n" + lines(6, 9), "old", "new"),
            "--- old\n+++ new\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
}

TEST(LineDiffTest, KeepsChangesFarApartApart) {
  EXPECT_EQ(line_diff(lines(1, 20), lines(2, 19), "old", "new"),
            "--- old\n+++ new\n@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -17,4 +16,3 @@\n 17\n 18\n 19\n"
            "-20\n");
}

TEST(LineDiffTest, NamesCannotBeMistakenForLines) {
  EXPECT_EQ(line_diff("", "\xc2\x9b\n", "a\n+b", "\xe2\x80\xae"),
            "--- a\\n+b\n+++ \\u202e\n@@ -0,0 +1,1 @@\n+\xc2\x9b\n");
}

TEST(LineDiffTest, CountsFromZeroWhereThereIsNothing) {
  EXPECT_EQ(line_diff("", "a\n", "old", "new"), "--- old\n+++ new\n@@ -0,0 +1,1 @@\n+a\n");
}

TEST(LineDiffTest, IsOneChangeWhereTheTextsAreLargeAndDifferAllOver) {
  const std::string diff = line_diff(lines(1, 5000), lines(5001, 10000), "old", "new");
  EXPECT_NE(diff.find("@@ -1,5000 +1,5000 @@"), std::string::npos);
}

TEST(LineDiffTest, IsWhatPatchTakes) {
  if (std::system("command -v patch >/dev/null") != 0) {
    GTEST_SKIP() << "there is no patch(1)";
  }
  const std::string before = lines(1, 40);
  const std::string after = lines(3, 11) + "x\ny\n" + lines(13, 30) + lines(33, 41);
  const tests::TempDirectory directory;
  std::ofstream(directory.path() + "/text") << before;
  std::ofstream(directory.path() + "/diff") << line_diff(before, after, "old", "new");
  ASSERT_EQ(std::system(("cd " + directory.path() + " && patch -s text diff").c_str()), 0);
  std::ifstream patched(directory.path() + "/text");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(patched), {}), after);
}

}  // namespace
}  // namespace vmnuma::tools
