// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/text.h"

#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "tests/support/time_zone.h"

namespace vmnuma::tools {
namespace {

TEST(TextTest, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\nc\x7f\t"), "a\\x1b[2Jb\\nc\\x7f\\t");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "2Jb"),
            "a\\u009b2Jb");  // U+009B, the one-character form of ESC [
  EXPECT_EQ(printable("größe \xc2\xa0 \xe2\x82\xac"), "größe \xc2\xa0 \xe2\x82\xac");
}

TEST(TextTest, WidthCountsCharacters) {
  EXPECT_EQ(width_of(""), 0U);
  EXPECT_EQ(width_of("größe"), 5U);
}

TEST(TextTest, ShortensOnlyWhatIsTooLong) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(shortened("äöüßäöü", 6), "äöü...");
  EXPECT_EQ(shortened("abcdefg", 3), "abcdefg");
}

TEST(TextTest, WrapsBetweenWords) {
  EXPECT_EQ(wrapped("", 2), "");
  EXPECT_EQ(wrapped("one two", 2), "  one two\n");
  const std::string forty(40, 'x');
  EXPECT_EQ(wrapped(forty + " " + forty, 0), forty + "\n" + forty + "\n");
  EXPECT_EQ(wrapped(forty + " " + forty.substr(1), 0), forty + " " + forty.substr(1) + "\n");
  EXPECT_EQ(wrapped(std::string(100, 'y') + " z", 4), "    " + std::string(100, 'y') + "\n    z\n");
}

TEST(TextTest, BytesHaveABinaryUnitAndOneDigit) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.0 KiB");
  EXPECT_EQ(bytes_text(1536 * 1024), "1.5 MiB");
  EXPECT_EQ(bytes_text(1024LL * 1024 * 1024 - 1), "1023.9 MiB");
  EXPECT_EQ(bytes_text(std::numeric_limits<std::int64_t>::max()), "7.9 EiB");
  EXPECT_EQ(bytes_text(-5), "-5 B");
}

TEST(TextTest, OneIsNotSeveral) {
  EXPECT_EQ(counted_text(1, "VM"), "1 VM");
  EXPECT_EQ(counted_text(0, "VM"), "0 VMs");
  EXPECT_EQ(counted_text(2, "VM"), "2 VMs");
  EXPECT_EQ(counted_text(std::nullopt, "VM"), "- VMs");
}

TEST(TextTest, NodesAndNumbersAreLists) {
  EXPECT_EQ(node_text({3}), "3");
  EXPECT_EQ(node_text({-1}), "-");
  EXPECT_EQ(nodes_text({{0}, {1}, {3}}), "0-1,3");
  EXPECT_EQ(nodes_text({}), "-");
  EXPECT_EQ(numbers_text({0, 1, 2, 5}), "0-2,5");
  EXPECT_EQ(numbers_text({}), "-");
}

TEST(TextTest, TimesAreLocal) {
  const tests::TimeZone zone("XYZ+1");  // one hour behind UTC
  EXPECT_EQ(local_time_text(1738324800), "2025-01-31 11:00:00");
}

TEST(TextTest, TimeThatNoCalendarHasIsANumber) {
  EXPECT_EQ(local_time_text(std::numeric_limits<std::int64_t>::max()), "9223372036854775807");
}

}  // namespace
}  // namespace vmnuma::tools
