// SPDX-License-Identifier: Apache-2.0
/// What single settings mean; whole command lines are in tests/golden/qemu_command_line.
#include "balancer/qemu/described_vm.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/qemu/description_parts.h"

namespace vmnuma::balancer::qemu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Of options, a blank between each and its value.
DescribedVm described(const std::string& options) {
  std::string cmdline = "kvm " + options + ' ';
  for (char& character : cmdline) {
    character = character == ' ' ? '\0' : character;
  }
  return describe(parse_command_line(cmdline), {{}, kMiB * 2});
}

TEST(DescribedVmTest, SizesAreReadAsQemuReadsThem) {
  EXPECT_EQ(parse_size("512", kMiB), kMiB * 512);
  EXPECT_EQ(parse_size("1.5g", kMiB), kMiB * 1536);
  EXPECT_EQ(parse_size("4096B", kMiB), Bytes{4096});
  for (const char* text : {"", "G", "-1", "1x", "9999999E", "1.", "1.G", "0x10"}) {
    EXPECT_EQ(parse_size(text, kMiB), std::nullopt) << text;
  }
}

TEST(DescribedVmTest, WhatIsLeftOutOfATopologyIsCompletedAsQemuDoes) {
  const auto topology = [](const std::string& smp) {
    const auto vm = described("-smp " + smp).description;
    return std::vector<std::int32_t>{vm.sockets, vm.cores, vm.threads, vm.max_vcpus,
                                     static_cast<std::int32_t>(vm.vcpus.size())};
  };
  EXPECT_THAT(topology("8,sockets=2"), ElementsAre(2, 4, 1, 8, 8));
  EXPECT_THAT(topology("8,cores=2,threads=2"), ElementsAre(2, 2, 2, 8, 8));
  EXPECT_THAT(topology("sockets=2,cores=3"), ElementsAre(2, 3, 1, 6, 6));
  EXPECT_THAT(topology("2,maxcpus=8,sockets=4"), ElementsAre(4, 2, 1, 8, 2));
  EXPECT_THAT(topology("8"), ElementsAre(0, 0, 0, 8, 8));
}

TEST(DescribedVmTest, ATopologyThatDoesNotAddUpIsSaidAndLeftOut) {
  const DescribedVm vm = described("-smp 8,sockets=2,cores=3,threads=1");
  EXPECT_EQ(vm.description.sockets, 0);
  EXPECT_THAT(vm.description.vcpus, SizeIs(8));
  EXPECT_THAT(vm.notes, ElementsAre("-smp: its topology has 6 CPUs, but there are 8"));
}

TEST(DescribedVmTest, TheUuidIsTheOptionsOrElseThatOfSmbios) {
  const std::string a = "11111111-1111-1111-1111-111111111111";
  const std::string b = "22222222-2222-2222-2222-222222222222";
  EXPECT_EQ(described("-smbios type=1,uuid=" + b + " -uuid " + a).uuid,
            described("-uuid " + a).uuid);
  EXPECT_EQ(described("-smbios type=1,uuid=" + b).uuid, described("-uuid " + b).uuid);
  EXPECT_EQ(described("-m 1G").uuid, std::nullopt);
}

TEST(DescribedVmTest, BackendsThatHoldNoMemoryOfTheGuestMeanNothing) {
  const auto vm = described(
                      "-m 1G -object memory-backend-file,id=image,size=1G,mem-path=/x,share=on,"
                      "host-nodes=1,policy=bind -device nvdimm,memdev=image")
                      .description;
  EXPECT_FALSE(vm.memory_shared);
  EXPECT_EQ(vm.numatune, NumatuneMode::kNone);
  EXPECT_EQ(vm.memory, kGiB);
}

TEST(DescribedVmTest, WhatIsNotUnderstoodIsSaidOnce) {
  const DescribedVm vm = described("-numa node,memdev=a -numa node,memdev=a");
  EXPECT_THAT(vm.notes, ElementsAre("there is no memory backend 'a'"));
}

TEST(DescribedVmTest, AnEmptyCommandLineIsAVmByDefaults) {
  const DescribedVm vm = describe({}, {});
  EXPECT_EQ(vm.description.memory, kMiB * 128);
  EXPECT_THAT(vm.description.vcpus, ElementsAre(0));
  EXPECT_THAT(vm.notes, IsEmpty());
}

}  // namespace
}  // namespace vmnuma::balancer::qemu
