// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/numa_maps.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(NumaMapTest, MultipliesHugePagesWithTheirSize) {
  const auto mapping = parse_numa_map(
      "7f0000000000 bind:0-1 file=/dev/hugepages/libvirt/qemu/1-web/ram huge anon=3 dirty=3 N0=1 "
      "N2=2 "
      "kernelpagesize_kB=2048");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->start, 0x7f0000000000u);
  EXPECT_EQ(mapping->policy, "bind:0-1");
  EXPECT_EQ(mapping->file, "/dev/hugepages/libvirt/qemu/1-web/ram");
  EXPECT_TRUE(mapping->huge);
  EXPECT_EQ(mapping->page_size, kMiB * 2);
  EXPECT_THAT(mapping->memory,
              ElementsAre(NodeBytes{NodeId{0}, kMiB * 2}, NodeBytes{NodeId{2}, kMiB * 4}));
}

TEST(NumaMapTest, AcceptsAMappingWithoutPages) {
  const auto mapping = parse_numa_map("7f0000000000 default");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->policy, "default");
  EXPECT_THAT(mapping->memory, IsEmpty());
}

TEST(NumaMapTest, ReadsThePolicyThatIsTwoWords) {
  const auto mapping =
      parse_numa_map("7f0000000000 prefer (many):1-2 anon=1 N1=1 kernelpagesize_kB=4");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->policy, "prefer (many):1-2");
  EXPECT_THAT(mapping->memory, ElementsAre(NodeBytes{NodeId{1}, kKiB * 4}));
}

TEST(NumaMapTest, RejectsALineThatIsCutOff) {
  for (const char* line :
       {"", "7f0000000000", "xyz default", "7f00 default anon=1 N0=1",
        "7f00 default N0= kernelpagesize_kB=4", "7f00 default N0=1 kernelpagesize_kB=",
        "7f00 default N0=1 kernelpagesize_kB=0", "7f00 default anon=x N0=1 kernelpagesize_kB=4",
        "7f00 default anon=1", "7f00 default anon=9223372036854775807 N0=1 kernelpagesize_kB=4",
        "7f00 default N99999999999=1 kernelpagesize_kB=4", "7f00 default N0=-1 kernelpagesize_kB=4",
        "7f00 default N0=9223372036854775807 kernelpagesize_kB=4"}) {
    const auto mapping = parse_numa_map(line);
    ASSERT_FALSE(mapping.has_value()) << line;
    EXPECT_EQ(mapping.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(mapping.error().message, HasSubstr("'" + std::string(line) + "'"));
  }
}

TEST(NumaMapTest, TellsAnonymousPagesAndPassesOverWordsItDoesNotKnow) {
  const auto mapping =
      parse_numa_map("7f00 default anon=3 Newfangled=1 novel N0=2 N10=1 kernelpagesize_kB=4 more");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->anonymous, kKiB * 12);
  EXPECT_THAT(mapping->memory,
              ElementsAre(NodeBytes{NodeId{0}, kKiB * 8}, NodeBytes{NodeId{10}, kKiB * 4}));
}

TEST(NumaMapTest, AFileIsAllItsLines) {
  const auto mappings = parse_numa_maps("7f00 default\n7fff bind:0 N0=1 kernelpagesize_kB=4\n");
  ASSERT_TRUE(mappings.has_value());
  ASSERT_EQ(mappings->size(), 2U);
  EXPECT_EQ(mappings->at(1).policy, "bind:0");
  EXPECT_FALSE(parse_numa_maps("7f00 default\n7fff"));
  EXPECT_FALSE(parse_numa_maps(""));
}

TEST(GuestMemoryTest, AddsUpWhatCanBeRam) {
  // 2 MiB hugetlb + 4 pages private + 8 pages memfd + 1 page shared anonymous + 2 pages /dev/shm on
  // node 0; 16 pages of heap on node 1.
  const auto memory = sum_guest_memory(
      "55d000000000 default file=/usr/bin/qemu-system-x86_64 mapped=3 N0=300 kernelpagesize_kB=4\n"
      "55d000100000 default heap anon=16 dirty=16 N1=16 kernelpagesize_kB=4\n"
      "7f0000000000 default file=/dev/hugepages/ram huge dirty=1 N0=1 kernelpagesize_kB=2048\n"
      "7f1000000000 default anon=4 dirty=4 N0=4 kernelpagesize_kB=4\n"
      "7f2000000000 default file=/memfd:pc.ram\\040(deleted) dirty=8 N0=8 kernelpagesize_kB=4\n"
      "7f3000000000 default file=/dev/zero\\040(deleted) dirty=1 N0=1 kernelpagesize_kB=4\n"
      "7f4000000000 default file=/dev/shm/ram dirty=2 N0=2 kernelpagesize_kB=4\n"
      "7f5000000000 default file=/usr/lib/x86_64-linux-gnu/libc.so.6 mapped=3 N1=300 "
      "kernelpagesize_kB=4\n");
  ASSERT_TRUE(memory.has_value());
  EXPECT_THAT(*memory, ElementsAre(NodeBytes{NodeId{0}, kMiB * 2 + kKiB * 60},
                                   NodeBytes{NodeId{1}, kKiB * 64}));
}

TEST(GuestMemoryTest, RejectsHalfAFile) {
  const auto memory = sum_guest_memory(
      "7f1000000000 default anon=4 dirty=4 N0=4 kernelpagesize_kB=4\n7f2000000000 def");
  ASSERT_FALSE(memory.has_value());
  EXPECT_EQ(memory.error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(sum_guest_memory("").has_value());
}

}  // namespace
}  // namespace vmnuma::stats
