// SPDX-License-Identifier: Apache-2.0
// The documents are in tests/golden/export, where schemas_test.py holds them against the published
// schemas. VMNUMA_UPDATE_GOLDEN=1 rewrites them; read the difference before committing it.
#include "tools/vmnuma/export/documents.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/views.h"

namespace vmnuma::tools {
namespace {

using balancer::HostView;
using ::testing::HasSubstr;
using ::testing::Not;

/// What the file holds; the text itself when the files are rewritten.
std::string golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(VMNUMA_SOURCE_DIR) + "/tests/golden/export/" + name;
  if (std::getenv("VMNUMA_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
  }
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Two nodes, the readings of the second missing. Of the devices the first is web1's.
ExportedHost two_nodes() {
  return {"kvm1.example.org",
          tests::host_view(),
          {{{{{0}, 2 << 20}, 2 * kGiB.value},
            {{{0}, 1 << 30}, 4 * kGiB.value},
            {{{1}, 2 << 20}, 2 * kGiB.value}},
           {{"0000:3b:00.0", "10de-1eb8", {0}},
            {"0000:3c:00.0", "10de-1eb8", {0}},
            {"0000:5e:02.1", "8086-1889", {0}},
            {"0000:af:00.0", "10de-1eb8", {1}}}}};
}

/// Nodes with gaps between their numbers, one without memory, one without CPUs.
ExportedHost odd_nodes() {
  HostView host = tests::host_view();
  host.distances_measured = false;
  host.admission = "advise";
  host.nodes[0].huge_pages.clear();
  host.nodes[1].huge_pages.clear();
  host.nodes[1].promised_vcpus = 0;
  host.nodes[1].promised_bytes = 0;
  host.nodes.push_back(host.nodes[0]);
  host.nodes[1].node = {4};
  host.nodes[1].known = true;
  host.nodes[1].memory_bytes = 0;
  host.nodes[1].free_bytes = 0;
  host.nodes[1].reserve_bytes = 0;
  host.nodes[2].node = {9};
  host.nodes[2].cpus = 0;
  host.nodes[2].cores = 0;
  host.nodes[2].capacity_ms = 0;
  host.nodes[2].load_pct.reset();
  host.nodes[2].promised_vcpus = 0;
  host.nodes[2].promised_bytes = 0;
  host.nodes[2].largest_vm_vcpus = 0;
  host.nodes[2].largest_vm_bytes = 0;
  host.nodes[0].distances = {10, 21, 31};
  host.nodes[1].distances = {21, 10, 41};
  host.nodes[2].distances = {31, 41, 10};
  return {"kvm2", host};
}

std::string topology(const ExportedHost& exported) {
  return node_resource_topology(exported, JsonLayout::kOneLine);
}

std::string inventories(const ExportedHost& exported) {
  return placement_inventories(exported, JsonLayout::kOneLine);
}

TEST(ExportTest, DocumentsAreThoseHeldAgainstTheSchemas) {
  for (const auto& [name, host] :
       {std::pair{"two-nodes", two_nodes()}, {"odd-nodes", odd_nodes()}, {"no-nodes", {"x", {}}}}) {
    const std::string nrt = node_resource_topology(host, JsonLayout::kIndented) + "\n";
    EXPECT_EQ(nrt, golden(std::string(name) + ".nrt.json", nrt));
    const std::string openstack = placement_inventories(host, JsonLayout::kIndented) + "\n";
    EXPECT_EQ(openstack, golden(std::string(name) + ".openstack.json", openstack));
  }
}

/// One resource as the document has it, amounts in bytes or pieces.
std::string resource(const std::string& name, std::int64_t capacity, std::int64_t allocatable,
                     std::int64_t available) {
  return R"({"name":")" + name + R"(","capacity":")" + std::to_string(capacity) +
         R"(","allocatable":")" + std::to_string(allocatable) + R"(","available":")" +
         std::to_string(available) + R"("})";
}

