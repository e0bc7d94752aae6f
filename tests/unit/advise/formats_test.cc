// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/formats.h"

#include <iterator>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/advice/advice.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;

/// For a VM of 8 GiB with a virtio disk, on four nodes of 8 cores, 21 apart.
AdviceRequest request_for(std::int32_t vcpus) {
  AdviceRequest request;
  VmDescription& vm = request.vm;
  vm.vcpus.resize(static_cast<std::size_t>(vcpus));
  std::iota(vm.vcpus.begin(), vm.vcpus.end(), 0);
  vm.max_vcpus = vcpus;
  vm.max_memory = vm.memory = kGiB * 8;
  request.virtio_disks = 1;
  return request;
}
Advice advice_for(const AdviceRequest& request, std::int32_t threads_per_core = 1) {
  AdviceHost host{.topology = tests::equal_nodes(4, 8, threads_per_core, 64)};
  for (std::int32_t& distance : host.topology.distances) {
    distance = distance == 10 ? 10 : 21;
  }
  return advise(request, host).value();
}
Advice advice_for(std::int32_t vcpus, Bytes page_size, bool is_locked) {
  AdviceRequest request = request_for(vcpus);
  request.vm.huge_page_size = page_size;
  request.vm.memory_locked = is_locked;
  return advice_for(request);
}
/// With the threads of whole cores.
Advice threaded_advice() {
  AdviceRequest request = request_for(12);
  request.vm.policy.cpu_binding = CpuBinding::kExclusive;
  request.vm.policy.cpu_policy = CpuPolicy::kFullPCPUs;
  return advice_for(request, 2);
}
/// On a node that was named.
Advice named_advice() {
  AdviceRequest request = request_for(4);
  request.vm.numatune = NumatuneMode::kRestrictive;
  request.vm.numatune_nodes = {NodeId{2}};
  return advice_for(request);
}

/// With a device of a pool.
Advice device_advice() {
  AdviceRequest request = request_for(4);
  request.vm.policy.device_pools = {"gpu"};
  request.pools = {{"gpu", {{"0000:3b:00.0", NodeId{1}}}}};
  return advice_for(request);
}

const Advice kWide = advice_for(12, kMiB * 2, /*is_locked=*/false);
const Advice kHeld = advice_for(12, {}, /*is_locked=*/true);
const Advice kNarrow = advice_for(4, {}, /*is_locked=*/false);
const Advice kThreaded = threaded_advice();
const Advice kNamed = named_advice();
const Advice kWithDevice = device_advice();

TEST(AdviceFormatsTest, VirtInstallIsGivenCellsWithTheirDistances) {
  EXPECT_EQ(
      virt_install_arguments(kWide),
      "--vcpus 12,sockets=2,cores=6,threads=1,placement=auto \\\n--memory 8192 \\\n"
      "--memorybacking hugepages.page0.size=2048,hugepages.page0.unit=KiB \\\n"
      "--cpu numa.cell0.id=0,numa.cell0.cpus=0-5,numa.cell0.memory=4194304,numa.cell0.unit=KiB,"
      "numa.cell0.distances.sibling0.id=0,numa.cell0.distances.sibling0.value=10,"
      "numa.cell0.distances.sibling1.id=1,numa.cell0.distances.sibling1.value=21,"
      "numa.cell1.id=1,numa.cell1.cpus=6-11,numa.cell1.memory=4194304,numa.cell1.unit=KiB,"
      "numa.cell1.distances.sibling0.id=0,numa.cell1.distances.sibling0.value=21,"
      "numa.cell1.distances.sibling1.id=1,numa.cell1.distances.sibling1.value=10,cache.level=3,"
      "cache.mode=emulate \\\n"
      "--numatune memory.mode=restrictive,memory.placement=auto \\\n--iothreads 1\n"
      "# io-threads: 1 I/O thread; --disk ...,driver.iothread=N for each virtio disk, "
      "with these in turn\n");
}

TEST(AdviceFormatsTest, VirtInstallPinsIoThreads) {
  EXPECT_THAT(virt_install_arguments(kHeld),
              HasSubstr("--iothreads 1 \\\n"
                        "--cputune iothreadpin0.iothread=1,iothreadpin0.cpuset=0-7\n#"));
}

TEST(AdviceFormatsTest, NovaIsGivenANodeForEachCell) {
  EXPECT_EQ(nova_extra_specs(kWide),
            "hw:cpu_sockets=2\nhw:cpu_cores=6\nhw:cpu_threads=1\nhw:mem_page_size=2048\n"
            "hw:numa_nodes=2\nhw:numa_cpus.0=0-5\nhw:numa_mem.0=4096\nhw:numa_cpus.1=6-11\n"
            "hw:numa_mem.1=4096\n"
            "# distances: those of nodes 0-1 (10 21, 21 10)\n"
            "# cache: one L3 cache for each socket\n"
            "# start: placement auto; Nova chooses the nodes\n"
            "# memory: restrictive, placement auto; Nova chooses the nodes\n"
            "# io-threads: 1 I/O thread\n");
  EXPECT_THAT(nova_extra_specs(kNarrow),
              HasSubstr("hw:cpu_sockets=1\nhw:cpu_cores=4\nhw:cpu_threads=1\nhw:numa_nodes=1\n#"));
}

TEST(AdviceFormatsTest, NovaAndKubevirtGiveAGuestWithThreadsCpusOfItsOwn) {
  EXPECT_THAT(nova_extra_specs(kThreaded), HasSubstr("hw:cpu_threads=2\nhw:cpu_policy=dedicated\n"
                                                     "hw:cpu_thread_policy=require\n"));
  EXPECT_THAT(kubevirt_spec(kThreaded), HasSubstr("threads: 2\n    dedicatedCpuPlacement: true\n"));
}

