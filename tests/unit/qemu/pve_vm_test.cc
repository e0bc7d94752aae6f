// SPDX-License-Identifier: Apache-2.0
/// VMs of Proxmox VE before their start, held against the command lines that they are started with
/// (tests/fixtures/qemu_command_line).
#include "balancer/qemu/pve_vm.h"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/model/text.h"
#include "tests/support/fake_host.h"

namespace vmnuma::balancer::qemu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

VmDescription about_to_start(const std::string& config, const PveHost& host = {kMiB * 2, true}) {
  return describe_pve(parse_pve_config(config), 100, host);
}

/// The VM of a fixture, an option and its value a line.
DescribedVm running(const std::string& fixture) {
  std::ifstream file(std::string(VMNUMA_SOURCE_DIR) + "/tests/fixtures/qemu_command_line/" +
                     fixture + ".args");
  std::string cmdline;
  for (std::string line; std::getline(file, line);) {
    if (const std::size_t space = line.find(' '); space != std::string::npos) {
      line[space] = '\0';
    }
    cmdline += line + '\0';
  }
  const HostFacts host{{{"/run/hugepages/kvm/2048kB", kMiB * 2}}, kMiB * 2};
  return describe(parse_command_line(cmdline), host);
}

void expect_same(const std::string& config, const std::string& fixture) {
  const VmDescription before = about_to_start(config);
  const DescribedVm after = running(fixture);
  EXPECT_EQ(before.id, id_of(after)) << fixture;
  EXPECT_EQ(before.name, after.description.name);
  EXPECT_EQ(before.vcpus, after.description.vcpus);
  EXPECT_EQ(before.max_vcpus, after.description.max_vcpus);
  EXPECT_EQ(before.memory, after.description.memory);
  EXPECT_EQ(before.max_memory, after.description.max_memory);
  EXPECT_EQ(before.cells, after.description.cells);
  EXPECT_EQ(before.huge_page_size, after.description.huge_page_size);
  EXPECT_EQ(before.numatune, after.description.numatune);
  EXPECT_EQ(before.numatune_nodes, after.description.numatune_nodes);
  EXPECT_EQ(before.pci_devices, after.description.pci_devices);
}

TEST(PveVmTest, IsTheOneThatRunsThen) {
  const std::string smbios = "smbios1: uuid=0a5f7d0c-7d8e-4c5d-9c0f-000000000";
  expect_same("name: db1\nsockets: 2\ncores: 4\nmemory: 16384\nnuma: 1\n" + smbios + "101\n",
              "pve-numa");
  expect_same(
      "name: db2\nsockets: 2\ncores: 4\nmemory: 16384\nnuma: 1\n"
      "numa0: cpus=0-3,hostnodes=0,memory=8192,policy=bind\n"
      "numa1: cpus=4-7,hostnodes=2-3,memory=8192,policy=bind\n" +
          smbios + "102\n",
      "pve-bound");
  expect_same("name: web2\ncores: 4\nmemory: 4096\nnuma: 1\nhugepages: 2\n" + smbios + "104\n",
              "pve-hugepages-2m");
}

TEST(PveVmTest, HasTheDefaultsOfProxmoxVe) {
  const VmDescription vm = about_to_start("");
  EXPECT_EQ(vm.name, "vm100");
  EXPECT_EQ(vm.vcpus, (std::vector<std::int32_t>{0}));
  EXPECT_EQ(vm.max_memory, kMiB * 512);
  EXPECT_THAT(vm.cells, IsEmpty());
  EXPECT_EQ(vm.huge_page_size, Bytes{});
}

TEST(PveVmTest, VcpusThatAreToBePluggedCountAsMaximum) {
  const VmDescription vm = about_to_start("sockets: 2\ncores: 4\nvcpus: 3\n");
  EXPECT_THAT(vm.vcpus, SizeIs(3));
  EXPECT_EQ(vm.max_vcpus, 8);
}

TEST(PveVmTest, MemoryMayBeWrittenInTwoWays) {
  EXPECT_EQ(about_to_start("memory: 2048\n").max_memory, kGiB * 2);
  EXPECT_EQ(about_to_start("memory: current=2048\n").max_memory, kGiB * 2);
}

TEST(PveVmTest, AnyHugePagesAreTheLargestThatFit) {
  const std::string any = "numa: 1\nhugepages: any\nmemory: ";
  EXPECT_EQ(about_to_start(any + "4096\n").huge_page_size, kGiB);
  EXPECT_EQ(about_to_start(any + "4098\n").huge_page_size, kMiB * 2);
  EXPECT_EQ(about_to_start(any + "4096\n", {kMiB * 2, false}).huge_page_size, kMiB * 2);
  EXPECT_EQ(about_to_start("numa: 1\nhugepages: 1024\nmemory: 4096\n").huge_page_size, kGiB);
}

