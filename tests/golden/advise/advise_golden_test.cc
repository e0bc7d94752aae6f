// SPDX-License-Identifier: Apache-2.0
/// Every domain XML in tests/fixtures/domain_xml on a host of two nodes with two cores each, 21
/// apart. A file here is what `vmnuma advise` has to say of it and what it changes.
/// VMNUMA_UPDATE_GOLDEN=1 rewrites the files; read the difference before committing it.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "balancer/host/advise_xml.h"
#include "balancer/host/domain_xml.h"
#include "balancer/policy/policy_keys.h"
#include "placement/advice/advice.h"
#include "placement/advice/warnings.h"
#include "tests/support/golden.h"
#include "tests/support/temp_directory.h"
#include "tools/vmnuma/advise/advice_text.h"
#include "tools/vmnuma/advise/line_diff.h"

namespace vmnuma::tools {
namespace {

const std::filesystem::path kFixtures =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/fixtures/domain_xml";
const std::filesystem::path kGoldens =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/golden/advise";

AdviceHost small_host() {
  AdviceHost host;
  for (std::int32_t node = 0; node < 2; ++node) {
    Node made;
    made.id = {node};
    made.memory = kGiB * 4;
    made.package = node;
    for (std::int32_t cpu = 2 * node; cpu < 2 * node + 2; ++cpu) {
      made.cpus.push_back({{cpu}, cpu, 2 * node});
    }
    made.huge_pages = {{kMiB * 2, 512}, {kGiB, 1}};
    host.topology.nodes.push_back(made);
  }
  host.topology.distances = {10, 21, 21, 10};
  return host;
}

Result<AdvisedVm> advised(const std::string& xml) {
  VMNUMA_ASSIGN_OR_RETURN(auto request, balancer::read_advice_request(xml, kMiB * 2));
  request.vm.policy = balancer::with_settings({}, request.vm.own_policy).value_or(VmPolicy{});
  VMNUMA_ASSIGN_OR_RETURN(auto advice, advise(request, small_host()));
  VMNUMA_ASSIGN_OR_RETURN(auto after, balancer::advised_xml(xml, advice));
  return AdvisedVm{
      request.vm.id, request.vm.name, advice, warnings_about(request.vm, small_host()), xml, after};
}

class AdviseGolden : public testing::TestWithParam<std::string> {};

TEST_P(AdviseGolden, IsWhatIsSaidAndChanged) {
  const auto vm = advised(tests::file_text(kFixtures / (GetParam() + ".xml")));
  ASSERT_TRUE(vm.has_value()) << vm.error().message;
  const std::string text =
      advice_text(*vm) + "\n" + line_diff(vm->before, vm->after, "as it is", "as advised");
  EXPECT_EQ(text, tests::golden(kGoldens / (GetParam() + ".txt"), text));
}

TEST_P(AdviseGolden, IsNotChangedASecondTime) {
  const auto first = advised(tests::file_text(kFixtures / (GetParam() + ".xml")));
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const auto second = advised(first->after);
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(line_diff(first->after, second->after, "first", "second"), "");
}

TEST(AdviseGoldenText, BlanksDoNotGrowAfterTextBesideElements) {
  std::string xml = tests::file_text(kFixtures / "cells.xml");
  const std::size_t numa = xml.find("<numa>");
  ASSERT_NE(numa, std::string::npos);
  xml.insert(numa, "text\n    ");
  const auto first = advised(xml);
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const auto second = advised(first->after);
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(second->after, first->after);
}

TEST_P(AdviseGolden, IsUnderstoodAsAdvised) {
  const auto vm = advised(tests::file_text(kFixtures / (GetParam() + ".xml")));
  ASSERT_TRUE(vm.has_value()) << vm.error().message;
  const auto read = balancer::read_advice_request(vm->after, kMiB * 2);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->vm.sockets, vm->advice.sockets);
  EXPECT_EQ(read->vm.cores, vm->advice.cores);
  EXPECT_EQ(read->vm.threads, vm->advice.threads);
  ASSERT_EQ(read->vm.cells.size(), vm->advice.cells.size());
  for (std::size_t i = 0; i < read->vm.cells.size(); ++i) {
    EXPECT_EQ(read->vm.cells[i].vcpus, vm->advice.cells[i].vcpus);
    EXPECT_EQ(read->vm.cells[i].memory, vm->advice.cells[i].memory);
  }
  EXPECT_EQ(read->vm.numatune_auto, vm->advice.binding == AdvisedBinding::kAuto);
  EXPECT_EQ(read->vm.numatune_nodes, vm->advice.nodes);
  EXPECT_EQ(read->vm.io_threads.size(), static_cast<std::size_t>(vm->advice.io_threads));
}

INSTANTIATE_TEST_SUITE_P(Libvirt, AdviseGolden,
                         testing::ValuesIn(tests::fixture_names(kFixtures, ".xml")),
                         tests::fixture_case);

TEST(AdviseGoldenSchema, TakesAllThatIsAdvised) {
  if (std::system("command -v virt-xml-validate >/dev/null") != 0) {
    GTEST_SKIP() << "there is no virt-xml-validate (libvirt-clients)";
  }
  const tests::TempDirectory directory;
  int valid = 0;
  for (const std::string& name : tests::fixture_names(kFixtures, ".xml")) {
    const auto vm = advised(tests::file_text(kFixtures / (name + ".xml")));
    ASSERT_TRUE(vm.has_value()) << vm.error().message;
    const std::string before = directory.path() + "/" + name + "-before.xml";
    const std::string after = directory.path() + "/" + name + ".xml";
    std::ofstream(before) << vm->before;
    std::ofstream(after) << vm->after;
    const std::string validate = "virt-xml-validate ";
    if (std::system((validate + before + " domain >/dev/null 2>&1").c_str()) == 0) {
      ++valid;
      EXPECT_EQ(std::system((validate + after + " domain >/dev/null 2>&1").c_str()), 0) << name;
    }
  }
  EXPECT_GT(valid, 0) << "nothing was compared with the schema";
}

}  // namespace
}  // namespace vmnuma::tools
