// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_daemon.h"
#include "tests/support/temp_directory.h"
#include "tests/support/views.h"
#include "tools/vmnuma/export/export_text.h"
#include "tools/vmnuma/run.h"

namespace vmnuma::tools {
namespace {

using balancer::HostView;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A follower is told to stop after the last state.
class FollowExportTest : public ::testing::Test {
 protected:
  /// Without a state the daemon hangs up, as one that is being stopped does.
  int follow(const std::vector<std::optional<HostView>>& states,
             const std::vector<std::string>& arguments = {"--follow", "--name", "kvm1"}) {
    std::atomic<std::size_t> now = 0;
    const auto answer = tests::FakeDaemon::answering(
        [&](const balancer::Command&) -> Result<balancer::Answer> { return *states[now]; });
    tests::FakeDaemon daemon([&](const std::string& line) {
      return states[now] ? answer(line) : std::optional<std::string>("");
    });
    std::vector<std::string> all{"--socket", daemon.socket_path(), "export", "--format", "nrt"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    auto invocation = parse_arguments(all, tests::kNoonUnixS);
    EXPECT_TRUE(invocation) << invocation.error().text;
    std::get<ExportRun>(invocation->command).root = host_.path();
    Surroundings surroundings{out_, err_, /*out_is_terminal=*/false,
                              [&](std::chrono::milliseconds time) {
                                pauses_.push_back(time.count());
                                return ++now < states.size();
                              },
                              std::chrono::milliseconds(60000)};
    return tools::run(*invocation, surroundings);
  }

  /// What is printed for the host.
  std::string line(const HostView& host) {
    ExportRun run{ExportFormat::kNodeResourceTopology, "kvm1"};
    run.root = host_.path();
    return export_text(run, host, JsonLayout::kOneLine).value();
  }

  tests::TempDirectory host_;  ///< without pools and devices
  std::ostringstream out_;
  std::ostringstream err_;
  std::vector<std::int64_t> pauses_;
};

HostView with_load(std::int64_t pct) {
  HostView host = tests::host_view();
  host.nodes[0].load_pct = pct;
  return host;
}

TEST_F(FollowExportTest, PrintsALineWhenTheDocumentHasChangedAndOnlyThen) {
  HostView later = with_load(10);
  later.epoch += 3;  // is not in the document
  EXPECT_EQ(follow({with_load(10), later, with_load(20), with_load(20), with_load(10)}), kExitOk);
  EXPECT_EQ(out_.str(), line(with_load(10)) + line(with_load(20)) + line(with_load(10)));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(FollowExportTest, LooksOncePerEpochOrAsOftenAsAskedFor) {
  HostView slow = with_load(10);
  slow.epoch_length_ms = 5000;
  EXPECT_EQ(follow({slow, slow}), kExitOk);
  EXPECT_THAT(pauses_, ElementsAre(5000, 5000));
  pauses_.clear();
  EXPECT_EQ(follow({slow, slow}, {"--follow", "60", "--name", "kvm1"}), kExitOk);
  EXPECT_THAT(pauses_, ElementsAre(60000, 60000));
}

TEST_F(FollowExportTest, OutlivesTheDaemonsRestartWithOneSentence) {
  HostView new_daemon = tests::host_view();
  new_daemon.epoch = 0;
  HostView without_vms = with_load(10);
  without_vms.vms_known = false;
  EXPECT_EQ(follow({with_load(10), std::nullopt, std::nullopt, new_daemon, without_vms,
                    with_load(10), with_load(20)}),
            kExitOk);
  EXPECT_EQ(out_.str(), line(with_load(10)) + line(with_load(20)));
  EXPECT_THAT(err_.str(), HasSubstr("hung up without an answer; trying again\n"));
  EXPECT_EQ(err_.str().find('\n'), err_.str().size() - 1);
}

TEST_F(FollowExportTest, EveryAbsenceIsSaidAnew) {
  EXPECT_EQ(follow({std::nullopt, with_load(10), std::nullopt}), kExitOk);
  EXPECT_EQ(out_.str(), line(with_load(10)));
  const std::string said = err_.str();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2);
}

TEST_F(FollowExportTest, NameThatTheClusterRefusesEndsIt) {
  EXPECT_EQ(follow({with_load(10), with_load(10)}, {"--follow", "--name", "KVM_1"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("'KVM_1' cannot be the name of a Kubernetes object"));
  EXPECT_THAT(pauses_, IsEmpty());
}

TEST_F(FollowExportTest, ASecondWayOfRepeatingIsRefused) {
  const std::vector<std::string> both{"export", "--format", "nrt", "--follow", "--watch"};
  const auto invocation = parse_arguments(both, tests::kNoonUnixS);
  ASSERT_FALSE(invocation);
  EXPECT_EQ(invocation.error().code, kExitUsage);
}

}  // namespace
}  // namespace vmnuma::tools
