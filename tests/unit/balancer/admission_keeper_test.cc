// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/admission_keeper.h"

#include <chrono>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_directory.h"

namespace vmnuma::tests {
namespace {

using balancer::AdmissionKeeper;
using balancer::AdmissionState;
using balancer::EventLog;
using balancer::EventsRequest;
using balancer::HistoryWorker;
using balancer::HostTime;
using balancer::Severity;
using balancer::TaskBoard;
using testing::SizeIs;

class AdmissionKeeperTest : public testing::Test {
 protected:
  [[nodiscard]] AdmissionKeeper keeper_in(const std::string& state_dir) {
    return {service_, disk_, log_, {state_dir, "/", HostTime()}};
  }
  static AdmissionState state() {
    AdmissionState state;
    state.nodes.push_back({.id = {0}});
    return state;
  }
  /// Lets the disk and then the service do all that they were asked for.
  void settle() {
    std::promise<void> done;
    ASSERT_TRUE(disk_.post("testing", [&] { done.set_value(); }));
    done.get_future().wait();
    service_.restart();
    service_.run();
  }
  [[nodiscard]] bool is_kept() const { return std::filesystem::exists(path_); }

  TempDirectory directory_;
  std::string path_ = directory_.path() + "/" + std::string(balancer::kAdmissionFile);
  TaskBoard board_;
  boost::asio::io_context service_;
  EventLog log_{Severity::kError, HostTime()};
  HistoryWorker disk_{board_, nullptr, log_, [](const std::string&) {}};
};

TEST_F(AdmissionKeeperTest, WritesItAtOnceAndAgainWhenThatIsDue) {
  const auto now = std::chrono::steady_clock::now();
  AdmissionKeeper keeper = keeper_in(directory_.path());
  keeper.refresh_if_due(now + std::chrono::hours(1));
  settle();
  EXPECT_FALSE(is_kept());  // there is nothing to keep yet
  keeper.keep(state());
  settle();
  EXPECT_TRUE(is_kept());
  std::filesystem::remove(path_);
  keeper.refresh_if_due(now);
  settle();
  EXPECT_FALSE(is_kept());
  keeper.refresh_if_due(now + std::chrono::hours(1));
  settle();
  EXPECT_TRUE(is_kept());
}

TEST_F(AdmissionKeeperTest, ThatItCannotBeWrittenIsSaidOnce) {
  AdmissionKeeper keeper = keeper_in(directory_.path() + "/nowhere");
  keeper.keep(state());
  settle();
  keeper.keep(state());
  settle();
  EXPECT_THAT(log_.recent().answer(EventsRequest{}).events, SizeIs(1));
}

}  // namespace
}  // namespace vmnuma::tests
