// SPDX-License-Identifier: Apache-2.0
/// What parse_domain_xml refuses, and the defaults it fills in. What it understands of real XML is
/// in tests/golden/domain_xml.
#include "balancer/host/domain_xml.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A running domain 'web1' with 4 vCPUs and whatever else `body` says.
std::string domain(const std::string& body) {
  return "<domain type='kvm' id='7'><name>web1</name>"
         "<uuid>3f2504e0-4f89-41d3-9a0c-0305e82c3301</uuid>"
         "<memory unit='GiB'>4</memory><vcpu>4</vcpu>" +
         body + "</domain>";
}

VmDescription parse(const std::string& body) {
  auto vm = parse_domain_xml(domain(body), /*default_huge_page_size=*/kMiB * 2);
  EXPECT_TRUE(vm.has_value()) << vm.error().message;
  return vm.value_or(VmDescription{});
}

/// The message of the refusal, which must be an invalid argument.
std::string refusal_of(const std::string& xml) {
  const auto vm = parse_domain_xml(xml, /*default_huge_page_size=*/kMiB * 2);
  if (vm) {
    return "not refused";
  }
  EXPECT_EQ(vm.error().code, ErrorCode::kInvalidArgument);
  return vm.error().message;
}

TEST(DomainXmlTest, RefusesWhatIsNotXml) {
  for (const char* xml :
       {"", " ", "domain", "<domain", "<domain>", "<domain></name>", "<a><b></a>"}) {
    EXPECT_THAT(refusal_of(xml), HasSubstr("not XML")) << xml;
  }
}

TEST(DomainXmlTest, RefusesAnotherDocument) {
  EXPECT_THAT(refusal_of("<network><name>default</name></network>"), HasSubstr("<network>"));
}

TEST(DomainXmlTest, RefusesTextBeyondLibvirtsLimit) {
  EXPECT_THAT(refusal_of(domain(std::string(4 * 1024 * 1024, ' '))), HasSubstr("longer"));
}

TEST(DomainXmlTest, RefusesElementsNestedTooDeep) {
  std::string deep;
  for (int i = 0; i < 300; ++i) {
    deep += "<a>";
  }
  for (int i = 0; i < 300; ++i) {
    deep += "</a>";
  }
  EXPECT_THAT(refusal_of(domain(deep)), HasSubstr("nested deeper"));
}

TEST(DomainXmlTest, RefusesADomainWithoutNameOrUuid) {
  EXPECT_THAT(refusal_of("<domain><uuid>3f2504e0-4f89-41d3-9a0c-0305e82c3301</uuid>"
                         "<memory>1</memory></domain>"),
              HasSubstr("<name>"));
  EXPECT_THAT(refusal_of("<domain><name>web1</name><memory>1</memory></domain>"),
              HasSubstr("it has no <uuid>"));
  EXPECT_THAT(refusal_of("<domain><name>web1</name><uuid>web1</uuid></domain>"),
              HasSubstr("domain XML of 'web1': <uuid>"));
}

