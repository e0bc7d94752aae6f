// SPDX-License-Identifier: Apache-2.0
/// `vmnuma forecast show` and `train` on histories as the daemon writes them.
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "stats/forecast/model_file.h"
#include "stats/history/history.h"
#include "stats/history/loads.h"
#include "tests/support/load_families.h"
#include "tests/support/temp_directory.h"
#include "tests/support/time_zone.h"
#include "tools/vmnuma/run.h"

namespace vmnuma::tools {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;

constexpr std::int64_t kBegin = 20'000 * LoadPast::kDay;  // 2024-10-04 00:00 UTC

VmId vm_id(std::uint8_t number) {
  VmId id;
  id.uuid[15] = number;
  return id;
}

class ForecastCommandsTest : public ::testing::Test {
 protected:
  struct Run {
    int code = 0;
    std::string out;
    std::string err;
  };

  [[nodiscard]] std::string history() const { return directory_.path() + "/history.sqlite"; }
  [[nodiscard]] std::string model() const { return directory_.path() + "/" + stats::kModelFile; }

  /// One epoch a minute. `load` is each VM's, in thousandths of 4 vCPUs' time.
  void live(std::int64_t count,
            const std::function<std::vector<std::int64_t>(std::int64_t)>& loads) {
    const auto history =
        stats::History::open({.path = this->history(), .max_bytes = std::int64_t{1} << 30}).value();
    for (std::int64_t minute = 0; minute < count; ++minute) {
      stats::EpochRows epoch{stats::WallTime(minutes(kBegin + minute)), {2'000'000}, {}, {}};
      for (const std::int64_t load : loads(minute)) {
        stats::ClientSampleRow& row = epoch.clients.emplace_back();
        row.vm = vm_id(static_cast<std::uint8_t>(epoch.clients.size()));
        row.vm_name = "web" + std::to_string(epoch.clients.size());
        row.vm_memory_mib = 8192;
        row.vm_shares = 200;
        row.guest_os = "http://debian.org/debian/12";
        row.vcpus = 4;
        row.demand = CpuTime{8'000 * load};
      }
      ASSERT_TRUE(history->append_epoch(epoch));
    }
  }
  void live(std::int64_t count, std::int64_t load) {
    live(count, [load](std::int64_t) { return std::vector<std::int64_t>{load}; });
  }

  Run run(const Invocation& invocation) const {
    std::ostringstream out;
    std::ostringstream err;
    Surroundings surroundings{out, err, false, [](auto) { return false; }};
    const int code = tools::run(invocation, surroundings);
    return {code, out.str(), err.str()};
  }
  Run show(const std::string& vm, bool json = false) const {
    Invocation invocation;
    invocation.json = json;
    invocation.command = ForecastShowRun{vm, history()};
    return run(invocation);
  }
  Run train() const {
    Invocation invocation;
    invocation.command = ForecastTrainRun{history(), ""};
    return run(invocation);
  }

  tests::TempDirectory directory_;
  tests::TimeZone zone_{"UTC"};
};

TEST_F(ForecastCommandsTest, ShowsAForecastWithItsRecord) {
  live(101, 300);  // the last minute is not over
  const Run shown = show("web1");
  EXPECT_EQ(shown.code, kExitOk) << shown.err;
  EXPECT_EQ(shown.out, R"(VM web1 with 4 vCPUs, 8192 MiB and 200 shares, guest system
http://debian.org/debian/12, known for 100 minutes until 2024-10-04 01:40:00.
In the ten minutes from 2024-10-04 01:40:00 on it will want at most 30.3% of its
vCPUs' time in 95 of 100 minutes, and at most 30.0% in 5 of them. Predictor:
histogram.

LAST EIGHT DAYS  JUDGED(min)  COVERED  PINBALL LOSS  USED
trained                    0        -             -     0
histogram                 39   100.0%       0.0150%     4
last-maximum              99   100.0%       0.0000%     6

Trained predictor: no model has been trained.
)");
}

TEST_F(ForecastCommandsTest, ShowsTheSameAsJson) {
  live(101, 300);
  const auto json = nlohmann::json::parse(show("web1", /*json=*/true).out);
  EXPECT_EQ(json["vm_uuid"], "00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(json["vcpus"], 4);
  EXPECT_EQ(json["memory_mib"], 8192);
  EXPECT_EQ(json["shares"], 200);
  EXPECT_EQ(json["guest_os"], "http://debian.org/debian/12");
  EXPECT_EQ(json["time"], "2024-10-04T01:40:00Z");
  EXPECT_EQ(json["p95_permille"], 303);
  EXPECT_EQ(json["predictor"], "histogram");
  EXPECT_TRUE(json["predictors"][0]["coverage_permille"].is_null());
  EXPECT_EQ(json["predictors"][2]["minutes_judged"], 99);
}

TEST_F(ForecastCommandsTest, FindsAVmByItsUuid) {
  live(20, 300);
  EXPECT_THAT(show("00000000-0000-0000-0000-000000000001").out, HasSubstr("last-maximum."));
}

TEST_F(ForecastCommandsTest, SaysWhatIsMissing) {
  EXPECT_THAT(show("web1").err, HasSubstr("there is no history"));
  live(20, 300);
  const Run unknown = show("db7");
  EXPECT_EQ(unknown.code, kExitRefused);
  EXPECT_THAT(unknown.err, HasSubstr("has no VM 'db7'"));
}

TEST_F(ForecastCommandsTest, GoesOnWithoutAModelThatIsDamaged) {
  live(101, 300);
  std::ofstream(model()) << "{";
  // As JSON: the text is wrapped, and where depends on the length of the file's path.
  const auto json = nlohmann::json::parse(show("web1", /*json=*/true).out);
  EXPECT_EQ(json["predictor"], "histogram");
  EXPECT_THAT(json["model"].get<std::string>(), HasSubstr("cut off"));
}

TEST_F(ForecastCommandsTest, BelievesAModelThatIsThere) {
  live(101, 300);
  // One leaf that adds a tenth of the VM's time; it has seen the first hour.
  ASSERT_TRUE(stats::write_model(model(), {{{{-1, 0, 0, 0, 100'000}}}, kBegin + 60}));
  const auto json = nlohmann::json::parse(show("web1", /*json=*/true).out);
  EXPECT_EQ(json["predictor"], "trained");
  EXPECT_EQ(json["p95_permille"], 403);
  EXPECT_EQ(json["predictors"][0]["used"], 4);
  EXPECT_THAT(json["model"].get<std::string>(), HasSubstr("2024-10-04 01:00:00"));
}

TEST_F(ForecastCommandsTest, DoesNotLearnFromTooLittle) {
  live(101, 300);
  const Run trained = train();
  EXPECT_EQ(trained.code, kExitOk);
  EXPECT_THAT(trained.out, HasSubstr("not enough to learn from"));
  EXPECT_FALSE(std::filesystem::exists(model()));
}

TEST_F(ForecastCommandsTest, LearnsFromAHistoryAndIsThenBelieved) {
  // VMs that work and rest for one to three hours: what a histogram cannot see coming.
  constexpr std::int64_t kDays = 4;
  std::vector<tests::GeneratedVm> vms;
  for (std::int64_t which = 0; which < 5; ++which) {
    vms.push_back(tests::generate_load(tests::LoadFamily::kOnOff, which, kDays));
  }
  live(kDays * LoadPast::kDay, [&](std::int64_t minute) {
    std::vector<std::int64_t> loads;
    for (const tests::GeneratedVm& vm : vms) {
      loads.push_back(vm.load[static_cast<std::size_t>(minute)].value);
    }
    return loads;
  });
  const Run trained = train();
  EXPECT_EQ(trained.code, kExitOk) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("Written to"));
  const auto read = stats::read_model(model());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->trained_until, kBegin + (kDays - 1) * LoadPast::kDay - 1);

  const auto json = nlohmann::json::parse(show("web1", /*json=*/true).out);
  EXPECT_EQ(json["predictor"], "trained");
  // Judged on what it has not seen.
  EXPECT_LE(json["predictors"][0]["minutes_judged"], LoadPast::kDay);
  EXPECT_GE(json["predictors"][0]["minutes_judged"], LoadPast::kDay - 20);
}

TEST_F(ForecastCommandsTest, ReadsTheLoadsOfAllVmsInTheOrderTheyWereSeen) {
  live(3, [](std::int64_t minute) { return std::vector<std::int64_t>{100 * minute, 2000}; });
  std::vector<stats::VmLoads> read;
  const auto until = stats::read_vm_loads(history(), "", [&](stats::VmLoads loads) {
    read.push_back(std::move(loads));
    return true;
  });
  EXPECT_EQ(until.value(), kBegin + 2);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].minutes, (std::vector<stats::MinuteLoad>{{kBegin, {0}}, {kBegin + 1, {100}}}));
  EXPECT_EQ(read[1].minutes,
            (std::vector<stats::MinuteLoad>{{kBegin, {1000}}, {kBegin + 1, {1000}}}));
  EXPECT_EQ(read[1].facts, (VmFacts{.name = "web2",
                                    .vcpus = 4,
                                    .memory_mib = 8192,
                                    .shares = 200,
                                    .guest_os = "http://debian.org/debian/12"}));
}

}  // namespace
}  // namespace vmnuma::tools