TEST(AdviceFormatsTest, ProxmoxIsGivenANumaLineForEachCell) {
  EXPECT_EQ(pve_lines(kHeld),
            "sockets: 2\ncores: 6\nmemory: 8192\nnuma: 1\n"
            "numa0: cpus=0-5,memory=4096,hostnodes=0,policy=preferred\n"
            "numa1: cpus=6-11,memory=4096,hostnodes=1,policy=preferred\n"
            "# distances: those of nodes 0-1 (10 21, 21 10)\n"
            "# cache: one L3 cache for each socket\n"
            "# io-threads: 1 I/O thread; iothread=1 at each virtio disk\n"
            "# io-thread-pins: each pinned to the node of a cell (1 to 0-7)\n");
  EXPECT_THAT(pve_lines(kNarrow), HasSubstr("sockets: 1\ncores: 4\nmemory: 8192\nnuma: 0\n#"));
}

TEST(AdviceFormatsTest, KubevirtPassesNodesToVmsWithHugePages) {
  EXPECT_EQ(kubevirt_spec(kWide),
            "domain:\n  cpu:\n    sockets: 2\n    cores: 6\n    threads: 1\n"
            "    dedicatedCpuPlacement: true\n    numa:\n      guestMappingPassthrough: {}\n"
            "  ioThreadsPolicy: auto\n  memory:\n    guest: 8192Mi\n    hugepages:\n"
            "      pageSize: 2Mi\n"
            "# distances: those of nodes 0-1 (10 21, 21 10)\n"
            "# cache: one L3 cache for each socket\n"
            "# start: placement auto; the kubelet chooses the nodes\n"
            "# memory: restrictive, placement auto; the kubelet chooses the nodes\n"
            "# io-threads: 1 I/O thread; ioThreadsPolicy auto chooses how many\n");
  EXPECT_THAT(kubevirt_spec(kHeld), HasSubstr("# cells: 2 cells of 6 vCPUs and 4 GiB; "));
}

TEST(AdviceFormatsTest, DiesAreCoresWhereThereAreNone) {
  Advice advice = kNarrow;
  advice.cores = 2;
  advice.dies = 2;
  EXPECT_THAT(virt_install_arguments(advice), HasSubstr("sockets=1,dies=2,cores=2,threads=1"));
  EXPECT_THAT(nova_extra_specs(advice), HasSubstr("hw:cpu_cores=4\n"));
  EXPECT_THAT(pve_lines(advice), HasSubstr("cores: 4\n"));
  EXPECT_THAT(kubevirt_spec(advice), HasSubstr("cores: 4\n"));
  for (const std::string& text :
       {nova_extra_specs(advice), pve_lines(advice), kubevirt_spec(advice)}) {
    EXPECT_THAT(text, HasSubstr("; its dies are cores here\n"));
  }
}

/// How each format says a piece of advice if it does not comment it; "" if it always does.
struct Said {
  AdviceAbout about;
  std::string_view virt_install;
  std::string_view nova;
  std::string_view pve;
  std::string_view kubevirt;
};
constexpr Said kSaidBy[] = {
    {AdviceAbout::kDevices, "--hostdev 0000:3b:00.0", "", "hostpci0: 0000:3b:00.0", ""},
    {AdviceAbout::kCells,
     "numa.cell1.cpus=", "hw:numa_cpus.1=", "numa1: cpus=", "guestMappingPassthrough"},
    {AdviceAbout::kTopology, "sockets=", "hw:cpu_sockets=", "sockets: ", "sockets: "},
    {AdviceAbout::kThreads, "threads=", "hw:cpu_threads=", "cores: ", "threads: "},
    {AdviceAbout::kFeatures, "", "", "", ""},
    {AdviceAbout::kDistances, "distances.sibling1.value=21", "", "", ""},
    {AdviceAbout::kCache, "cache.mode=emulate", "", "", ""},
    {AdviceAbout::kStart, "placement=auto", "", "", ""},
    {AdviceAbout::kMemory, "--numatune ", "", "hostnodes=", ""},
    {AdviceAbout::kPages, "hugepages.page0.size=2048", "hw:mem_page_size=2048", "hugepages: 2",
     "pageSize: 2Mi"},
    {AdviceAbout::kIoThreads, "", "", "", ""},
    {AdviceAbout::kIoThreadPins, "iothreadpin0.cpuset=0-7", "", "", ""},
};

TEST(AdviceFormatsTest, NoPieceOfAdviceIsLostInAnyFormat) {
  std::set<AdviceAbout> seen;
  for (const Advice* advice : {&kWide, &kHeld, &kNarrow, &kThreaded, &kNamed, &kWithDevice}) {
    for (const AdviceLine& line : advice->lines) {
      seen.insert(line.about);
      if (line.what == "no cells") {
        continue;
      }
      const Said& said = kSaidBy[static_cast<std::size_t>(line.about)];
      ASSERT_EQ(said.about, line.about);
      const std::string comment = "# " + std::string(name_of(line.about)) + ": " + line.what;
      for (const auto& [text, words] :
           {std::pair(virt_install_arguments(*advice), said.virt_install),
            std::pair(nova_extra_specs(*advice), said.nova),
            std::pair(pve_lines(*advice), said.pve),
            std::pair(kubevirt_spec(*advice), said.kubevirt)}) {
        const bool is_commented = text.find(comment) != std::string::npos;
        const bool is_said = !words.empty() && text.find(words) != std::string::npos;
        EXPECT_TRUE(is_commented || is_said) << line.what << " is not in\n" << text;
      }
    }
  }
  EXPECT_EQ(seen.size(), std::size(kSaidBy)) << "a piece of advice is not tried";
}

}  // namespace
}  // namespace vmnuma::tools
