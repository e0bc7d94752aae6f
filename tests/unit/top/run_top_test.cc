// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/top/run_top.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/protocol/response.h"
#include "tests/support/views.h"

namespace vmnuma::tools {
namespace {

using balancer::Command;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Kind = TopEvent::Kind;

TopEvent key(TopKey pressed) {
  return {Kind::kKey, {pressed}};
}
TopEvent key(char pressed) {
  return {Kind::kKey, {TopKey::kCharacter, pressed}};
}

/// What was shown on the terminal, and when.
struct Seen {
  std::vector<std::string> frames;
  std::vector<milliseconds> periods;
  bool restored = false;
};

/// Does as it is told, then stops.
class ScriptedTerminal : public TopTerminal {
 public:
  ScriptedTerminal(std::vector<TopEvent> events, Seen& seen)
      : events_(std::move(events)), seen_(seen) {}
  ~ScriptedTerminal() override { seen_.restored = true; }

  [[nodiscard]] ScreenSize size() const override { return {24, 80}; }
  void show(const std::vector<Line>& lines) override { seen_.frames.push_back(plain_text(lines)); }
  [[nodiscard]] TopEvent wait(milliseconds period) override {
    seen_.periods.push_back(period);
    return next_ < events_.size() ? events_[next_++] : TopEvent{Kind::kStopped, {}};
  }

 private:
  std::vector<TopEvent> events_;
  std::size_t next_ = 0;
  Seen& seen_;
};

class RunTopTest : public ::testing::Test {
 protected:
  OrFailure<int> run(std::vector<TopEvent> events) {
    return run_top([this](const Command& command) { return answer(command); },
                   [&]() -> Result<std::unique_ptr<TopTerminal>> {
                     return std::make_unique<ScriptedTerminal>(std::move(events), seen_);
                   });
  }

  Result<std::string> answer(const Command& command) {
    asked_.emplace_back(name_of(command));
    if (asked_.size() > answers_) {
      return failure(ErrorCode::kUnavailable, "cannot connect");
    }
    balancer::Answer answer = tests::host_view();
    if (std::holds_alternative<balancer::StatusRequest>(command)) {
      answer = tests::status_view();
    } else if (std::holds_alternative<balancer::PauseRequest>(command)) {
      answer = balancer::DoneView{"no more moves begin", std::nullopt};
    } else if (std::holds_alternative<balancer::ExplainRequest>(command)) {
      answer = tests::explain_view();
    } else if (std::holds_alternative<balancer::HistoryRequest>(command)) {
      answer = tests::history_view();
    }
    const std::string line = encode_response(1, answer);
    return balancer::parse_response(line, 1)->result;
  }

  Seen seen_;
  std::vector<std::string> asked_;
  std::size_t answers_ = 1000;  // then the daemon is gone
};

TEST_F(RunTopTest, AsksOnceAnEpochAndDrawsEveryTime) {
  ASSERT_TRUE(run({{Kind::kTick, {}}, {Kind::kTick, {}}}));
  EXPECT_THAT(asked_, ElementsAre("status", "host", "status", "host", "status", "host"));
  EXPECT_EQ(seen_.frames.size(), 3U);
  EXPECT_EQ(seen_.periods[0], milliseconds(2000));
  EXPECT_TRUE(seen_.restored);
}

TEST_F(RunTopTest, KeysAndSizesOnlyDraw) {
  ASSERT_TRUE(run({key('n'), {Kind::kResized, {}}}));
  EXPECT_THAT(asked_, ElementsAre("status", "host"));
  EXPECT_EQ(seen_.frames.size(), 3U);
}

TEST_F(RunTopTest, QuitEndsIt) {
  ASSERT_TRUE(run({key('q'), {Kind::kTick, {}}}));
  EXPECT_EQ(seen_.frames.size(), 1U);
  EXPECT_TRUE(seen_.restored);
}

TEST_F(RunTopTest, EnterAsksAboutTheVmAtOnce) {
  ASSERT_TRUE(run({key(TopKey::kEnter), {Kind::kTick, {}}, key(TopKey::kBack), {Kind::kTick, {}}}));
  EXPECT_THAT(asked_, ElementsAre("status", "host", "explain", "history", "status", "host",
                                  "explain", "history", "status", "host"));
  EXPECT_THAT(seen_.frames[1], ::testing::StartsWith("VM web1 "));
}

TEST_F(RunTopTest, AClickChoosesAndASecondOneLooksIntoTheVm) {
  const auto click = [](std::size_t row) { return TopEvent{Kind::kClick, {}, row}; };
  ASSERT_TRUE(run({key('n'), click(0), click(23)}));
  EXPECT_THAT(asked_, ElementsAre("status", "host"));
  const std::string& frame = seen_.frames.back();
  const std::size_t at = frame.find("\nweb1/0");
  ASSERT_NE(at, std::string::npos) << frame;
  const auto row = static_cast<std::size_t>(
      std::count(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(at) + 1, '\n'));
  seen_ = {};
  asked_.clear();
  ASSERT_TRUE(run({key('n'), click(row), click(row)}));
  EXPECT_THAT(asked_, ElementsAre("status", "host", "explain", "history"));
  EXPECT_THAT(seen_.frames.back(), ::testing::StartsWith("VM web1 client 0"));
}

TEST_F(RunTopTest, WhatIsConfirmedIsCommandedAndAnswered) {
  ASSERT_TRUE(run({key('p'), key('y'), key('n')}));
  EXPECT_THAT(asked_, ElementsAre("status", "host", "pause", "status", "host"));
  EXPECT_THAT(seen_.frames[1], HasSubstr("Pause, and start no more moves (y/n)?"));
  EXPECT_THAT(seen_.frames[2], HasSubstr("no more moves begin"));
  EXPECT_THAT(seen_.frames[3], ::testing::Not(HasSubstr("no more moves begin")));
}

TEST_F(RunTopTest, FrozenScreenAsksNothing) {
  ASSERT_TRUE(run({key(' '), {Kind::kTick, {}}, key(' '), {Kind::kTick, {}}}));
  EXPECT_THAT(asked_, ElementsAre("status", "host", "status", "host"));
}

TEST_F(RunTopTest, LastFiguresStayWhenTheDaemonIsGone) {
  answers_ = 2;
  ASSERT_TRUE(run({{Kind::kTick, {}}}));
  EXPECT_THAT(seen_.frames[1], HasSubstr("out of date: cannot connect"));
  EXPECT_THAT(seen_.frames[1], HasSubstr("web1/0"));
}

TEST_F(RunTopTest, NothingIsDrawnWithoutADaemon) {
  answers_ = 0;
  const OrFailure<int> shown = run({});
  ASSERT_FALSE(shown);
  EXPECT_EQ(shown.error().error.message, "cannot connect");
  EXPECT_TRUE(seen_.frames.empty());
}

TEST_F(RunTopTest, TerminalThatCannotBeOpenedIsTold) {
  const OrFailure<int> shown =
      run_top([this](const Command& command) { return answer(command); },
              []() -> Result<std::unique_ptr<TopTerminal>> {
                return failure(ErrorCode::kUnsupported, "no such terminal");
              });
  ASSERT_FALSE(shown);
  EXPECT_EQ(shown.error().error.message, "no such terminal");
}

}  // namespace
}  // namespace vmnuma::tools
