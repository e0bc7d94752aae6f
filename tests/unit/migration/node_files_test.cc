// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/node_files.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_directory.h"

namespace vmnuma::migration {
namespace {

using testing::HasSubstr;

constexpr NodeId kNode{1};
constexpr std::string_view kMeminfo =
    "Node 1 MemTotal:        7956684 kB\n"
    "Node 1 MemFree:         4366532 kB\n"
    "Node 1 Active(file):     168168 kB\n"
    "Node 1 Inactive(file):   212668 kB\n"
    "Node 1 Dirty:              1460 kB\n"
    "Node 1 Writeback:             8 kB\n"
    "Node 1 WritebackTmp:          7 kB\n";

TEST(NodeMeminfoTest, AvailableIsFreeAndCleanInactiveCache) {
  const auto memory = parse_node_meminfo(kNode, kMeminfo);
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_EQ(memory->total, kKiB * 7956684);
  EXPECT_EQ(memory->available, kKiB * (4366532 + 212668 - 1460 - 8));
}

TEST(NodeMeminfoTest, DirtyCacheNeverCountsBelowNothing) {
  std::string text(kMeminfo);
  text.replace(text.find("   1460"), 7, "9991460");
  EXPECT_EQ(parse_node_meminfo(kNode, text)->available, kKiB * 4366532);
}

TEST(NodeMeminfoTest, RefusesMissingAndStrangeLines) {
  for (const std::string_view name :
       {"MemTotal", "MemFree", "Inactive(file)", "Dirty", "Writeback"}) {
    std::string text(kMeminfo);
    text.insert(text.find(name), "x");
    EXPECT_THAT(parse_node_meminfo(kNode, text).error().message, HasSubstr("lacks lines")) << name;
  }
  std::string text(kMeminfo);
  text.replace(text.find("4366532"), 7, "43665xx");
  EXPECT_THAT(parse_node_meminfo(kNode, text).error().message,
              HasSubstr("MemFree:         43665xx"));
}

class NodeFilesTest : public testing::Test {
 protected:
  void write(const std::string& relative, std::string_view text) {
    const std::filesystem::path path = std::filesystem::path(root_.path()) / relative;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  Result<NodeMemory> read(NodeId node) {
    const auto root = files::Directory::open(root_.path());
    EXPECT_TRUE(root);
    return read_node_memory(*root, node);
  }

  tests::TempDirectory root_;
};

TEST_F(NodeFilesTest, ReadsMemoryAndPools) {
  write("sys/devices/system/node/node1/meminfo", kMeminfo);
  write("sys/devices/system/node/node1/hugepages/hugepages-1048576kB/free_hugepages", "2\n");
  write("sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages", "77\n");
  const auto memory = read(NodeId{1});
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_EQ(memory->total, kKiB * 7956684);
  EXPECT_EQ(memory->pools, (std::vector<PoolFree>{{kMiB * 2, 77}, {kGiB, 2}}));
}

TEST_F(NodeFilesTest, AKernelWithoutHugetlbHasNoPools) {
  write("sys/devices/system/node/node1/meminfo", kMeminfo);
  EXPECT_TRUE(read(NodeId{1})->pools.empty());
}

TEST_F(NodeFilesTest, AMissingNodeIsNotFound) {
  EXPECT_EQ(read(NodeId{7}).error().code, ErrorCode::kNotFound);
}

TEST_F(NodeFilesTest, AStrangePoolIsCorrupt) {
  write("sys/devices/system/node/node1/meminfo", kMeminfo);
  write("sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages", "many\n");
  EXPECT_EQ(read(NodeId{1}).error().code, ErrorCode::kCorrupt);
}

TEST_F(NodeFilesTest, ErrorsNameThePath) {
  EXPECT_THAT(read(NodeId{7}).error().message, HasSubstr("sys/devices/system/node/node7"));
}

}  // namespace
}  // namespace vmnuma::migration
