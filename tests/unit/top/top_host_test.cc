// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/top/top_host.h"

#include <gtest/gtest.h>

#include "tests/support/views.h"

namespace vmnuma::tools {
namespace {

TEST(TopHostTest, ClientsStandInOneListWithTheirLocalMemory) {
  const TopHost host = top_host(tests::status_view(), tests::host_view());
  EXPECT_EQ(host.status, tests::status_view());
  ASSERT_EQ(host.clients.size(), 2U);
  EXPECT_EQ(host.clients[0].vm, "web1");
  EXPECT_EQ(host.clients[0].vcpus, 12);
  EXPECT_EQ(host.clients[0].memory_bytes, 16 * kGiB.value);
  EXPECT_EQ(host.clients[0].local_bytes, 15 * kGiB.value);
  EXPECT_TRUE(host.clients[0].moving);
}

TEST(TopHostTest, UnknownMemoryStaysUnknown) {
  const TopHost host = top_host(tests::status_view(), tests::host_view());
  EXPECT_EQ(host.clients[1].memory_bytes, std::nullopt);
  EXPECT_EQ(host.clients[1].local_bytes, std::nullopt);
}

TEST(TopHostTest, MemoryOfAClientWithoutHomeIsNotLocal) {
  balancer::HostView view = tests::host_view();
  view.vms[0].clients[0].home = {-1};
  EXPECT_EQ(top_host({}, view).clients[0].local_bytes, std::nullopt);
  view.vms[0].clients[0].home = {1};
  EXPECT_EQ(top_host({}, view).clients[0].local_bytes, kGiB.value);
}

TEST(TopHostTest, NodesAreWhatTheDaemonSays) {
  const TopHost host = top_host(tests::status_view(), tests::host_view());
  ASSERT_EQ(host.nodes.size(), 2U);
  EXPECT_EQ(used_bytes(host.nodes[0]), 44 * kGiB.value);
  EXPECT_EQ(host.nodes, tests::host_view().nodes);
}

}  // namespace
}  // namespace vmnuma::tools
