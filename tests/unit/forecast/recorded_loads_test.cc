// SPDX-License-Identifier: Apache-2.0
#include "tests/support/recorded_loads.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace vmnuma::tests {
namespace {

TEST(RecordedLoadsTest, TheLabsRecordingHasAlmostThreeDaysOfEveryVm) {
  const std::vector<GeneratedVm> vms =
      recorded_loads(std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/fixtures/loads/lab.txt");
  ASSERT_EQ(vms.size(), 7U);
  EXPECT_EQ(vms[5].family, LoadFamily::kBatch);
  EXPECT_EQ(vms[5].facts.name, "batch1");
  EXPECT_EQ(vms[5].facts.memory_mib, 48);
  EXPECT_EQ(vms[5].facts.guest_os, "http://microsoft.com/win/2k22");
  for (const GeneratedVm& vm : vms) {
    EXPECT_GT(vm.load.size(), std::size_t{4200}) << vm.facts.name;
  }
}

TEST(RecordedLoadsTest, AFileThatIsMissingIsNotTakenForAnEmptyOne) {
  EXPECT_THROW((void)recorded_loads("/nowhere"), std::runtime_error);
}

}  // namespace
}  // namespace vmnuma::tests
