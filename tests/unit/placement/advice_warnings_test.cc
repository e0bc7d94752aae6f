// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/advice/warnings.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using tests::equal_nodes;

/// One socket, no cells: nothing to warn of where it fits a node.
VmDescription uniform_vm(std::int32_t vcpus, Bytes memory = kGiB * 8) {
  VmDescription vm;
  vm.vcpus.resize(static_cast<std::size_t>(vcpus));
  std::iota(vm.vcpus.begin(), vm.vcpus.end(), 0);
  vm.max_vcpus = vcpus;
  vm.memory = vm.max_memory = memory;
  vm.sockets = vm.dies = vm.threads = 1;
  vm.cores = vcpus;
  return vm;
}

VmDescription with_cells(const std::vector<std::int32_t>& sizes, std::int32_t sockets,
                         Bytes each = kGiB * 4) {
  VmDescription vm = uniform_vm(std::accumulate(sizes.begin(), sizes.end(), 0),
                                each * static_cast<std::int64_t>(sizes.size()));
  vm.sockets = sockets;
  vm.cores = vm.max_vcpus / sockets;
  std::int32_t next = 0;
  for (const std::int32_t size : sizes) {
    GuestCell cell;
    cell.id = static_cast<std::int32_t>(vm.cells.size());
    for (std::int32_t i = 0; i < size; ++i) {
      cell.vcpus.push_back(next++);
    }
    cell.memory = each;
    vm.cells.push_back(cell);
  }
  return vm;
}

const AdviceHost kHost{.topology = equal_nodes(2, 8, 1, 64)};

std::vector<std::string_view> kinds(const VmDescription& vm, const AdviceHost& host = kHost) {
  std::vector<std::string_view> names;
  for (const AdviceWarned& warned : warnings_about(vm, host)) {
    names.push_back(name_of(warned.kind));
    EXPECT_FALSE(warned.text.empty());
  }
  return names;
}

std::string text_of(const VmDescription& vm, const AdviceHost& host = kHost) {
  std::string text;
  for (const AdviceWarned& warned : warnings_about(vm, host)) {
    text += warned.text + "\n";
  }
  return text;
}

TEST(AdviceWarningsTest, SaysNothingOfWhatIsWell) {
  EXPECT_THAT(kinds(uniform_vm(8)), IsEmpty());
  EXPECT_THAT(kinds(with_cells({8, 8}, 2)), IsEmpty());
}

TEST(AdviceWarningsTest, SaysThatAWideVmHasNoCells) {
  EXPECT_THAT(kinds(uniform_vm(12)), ElementsAre("no-cells"));
}

TEST(AdviceWarningsTest, SaysThatNoNodeHoldsACell) {
  EXPECT_THAT(kinds(with_cells({9, 9}, 2)), ElementsAre("cell-too-large"));
  EXPECT_THAT(kinds(with_cells({8, 8}, 2, kGiB * 65)), ElementsAre("cell-too-large"));
  EXPECT_THAT(kinds(uniform_vm(2, kGiB * 65)), ElementsAre("cell-too-large"));
}

TEST(AdviceWarningsTest, NamesAPolicyThatMakesCellsOnlyWhereTheyWouldFit) {
  const auto remedy = HasSubstr("consolidate=false makes cells that fit");
  VmDescription vm = uniform_vm(2, kGiB * 65);
  EXPECT_THAT(text_of(vm), remedy);
  EXPECT_THAT(text_of(uniform_vm(1, kGiB * 65)), Not(remedy));   // one vCPU, one cell
  EXPECT_THAT(text_of(uniform_vm(2, kGiB * 129)), Not(remedy));  // more than both nodes have
  vm.max_memory = vm.memory = kGiB * 129;
  vm.policy.consolidate = false;
  EXPECT_THAT(kinds(vm), ElementsAre("no-cells", "cell-too-large"));
  EXPECT_THAT(text_of(vm), Not(remedy));  // it has that policy
}

TEST(AdviceWarningsTest, SaysThatASplitIsOdd) {
  EXPECT_THAT(kinds(with_cells({6, 5}, 11)), ElementsAre("odd-split"));
}

TEST(AdviceWarningsTest, SaysThatASocketLiesInTwoCells) {
  EXPECT_THAT(kinds(with_cells({6, 6}, 1)), ElementsAre("socket-across-cells"));
}

TEST(AdviceWarningsTest, SaysThatThereAreMoreSocketsThanNodes) {
  EXPECT_THAT(kinds(with_cells({6, 6}, 12)), ElementsAre("more-sockets-than-nodes"));
  VmDescription undeclared = uniform_vm(4);
  undeclared.sockets = undeclared.dies = undeclared.cores = undeclared.threads = 0;
  EXPECT_THAT(kinds(undeclared), ElementsAre("more-sockets-than-nodes"));
}

TEST(AdviceWarningsTest, SaysThatThereAreNoThreads) {
  VmDescription vm = uniform_vm(4);
  vm.cores = 2;
  vm.threads = 2;
  EXPECT_THAT(kinds(vm), ElementsAre("threads-without-smt"));
  EXPECT_THAT(kinds(vm, {.topology = equal_nodes(2, 8, 2, 64)}), IsEmpty());
}

TEST(AdviceWarningsTest, SaysWhichCellHasNoVcpuYet) {
  VmDescription vm = with_cells({8, 8}, 2);
  vm.vcpus.resize(4);
  EXPECT_THAT(kinds(vm), ElementsAre("hot-plug-with-cells"));
  EXPECT_THAT(text_of(vm), HasSubstr("cell 1 has memory and no vCPU"));
}

