// SPDX-License-Identifier: Apache-2.0
#include "stats/devices/interrupts.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kDevice = "sys/bus/pci/devices/0000:3b:00.0";

class InterruptsTest : public testing::Test {
 protected:
  InterruptsTest() {
    host_.set_nodes(tests::regular_nodes(2, 4, 1, kGiB));  // CPUs 0-3 and 4-7
    host_.write(kDevice + "/numa_node", "1\n");
  }
  void message(std::int32_t number, const std::string& handler, const std::string& cpus,
               const std::string& counts = "0,7,0\n") {
    const std::string text = std::to_string(number);
    host_.write(kDevice + "/msi_irqs/" + text, "msix\n");
    interrupt(text, handler, cpus, counts);
  }
  void interrupt(const std::string& number, const std::string& handler, const std::string& cpus,
                 const std::string& counts) {
    host_.write("sys/kernel/irq/" + number + "/actions", handler + "\n");
    host_.write("sys/kernel/irq/" + number + "/per_cpu_count", counts);
    host_.write("proc/irq/" + number + "/effective_affinity_list", cpus + "\n");
  }
  [[nodiscard]] std::vector<FiringInterrupts> read() const {
    const auto root = files::Directory::open(host_.path()).value();
    const HostDevices devices(root);
    return read_interrupts(root, devices.of(PciDevice{"0000:3b:00.0", {}}), read_cpu_nodes(root));
  }

  tests::FakeHost host_;
};

TEST_F(InterruptsTest, EachNodeHasThoseThatFireOnItsCpus) {
  message(57, "vfio-msix[0](0000:3b:00.0)", "2");
  message(58, "vfio-msix[1](0000:3b:00.0)", "3");
  message(60, "vfio-msix[2](0000:3b:00.0)", "3");
  message(105, "vfio-msix[3](0000:3b:00.0)", "4-5");
  const std::vector<FiringInterrupts> firing = read();
  EXPECT_THAT(
      firing,
      ElementsAre(
          FiringInterrupts{
              NodeId{0}, {57, 58, 60}, {CpuId{2}, CpuId{3}}, "vfio-msix[0](0000:3b:00.0)"},
          FiringInterrupts{NodeId{1}, {105}, {CpuId{4}, CpuId{5}}, "vfio-msix[3](0000:3b:00.0)"}));
  EXPECT_EQ(to_text(firing[0]),
            "interrupts 57-58,60 (vfio-msix[0](0000:3b:00.0), ...) fire on node 0 (CPUs 2-3)");
  EXPECT_EQ(to_text(firing[1]),
            "interrupt 105 (vfio-msix[3](0000:3b:00.0)) fires on node 1 (CPUs 4-5)");
  EXPECT_THAT(fire_elsewhere(firing, std::vector{NodeId{1}}), ElementsAre(firing[0]));
  EXPECT_THAT(fire_elsewhere(firing, std::vector{NodeId{0}, NodeId{1}}), IsEmpty());
}

TEST_F(InterruptsTest, InterruptsThatAreUnhandledNeverFiredOrAreGoneAreLeftOut) {
  message(57, "", "2");
  message(58, "eth0-rx", "2", "0,0,0\n");
  host_.write(kDevice + "/msi_irqs/59", "msix\n");  // its other files have gone
  message(60, "eth0-rx", "");
  message(61, "eth0-rx", "no list");
  EXPECT_THAT(read(), IsEmpty());
}

TEST_F(InterruptsTest, CpusOfSeveralNodesAreNoNodeAndNotElsewhere) {
  message(57, "eth0", "3-4");
  const std::vector<FiringInterrupts> firing = read();
  ASSERT_EQ(firing.size(), 1U);
  EXPECT_EQ(firing[0].node, NodeId{});
  EXPECT_THAT(fire_elsewhere(firing, std::vector{NodeId{1}}), IsEmpty());
}

TEST_F(InterruptsTest, TheInterruptLineCountsOnlyWithoutMessages) {
  host_.write(kDevice + "/irq", "16\n");
  interrupt("16", "ehci_hcd:usb1,vfio-intx(0000:3b:00.0)", "1", "5\n");
  ASSERT_EQ(read().size(), 1U);
  EXPECT_THAT(read()[0].numbers, ElementsAre(16));
  message(57, "vfio-msi[0](0000:3b:00.0)", "6");
  ASSERT_EQ(read().size(), 1U);
  EXPECT_THAT(read()[0].numbers, ElementsAre(57));
  EXPECT_THAT(pci_addresses_of_vfio(files::Directory::open(host_.path()).value()),
              ElementsAre("0000:3b:00.0"));
}

TEST_F(InterruptsTest, ADeviceWithoutANodeHasInterruptsToo) {
  host_.remove(kDevice + "/numa_node");
  message(57, "vfio-msix[0](0000:3b:00.0)", "2");
  ASSERT_EQ(read().size(), 1U);
  EXPECT_EQ(read()[0].node, NodeId{0});
}

TEST_F(InterruptsTest, AHostThatSaysNothingHasNone) {
  const tests::FakeHost empty;
  const auto root = files::Directory::open(empty.path()).value();
  EXPECT_THAT(read_cpu_nodes(root), IsEmpty());
  EXPECT_THAT(pci_addresses_of_vfio(root), IsEmpty());
  EXPECT_THAT(read_interrupts(root, std::vector{Carrier{"sys/none", {}}}, {}), IsEmpty());
}

}  // namespace
}  // namespace vmnuma::stats
