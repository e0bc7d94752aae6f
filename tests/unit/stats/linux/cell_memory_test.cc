// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/cell_memory.h"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_directory.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Topology two_nodes() {
  Topology topology;
  topology.nodes.resize(2);
  topology.nodes[0].id = NodeId{0};
  topology.nodes[1].id = NodeId{4};
  topology.distances = {10, 20, 20, 10};
  return topology;
}

/// Two cells of 64 MiB, the first mapped above the second, and QEMU's own memory.
constexpr const char* kMaps =
    "7f0f2ba00000-7f0f2fa00000 rw-p 00000000 00:00 0 \n"
    "7f0f2fc00000-7f0f33c00000 rw-p 00000000 00:00 0 \n"
    "7f0f38000000-7f0f3c000000 ---p 00000000 00:00 0 \n"
    "7f0f40000000-7f0f40010000 rw-p 00000000 00:00 0                          [heap]\n";
constexpr const char* kNumaMaps =
    "7f0f2ba00000 default anon=16384 dirty=16384 N4=16384 kernelpagesize_kB=4\n"
    "7f0f2fc00000 default anon=300 dirty=300 N0=256 N4=44 kernelpagesize_kB=4\n"
    "7f0f38000000 default\n"
    "7f0f40000000 default heap anon=16 dirty=16 N0=16 kernelpagesize_kB=4\n";

std::vector<GuestCell> two_cells() {
  return {{0, {0, 1}, kMiB * 64}, {1, {2, 3}, kMiB * 64}};
}

TEST(CellMemoryTest, TellsWhereEachCellLies) {
  const auto cells = parse_cell_memory(kMaps, kNumaMaps, two_cells(), two_nodes());
  ASSERT_TRUE(cells) << cells.error().message;
  EXPECT_THAT(*cells, ElementsAre(ElementsAre(kMiB, kKiB * 176), ElementsAre(Bytes{}, kMiB * 64)));
}

TEST(CellMemoryTest, CellsThatCannotBeToldApartAreUnsupported) {
  std::vector<GuestCell> cells = two_cells();
  cells.push_back({2, {4}, kMiB * 64});
  const auto told = parse_cell_memory(kMaps, kNumaMaps, cells, two_nodes());
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, ErrorCode::kUnsupported);
}

TEST(CellMemoryTest, RefusesWhatIsNotOfTheFormat) {
  for (const char* maps :
       {"7f0f rw-p 0\n", "x-y rw-p 0\n", "20-10 rw-p 0\n", "10-20\n", "10-20 rw-p 0"}) {
    const auto told = parse_cell_memory(maps, kNumaMaps, two_cells(), two_nodes());
    ASSERT_FALSE(told) << maps;
    EXPECT_EQ(told.error().code, ErrorCode::kCorrupt) << maps;
  }
  EXPECT_FALSE(parse_cell_memory(kMaps, "7f0f2ba00000 default N0=x\n", two_cells(), two_nodes()));
}

class CellMemoryOfAProcess : public testing::Test {
 protected:
  CellMemoryOfAProcess() {
    vm_.cells = two_cells();
    write("maps", kMaps);
    write("numa_maps", kNumaMaps);
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() + "/" + name, std::ios::binary) << text;
  }
  Result<void> refresh(Bytes first, Bytes second) {
    const auto process = files::Directory::open(folder_.path());
    return memory_.refresh(*process, vm_, {first, second}, topology_);
  }

  tests::TempDirectory folder_;
  VmDescription vm_;
  Topology topology_ = two_nodes();
  CellMemory memory_;
};

TEST_F(CellMemoryOfAProcess, IsToldForAVmWithCells) {
  ASSERT_TRUE(refresh(kMiB, kMiB * 64));
  EXPECT_EQ(memory_.cells().size(), 2U);
  vm_.cells.clear();
  ASSERT_TRUE(refresh(kMiB, kMiB * 64));
  EXPECT_THAT(memory_.cells(), IsEmpty());
}

TEST_F(CellMemoryOfAProcess, IsReadTheLessOftenTheMoreThereIs) {
  ASSERT_TRUE(refresh(kGiB * 3, {}));
  write("numa_maps",
        "7f0f2fc00000 default anon=1 N0=1 kernelpagesize_kB=4\n"
        "7f0f40000000 default heap anon=16 dirty=16 N0=16 kernelpagesize_kB=4\n");
  for (int skipped = 0; skipped < 3; ++skipped) {
    ASSERT_TRUE(refresh(kGiB * 3, {}));
    EXPECT_EQ(memory_.cells()[0][0], kMiB);
  }
  ASSERT_TRUE(refresh(kGiB * 3, {}));
  EXPECT_EQ(memory_.cells()[0][0], kKiB * 4);
}

TEST_F(CellMemoryOfAProcess, IsForgottenOnceTheVmsMemoryLiesElsewhere) {
  ASSERT_TRUE(refresh(kGiB * 3, {}));
  ASSERT_TRUE(refresh(kGiB * 2, kGiB));
  EXPECT_THAT(memory_.cells(), IsEmpty());
}

TEST_F(CellMemoryOfAProcess, AnAmbiguousOneIsNoError) {
  vm_.cells[1].memory = kMiB * 32;
  ASSERT_TRUE(refresh(kMiB, kMiB * 64));
  EXPECT_THAT(memory_.cells(), IsEmpty());
}

TEST_F(CellMemoryOfAProcess, WhatCannotBeReadIsAnErrorAndNothingIsTold) {
  write("numa_maps", "nonsense\n");
  const auto done = refresh(kMiB, kMiB * 64);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("numa_maps"));
  EXPECT_THAT(memory_.cells(), IsEmpty());
}

TEST_F(CellMemoryOfAProcess, WhatCouldNotBeReadIsReadAgainTheNextTimeHoweverMuchThereIs) {
  write("numa_maps", "nonsense\n");
  EXPECT_FALSE(refresh(kGiB * 3, {}));
  EXPECT_FALSE(refresh(kGiB * 3, {}));
  write("numa_maps", kNumaMaps);
  ASSERT_TRUE(refresh(kGiB * 3, {}));
  EXPECT_EQ(memory_.cells().size(), 2U);
}

}  // namespace
}  // namespace vmnuma::stats
