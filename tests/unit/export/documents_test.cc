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
using tests::kGiB;

/// What the file holds; the text itself when the files are rewritten.
std::string golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(VMNUMA_SOURCE_DIR) + "/tests/golden/export/" + name;
  if (std::getenv("VMNUMA_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
  }
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Two nodes, the readings of the second missing.
ExportedHost two_nodes() {
  return {"kvm1.example.org", tests::host_view()};
}

/// Nodes with gaps between their numbers, one without memory, one without CPUs.
ExportedHost odd_nodes() {
  HostView host = tests::host_view();
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

TEST(ExportTest, WhatIsPromisedToVmsIsNotAvailable) {
  // Node 0 has 16 CPUs, 12 of them promised; of its 64 GiB 2 are reserved and 16 promised, but only
  // 20 are free, 18 of them above the reserve.
  ExportedHost exported = two_nodes();
  EXPECT_THAT(topology(exported),
              HasSubstr(R"({"name":"cpu","capacity":"16","allocatable":"16","available":"4"})"));
  EXPECT_THAT(topology(exported),
              HasSubstr(R"("allocatable":")" + std::to_string(62 * kGiB) + R"(","available":")" +
                        std::to_string(18 * kGiB) + R"("})"));
  // Now the promise is what binds: 62 - 50 are left of it.
  exported.host.vms[0].clients[0].size_bytes = 50 * kGiB;
  EXPECT_THAT(topology(exported), HasSubstr(R"("available":")" + std::to_string(12 * kGiB)));
}

TEST(ExportTest, NothingIsBelowZero) {
  ExportedHost exported = two_nodes();
  exported.host.vms[0].clients[0].vcpus = 40;
  exported.host.vms[0].clients[0].size_bytes = 100 * kGiB;
  EXPECT_THAT(topology(exported),
              HasSubstr(R"({"name":"cpu","capacity":"16","allocatable":"16","available":"0"})"));
  EXPECT_THAT(topology(exported), Not(HasSubstr("\"-")));
  exported.host.nodes[0].reserve_bytes = 100 * kGiB;
  EXPECT_THAT(inventories(exported), HasSubstr(R"("total":65536,"reserved":65536)"));
  EXPECT_THAT(topology(exported), HasSubstr(R"("allocatable":"0","available":"0"})"));
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
