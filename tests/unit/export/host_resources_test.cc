// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/export/host_resources.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_host.h"
#include "tests/support/views.h"

namespace vmnuma::tools {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Pair;

class HostResourcesTest : public ::testing::Test {
 protected:
  HostResources read() {
    return read_host_resources(files::Directory::open(host_.path()).value(), tests::host_view());
  }
  void set_free(std::int32_t node, const std::string& size, const std::string& pages) {
    host_.write("sys/devices/system/node/node" + std::to_string(node) + "/hugepages/hugepages-" +
                    size + "/free_hugepages",
                pages);
  }
  void bind(const std::string& address, const std::string& vendor, const std::string& device,
            const std::string& node) {
    const std::string path = "sys/bus/pci/drivers/vfio-pci/" + address;
    host_.write(path + "/vendor", vendor);
    host_.write(path + "/device", device);
    host_.write(path + "/numa_node", node);
  }

  tests::FakeHost host_;
};

TEST_F(HostResourcesTest, FreePagesAreThoseOfThePoolsThatTheDaemonKnows) {
  set_free(0, "2048kB", "1024\n");
  set_free(0, "1048576kB", "5\n");
  set_free(0, "64kB", "7\n");
  set_free(1, "2048kB", "many\n");
  EXPECT_THAT(read().free_huge_pages, ElementsAre(Pair(Pair(NodeId{0}, 2 << 20), 2 * kGiB.value),
                                                  Pair(Pair(NodeId{0}, 1 << 30), 5 * kGiB.value)));
}

TEST_F(HostResourcesTest, DevicesAreThoseBoundToVfioOnACertainNode) {
  EXPECT_THAT(read().devices, IsEmpty());
  bind("0000:af:00.0", "0x8086\n", "0x1889\n", "1\n");
  bind("0000:3b:00.0", "0x10de\n", "0x1eb8\n", "0\n");
  bind("0000:00:1f.0", "0x8086\n", "0xa1c8\n", "-1\n");
  bind("0000:5e:00.0", "gone\n", "0x1572\n", "0\n");
  host_.write("sys/bus/pci/drivers/vfio-pci/module/version", "1\n");
  EXPECT_THAT(read().devices, ElementsAre(AllOf(Field(&VfioDevice::address, "0000:3b:00.0"),
                                                Field(&VfioDevice::kind, "10de-1eb8"),
                                                Field(&VfioDevice::node, NodeId{0})),
                                          AllOf(Field(&VfioDevice::address, "0000:af:00.0"),
                                                Field(&VfioDevice::kind, "8086-1889"),
                                                Field(&VfioDevice::node, NodeId{1}))));
}

}  // namespace
}  // namespace vmnuma::tools