TEST(ExportTest, WhatIsPromisedToVmsIsNotAvailable) {
  // Node 0 has 16 CPUs, 12 of them promised; of its 64 GiB 2 are reserved, 12 in pools and 16
  // promised, but only 20 are free, 18 of them above the reserve.
  ExportedHost exported = two_nodes();
  EXPECT_THAT(topology(exported), HasSubstr(resource("cpu", 16, 16, 4)));
  EXPECT_THAT(topology(exported),
              HasSubstr(resource("memory", 64 * kGiB.value, 50 * kGiB.value, 18 * kGiB.value)));
  // Now the promise is what binds: 50 - 40 are left of it.
  exported.host.nodes[0].promised_bytes = 40 * kGiB.value;
  EXPECT_THAT(topology(exported),
              HasSubstr(resource("memory", 64 * kGiB.value, 50 * kGiB.value, 10 * kGiB.value)));
}

TEST(ExportTest, HugePagesAreOfferedBySizeWithoutWhatIsReservedPromisedOrInUse) {
  ExportedHost exported = two_nodes();
  // Of 4 GiB one is reserved and two are promised; 2 GiB are free, one of them above the reserve.
  EXPECT_THAT(topology(exported),
              HasSubstr(resource("hugepages-2Mi", 4 * kGiB.value, 3 * kGiB.value, 1 * kGiB.value)));
  // Of 8 GiB three are promised, but others have one more: 4 GiB are free.
  EXPECT_THAT(topology(exported),
              HasSubstr(resource("hugepages-1Gi", 8 * kGiB.value, 8 * kGiB.value, 4 * kGiB.value)));
  // Which are free could not be read.
  exported.resources.free_huge_pages.clear();
  EXPECT_THAT(topology(exported), HasSubstr(resource("hugepages-1Gi", 8 * kGiB.value, 0, 0)));
}

TEST(ExportTest, SizesOfHugePagesAreSpelledAsTheKubeletDoes) {
  ExportedHost exported = two_nodes();
  for (const auto& [bytes, name] : {std::pair{64LL << 10U, "hugepages-64Ki"},
                                    {512LL << 20U, "hugepages-512Mi"},
                                    {16LL << 30U, "hugepages-16Gi"}}) {
    exported.host.nodes[0].huge_pages = {{bytes, 32 * kGiB.value, 0, 0}};
    EXPECT_THAT(topology(exported), HasSubstr(resource(name, 32 * kGiB.value, 0, 0)));
  }
}

TEST(ExportTest, DevicesAreCountedByKindWithoutThoseThatVmsHave) {
  ExportedHost exported = two_nodes();
  EXPECT_THAT(topology(exported), HasSubstr(resource("vmnuma/pci-10de-1eb8", 2, 2, 1) + "," +
                                            resource("vmnuma/pci-8086-1889", 1, 1, 1)));
  // Of the node whose readings are missing.
  EXPECT_THAT(topology(exported), HasSubstr(resource("vmnuma/pci-10de-1eb8", 1, 0, 0)));
}

TEST(ExportTest, WhereTheDistancesComeFromAndWhatPoliciesMeanIsAnAttribute) {
  ExportedHost exported = two_nodes();
  EXPECT_THAT(topology(exported), HasSubstr(R"("topologyPolicies":["None"],"attributes":[)"
                                            R"({"name":"topologyManagerPolicy","value":"none"},)"
                                            R"({"name":"topologyManagerScope","value":"pod"},)"
                                            R"({"name":"vmnuma.admission","value":"enforce"},)"
                                            R"({"name":"vmnuma.distances","value":"measured"}])"));
  exported.host.distances_measured = false;
  EXPECT_THAT(topology(exported), HasSubstr(R"("name":"vmnuma.distances","value":"firmware")"));
}

