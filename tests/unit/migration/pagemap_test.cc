// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/pagemap.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace vmnuma::migration {
namespace {

TEST(PagemapTest, Bit63SaysThatAPageIsInMemory) {
  // In memory; in swap (bit 62); never there.
  const std::string entries("\x01\0\0\0\0\0\0\x81\x01\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\0", 24);
  EXPECT_THAT(parse_pagemap(entries), testing::ElementsAre(true, false, false));
}

TEST(PagemapTest, PassesOverHalfAnEntry) {
  EXPECT_TRUE(parse_pagemap("1234567").empty());
  EXPECT_TRUE(parse_pagemap("").empty());
}

TEST(PagemapTest, FindsThePagesOfThisProcessThatWereTouched) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::size_t kPages = 20000;  // more than one read
  void* memory = ::mmap(nullptr, page * kPages, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(::madvise(memory, page * kPages, MADV_NOHUGEPAGE), 0);
  const auto address = [&](std::size_t index) {
    return reinterpret_cast<std::uint64_t>(memory) + index * page;
  };
  std::vector<std::uint64_t> asked;
  for (const std::size_t index : {0UL, 1UL, 7UL, 9000UL, 9001UL, 19999UL}) {
    asked.push_back(address(index));
  }
  for (const std::size_t index : {1UL, 9000UL, 19999UL}) {
    static_cast<volatile char*>(memory)[index * page] = 1;
  }
  const auto folder = Folder::open("/proc/self");
  ASSERT_TRUE(folder) << folder.error().message;
  const auto found = pages_in_memory(*folder, asked);
  EXPECT_EQ(::munmap(memory, page * kPages), 0);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(*found, testing::ElementsAre(address(1), address(9000), address(19999)));
}

TEST(PagemapTest, AnAddressThatNoProcessHasIsNotInMemory) {
  const auto folder = Folder::open("/proc/self");
  ASSERT_TRUE(folder) << folder.error().message;
  const auto found = pages_in_memory(*folder, std::vector<std::uint64_t>{0xffff'ffff'ffff'f000U});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->empty());
}

}  // namespace
}  // namespace vmnuma::migration