TEST(DomainXmlTest, NamesTheDomainAndTheElementThatIsMalformed) {
  const std::pair<const char*, const char*> bodies[] = {
      {"<currentMemory unit='furlong'>1</currentMemory>", "<currentMemory>"},
      {"<currentMemory>-1</currentMemory>", "<currentMemory>"},
      {"<vcpus><vcpu id='4' enabled='yes'/></vcpus>", "<vcpus>"},
      {"<vcpus><vcpu id='1' enabled='yes'/><vcpu id='1' enabled='yes'/></vcpus>", "twice"},
      {"<cpu><topology sockets='0' cores='2' threads='1'/></cpu>", "<topology> sockets"},
      {"<cpu><topology sockets='2' cores='two' threads='1'/></cpu>", "<topology> cores"},
      {"<cpu><numa><cell id='' cpus='0' memory='1'/></numa></cpu>", "<cell> id"},
      {"<cpu><numa><cell id='1' cpus='0' memory='1'/><cell cpus='1' memory='1'/></numa></cpu>",
       "cell 1 is declared twice"},
      {"<cpu><numa><cell id='0' cpus='0-4' memory='1'/></numa></cpu>", "vCPU 4 does not exist"},
      {"<cpu><numa><cell id='0' cpus='0' memory='1'/><cell id='0' memory='1'/></numa></cpu>",
       "declared twice"},
      {"<cpu><numa><cell id='0' cpus='0' memory='1'/><cell id='1' cpus='0' "
       "memory='1'/></numa></cpu>",
       "in another cell"},
      {"<cpu><numa><cell id='0' cpus='0'/></numa></cpu>", "guest NUMA cell 0"},
      {"<iothreads>many</iothreads>", "<iothreads>"},
      {"<iothreads>100000</iothreads>", "<iothreads>"},
      {"<iothreadids><iothread id='0'/></iothreadids>", "<iothread> id"},
      {"<iothreadids><iothread id='2'/><iothread id='2'/></iothreadids>", "twice"},
      {"<numatune><memory mode='tight' nodeset='0'/></numatune>", "'tight' is unknown"},
      {"<numatune><memory mode='strict' nodeset='x'/></numatune>", "<numatune> nodeset"},
      {"<numatune><memnode cellid='0' mode='strict' nodeset='x'/></numatune>", "<memnode> nodeset"},
      {"<memoryBacking><hugepages><page unit='G'/></hugepages></memoryBacking>", "<page> size"},
      {"<cputune><vcpupin vcpu='4' cpuset='0'/></cputune>", "<vcpupin>: vcpu 4"},
      {"<cputune><vcpupin vcpu='1' cpuset='0'/><vcpupin vcpu='1' cpuset='1'/></cputune>", "twice"},
      {"<cputune><vcpupin vcpu='1' cpuset='0-'/></cputune>", "<vcpupin>"},
      {"<cputune><emulatorpin cpuset='99999'/></cputune>", "<emulatorpin>"},
      {"<cputune><iothreadpin iothread='1' cpuset='0'/></cputune>", "<iothreadpin>"},
      {"<devices><hostdev mode='subsystem' type='pci'><source/></hostdev></devices>",
       "no source address"},
      {"<devices><hostdev mode='subsystem' type='pci'><source><address bus='0x100' slot='0' "
       "function='0'/></source></hostdev></devices>",
       "'bus'"},
  };
  for (const auto& [body, complaint] : bodies) {
    EXPECT_THAT(refusal_of(domain(body)),
                testing::AllOf(HasSubstr("domain XML of 'web1'"), HasSubstr(complaint)))
        << body;
  }
}

TEST(DomainXmlTest, RefusesAVcpuCountOutOfRange) {
  for (const char* vcpu :
       {"<vcpu>0</vcpu>", "<vcpu>4097</vcpu>", "<vcpu current='5'>4</vcpu>", "<vcpu/>"}) {
    EXPECT_THAT(refusal_of("<domain><name>web1</name>"
                           "<uuid>3f2504e0-4f89-41d3-9a0c-0305e82c3301</uuid><memory>1</memory>" +
                           std::string(vcpu) + "</domain>"),
                HasSubstr("<vcpu>"))
        << vcpu;
  }
}

TEST(DomainXmlTest, IgnoresWhatItDoesNotKnow) {
  EXPECT_EQ(parse("<future><vcpu>9</vcpu></future><metadata><numatune/></metadata>"), parse(""));
}

TEST(DomainXmlTest, CurrentVcpusAreTheFirstOnesWithoutAList) {
  const auto vm = parse_domain_xml(
      "<domain id='1'><name>a</name><uuid>3f2504e0-4f89-41d3-9a0c-0305e82c3301</uuid>"
      "<memory>1024</memory><vcpu current='2'>4</vcpu></domain>",
      /*default_huge_page_size=*/{});
  ASSERT_TRUE(vm.has_value());
  EXPECT_THAT(vm->vcpus, ElementsAre(0, 1));
  EXPECT_EQ(vm->max_vcpus, 4);
}

TEST(DomainXmlTest, CellsAreOrderedById) {
  const VmDescription vm = parse(
      "<cpu><numa><cell id='1' cpus='2-3' memory='1'/><cell id='0' cpus='0-1' memory='1'/></numa>"
      "</cpu>");
  ASSERT_EQ(vm.cells.size(), 2U);
  EXPECT_EQ(vm.cells[0].id, 0);
  EXPECT_THAT(vm.cells[0].vcpus, ElementsAre(0, 1));
}

