// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/formats.h"

#include <numeric>

#include <gtest/gtest.h>

#include "placement/advice/advise.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::tools {
namespace {

using placement::Advice;
using placement::kGiB;
using placement::kMiB;

/// On four nodes of 8 cores, 21 apart.
Advice advice_for(std::int32_t vcpus, placement::Bytes page_size, bool is_locked) {
  placement::AdviceRequest request;
  placement::VmDescription& vm = request.vm;
  vm.vcpus.resize(static_cast<std::size_t>(vcpus));
  std::iota(vm.vcpus.begin(), vm.vcpus.end(), 0);
  vm.max_vcpus = vcpus;
  vm.max_memory = vm.memory = kGiB * 8;
  vm.huge_page_size = page_size;
  vm.memory_locked = is_locked;
  request.virtio_disks = 1;
  placement::AdviceHost host{.topology = tests::equal_nodes(4, 8, 1, 64)};
  for (std::int32_t& distance : host.topology.distances) {
    distance = distance == 10 ? 10 : 21;
  }
  return advise(request, host).value();
}

const Advice kWide = advice_for(12, kMiB * 2, /*is_locked=*/false);
const Advice kHeld = advice_for(12, {}, /*is_locked=*/true);
const Advice kNarrow = advice_for(4, {}, /*is_locked=*/false);

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
      "--numatune memory.mode=restrictive,memory.placement=auto \\\n--iothreads 1\n");
}

TEST(AdviceFormatsTest, NovaIsGivenANodeForEachCell) {
  EXPECT_EQ(nova_extra_specs(kWide),
            "hw:cpu_sockets=2\nhw:cpu_cores=6\nhw:cpu_threads=1\nhw:mem_page_size=2048\n"
            "hw:numa_nodes=2\nhw:numa_cpus.0=0-5\nhw:numa_mem.0=4096\nhw:numa_cpus.1=6-11\n"
            "hw:numa_mem.1=4096\n");
  EXPECT_EQ(nova_extra_specs(kNarrow),
            "hw:cpu_sockets=1\nhw:cpu_cores=4\nhw:cpu_threads=1\nhw:numa_nodes=1\n");
}

TEST(AdviceFormatsTest, ProxmoxIsGivenANumaLineForEachCell) {
  EXPECT_EQ(pve_lines(kHeld),
            "sockets: 2\ncores: 6\nmemory: 8192\nnuma: 1\n"
            "numa0: cpus=0-5,memory=4096,hostnodes=0,policy=preferred\n"
            "numa1: cpus=6-11,memory=4096,hostnodes=1,policy=preferred\n");
  EXPECT_EQ(pve_lines(kNarrow), "sockets: 1\ncores: 4\nmemory: 8192\nnuma: 0\n");
}

TEST(AdviceFormatsTest, KubevirtPassesNodesToWhoHasHugePages) {
  EXPECT_EQ(kubevirt_spec(kWide),
            "domain:\n  cpu:\n    sockets: 2\n    cores: 6\n    threads: 1\n"
            "    dedicatedCpuPlacement: true\n    numa:\n      guestMappingPassthrough: {}\n"
            "  ioThreadsPolicy: auto\n  memory:\n    guest: 8192Mi\n    hugepages:\n"
            "      pageSize: 2Mi\n");
  EXPECT_NE(kubevirt_spec(kHeld).find("    # 2 cells: "), std::string::npos);
}

}  // namespace
}  // namespace vmnuma::tools
