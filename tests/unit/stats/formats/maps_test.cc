// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/formats/numa_maps.h"
#include "stats/formats/proc_formats.h"
#include "tests/support/property.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(MapsTest, ReadsMappings) {
  const auto mappings = parse_maps(
      "7f8333fff000-7f8337fff000 rw-s 00000000 00:01 31                         /memfd:my ram "
      "(deleted)\n"
      "7f8338000000-7f8338021000 rw-p 00000000 00:00 0 \n"
      "564574119000-5645741be000 rw-p 00000000 00:00 0                          [heap]\n"
      "7f837f7ff000-7f837f800000 ---p 00000000 00:00 0\n");
  ASSERT_TRUE(mappings) << mappings.error().message;
  EXPECT_THAT(*mappings, ElementsAre(Mapping{0x7f8333fff000, 0x7f8337fff000, true, true,
                                             "/memfd:my ram (deleted)"},
                                     Mapping{0x7f8338000000, 0x7f8338021000, true, false, ""},
                                     Mapping{0x564574119000, 0x5645741be000, true, false, "[heap]"},
                                     Mapping{0x7f837f7ff000, 0x7f837f800000, false, false, ""}));
}

TEST(MapsTest, AnEmptyFileHasNoMappings) {
  EXPECT_TRUE(parse_maps("")->empty());
}

TEST(MapsTest, RefusesStrangeLinesAndQuotesThem) {
  for (const char* line :
       {"\n", "7f00-7f00 rw-p 0 00:00 0\n", "7f00 rw-p 0 00:00 0\n", "7fxx-7fff rw-p 0 00:00 0\n",
        "7f00-7fff rw 0 00:00 0\n", "7f00-7fff rw-p 0 00:00\n", "-7fff rw-p 0 00:00 0\n"}) {
    const auto mappings = parse_maps(line);
    ASSERT_FALSE(mappings) << line;
    EXPECT_EQ(mappings.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_THAT(parse_maps("hello\n").error().message, HasSubstr("'hello'"));
}

TEST(ProcessStatusTest, TellsWhetherPagesAreInSwap) {
  EXPECT_FALSE(has_swapped_pages("Name:\tqemu\nVmSwap:\t       0 kB\nThreads:\t4\n"));
  EXPECT_TRUE(has_swapped_pages("Name:\tqemu\nVmSwap:\t     128 kB\nThreads:\t4\n"));
  EXPECT_FALSE(has_swapped_pages("Name:\tqemu\n"));
  EXPECT_FALSE(has_swapped_pages(""));
}

RC_GTEST_PROP(MapsTest, NoTextCrashesTheReaders, (const std::string& text)) {
  (void)parse_maps(text);
  (void)parse_numa_maps(text);
  (void)parse_process_stat(text);
  (void)parse_last_cpu(text);
}

}  // namespace
}  // namespace vmnuma::stats