TEST(ExportTest, NothingIsOfferedUntilItIsKnownWhichVmsRun) {
  ExportedHost exported = two_nodes();
  exported.host.vms_known = false;
  EXPECT_THAT(topology(exported), HasSubstr(resource("cpu", 16, 0, 0)));
  EXPECT_THAT(topology(exported), HasSubstr(resource("memory", 64 * kGiB.value, 0, 0)));
  EXPECT_THAT(topology(exported), HasSubstr(resource("hugepages-2Mi", 4 * kGiB.value, 0, 0)));
  EXPECT_THAT(topology(exported), HasSubstr(resource("vmnuma/pci-8086-1889", 1, 0, 0)));
}

TEST(ExportTest, NothingIsBelowZero) {
  ExportedHost exported = two_nodes();
  exported.host.nodes[0].promised_vcpus = 40;
  exported.host.nodes[0].promised_bytes = 100 * kGiB.value;
  exported.host.nodes[0].huge_pages[0].promised_bytes = 100 * kGiB.value;
  EXPECT_THAT(topology(exported), HasSubstr(resource("cpu", 16, 16, 0)));
  EXPECT_THAT(topology(exported),
              HasSubstr(resource("hugepages-2Mi", 4 * kGiB.value, 3 * kGiB.value, 0)));
  EXPECT_THAT(topology(exported), Not(HasSubstr("\"-")));
  exported.host.nodes[0].reserve_bytes = 100 * kGiB.value;
  EXPECT_THAT(inventories(exported), HasSubstr(R"("total":65536,"reserved":65536)"));
  EXPECT_THAT(topology(exported), HasSubstr(resource("memory", 64 * kGiB.value, 0, 0)));
}

TEST(ExportTest, NodeWithoutReadingsOffersNothing) {
  const ExportedHost exported = two_nodes();
  EXPECT_THAT(topology(exported),
              HasSubstr(R"("attributes":[],"resources":[{"name":"cpu","capacity":"16",)"
                        R"("allocatable":"0","available":"0"})"));
  EXPECT_THAT(inventories(exported),
              HasSubstr(R"("name":"kvm1.example.org_NUMA1"},"inventories":{)"
                        R"("resource_provider_generation":0,"inventories":{"VCPU":{"total":16,)"
                        R"("reserved":16,)"));
}

TEST(ExportTest, ClassOfWhichThereIsNothingIsLeftOut) {
  EXPECT_THAT(inventories({"x", {}}), "{\"providers\":[]}");
  const std::string text = inventories(odd_nodes());
  const std::string memoryless =
      text.substr(text.find("NUMA4"), text.find("NUMA9") - text.find("NUMA4"));
  EXPECT_THAT(memoryless, HasSubstr("VCPU"));
  EXPECT_THAT(memoryless, Not(HasSubstr("MEMORY_MB")));
  EXPECT_THAT(text.substr(text.find("NUMA9")), Not(HasSubstr("VCPU")));
}

TEST(ExportTest, MemoryBeyondWhatPlacementCountsIsCut) {
  ExportedHost exported = two_nodes();
  exported.host.nodes[0].memory_bytes = (std::int64_t{1} << 31U) * (std::int64_t{1} << 20U);
  EXPECT_THAT(inventories(exported), HasSubstr(R"("MEMORY_MB":{"total":2147483647,)"));
}

TEST(ExportTest, NamesAreThoseThatKubernetesTakes) {
  for (const char* name : {"a", "kvm-1", "kvm--1.example.org", "10.0.0.1", "0"}) {
    EXPECT_TRUE(is_object_name(name)) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("-a"), std::string("a-"), std::string("a."), std::string(".a"),
        std::string("a..b"), std::string("a.-b"), std::string("a-.b"), std::string("KVM"),
        std::string("a_b"), std::string("a b"), std::string("\xc3\xa4"), std::string(254, 'a')}) {
    EXPECT_FALSE(is_object_name(name)) << name;
  }
}

}  // namespace
}  // namespace vmnuma::tools
