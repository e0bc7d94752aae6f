// SPDX-License-Identifier: Apache-2.0
#include "tools/wakeups/vm_pids.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_directory.h"

namespace vmnuma::tools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class VmPidsTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.path() + "/" + name) << text;
  }
  [[nodiscard]] std::set<std::uint32_t> pids() const {
    return read_vm_pids(directory_.path()).value();
  }

  tests::TempDirectory directory_;
};

TEST_F(VmPidsTest, AreTheNumbersInPidFiles) {
  write("web.pid", "4711\n");
  write("db.pid", "300");
  EXPECT_THAT(pids(), ElementsAre(300U, 4711U));
}

TEST_F(VmPidsTest, OtherFilesNameNone) {
  write("web.xml", "4711\n");
  write("driver.pid", "1\n");  // libvirt's own
  std::filesystem::create_directory(directory_.path() + "/swtpm.pid");
  EXPECT_THAT(pids(), IsEmpty());
}

TEST_F(VmPidsTest, WhatIsNoPidNamesNone) {
  write("half.pid", "");
  write("word.pid", "web\n");
  write("zero.pid", "0\n");
  write("large.pid", "4294967297\n");  // 1, if it was cut
  write("web.pid", "4711\n");
  EXPECT_THAT(pids(), ElementsAre(4711U));
}

TEST_F(VmPidsTest, NoDirectoryIsNoVm) {
  EXPECT_THAT(read_vm_pids(directory_.path() + "/none").value(), IsEmpty());
}

}  // namespace
}  // namespace vmnuma::tools
