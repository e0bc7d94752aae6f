// SPDX-License-Identifier: Apache-2.0
#include "balancer/protocol/line_buffer.h"

#include <string>

#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

std::vector<std::string> drain(LineBuffer& buffer) {
  std::vector<std::string> lines;
  while (auto line = buffer.next_line()) {
    lines.push_back(*line);
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(LineBufferTest, EmptyBufferHasNoLine) {
  LineBuffer buffer(10);
  EXPECT_EQ(buffer.next_line(), std::nullopt);
}

TEST(LineBufferTest, CutsSeveralLinesOutOfOnePiece) {
  LineBuffer buffer(10);
  ASSERT_TRUE(buffer.append("one\ntwo\n\nthr"));
  EXPECT_EQ(drain(buffer), (Lines{"one", "two", ""}));
  ASSERT_TRUE(buffer.append("ee\n"));
  EXPECT_EQ(drain(buffer), (Lines{"three"}));
}

TEST(LineBufferTest, LinesDoNotDependOnHowThePiecesAreCut) {
  const std::string text = "first\n\nsecond line\nx\n";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    LineBuffer buffer(11);
    Lines lines;
    for (std::size_t at = 0; at < text.size(); at += size) {
      ASSERT_TRUE(buffer.append(std::string_view(text).substr(at, size)));
      for (auto& line : drain(buffer)) {
        lines.push_back(line);
      }
    }
    EXPECT_EQ(lines, (Lines{"first", "", "second line", "x"})) << "pieces of " << size;
  }
}

TEST(LineBufferTest, LineOfExactlyTheLimitPasses) {
  LineBuffer buffer(4);
  ASSERT_TRUE(buffer.append("1234"));
  ASSERT_TRUE(buffer.append("\n"));
  EXPECT_EQ(drain(buffer), (Lines{"1234"}));
}

TEST(LineBufferTest, LineOverTheLimitIsRefusedInOnePieceOrInMany) {
  LineBuffer whole(4);
  EXPECT_FALSE(whole.append("12345\n"));
  LineBuffer pieces(4);
  ASSERT_TRUE(pieces.append("123"));
  ASSERT_TRUE(pieces.append("4"));
  const auto added = pieces.append("5");
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(added.error().message, "a line is longer than 4 bytes");
}

TEST(LineBufferTest, LinesBeforeOneThatIsTooLongCanBeTaken) {
  LineBuffer buffer(4);
  EXPECT_FALSE(buffer.append("ok\n12345"));
  EXPECT_EQ(drain(buffer), (Lines{"ok"}));
}

TEST(LineBufferTest, ManyShortLinesAreNotOneLongLine) {
  LineBuffer buffer(4);
  ASSERT_TRUE(buffer.append("123\n123\n123\n"));
  ASSERT_TRUE(buffer.append("1234"));
  EXPECT_EQ(drain(buffer).size(), 3U);
}

}  // namespace
}  // namespace vmnuma::balancer
