// SPDX-License-Identifier: Apache-2.0
// `vmnuma advise` from the command line to its output, on hosts from files.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/build_snapshot.h"
#include "tests/support/temp_directory.h"
#include "tools/vmnuma/advise/host_file.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/run.h"

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;

class AdviseCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    large_ = write("large.json", {.topology = tests::equal_nodes(4, 16, 2, 128)});
    small_ = write("small.json", {.topology = tests::equal_nodes(2, 8, 2, 64)});
  }

  std::string write(const std::string& name, const AdviceHost& host) {
    std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << host_file_text(host, name, -1);
    return path;
  }

  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "advise");
    const auto invocation = parse_arguments(arguments, /*now_unix_s=*/0);
    if (!invocation) {
      err_.str(invocation.error().text);
      return invocation.error().code;
    }
    out_.str("");
    err_.str("");
    Surroundings surroundings{.out = out_, .err = err_};
    return tools::run(*invocation, surroundings);
  }

  tests::TempDirectory directory_;
  std::string large_;
  std::string small_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(AdviseCommandTest, AdvisesANewVm) {
  EXPECT_EQ(run({"--vcpus", "12", "--memory", "8GiB", "--host", small_}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("cells: 2 cells of 6 vCPUs and 4 GiB"));
  EXPECT_THAT(out_.str(), HasSubstr("Rule: "));
}

TEST_F(AdviseCommandTest, AdvisesForTheSmallestCommonHost) {
  EXPECT_EQ(run({"--vcpus", "12", "--memory", "8GiB", "--host", large_}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("no cells"));
  EXPECT_EQ(run({"--vcpus", "12", "--memory", "8GiB", "--host", large_, "--host", small_}),
            kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("2 cells of 6 vCPUs"));
}

TEST_F(AdviseCommandTest, PrintsADefinitionThatIsAsAdvised) {
  ASSERT_EQ(run({"--vcpus", "12", "--memory", "8GiB", "--hugepages", "2MiB", "--host", small_,
                 "--format", "xml"}),
            kExitOk);
  const std::string path = directory_.path() + "/guest.xml";
  std::ofstream(path) << out_.str();
  EXPECT_EQ(run({"--xml", path, "--host", small_, "--format", "diff"}), kExitOk);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(run({"--xml", path, "--host", small_}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("guest: its definition is as advised"));
}

TEST_F(AdviseCommandTest, PrintsEachFormat) {
  for (const auto& [format, begin] :
       {std::pair<std::string, std::string>("diff", "--- guest as it is"),
        {"virt-install", "--vcpus 12,"},
        {"nova", "hw:cpu_sockets=2"},
        {"pve", "sockets: 2"},
        {"kubevirt", "domain:"}}) {
    EXPECT_EQ(run({"--vcpus", "12", "--memory", "8GiB", "--host", small_, "--format", format}),
              kExitOk);
    EXPECT_EQ(out_.str().substr(0, begin.size()), begin);
  }
}

TEST_F(AdviseCommandTest, SaysAllAsJson) {
  ASSERT_EQ(run({"--vcpus", "12", "--memory", "8GiB", "--host", small_, "--json"}), kExitOk);
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["topology"]["cores"], 6);
  EXPECT_EQ(json["cells"][1]["memory_bytes"], (kGiB * 4).value);
  EXPECT_EQ(json["changes"], true);
  EXPECT_FALSE(json["advice"][0]["rule"].get<std::string>().empty());
}

TEST_F(AdviseCommandTest, WarnsOfADefinitionAsItIsButOfANewVmAsAdvised) {
  const auto warned = [this](const std::vector<std::string>& words) {
    std::vector<std::string> with = words;
    with.insert(with.end(), {"--host", small_, "--json"});
    EXPECT_EQ(run(with), kExitOk);
    std::vector<std::string> kinds;
    const auto json = nlohmann::json::parse(out_.str());
    for (const auto& warning : json["warnings"]) {
      kinds.push_back(warning["kind"]);
    }
    return kinds;
  };
  EXPECT_THAT(warned({"--vcpus", "12", "--memory", "8GiB"}), testing::IsEmpty());
  EXPECT_THAT(warned({"--vcpus", "12", "--memory", "8000GiB"}),
              testing::Contains("cell-too-large"));
  EXPECT_EQ(run({"--vcpus", "12", "--memory", "8000GiB", "--host", small_}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("\nEven as advised:\ncell-too-large: "));
  const std::string path = directory_.path() + "/guest.xml";
  std::ofstream(path) << "<domain type='kvm'><name>guest</name><memory unit='GiB'>8</memory>"
                         "<vcpu>12</vcpu><os><type arch='x86_64'>hvm</type></os></domain>";
  EXPECT_THAT(warned({"--xml", path}), testing::Contains("no-cells"));
}

TEST_F(AdviseCommandTest, TakesAnotherPolicy) {
  EXPECT_EQ(
      run({"--vcpus", "12", "--memory", "8GiB", "--host", small_, "--policy", "prefer_ht=true"}),
      kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("no cells"));
  EXPECT_EQ(run({"--vcpus", "12", "--memory", "8GiB", "--host", small_, "--policy", "prefer_ht"}),
            kExitUsage);
  EXPECT_EQ(run({"--vcpus", "12", "--memory", "8GiB", "--host", small_, "--policy", "x=1"}),
            kExitUsage);
}

TEST_F(AdviseCommandTest, RefusesWhatIsHalfAsked) {
  EXPECT_EQ(run({"--vcpus", "12", "--host", small_}), kExitUsage);
  EXPECT_EQ(run({"--memory", "8GiB", "--host", small_}), kExitUsage);
  EXPECT_EQ(run({"--vcpus", "2", "--memory", "8", "--host", small_}), kExitUsage);
  EXPECT_EQ(run({"vm", "--xml", "x", "--host", small_}), kExitUsage);
  EXPECT_EQ(run({"--xml", directory_.path() + "/none", "--host", small_}), kExitRefused);
  EXPECT_EQ(run({"--xml", small_, "--host", small_}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("vmnuma: '" + small_ + "': not XML"));
  EXPECT_EQ(run({"--vcpus", "1", "--memory", "1GiB", "--host", directory_.path() + "/none"}),
            kExitUsage);
}

TEST_F(AdviseCommandTest, AVmThatVirshDoesNotKnowIsNoAbsentDaemon) {
  const std::string virsh = directory_.path() + "/virsh";
  std::ofstream(virsh) << "#!/bin/sh\necho there is no web1 >&2\nexit 1\n";
  std::filesystem::permissions(virsh, std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (directory_.path() + ":" + path).c_str(), 1);
  EXPECT_EQ(run({"web1", "--host", small_}), kExitRefused);
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(err_.str(), HasSubstr("there is no web1"));
}

TEST_F(AdviseCommandTest, ThisHostIsNotTakenForTheSimulatedOne) {
  EXPECT_EQ(run({"--vcpus", "2", "--memory", "8GiB", "--sim"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("omit --sim"));
}

TEST_F(AdviseCommandTest, AConfigurationThatIsWrongIsNotTakenForNone) {
  const std::string etc = directory_.path() + "/etc/vmnuma";
  const std::vector<std::string> words{"--vcpus", "2",    "--memory", "8GiB",
                                       "--host",  small_, "--root",   directory_.path()};
  EXPECT_EQ(run(words), kExitOk) << "a missing one is";
  std::filesystem::create_directories(etc);
  std::ofstream(etc + "/vmnuma.toml") << "mood = 3\n";
  EXPECT_EQ(run(words), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("vmnuma.toml:1: "));
}

}  // namespace
}  // namespace vmnuma::tools
