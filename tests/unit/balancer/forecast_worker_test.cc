// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/forecast_worker.h"

#include <condition_variable>
#include <deque>
#include <mutex>

#include <gtest/gtest.h>

#include "stats/forecast/model_file.h"
#include "tests/support/temp_directory.h"

namespace vmnuma::tests {
namespace {

using balancer::ForecastWorker;

constexpr std::int64_t kFirstMinute = 29'000'000;

class ForecastWorkerTest : public testing::Test {
 protected:
  /// An epoch as long as a minute; what is told of the minute before.
  LoadForecasts minute(std::int64_t permille) {
    Snapshot snapshot;
    snapshot.epoch_length = CpuTime{60'000'000};
    snapshot.vms.push_back({.id = VmId{}, .name = "web", .client_count = 1});
    snapshot.vms[0].demand = snapshot.epoch_length * permille / 1000;
    snapshot.clients.push_back({.id = {VmId{}, 0}, .vcpus = {0}});
    worker_.epoch(std::move(snapshot), minute_++ * 60);
    if (minute_ == kFirstMinute + 1) {
      return {};
    }
    std::unique_lock lock(mutex_);
    report_arrived_.wait(lock, [this] { return !reported_.empty(); });
    LoadForecasts told = std::move(reported_.front());
    reported_.pop_front();
    return told;
  }
  [[nodiscard]] std::filesystem::path model() const {
    return std::filesystem::path(directory_.path()) / stats::kModelFile;
  }

  TempDirectory directory_;
  std::mutex mutex_;
  std::condition_variable report_arrived_;
  std::deque<LoadForecasts> reported_;
  std::int64_t minute_ = kFirstMinute;
  balancer::TaskBoard board_;
  ForecastWorker worker_{board_, directory_.path() + "/history.sqlite",
                         [this](LoadForecasts forecasts) {
                           const std::scoped_lock lock(mutex_);
                           reported_.push_back(std::move(forecasts));
                           report_arrived_.notify_one();
                         }};
};

TEST_F(ForecastWorkerTest, LearnsFromEpochsAloneWhereThereIsNoHistory) {
  LoadForecasts told;
  for (int i = 0; i < 90; ++i) {
    told = minute(300);
  }
  ASSERT_TRUE(told.contains(VmId{}));
  EXPECT_EQ(told.at(VmId{}).mean, Permille{300});
}

TEST_F(ForecastWorkerTest, ATrainedModelIsBelievedAsSoonAsThereIsOneAndAsLongAsItIsThere) {
  LoadForecasts without;
  for (int i = 0; i < 90; ++i) {
    without = minute(300);
  }
  // One leaf that adds a tenth of the VM's time.
  ASSERT_TRUE(stats::write_model(model(), {{{{-1, 0, 0, 0, 100'000}}}, kFirstMinute}));
  EXPECT_EQ(minute(300).at(VmId{}).p95, without.at(VmId{}).p95 + Permille{100});
  std::filesystem::remove(model());
  EXPECT_EQ(minute(300).at(VmId{}).p95, without.at(VmId{}).p95);
}

}  // namespace
}  // namespace vmnuma::tests