TEST(PveVmTest, ListsOfACellHaveSemicolons) {
  const VmDescription vm = about_to_start(
      "cores: 8\nmemory: 1024\nnuma: 1\nnuma0: cpus=0-1;4;6,memory=512\n"
      "numa1: cpus=2-3;5;7,memory=512\n");
  ASSERT_THAT(vm.cells, SizeIs(2));
  EXPECT_EQ(vm.cells[0].vcpus, (std::vector<std::int32_t>{0, 1, 4, 6}));
  EXPECT_EQ(vm.cells[1].vcpus, (std::vector<std::int32_t>{2, 3, 5, 7}));
  EXPECT_EQ(vm.cells[1].memory, kMiB * 512);
}

TEST(PveVmTest, TellsOfDevicesThatAreNamedByTheirAddress) {
  const VmDescription vm = about_to_start(
      "hostpci0: 0000:41:00,pcie=1\nhostpci1: 42:00.1;42:00.2\nhostpci2: mapping=gpu\n"
      "hostpci3: 0000:43:00.0,mdev=nvidia-63\nhostpci4: host=44:00.0\n");
  EXPECT_THAT(vm.pci_devices,
              ElementsAre(PciDevice{"0000:41:00.0", {}}, PciDevice{"0000:42:00.1", {}},
                          PciDevice{"0000:42:00.2", {}}, PciDevice{"0000:44:00.0", {}}));
}

TEST(PveVmTest, TellsOfBridgesThatTheKernelHandles) {
  EXPECT_THAT(about_to_start("net0: virtio=BC:24:11:00:00:01,bridge=vmbr0,firewall=1\n"
                             "net1: e1000=BC:24:11:00:00:02,bridge=vmbr1\n"
                             "net2: virtio=BC:24:11:00:00:03,bridge=vmbr0\n"
                             "net3: virtio=BC:24:11:00:00:04,bridge=no good\n")
                  .host_interfaces,
              ElementsAre(HostInterface{"vmbr0", {}}));
}

TEST(PveVmTest, HasItsPolicyAndHandsOffOneWithAnAffinity) {
  EXPECT_THAT(about_to_start("#vmnuma%3A topology_policy=restricted\n").own_policy,
              ElementsAre(PolicySetting{"topology_policy", "restricted"}));
  EXPECT_THAT(
      about_to_start("affinity: 0-3\n").own_policy,
      ElementsAre(PolicySetting{"do_not_move", "true"}, PolicySetting{"memory_mode", "hands-off"}));
}

TEST(PveVmTest, AnyConfigurationGivesAVm) {
  for (const char* config :
       {"cores: 0\nsockets: -1\nmemory: none\nvcpus: 99999999999999999999\n",
        "cores: 16777216\nsockets: 16777216\n", "numa: 1\nnuma0: \nnuma1: ;;,,=\nsockets: 99\n",
        "numa: 1\nnuma0: cpus=9-1;,memory=64,hostnodes=;,policy=\n", "name: a,b=c\n",
        "smbios1: uuid=,uuid\nhostpci0: ;;;\nhostpci1: ,,\nnet0: \nhugepages: lots\n"}) {
    const VmDescription vm = about_to_start(config);
    EXPECT_FALSE(vm.vcpus.empty()) << config;
    EXPECT_GT(vm.max_memory, Bytes{}) << config;
  }
  for (const char* name : {"a,b=c", "a=b,c", "guest=a"}) {
    EXPECT_EQ(about_to_start(std::string("name: ") + name).name, name);
  }
  EXPECT_EQ(about_to_start(std::string("name: \0x\n", 9)).name, "vm100");
}

class PveVmHereTest : public testing::Test {
 protected:
  tests::FakeHost host_;
  files::Directory root_ = files::Directory::open(host_.path()).value();
};

TEST_F(PveVmHereTest, IsReadFromTheNodesConfiguration) {
  host_.write("etc/pve/qemu-server/100.conf", "name: mail\ncores: 2\n");
  EXPECT_EQ(read_pve_vm(root_, 100).value().name, "mail");
  EXPECT_EQ(read_pve_vm(root_, 101).error().code, ErrorCode::kNotFound);
}

TEST_F(PveVmHereTest, OneThatMigratesToThisNodeIsReadFromTheOneItComesFrom) {
  host_.write("etc/pve/nodes/a/qemu-server/100.conf", "name: other\n");
  host_.write("etc/pve/nodes/b/qemu-server/101.conf", "name: mail\n#vmnuma: nodes=1\n");
  const VmDescription vm = read_pve_vm(root_, 101).value();
  EXPECT_EQ(vm.name, "mail");
  EXPECT_THAT(vm.own_policy, ElementsAre(PolicySetting{"nodes", "1"}));
}

}  // namespace
}  // namespace vmnuma::balancer::qemu