TEST(DomainXmlTest, CellsWithoutIdsAreNumberedInTheirOrder) {
  const VmDescription vm = parse(
      "<cpu><numa><cell cpus='0-1' memory='1'/><cell cpus='2-3,^3' memory='1'/></numa></cpu>");
  ASSERT_EQ(vm.cells.size(), 2U);
  EXPECT_EQ(vm.cells[1].id, 1);
  EXPECT_THAT(vm.cells[1].vcpus, ElementsAre(2));
}

TEST(DomainXmlTest, VcpusWithoutACellAreInTheFirst) {
  const VmDescription vm = parse(
      "<cpu><numa><cell id='1' cpus='0' memory='1'/><cell id='0' cpus='2' "
      "memory='1'/></numa></cpu>");
  ASSERT_EQ(vm.cells.size(), 2U);
  EXPECT_THAT(vm.cells[0].vcpus, ElementsAre(1, 2, 3));
  EXPECT_THAT(vm.cells[1].vcpus, ElementsAre(0));
}

TEST(DomainXmlTest, NodesGivenWithAutomaticPlacementDoNotCount) {
  const VmDescription vm =
      parse("<numatune><memory mode='preferred' placement='auto' nodeset='0-1'/></numatune>");
  EXPECT_TRUE(vm.numatune_auto);
  EXPECT_THAT(vm.numatune_nodes, IsEmpty());
}

TEST(DomainXmlTest, MemoryThatIsLeftOutIsThatOfCellsAndModules) {
  const auto vm = parse_domain_xml(
      "<domain><name>a</name><uuid>3f2504e0-4f89-41d3-9a0c-0305e82c3301</uuid><vcpu>2</vcpu>"
      "<cpu><numa><cell cpus='0' memory='1' unit='GiB'/><cell cpus='1' memory='2' unit='GiB'/>"
      "</numa></cpu><devices><memory model='dimm'><target><size unit='MiB'>512</size></target>"
      "</memory></devices></domain>",
      /*default_huge_page_size=*/{});
  ASSERT_TRUE(vm.has_value()) << vm.error().message;
  EXPECT_EQ(vm->max_memory, kMiB * 3584);
  EXPECT_EQ(vm->memory, kMiB * 3584);
}

TEST(DomainXmlTest, MemoryThatNothingTellsIsRefused) {
  EXPECT_THAT(refusal_of("<domain><name>a</name>"
                         "<uuid>3f2504e0-4f89-41d3-9a0c-0305e82c3301</uuid></domain>"),
              HasSubstr("neither <memory> nor cells"));
}

TEST(DomainXmlTest, CellsWithMoreMemoryThanANumberHoldsAreRefused) {
  EXPECT_THAT(refusal_of("<domain><name>a</name>"
                         "<uuid>3f2504e0-4f89-41d3-9a0c-0305e82c3301</uuid><cpu><numa>"
                         "<cell memory='5' unit='EiB'/><cell memory='5' unit='EiB'/></numa></cpu>"
                         "</domain>"),
              HasSubstr("is too large"));
}

TEST(DomainXmlTest, EachCellHasItsOwnPageSize) {
  const auto sizes = [](const std::string& huge_pages) {
    const VmDescription vm = parse(
        "<cpu><numa><cell id='0' cpus='0' memory='1'/><cell id='1' cpus='1' memory='1'/>"
        "<cell id='2' cpus='2' memory='1'/></numa></cpu><memoryBacking>" +
        huge_pages + "</memoryBacking>");
    std::vector<std::optional<Bytes>> found{vm.huge_page_size};
    for (const GuestCell& cell : vm.cells) {
      found.push_back(cell.page_size);
    }
    return found;
  };
  EXPECT_THAT(sizes("<hugepages><page size='1' unit='G' nodeset='1'/><page size='2' unit='M'/>"
                    "</hugepages>"),
              ElementsAre(kGiB, kMiB * 2, kGiB, kMiB * 2));
  EXPECT_THAT(sizes("<hugepages><page size='2' unit='M' nodeset='0,2'/></hugepages>"),
              ElementsAre(kMiB * 2, kMiB * 2, Bytes{}, kMiB * 2));
  EXPECT_THAT(sizes("<hugepages/>"),
              ElementsAre(kMiB * 2, std::nullopt, std::nullopt, std::nullopt));
  EXPECT_THAT(sizes(""), ElementsAre(Bytes{}, std::nullopt, std::nullopt, std::nullopt));
}

