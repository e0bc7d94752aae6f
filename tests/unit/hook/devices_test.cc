// SPDX-License-Identifier: Apache-2.0
// The whole way: from libvirt's XML and the host's files over the hook and the daemon's decision to
// the nodes that libvirt is told to start a VM on.
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_daemon.h"
#include "tests/support/fake_host.h"
#include "tests/unit/balancer/host_story.h"
#include "tests/unit/stats/devices/fake_ovs.h"
#include "tools/hook/run.h"

namespace vmnuma::tools {
namespace {

using testing::ElementsAre;

constexpr const char* kMediated =
    "<hostdev mode='subsystem' type='mdev' model='vfio-pci'><source><address "
    "uuid='53764d0e-85a0-42b4-af5c-2046b460b1dc'/></source></hostdev>";
constexpr const char* kDisk =
    "<disk type='block' device='disk'><source dev='/dev/vg/root'/><target dev='vda'/></disk>";
constexpr const char* kSwitch =
    "<interface type='bridge'><source bridge='br-int'/><virtualport type='openvswitch'/><model "
    "type='virtio'/></interface>";

class DevicesWholeWayTest : public testing::Test {
 protected:
  DevicesWholeWayTest() {
    (void)host_.report_domains();
    (void)host_.epoch();
    files_.set_nodes(tests::regular_nodes(4, 2, 1, kGiB));
    files_.write("sys/devices/pci0000:3a/0000:3b:00.0/numa_node", "3\n");
    files_.write("sys/devices/pci0000:3a/0000:3b:00.0/some-mdev/remove", "");
    files_.link("sys/bus/mdev/devices/53764d0e-85a0-42b4-af5c-2046b460b1dc",
                "../../../devices/pci0000:3a/0000:3b:00.0/some-mdev");
    files_.write("sys/class/block/nvme0n1/device/numa_node", "2\n");
    files_.write("sys/class/block/nvme0n1/dev", "259:0\n");
    files_.write("sys/class/block/dm-0/slaves/nvme0n1/size", "1\n");
    files_.write("sys/class/block/dm-0/dev", "253:0\n");
    files_.write("run/udev/data/b253:0", "S:mapper/vg-root\nS:vg/root\n");
    files_.write("sys/class/net/eth1/device/numa_node", "1\n");
  }

  /// Where libvirt is told to start a VM with these devices.
  std::vector<NodeId> start(const std::string& devices, const std::string& policy = "") {
    const tests::FakeDaemon daemon(
        tests::FakeDaemon::answering([this](const balancer::Command& command) {
          return host_.controller().on(balancer::CommandReceived{1, command}).replies.at(0).answer;
        }));
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> xml(std::tmpfile(), std::fclose);
    std::fputs(("<domain type='kvm'><name>web1</name>"
                "<uuid>c7a5fdbd-edaf-9455-926a-d65c16db1809</uuid><metadata><v:policy "
                "xmlns:v='https://vmnuma.org/policy/1.0' " +
                policy +
                "/></metadata><memory unit='MiB'>64</memory><vcpu placement='auto'>1</vcpu>"
                "<os><type>hvm</type></os><devices>" +
                devices + "</devices></domain>")
                   .c_str(),
               xml.get());
    std::rewind(xml.get());
    const std::vector<std::string> arguments{
        "--socket", daemon.socket_path(), "--", "web1", "prepare", "begin", "-"};
    std::ostringstream out;
    EXPECT_EQ(run_hook(arguments, {::fileno(xml.get()), out, files_.path(),
                                   [](const std::string& text) { ADD_FAILURE() << text; },
                                   std::chrono::minutes(5), /*now_unix_s=*/1'763'900'000}),
              kHookDone);
    const auto suggested = host_.controller()
                               .on(balancer::CommandReceived{2, balancer::SuggestRequest{1, 64}})
                               .replies.at(0)
                               .answer;
    return suggested ? std::get<balancer::SuggestView>(*suggested).nodes : std::vector<NodeId>{};
  }

  tests::FakeHost files_;
  tests::HostStory host_{4, balancer::Mode::kActive};
};

TEST_F(DevicesWholeWayTest, AVmStartsAtTheParentOfItsMediatedDevice) {
  EXPECT_THAT(start(kMediated), ElementsAre(NodeId{3}));
}

TEST_F(DevicesWholeWayTest, AVmStartsAtTheControllerOfItsDiskWhereNothingElseDecides) {
  EXPECT_THAT(start(kDisk), ElementsAre(NodeId{2}));
}

TEST_F(DevicesWholeWayTest, AVmStartsAtTheAdapterOfItsOpenVSwitchBridge) {
  const tests::FakeOvs database(files_.path() + "/run/openvswitch/db.sock", tests::kOvsAnswer);
  EXPECT_THAT(start(kSwitch), ElementsAre(NodeId{1}));
}

TEST_F(DevicesWholeWayTest, WithoutItsDatabaseTheAdaptersOfOpenVSwitchsDatapathDecide) {
  files_.write("sys/class/net/ovs-system/lower_eth1/ifindex", "1\n");
  EXPECT_THAT(start(kSwitch), ElementsAre(NodeId{1}));
}

TEST_F(DevicesWholeWayTest, APassedThroughDeviceComesBeforeDisksAndAdapters) {
  EXPECT_THAT(start(std::string(kDisk) + kMediated), ElementsAre(NodeId{3}));
}

TEST_F(DevicesWholeWayTest, AnAdapterOrDiskIsInsistedOnOnlyIfAskedFor) {
  EXPECT_THAT(start(kDisk, "device_locality='none'"), ElementsAre(NodeId{0}));
  EXPECT_THAT(start(kDisk, "device_locality='strict'"), ElementsAre(NodeId{2}));
}

}  // namespace
}  // namespace vmnuma::tools
