// SPDX-License-Identifier: Apache-2.0
#include "stats/files/line_reader.h"

#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/temp_directory.h"

namespace vmnuma::files {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LineReaderTest : public testing::Test {
 protected:
  std::vector<std::string> lines_of(const std::string& text, std::size_t longest = 100'000) {
    std::ofstream(path_) << text;
    auto reader = LineReader::open(path_, longest);
    EXPECT_TRUE(reader) << reader.error().message;
    std::vector<std::string> lines;
    while (reader) {
      std::optional<std::string> line = reader->next();
      if (!line) {
        break;
      }
      lines.push_back(std::move(*line));
    }
    return lines;
  }

  tests::TempDirectory directory_;
  std::string path_ = directory_.path() + "/f";
};

TEST_F(LineReaderTest, ReadsLinesOfAnyNumberAndTheLastWithoutAnEnd) {
  EXPECT_THAT(lines_of(""), IsEmpty());
  EXPECT_THAT(lines_of("\n"), ElementsAre(""));
  EXPECT_THAT(lines_of("a\n\nb\nc"), ElementsAre("a", "", "b", "c"));
}

TEST_F(LineReaderTest, ALineMayBeLongerThanWhatIsReadAtOnce) {
  for (const std::size_t size : {65'535U, 65'536U, 65'537U, 99'999U}) {
    const std::string line(size, 'x');
    EXPECT_THAT(lines_of(line + "\nafter\n"), ElementsAre(line, "after"));
  }
}

TEST_F(LineReaderTest, ALineThatIsTooLongComesInParts) {
  EXPECT_THAT(lines_of("abc\nabcd\nabcdefghi\n", 3),
              ElementsAre("abc", "abcd", "", "abcd", "efgh", "i"));
}

TEST_F(LineReaderTest, WaitsForNoPipe) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const auto reader = LineReader::open(path_, 1);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().message, "'" + path_ + "' is not a regular file");
}

}  // namespace
}  // namespace vmnuma::files