TEST(AdviceWarningsTest, HoldsStrictBindingAgainstWhatIsFree) {
  VmDescription vm = uniform_vm(4);
  vm.numatune = NumatuneMode::kStrict;
  vm.numatune_nodes = {NodeId{0}};
  EXPECT_THAT(kinds(vm), IsEmpty());
  AdviceHost full = kHost;
  full.free = {kGiB, kGiB * 60};
  EXPECT_THAT(kinds(vm, full), ElementsAre("strict-without-room"));
}

TEST(AdviceWarningsTest, HoldsStrictBindingOfCellsAgainstTheNodesOfEach) {
  VmDescription vm = with_cells({4, 4}, 2, kGiB * 60);
  const auto bind = [&vm](NodeId first, NodeId second) {
    vm.cells[0].binding = {NumatuneMode::kStrict, {first}};
    vm.cells[1].binding = {NumatuneMode::kStrict, {second}};
    vm.numatune = NumatuneMode::kStrict;
    vm.numatune_nodes = first == second ? std::vector{first} : std::vector{NodeId{0}, NodeId{1}};
  };
  bind(NodeId{0}, NodeId{1});
  EXPECT_THAT(kinds(vm), IsEmpty());
  bind(NodeId{0}, NodeId{0});
  EXPECT_THAT(kinds(vm), ElementsAre("strict-without-room"));
  EXPECT_THAT(text_of(vm), HasSubstr("its memory is bound to node 0, where 64 GiB are: not enough "
                                     "for 120 GiB"));
  vm.cells[1].binding->mode = NumatuneMode::kPreferred;
  EXPECT_THAT(kinds(vm), IsEmpty());
}

TEST(AdviceWarningsTest, SaysWhichCellIsBoundWhereThereIsNoRoom) {
  VmDescription vm = with_cells({4, 4}, 2, kGiB * 60);
  vm.cells[0].binding = {NumatuneMode::kStrict, {NodeId{0}}};
  vm.cells[1].binding = {NumatuneMode::kStrict, {NodeId{0}, NodeId{1}}};
  vm.numatune = NumatuneMode::kStrict;
  vm.numatune_nodes = {NodeId{0}, NodeId{1}};
  AdviceHost host = kHost;
  host.topology.nodes[1].memory = kGiB * 256;
  EXPECT_THAT(kinds(vm, host), IsEmpty());
  host.free = {kGiB * 30, kGiB * 200};
  EXPECT_THAT(text_of(vm, host),
              HasSubstr("memory of cell 0 is bound to node 0, where 30 GiB are free: not enough "
                        "for 60 GiB"));
}

TEST(AdviceWarningsTest, ACellIsBoundAsTheVmUnlessItIsSaidOtherwise) {
  VmDescription vm = with_cells({4, 4}, 2, kGiB * 60);
  vm.numatune = NumatuneMode::kStrict;
  vm.numatune_nodes = {NodeId{1}};
  EXPECT_THAT(kinds(vm), ElementsAre("strict-without-room"));
  vm.cells[0].binding.emplace();  // to nothing
  EXPECT_THAT(kinds(vm), IsEmpty());
}

TEST(AdviceWarningsTest, HoldsHugePagesThatAreBoundAgainstThePoolThere) {
  VmDescription vm = uniform_vm(4);
  vm.huge_page_size = kMiB * 2;
  AdviceHost host = kHost;
  host.topology.nodes[0].huge_pages = {{kMiB * 2, 100}};
  host.topology.nodes[1].huge_pages = {{kMiB * 2, 10'240}};
  EXPECT_THAT(kinds(vm, host), IsEmpty());
  vm.numatune = NumatuneMode::kStrict;
  vm.numatune_nodes = {NodeId{1}};
  EXPECT_THAT(kinds(vm, host), IsEmpty());
  vm.numatune_nodes = {NodeId{0}};
  EXPECT_THAT(kinds(vm, host), ElementsAre("strict-without-room"));
  EXPECT_THAT(text_of(vm, host),
              HasSubstr("bound to node 0, where 200 MiB are in huge pages of 2 MiB: not enough "
                        "for 8 GiB"));
}

TEST(AdviceWarningsTest, HoldsHugePagesAgainstTheirPools) {
  VmDescription vm = uniform_vm(4, kGiB * 2);
  vm.huge_page_size = kMiB * 2;
  EXPECT_THAT(kinds(vm), ElementsAre("cell-too-large", "huge-pages-too-few"));
  AdviceHost host = kHost;
  host.topology.nodes[0].huge_pages = host.topology.nodes[1].huge_pages = {{kMiB * 2, 1024}};
  EXPECT_THAT(kinds(vm, host), IsEmpty());
  host.free_huge_pages = {{{kMiB * 2, 600}}, {{kMiB * 2, 600}}};
  EXPECT_THAT(kinds(vm, host), ElementsAre("huge-pages-too-few"));
  EXPECT_THAT(text_of(vm, host), HasSubstr("no node has more than 1.1 GiB free"));
}

TEST(AdviceWarningsTest, SaysThatMemoryStaysWhereItStarts) {
  VmDescription vm = uniform_vm(4);
  vm.pci_devices = {{"0000:3b:00.0", NodeId{0}}};
  EXPECT_THAT(kinds(vm), ElementsAre("memory-stays"));
  VmDescription encrypted = uniform_vm(4);
  encrypted.memory_pinned_by = "memory encryption sev-snp";
  EXPECT_THAT(kinds(encrypted), ElementsAre("only-start-counts"));
}

TEST(AdviceWarningsTest, SaysNothingOfAHostWithoutNodes) {
  EXPECT_THAT(kinds(uniform_vm(12), {}), IsEmpty());
}

}  // namespace
}  // namespace vmnuma