TEST(DomainXmlTest, MissingIoThreadIdsAreTheLowestFreeOnes) {
  EXPECT_THAT(parse("<iothreads>4</iothreads><iothreadids><iothread id='2'/><iothread id='9'/>"
                    "</iothreadids>")
                  .io_threads,
              ElementsAre(1, 2, 3, 9));
}

TEST(DomainXmlTest, AModeLeftOutIsStrict) {
  const VmDescription vm = parse("<numatune><memory nodeset='1'/></numatune>");
  EXPECT_EQ(vm.numatune, NumatuneMode::kStrict);
  EXPECT_THAT(vm.numatune_nodes, ElementsAre(NodeId{1}));
}

TEST(DomainXmlTest, MemoryIsPlacedWithTheVcpusUnlessItIsSaidWhere) {
  const auto with_auto = [](const std::string& numatune) {
    const auto vm = parse_domain_xml(
        "<domain><name>a</name><uuid>3f2504e0-4f89-41d3-9a0c-0305e82c3301</uuid><memory>1</memory>"
        "<vcpu placement='auto'>1</vcpu>" +
            numatune + "</domain>",
        /*default_huge_page_size=*/{});
    EXPECT_TRUE(vm.has_value()) << vm.error().message;
    return std::pair(vm->numatune, vm->numatune_auto);
  };
  EXPECT_EQ(with_auto(""), std::pair(NumatuneMode::kStrict, true));
  EXPECT_EQ(with_auto("<numatune><memory mode='preferred'/></numatune>"),
            std::pair(NumatuneMode::kPreferred, true));
  EXPECT_EQ(with_auto("<numatune><memory mode='strict' nodeset='0'/></numatune>"),
            std::pair(NumatuneMode::kStrict, false));
  EXPECT_EQ(
      with_auto("<numatune><memory mode='strict' placement='static' nodeset='0'/></numatune>"),
      std::pair(NumatuneMode::kStrict, false));
}

TEST(DomainXmlTest, CellsBoundOneByOneMakeTheVmBound) {
  const VmDescription vm = parse(
      "<numatune><memnode cellid='0' mode='strict' nodeset='2'/>"
      "<memnode cellid='1' mode='strict' nodeset='0'/></numatune>");
  EXPECT_EQ(vm.numatune, NumatuneMode::kStrict);
  EXPECT_THAT(vm.numatune_nodes, ElementsAre(NodeId{0}, NodeId{2}));
}

TEST(DomainXmlTest, EachCellHasItsOwnBinding) {
  const auto bindings = [](const std::string& numatune) {
    const VmDescription vm = parse(
        "<cpu><numa><cell id='0' cpus='0' memory='1'/><cell id='1' cpus='1' memory='1'/></numa>"
        "</cpu><numatune>" +
        numatune + "</numatune>");
    std::vector<std::optional<CellBinding>> found;
    for (const GuestCell& cell : vm.cells) {
      found.push_back(cell.binding);
    }
    return found;
  };
  const CellBinding on_two{NumatuneMode::kStrict, {NodeId{2}}};
  const std::string second = "<memnode cellid='1' nodeset='2'/>";
  EXPECT_THAT(bindings("<memory mode='preferred' nodeset='0'/>" + second),
              ElementsAre(std::nullopt, on_two));
  EXPECT_THAT(bindings(second), ElementsAre(CellBinding{}, on_two));
  EXPECT_THAT(bindings("<memory mode='strict' nodeset='0'/>"),
              ElementsAre(std::nullopt, std::nullopt));
}

TEST(DomainXmlTest, HugePagesWithoutASizeHaveTheHostsDefaultSize) {
  const std::string xml = domain("<memoryBacking><hugepages/></memoryBacking>");
  EXPECT_EQ(parse_domain_xml(xml, kGiB)->huge_page_size, kGiB);
  EXPECT_EQ(parse_domain_xml(xml, kMiB * 2)->huge_page_size, kMiB * 2);
}

