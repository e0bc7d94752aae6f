// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/node_formats.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/model/text.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;

TEST(NodeMeminfoTest, ReadsTotalAndFree) {
  const auto node = parse_node_meminfo(NodeId{3},
                                       "Node 3 MemTotal:        4679884 kB\n"
                                       "Node 3 MemFree:         4212996 kB\n"
                                       "Node 3 Active(anon):      40592 kB\n"
                                       "Node 3 HugePages_Total:     0\n");
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(node->id, NodeId{3});
  EXPECT_EQ(node->total, kKiB * 4'679'884);
  EXPECT_EQ(node->free, kKiB * 4'212'996);
}

TEST(NodeMeminfoTest, AcceptsAMemorylessNode) {
  const auto node = parse_node_meminfo(NodeId{1}, "Node 1 MemTotal: 0 kB\nNode 1 MemFree: 0 kB\n");
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(node->total, Bytes{});
}

TEST(NodeMeminfoTest, AcceptsTheEmptyLineOfOldKernels) {
  const auto node =
      parse_node_meminfo(NodeId{0}, "\nNode 0 MemTotal: 8 kB\nNode 0 MemFree: 4 kB\n");
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(node->free, kKiB * 4);
}

TEST(NodeMeminfoTest, NeedsNoFreeMemoryForTheTotal) {
  EXPECT_EQ(parse_node_memory(NodeId{0}, "Node 0 MemTotal: 8 kB\n"), kKiB * 8);
  for (const char* text : {"", "\n", "Node 0 MemFree: 8 kB\n", "Node 1 MemTotal: 8 kB\n"}) {
    EXPECT_FALSE(parse_node_memory(NodeId{0}, text).has_value()) << text;
  }
}

TEST(CpuMapTest, ReadsWordsFromTheHighestToTheLowest) {
  const auto cpus = [](std::string_view text) { return to_list(parse_cpu_map(text).value()); };
  EXPECT_EQ(cpus("0\n"), "");
  EXPECT_EQ(cpus("01\n"), "0");
  EXPECT_EQ(cpus("F0f0\n"), "4-7,12-15");
  EXPECT_EQ(cpus("1,00000000,80000001\n"), "0,31,64");
  EXPECT_EQ(cpus("ffffffff,00000000,00000000,00000000\n"), "96-127");
}

TEST(CpuMapTest, RejectsAnythingElse) {
  for (const char* text : {"", "\n", "1", "1,\n", "1,2\n", "1,000000000\n", "123456789\n",
                           ",00000001\n", "x\n", "0x1\n", "-1\n", "1\n1\n", "1 \n"}) {
    EXPECT_FALSE(parse_cpu_map(text).has_value()) << text;
  }
  EXPECT_FALSE(parse_cpu_map(std::string(1 << 20, '1') + "\n").has_value());
}

TEST(NodeMeminfoTest, RejectsAnythingElse) {
  for (const char* text :
       {"", "Node 1 MemTotal: 8 kB\n", "Node 1 MemTotal: 8 kB\nNode 1 MemFree: 4 k",
        "Node 1 MemTotal: 8 kB\nNode 1 MemFree: 4 MB\n",
        "Node 1 MemTotal: 8 kB\nNode 1 MemFree: 9 kB\n",
        "Node 2 MemTotal: 8 kB\nNode 2 MemFree: 4 kB\n", "MemTotal: 8 kB\nMemFree: 4 kB\n",
        "Node 1 MemTotal: -8 kB\nNode 1 MemFree: 4 kB\n",
        "Node 1 MemTotal: 8 kB x\nNode 1 MemFree: 4 kB\n",
        "Node 1 MemTotal: 9223372036854775807 kB\nNode 1 MemFree: 4 kB\n"}) {
    const auto node = parse_node_meminfo(NodeId{1}, text);
    ASSERT_FALSE(node.has_value()) << text;
    EXPECT_EQ(node.error().code, ErrorCode::kCorrupt);
  }
}

TEST(NodeDistancesTest, ReadsOneRow) {
  EXPECT_THAT(parse_node_distances("10 21 31\n").value(), ElementsAre(10, 21, 31));
}

TEST(NodeDistancesTest, RejectsAnythingElse) {
  for (const char* text : {"", "\n", "10 21", "10 x\n", "10 -1\n", "10 0\n", "10\n21\n"}) {
    EXPECT_FALSE(parse_node_distances(text).has_value()) << text;
  }
}

TEST(HugePagePoolNameTest, HoldsThePageSize) {
  EXPECT_EQ(page_size_of_pool_name("hugepages-2048kB"), kKiB * 2048);
  EXPECT_EQ(page_size_of_pool_name("hugepages-1048576kB"), kGiB);
  EXPECT_EQ(page_size_of_pool_name("hugepages-kB"), std::nullopt);
  EXPECT_EQ(page_size_of_pool_name("hugepages-2048"), std::nullopt);
  EXPECT_EQ(page_size_of_pool_name("uevent"), std::nullopt);
}

TEST(SingleNumberTest, NamesTheFormatInItsError) {
  EXPECT_EQ(parse_single_number("a pool", "512\n").value(), 512);
  const auto bad = parse_single_number("a pool", "512 pages\n");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().message, "this is not a pool: '512 pages?'");
}

}  // namespace
}  // namespace vmnuma::stats
