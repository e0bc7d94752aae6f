// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/recorded_host.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/sim/scenarios.h"
#include "tests/support/temp_directory.h"

namespace vmnuma::tools {
namespace {

using balancer::Answer;
using balancer::Command;
using balancer::HistoryRequest;
using balancer::HistoryView;
using balancer::HostRequest;
using balancer::LogLine;
using balancer::PlanRequest;
using balancer::RecordedHost;
using balancer::StatusRequest;
using balancer::StatusView;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using tests::TempDirectory;

constexpr std::int64_t kEpochs = 20;

/// Two VMs begin on one node of two, which moves one of them.
class RecordedHostTest : public testing::Test {
 protected:
  RecordedHostTest() {
    Scenario scenario;
    scenario.name = "recorded";
    scenario.epochs = kEpochs;
    scenario.host = small_host(2);
    scenario.options.spill_enable = 0;
    for (const char* name : {"web", "db"}) {
      scenario.vms.push_back(busy_vm(name, 4, 100));
      scenario.vms.back().pinned_on = {NodeId{0}};
    }
    Simulation simulation(scenario);
    simulation.record(/*anonymize=*/false);
    while (!simulation.finished()) {
      simulation.run_epoch();
      plans_.push_back(simulation.ask(PlanRequest{}).value());
      for (std::string& line : simulation.take_recording()) {
        lines_.push_back(std::move(line));
      }
    }
  }

  [[nodiscard]] std::string path() const { return directory_.path() + "/night.rec"; }
  void write(std::size_t lines) const {
    std::ofstream file(path());
    for (std::size_t i = 0; i < lines; ++i) {
      file << lines_[i];
    }
  }
  Result<std::unique_ptr<RecordedHost>> open() {
    return RecordedHost::open({path(),
                               [this]() -> Result<std::unique_ptr<stats::History>> {
                                 if (history_fails_) {
                                   return failure(ErrorCode::kNoSpace, "the disk is full");
                                 }
                                 const std::string history = directory_.path() + "/history.sqlite";
                                 std::filesystem::remove(history);
                                 std::filesystem::remove(history + "-wal");
                                 std::filesystem::remove(history + "-shm");
                                 return stats::History::open({history});
                               },
                               [this](const LogLine& line) { reported_.push_back(line.message); }});
  }
  template <class View>
  static View ask(RecordedHost& host, const Command& command) {
    return std::get<View>(host.answer(command).value());
  }