TEST(DomainXmlTest, TheLargestHugePageSizeCounts) {
  EXPECT_EQ(parse("<memoryBacking><hugepages><page size='1' unit='G' nodeset='0'/>"
                  "<page size='2048' unit='KiB' nodeset='1'/></hugepages></memoryBacking>")
                .huge_page_size,
            kGiB);
}

TEST(DomainXmlTest, OrdinaryPagesNamedAsHugePagesAreNone) {
  EXPECT_EQ(parse("<memoryBacking><hugepages><page size='4' unit='KiB' nodeset='0'/></hugepages>"
                  "</memoryBacking>")
                .huge_page_size,
            Bytes{});
}

TEST(DomainXmlTest, PrivateMemfdMemoryIsNotShared) {
  EXPECT_TRUE(parse("<memoryBacking><source type='memfd'/></memoryBacking>").memory_shared);
  EXPECT_FALSE(
      parse("<memoryBacking><source type='memfd'/><access mode='private'/></memoryBacking>")
          .memory_shared);
}

TEST(DomainXmlTest, TheVcpuCpusetPinsEveryThreadWithoutAPinOfItsOwn) {
  const auto vm = parse_domain_xml(
      "<domain id='1'><name>a</name><uuid>3f2504e0-4f89-41d3-9a0c-0305e82c3301</uuid>"
      "<memory>1024</memory><vcpu cpuset='4-5'>2</vcpu><iothreads>2</iothreads>"
      "<cputune><vcpupin vcpu='0' cpuset='1'/><iothreadpin iothread='2' cpuset='3'/></cputune>"
      "</domain>",
      /*default_huge_page_size=*/{});
  ASSERT_TRUE(vm.has_value());
  const std::vector<CpuId> common{CpuId{4}, CpuId{5}};
  EXPECT_THAT(vm->vcpu_pins, ElementsAre(Pin{0, {CpuId{1}}}, Pin{1, common}));
  EXPECT_THAT(vm->io_thread_pins, ElementsAre(Pin{1, common}, Pin{2, {CpuId{3}}}));
  EXPECT_EQ(vm->emulator_pin, common);
  EXPECT_EQ(vm->default_pin, common);
}

TEST(DomainXmlTest, AnAddressMayLeaveOutItsPciDomain) {
  EXPECT_EQ(parse("<devices><hostdev mode='subsystem' type='pci'><source><address bus='0x3b' "
                  "slot='0x1f' function='0x7'/></source></hostdev></devices>")
                .pci_devices,
            std::vector{PciDevice{"0000:3b:1f.7"}});
}

TEST(DomainXmlTest, OtherHostDevicesPinNothing) {
  const VmDescription vm = parse(
      "<devices><hostdev mode='subsystem' type='usb'><source><vendor id='1'/></source></hostdev>"
      "<interface type='bridge'><source bridge='br0'/></interface>"
      "<disk type='file'><source file='/a'/></disk></devices>");
  EXPECT_THAT(vm.pci_devices, IsEmpty());
  EXPECT_THAT(vm.memory_pinned_by, IsEmpty());
}

TEST(DomainXmlTest, AMediatedDeviceIsKnownByItsUuid) {
  const auto mediated = [](const std::string& uuid) {
    return "<devices><hostdev mode='subsystem' type='mdev' model='vfio-pci'><source>"
           "<address uuid='" +
           uuid + "'/></source></hostdev></devices>";
  };
  const std::string uuid = "53764d0e-85a0-42b4-af5c-2046b460b1dc";
  EXPECT_EQ(parse(mediated(uuid)).mediated_devices, std::vector{MediatedDevice{uuid}});
  for (const char* wrong : {"", "..", "../../../etc"}) {
    EXPECT_FALSE(parse_domain_xml("<domain type='kvm'><name>a</name><uuid>" + uuid +
                                      "</uuid><memory>1024</memory><vcpu>1</vcpu>" +
                                      mediated(wrong) + "</domain>",
                                  /*default_huge_page_size=*/{}))
        << wrong;
  }
}

