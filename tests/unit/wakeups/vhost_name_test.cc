// SPDX-License-Identifier: Apache-2.0
#include "tools/wakeups/vhost_name.h"

#include <array>
#include <string_view>

#include <gtest/gtest.h>

namespace {

int pid_of(std::string_view name) {
  std::array<char, VMNUMA_THREAD_NAME_BYTES> comm{};
  EXPECT_LT(name.size(), comm.size());
  name.copy(comm.data(), comm.size() - 1);
  return vmnuma_pid_of_vhost(comm.data());
}

TEST(VhostNameTest, HasThePidOfItsQemu) {
  EXPECT_EQ(pid_of("vhost-1"), 1);
  EXPECT_EQ(pid_of("vhost-4711"), 4711);
  EXPECT_EQ(pid_of("vhost-4194304"), 4194304);  // the highest there is, PID_MAX_LIMIT
}

TEST(VhostNameTest, OtherNamesHaveNone) {
  for (const char* name : {"", "vhost", "vhost-", "vhost-x", "vhost-47x", "vhost-47 1", "vhost--47",
                           "xvhost-47", "kworker/1:2", "qemu-system-x86", "vhost-12345678"}) {
    EXPECT_EQ(pid_of(name), 0) << name;
  }
}

}  // namespace