  TempDirectory directory_;
  std::vector<std::string> lines_;
  std::vector<Answer> plans_;  ///< after each epoch
  std::vector<std::string> reported_;
  bool history_fails_ = false;
};

TEST_F(RecordedHostTest, AfterEachEpochThePlanIsThatOfTheTime) {
  write(lines_.size());
  auto host = open();
  ASSERT_TRUE(host) << host.error().message;
  for (std::int64_t epoch = 1; epoch <= kEpochs; ++epoch) {
    ASSERT_EQ((*host)->position(), epoch);
    EXPECT_EQ((*host)->answer(PlanRequest{}).value(), plans_[static_cast<std::size_t>(epoch - 1)]);
    ASSERT_TRUE((*host)->step(1));
  }
}

TEST_F(RecordedHostTest, BackIsWhereItWas) {
  write(lines_.size());
  auto host = open();
  ASSERT_TRUE(host) << host.error().message;
  std::map<std::int64_t, std::pair<Answer, Answer>> was;
  const auto now = [&] {
    return std::pair((*host)->answer(HostRequest{}).value(),
                     (*host)->answer(HistoryRequest{}).value());
  };
  while ((*host)->end().empty()) {
    was[(*host)->position()] = now();
    ASSERT_TRUE((*host)->step(1));
  }
  ASSERT_THAT(ask<HistoryView>(**host, HistoryRequest{}).moves, Not(IsEmpty()));
  const std::size_t told = reported_.size();
  for (const std::int64_t position : {kEpochs - 1, kEpochs / 2, std::int64_t{1}}) {
    ASSERT_TRUE((*host)->step(position - (*host)->position()));
    EXPECT_EQ((*host)->position(), position);
    EXPECT_EQ(now(), was[position]) << position;
  }
  EXPECT_EQ(reported_.size(), told) << "what is gone through again is told once";
  ASSERT_TRUE((*host)->step(-1000));
  EXPECT_EQ((*host)->position(), 1);
}

TEST_F(RecordedHostTest, ItStandsStillAtItsEnd) {
  write(lines_.size());
  auto host = open();
  ASSERT_TRUE(host) << host.error().message;
  ASSERT_TRUE((*host)->step(1000));
  EXPECT_EQ((*host)->position(), kEpochs);
  EXPECT_THAT((*host)->end(), HasSubstr("ends after its 20 epochs"));
  EXPECT_TRUE((*host)->answer(HostRequest{}));
  ASSERT_TRUE((*host)->step(-1));
  EXPECT_THAT((*host)->end(), IsEmpty());
}

TEST_F(RecordedHostTest, AStepThatIsFartherThanAnythingEndsAtTheEnds) {
  write(lines_.size());
  auto host = open();
  ASSERT_TRUE(host) << host.error().message;
  ASSERT_TRUE((*host)->step(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ((*host)->position(), kEpochs);
  ASSERT_TRUE((*host)->step(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ((*host)->position(), 1);
}

TEST_F(RecordedHostTest, WhereItCannotGoBackItStaysWhereItIs) {
  write(lines_.size());
  auto host = open();
  ASSERT_TRUE(host) << host.error().message;
  ASSERT_TRUE((*host)->step(kEpochs / 2));
  const std::int64_t position = (*host)->position();
  const Answer was = (*host)->answer(HostRequest{}).value();
  const auto expect_unmoved = [&] {
    EXPECT_FALSE((*host)->step(-1));
    EXPECT_EQ((*host)->position(), position);
    EXPECT_EQ((*host)->answer(HostRequest{}).value(), was);
    EXPECT_TRUE((*host)->answer(HistoryRequest{}));
  };
  std::ofstream(path()) << "hello\n";
  expect_unmoved();
  std::filesystem::remove(path());
  expect_unmoved();
  write(lines_.size());
  history_fails_ = true;
  expect_unmoved();
}

TEST_F(RecordedHostTest, ADamagedOneStandsStillAtItsLastGoodEpoch) {
  const std::size_t half = lines_.size() / 2;
  lines_[half][lines_[half].size() / 2] ^= 1;
  write(lines_.size());
  auto host = open();
  ASSERT_TRUE(host) << host.error().message;
  ASSERT_TRUE((*host)->step(1000));
  EXPECT_LT((*host)->position(), kEpochs);
  EXPECT_THAT((*host)->end(), HasSubstr("damaged"));
  EXPECT_TRUE((*host)->answer(HostRequest{}));
}

TEST_F(RecordedHostTest, NothingCanBeChanged) {
  write(lines_.size());
  auto host = open();
  ASSERT_TRUE(host) << host.error().message;
  for (const Command& command :
       {Command(balancer::MoveRequest{}), Command(balancer::ReleaseRequest{}),
        Command(balancer::OptionsSetRequest{}), Command(balancer::SimStartRequest{})}) {
    const auto refused = (*host)->answer(command);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(refused.error().message, HasSubstr("this daemon shows the recording"));
  }
}

TEST_F(RecordedHostTest, StatusNamesTheRecordingAndItsHistory) {
  write(lines_.size());
  auto host = open();
  ASSERT_TRUE(host) << host.error().message;
  const auto status = ask<StatusView>(**host, StatusRequest{});
  EXPECT_EQ(status.uri, "recording:" + path());
  EXPECT_EQ(status.history.path, directory_.path() + "/history.sqlite");
}

TEST_F(RecordedHostTest, StatusSaysOfWhichFileItIsAndWhenItsEpochWas) {
  write(lines_.size());
  auto host = open();
  ASSERT_TRUE(host) << host.error().message;
  const auto first = ask<StatusView>(**host, StatusRequest{});
  EXPECT_EQ(first.host_name, "night.rec");
  ASSERT_TRUE(first.recorded_unix_s);
  ASSERT_TRUE((*host)->step(5));
  EXPECT_EQ(ask<StatusView>(**host, StatusRequest{}).recorded_unix_s, *first.recorded_unix_s + 10);
}

TEST_F(RecordedHostTest, WhatIsNoRecordingIsRefusedWithItsName) {
  const auto problem = [this] {
    const auto host = open();
    return host ? "none" : host.error().message;
  };
  EXPECT_THAT(problem(), HasSubstr("night.rec': No such file"));
  std::ofstream(path()) << "hello\n";
  EXPECT_THAT(problem(), HasSubstr("night.rec'"));
  std::ofstream(path()) << "";
  EXPECT_THAT(problem(), HasSubstr("there is no epoch"));
  write(1);
  EXPECT_THAT(problem(), HasSubstr("no epoch"));
  std::filesystem::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_THAT(problem(), HasSubstr("night.rec' is not a regular file"));
}

}  // namespace
}  // namespace vmnuma::tools
