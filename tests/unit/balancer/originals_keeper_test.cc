// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/originals_keeper.h"

#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/service/remembered.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::EventLog;
using balancer::HistoryWorker;
using balancer::HostTime;
using balancer::OriginalsKeeper;
using balancer::Severity;
using balancer::TaskBoard;
using std::chrono::hours;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::IsEmpty;

class OriginalsKeeperTest : public testing::Test {
 protected:
  /// The VMs whose originals are stored, once all that was asked for is.
  std::vector<VmId> stored() {
    std::promise<void> done;
    EXPECT_TRUE(worker_.post("testing", [&] { done.set_value(); }));
    done.get_future().wait();
    std::vector<VmId> vms;
    for (const auto& [vm, original] : balancer::remember(*history_, log_).originals) {
      vms.push_back(vm);
    }
    return vms;
  }
  void pass_an_epoch() {
    host_.carry_out(host_.report_domains());
    host_.carry_out(host_.epoch());
  }

  TempDirectory directory_;
  std::unique_ptr<stats::History> history_ =
      stats::History::open({directory_.path() + "/history.sqlite"}).value();
  TaskBoard board_;
  EventLog log_{Severity::kError, HostTime()};
  HistoryWorker worker_{board_, history_.get(), log_, [](const std::string&) {}};
  HostStory host_{2, balancer::Mode::kActive};
};

TEST_F(OriginalsKeeperTest, StoresThoseOfRunningVmsOnceAnHour) {
  const auto began = std::chrono::steady_clock::now();
  OriginalsKeeper keeper(worker_, began);
  host_.start(small_vm(1, "one", 1), 0, 50);
  host_.start(small_vm(2, "two", 1), 0, 50);
  keeper.keep_if_due(began + hours(1), host_.controller());
  EXPECT_THAT(stored(), IsEmpty()) << "it is not known yet which VMs run";
  for (int epoch = 0; epoch < 3; ++epoch) {
    pass_an_epoch();
  }
  keeper.keep_if_due(began + minutes(59), host_.controller());
  EXPECT_THAT(stored(), IsEmpty());
  keeper.keep_if_due(began + hours(1), host_.controller());
  EXPECT_THAT(stored(), ElementsAre(vm_id(1), vm_id(2)));
  host_.stop(2);
  pass_an_epoch();
  keeper.keep_if_due(began + minutes(119), host_.controller());
  EXPECT_THAT(stored(), ElementsAre(vm_id(1), vm_id(2)));
  keeper.keep_if_due(began + hours(2), host_.controller());
  EXPECT_THAT(stored(), ElementsAre(vm_id(1)));
}

}  // namespace
}  // namespace vmnuma::tests
