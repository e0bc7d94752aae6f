// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/property.h"

namespace vmnuma::migration {
namespace {

using placement::Bytes;
using placement::kGiB;
using placement::kKiB;
using placement::kMiB;
using placement::NodeId;
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
  EXPECT_TRUE(parse_numa_maps("")->empty());
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

TEST(NumaMapsTest, ReadsPagesByNodeAsBytes) {
  const auto pages = parse_numa_maps(
      "7f684be00000 bind:0 anon=16384 dirty=16384 active=0 N0=16383 N10=1 kernelpagesize_kB=4\n"
      "7f8333fff000 default file=/memfd:my\\040ram\\040(deleted) dirty=2 N0=2 kernelpagesize_kB=4\n"
      "7f0000000000 prefer (many):2 file=/dev/hugepages/x huge dirty=3 N2=3 "
      "kernelpagesize_kB=1048576\n"
      "564574119000 interleave:0-1 heap anon=162 dirty=162 active=0 N0=162 kernelpagesize_kB=4\n"
      "7f837f7ff000 default\n");
  ASSERT_TRUE(pages) << pages.error().message;
  EXPECT_THAT(
      *pages,
      ElementsAre(
          MappingPages{0x7f684be00000,
                       "bind:0",
                       false,
                       kKiB * 4,
                       kKiB * 4 * 16384,
                       {{NodeId{0}, kKiB * 4 * 16383}, {NodeId{10}, kKiB * 4}}},
          MappingPages{0x7f8333fff000, "default", false, kKiB * 4, {}, {{NodeId{0}, kKiB * 8}}},
          MappingPages{0x7f0000000000, "prefer (many):2", true, kGiB, {}, {{NodeId{2}, kGiB * 3}}},
          MappingPages{0x564574119000,
                       "interleave:0-1",
                       false,
                       kKiB * 4,
                       kKiB * 4 * 162,
                       {{NodeId{0}, kKiB * 4 * 162}}},
          MappingPages{0x7f837f7ff000, "default", false, {}, {}, {}}));
}

TEST(NumaMapsTest, PassesOverWordsItDoesNotKnow) {
  const auto pages =
      parse_numa_maps("7f00 default Newfangled=1 novel N0=1 kernelpagesize_kB=4 more\n");
  ASSERT_TRUE(pages) << pages.error().message;
  EXPECT_EQ(pages->at(0).resident, (std::vector<NodeBytes>{{NodeId{0}, kKiB * 4}}));
}

TEST(NumaMapsTest, RefusesStrangeLines) {
  for (const char* line :
       {"\n", "7f00\n", "xyz default\n", "7f00 default N0=1\n",
        "7f00 default N0= kernelpagesize_kB=4\n", "7f00 default N0=-1 kernelpagesize_kB=4\n",
        "7f00 default N0=1 kernelpagesize_kB=0\n",
        "7f00 default N0=9223372036854775807 kernelpagesize_kB=4\n",
        "7f00 default anon=x N0=1 kernelpagesize_kB=4\n", "7f00 default anon=1\n",
        "7f00 default anon=9223372036854775807 N0=1 kernelpagesize_kB=4\n",
        "7f00 default N99999999999=1 kernelpagesize_kB=4\n"}) {
    const auto pages = parse_numa_maps(line);
    ASSERT_FALSE(pages) << line;
    EXPECT_EQ(pages.error().code, ErrorCode::kCorrupt);
  }
}

TEST(ProcessStatusTest, TellsWhetherPagesAreInSwap) {
  EXPECT_FALSE(has_swapped_pages("Name:\tqemu\nVmSwap:\t       0 kB\nThreads:\t4\n"));
  EXPECT_TRUE(has_swapped_pages("Name:\tqemu\nVmSwap:\t     128 kB\nThreads:\t4\n"));
  EXPECT_FALSE(has_swapped_pages("Name:\tqemu\n"));
  EXPECT_FALSE(has_swapped_pages(""));
}

TEST(ProcessStatTest, ReadsStateAndStartTimeWhateverTheCommand) {
  // proc(5): the 22nd field is the start time.
  const auto stat = parse_process_stat(
      "812 (a) Z (b) 7) S 1 812 812 0 -1 4194560 100 200 3 4 5 6 7 8 20 0 4 0 55110 1000 200\n");
  ASSERT_TRUE(stat) << stat.error().message;
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->start_time_ticks, 55110U);
}

TEST(ProcessStatTest, RefusesACutFile) {
  EXPECT_FALSE(parse_process_stat(""));
  EXPECT_FALSE(parse_process_stat("812 (qemu"));
  EXPECT_FALSE(parse_process_stat("812 (qemu) S 1 812 812 0"));
}

RC_GTEST_PROP(MapsTest, NoTextCrashesTheReaders, (const std::string& text)) {
  (void)parse_maps(text);
  (void)parse_numa_maps(text);
  (void)parse_process_stat(text);
}

}  // namespace
}  // namespace vmnuma::migration
