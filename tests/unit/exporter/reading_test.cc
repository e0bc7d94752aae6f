// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/reading.h"

#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/fake_daemon.h"
#include "tests/support/views.h"

namespace vmnuma::tools {
namespace {

using balancer::Answer;
using balancer::Command;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using tests::FakeDaemon;

constexpr milliseconds kLong{20000};

Result<Answer> answer(const Command& command) {
  if (std::holds_alternative<balancer::StatusRequest>(command)) {
    return Answer(tests::status_view());
  }
  if (std::holds_alternative<balancer::HostRequest>(command)) {
    return Answer(tests::host_view());
  }
  if (std::holds_alternative<balancer::HistoryRequest>(command)) {
    return Answer(tests::history_view());
  }
  return failure(ErrorCode::kUnsupported, "no");
}

TEST(ReadingTest, BringsStatusHostAndHistory) {
  const FakeDaemon daemon(FakeDaemon::answering(answer));
  const auto views = read_daemon(daemon.socket_path(), kLong);
  ASSERT_TRUE(views) << views.error().message;
  EXPECT_EQ(views->status, tests::status_view());
  EXPECT_EQ(views->host, tests::host_view());
  EXPECT_EQ(nlohmann::json::parse(views->history_json)["moves"].size(), 2U);
}

TEST(ReadingTest, OnlyAsksWhatChangesNothing) {
  std::mutex mutex;
  int asked = 0;
  bool changes = false;
  const FakeDaemon daemon(FakeDaemon::answering([&](const Command& command) {
    const std::lock_guard lock(mutex);
    ++asked;
    changes = changes || balancer::changes_something(command);
    return answer(command);
  }));
  ASSERT_TRUE(read_daemon(daemon.socket_path(), kLong));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(changes);
}

TEST(ReadingTest, ExplanationsAreTheDaemonsAnswersOrItsRefusals) {
  const FakeDaemon daemon(FakeDaemon::answering([](const Command& command) -> Result<Answer> {
    const auto* explain = std::get_if<balancer::ExplainRequest>(&command);
    EXPECT_NE(explain, nullptr);
    if (explain->vm == "u1") {
      return Answer(tests::explain_view());
    }
    return failure(ErrorCode::kNotFound, "there is no VM 'u2'");
  }));
  const auto explained = read_explanations(daemon.socket_path(), {"u1", "u2"}, kLong);
  EXPECT_EQ(nlohmann::json::parse(explained.at("u1"))["explain"]["vm"], "web1");
  EXPECT_EQ(explained.at("u2"), R"({"problem":"there is no VM 'u2'"})");
  EXPECT_TRUE(read_explanations("/nonexistent", {"u1"}, kLong).empty());
}

TEST(ReadingTest, GoesOnWithoutAHistory) {
  const FakeDaemon daemon(FakeDaemon::answering([](const Command& command) -> Result<Answer> {
    if (std::holds_alternative<balancer::HistoryRequest>(command)) {
      return failure(ErrorCode::kUnavailable, "there is no history");
    }
    return answer(command);
  }));
  const auto views = read_daemon(daemon.socket_path(), kLong);
  ASSERT_TRUE(views) << views.error().message;
  EXPECT_EQ(views->history_json, "null");
}

TEST(ReadingTest, GoesOnIfTheHistoryIsNotAnswered) {
  const FakeDaemon::Reply answers = FakeDaemon::answering(answer);
  const FakeDaemon daemon([&](const std::string& line) {
    return line.find("\"history\"") == std::string::npos ? answers(line)
                                                         : std::optional<std::string>("");
  });
  const auto views = read_daemon(daemon.socket_path(), kLong);
  ASSERT_TRUE(views) << views.error().message;
  EXPECT_EQ(views->history_json, "null");
}

TEST(ReadingTest, SaysThatTheDaemonIsTooOld) {
  const FakeDaemon daemon(FakeDaemon::answering([](const Command& command) -> Result<Answer> {
    if (std::holds_alternative<balancer::HostRequest>(command)) {
      return failure(ErrorCode::kNotFound, "there is no command 'host'");
    }
    return answer(command);
  }));
  const auto views = read_daemon(daemon.socket_path(), kLong);
  ASSERT_FALSE(views);
  EXPECT_THAT(views.error().message, HasSubstr("there is no command 'host'"));
}

TEST(ReadingTest, GivesUpOnASilentDaemon) {
  const FakeDaemon daemon([](const std::string&) { return std::nullopt; });
  const auto views = read_daemon(daemon.socket_path(), milliseconds(20));
  ASSERT_FALSE(views);
  EXPECT_THAT(views.error().message, HasSubstr("did not answer within"));
}

TEST(ReadingTest, SaysThatThereIsNoDaemon) {
  const tests::TempDirectory directory;
  const auto views = read_daemon(directory.path() + "/s", kLong);
  ASSERT_FALSE(views);
  EXPECT_THAT(views.error().message, HasSubstr("vmnumad does not seem to be running"));
}

TEST(ReadingTest, TakesNoNonsense) {
  const FakeDaemon daemon([](const std::string&) { return "what?\n"; });
  EXPECT_FALSE(read_daemon(daemon.socket_path(), kLong));
}

}  // namespace
}  // namespace vmnuma::tools