TEST(DomainXmlTest, KnowsTheHostsBlockDevicesBehindDisks) {
  const auto disks = [](const std::string& type, const std::string& device,
                        const std::string& source) {
    std::vector<std::string> names;
    for (const auto& disk : parse("<devices><disk type='" + type + "' device='" + device +
                                  "'><source " + source + "/></disk></devices>")
                                .host_disks) {
      names.push_back(disk.name);
    }
    return names;
  };
  EXPECT_THAT(disks("block", "disk", "dev='/dev/nvme0n1'"), ElementsAre("nvme0n1"));
  EXPECT_THAT(disks("block", "lun", "dev='/dev/disk/by-id/wwn-0x5'"),
              ElementsAre("disk/by-id/wwn-0x5"));
  EXPECT_THAT(disks("block", "cdrom", "dev='/dev/sr0'"), IsEmpty());
  EXPECT_THAT(disks("file", "disk", "file='/dev/nvme0n1'"), IsEmpty());
  for (const char* name : {"", "/dev/", "/dev//sda", "/dev/..", "/dev/a/../b", "sda", "/etc/x"}) {
    EXPECT_THAT(disks("block", "disk", std::string("dev='") + name + "'"), IsEmpty()) << name;
  }
  EXPECT_THAT(disks("block", "disk", "dev='/dev/" + std::string(300, 'x') + "'"), IsEmpty());
}

TEST(DomainXmlTest, KnowsBridgesOfOpenVSwitch) {
  EXPECT_EQ(parse("<devices><interface type='bridge'><source bridge='br-int'/><virtualport "
                  "type='openvswitch'/><model type='virtio'/></interface></devices>")
                .host_interfaces,
            (std::vector{HostInterface{"br-int", {}, true}}));
}

TEST(DomainXmlTest, KnowsWhereVhostTakesTheGuestsTraffic) {
  const auto interfaces = [](const std::string& devices) {
    std::vector<std::string> names;
    for (const auto& interface : parse("<devices>" + devices + "</devices>").host_interfaces) {
      names.push_back(interface.name);
    }
    return names;
  };
  const std::string virtio = "<model type='virtio'/>";
  EXPECT_THAT(interfaces("<interface type='bridge'><source bridge='br0'/>" + virtio +
                         "</interface><interface type='direct'><source dev='eth1' mode='vepa'/>"
                         "<model type='virtio-non-transitional'/><driver name='vhost'/></interface>"
                         "<interface type='bridge'><source bridge='br0'/>" +
                         virtio + "</interface>"),
              ElementsAre("br0", "eth1"));
  // A network's bridge is in the live XML only.
  EXPECT_THAT(
      interfaces("<interface type='network'><source network='default' bridge='virbr0'/>" + virtio +
                 "</interface><interface type='network'><source network='other'/>" + virtio +
                 "</interface>"),
      ElementsAre("virbr0"));
  EXPECT_THAT(interfaces("<interface type='vdpa'><source dev='/dev/vhost-vdpa-0'/></interface>"),
              ElementsAre("vhost-vdpa-0"));
  // QEMU itself carries these.
  EXPECT_THAT(interfaces("<interface type='bridge'><source bridge='br0'/><model type='e1000'/>"
                         "</interface><interface type='bridge'><source bridge='br0'/>" +
                         virtio + "<driver name='qemu'/></interface><interface type='user'>" +
                         virtio + "</interface>"),
              IsEmpty());
  for (const char* name : {"../../x", "..", "", "a name", "sixteen-letters-"}) {
    EXPECT_THAT(interfaces(std::string("<interface type='bridge'><source bridge='") + name + "'/>" +
                           virtio + "</interface>"),
                IsEmpty())
        << name;
  }
}

TEST(DomainXmlTest, TakesTheGuestsSystemFromTheMetadata) {
  EXPECT_EQ(parse("<metadata><l:libosinfo "
                  "xmlns:l='http://libosinfo.org/xmlns/libvirt/domain/1.0'>"
                  "<l:os id='http://debian.org/debian/12'/></l:libosinfo></metadata>")
                .guest_os,
            "http://debian.org/debian/12");
}

TEST(DomainXmlTest, KeepsTheDefaultPolicy) {
  EXPECT_EQ(parse("<metadata><x:policy xmlns:x='x' memory='hands-off'/></metadata>").policy,
            VmPolicy{});
}

}  // namespace
}  // namespace vmnuma::balancer
