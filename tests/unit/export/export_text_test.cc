// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/export/export_text.h"

#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_daemon.h"
#include "tests/support/temp_directory.h"
#include "tests/support/views.h"
#include "tools/vmnuma/run.h"
#include "tools/vmnuma/top/top_terminal.h"

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ExportCommandTest : public ::testing::Test {
 protected:
  int run(std::vector<std::string> arguments) {
    tests::FakeDaemon daemon(tests::FakeDaemon::answering(
        [](const balancer::Command& command) -> Result<balancer::Answer> {
          EXPECT_EQ(command, balancer::Command(balancer::HostRequest{}));
          return tests::host_view();
        }));
    arguments.insert(arguments.begin(), {"--socket", daemon.socket_path(), "export"});
    auto invocation = parse_arguments(arguments, tests::kNoonUnixS);
    EXPECT_TRUE(invocation) << invocation.error().text;
    std::get<ExportRun>(invocation->command).root = host_.path();
    Surroundings surroundings{out_, err_, /*out_is_terminal=*/true,
                              [this](std::chrono::milliseconds) { return ++pauses_ < 2; },
                              std::chrono::milliseconds(60000)};
    surroundings.open_terminal = []() -> Result<std::unique_ptr<TopTerminal>> {
      return failure(ErrorCode::kIo, "nobody wants a full screen");
    };
    return tools::run(*invocation, surroundings);
  }

  tests::TempDirectory host_;  ///< without pools and devices
  std::ostringstream out_;
  std::ostringstream err_;
  int pauses_ = 0;
};

std::string complaint(const std::vector<std::string>& arguments) {
  const auto invocation = parse_arguments(arguments, tests::kNoonUnixS);
  return invocation ? "accepted" : invocation.error().text;
}

TEST_F(ExportCommandTest, PrintsTheDocumentAskedFor) {
  EXPECT_EQ(run({"--format", "nrt", "--name", "kvm1"}), kExitOk);
  EXPECT_EQ(out_.str(),
            node_resource_topology({"kvm1", tests::host_view()}, JsonLayout::kIndented) + "\n");
  out_.str("");
  EXPECT_EQ(run({"--format", "openstack", "--name", "KVM 1", "--json"}), kExitOk);
  EXPECT_EQ(out_.str(),
            placement_inventories({"KVM 1", tests::host_view()}, JsonLayout::kOneLine) + "\n");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ExportCommandTest, HostHasTheNameThatTheDaemonKnowsWithoutAnother) {
  balancer::HostView host = tests::host_view();
  host.host_name = "simulated";
  const Result<std::string> text = export_text({ExportFormat::kPlacementInventories, std::nullopt},
                                               std::move(host), JsonLayout::kOneLine);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("\"simulated_NUMA0\""));
}

TEST_F(ExportCommandTest, NameThatTheClusterRefusesIsRefused) {
  EXPECT_EQ(run({"--format", "nrt", "--name", "KVM_1"}), kExitUsage);
  EXPECT_EQ(err_.str(),
            "vmnuma: 'KVM_1' cannot be the name of a Kubernetes object; --name gives another\n");
  EXPECT_EQ(run({"--format", "openstack", "--name", std::string(191, 'a')}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("cannot be the name of a resource provider"));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ExportCommandTest, IsWatchedOneDocumentALine) {
  EXPECT_EQ(run({"--format", "nrt", "--name", "a", "--json", "--watch", "5"}), kExitOk);
  const std::string document =
      node_resource_topology({"a", tests::host_view()}, JsonLayout::kOneLine) + "\n";
  EXPECT_THAT(out_.str(), ::testing::EndsWith(document));
  EXPECT_EQ(pauses_, 2);
}

TEST_F(ExportCommandTest, FormatIsNeededAndChecked) {
  EXPECT_THAT(complaint({"export"}), HasSubstr("--format is required"));
  EXPECT_THAT(
      complaint({"export", "--format", "openstak"}),
      StartsWith("vmnuma: --format: there is no format 'openstak'; did you mean 'openstack'?"));
}

}  // namespace
}  // namespace vmnuma::tools
