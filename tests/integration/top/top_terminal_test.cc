// SPDX-License-Identifier: Apache-2.0
// The full screen in tmux, against a daemon of the test's own. What is on the screen is looked at
// whenever the program asks that daemon again, so nothing depends on how long anything takes: it
// asks only when it has drawn the screen.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/support/fake_daemon.h"
#include "tests/support/views.h"

namespace vmnuma {
namespace {

using balancer::Answer;
using balancer::Command;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using tests::FakeDaemon;

std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    return "cannot start " + command;
  }
  std::string text;
  std::array<char, 4096> chunk{};
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
    text.append(chunk.data(), got);
  }
  (void)::pclose(pipe);  // what it said is what counts
  return text;
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Counts the questions, and waits for the next one.
class Questions {
 public:
  void count() {
    const std::lock_guard lock(mutex_);
    ++count_;
    came_.notify_all();
  }
  /// False if none came for as long as the slowest machine may need.
  [[nodiscard]] bool wait_for_next() {
    std::unique_lock lock(mutex_);
    const std::int64_t before = count_;
    return came_.wait_for(lock, std::chrono::seconds(30), [&] { return count_ > before; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::int64_t count_ = 0;
};

class TopTerminalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v tmux >/dev/null") != 0) {
      GTEST_SKIP() << "tmux is not installed";
    }
    // The shell in the pane tells what the program did to the terminal.
    const std::string script = directory_.path() + "/script";
    std::ofstream(script) << fmt::format(
        "echo before\nstty -a >{0}/stty-before\n{1} --socket {2} top\necho exit=$?\n"
        "stty -a >{0}/stty-after\n{3} wait-for -S ended\nread line\n",
        directory_.path(), VMNUMA_PROGRAM, daemon_.socket_path(), tmux_);
    const std::string begun = output_of(
        fmt::format("TMUX= {} -f /dev/null -u new-session -d -x 80 -y 24 sh {}", tmux_, script));
    ASSERT_EQ(begun, "");
    is_running_ = true;
  }
  void TearDown() override {
    if (is_running_) {
      (void)output_of(tmux_ + " kill-server");  // whatever the test found
    }
  }

  [[nodiscard]] std::string screen() const { return output_of(tmux_ + " capture-pane -p"); }

  /// The whole screen as soon as it has the text; what it is in the end if it never has.
  [[nodiscard]] std::string screen_with(const std::string& text) {
    bool is_there = false;
    for (int tries = 0; tries < 200; ++tries) {
      const bool was_there = is_there;
      std::string now = screen();
      is_there = now.find(text) != std::string::npos;
      if (was_there && is_there) {
        return now;
      }
      if (!questions_.wait_for_next()) {
        return "the program asks nothing any more\n" + screen();
      }
      // The first time the text was seen, the program may have been drawing what is around it.
    }
    return screen();
  }

  void press(const std::string& keys) { EXPECT_EQ(output_of(tmux_ + " send-keys " + keys), ""); }

  void expect_restored(const std::string& exit) {
    EXPECT_EQ(output_of(tmux_ + " wait-for ended"), "");
    EXPECT_THAT(screen(), HasSubstr("before\n" + exit + "\n"));
    EXPECT_THAT(modes("stty-before"), HasSubstr("icanon"));
    EXPECT_EQ(modes("stty-after"), modes("stty-before"));
  }

  /// What stty(1) said, without the line that has the size.
  [[nodiscard]] std::string modes(const std::string& file) const {
    const std::string text = contents(directory_.path() + "/" + file);
    return text.substr(std::min(text.find('\n'), text.size()));
  }

  /// The program's process, which the pane's shell has started.
  [[nodiscard]] pid_t program() const {
    const std::string shell = output_of(tmux_ + " list-panes -F '#{pane_pid}'");
    const int number = std::atoi(shell.c_str());
    return std::atoi(contents(fmt::format("/proc/{0}/task/{0}/children", number)).c_str());
  }

  tests::TempDirectory directory_;
  const std::string tmux_ = "tmux -S " + directory_.path() + "/tmux";
  Questions questions_;
  FakeDaemon daemon_{FakeDaemon::answering([this](const Command& command) -> Result<Answer> {
    questions_.count();
    if (std::holds_alternative<balancer::ExplainRequest>(command)) {
      return tests::explain_view();
    }
    if (std::holds_alternative<balancer::HistoryRequest>(command)) {
      return tests::history_view();
    }
    if (std::holds_alternative<balancer::HostRequest>(command)) {
      return tests::host_view();
    }
    if (const auto* move = std::get_if<balancer::MoveRequest>(&command)) {
      return balancer::DoneView{fmt::format("client {} of {} moves to node {}", *move->client,
                                            move->vm, move->node.value),
                                12};
    }
    balancer::StatusView status = tests::status_view();
    status.epoch_length_ms = 250;
    return status;
  })};
  bool is_running_ = false;
};

TEST_F(TopTerminalTest, ShowsResizesLooksIntoAVmAndLeavesTheTerminalAsItWas) {
  EXPECT_THAT(screen_with("page 1/1"), StartsWith("vmnuma degraded  epoch 1234"));
  EXPECT_THAT(screen(), HasSubstr("\nnode 1 "));
  EXPECT_EQ(output_of(tmux_ + " resize-window -x 132 -y 30"), "");
  // The footer stands in the last of 30 lines.
  EXPECT_THAT(screen_with(std::string(15, '\n') + "page"), HasSubstr("page 1/1"));
  press("n");
  EXPECT_THAT(screen_with("LOCAL  name"), HasSubstr("web1/0"));
  EXPECT_EQ(output_of(tmux_ + " resize-window -x 50 -y 30"), "");
  EXPECT_THAT(screen_with("Enter why  Space hold\n"), HasSubstr("web1/0"));
  press("Down Enter");
  EXPECT_THAT(screen_with("Esc back"), StartsWith("VM web1 "));
  press("q");
  EXPECT_THAT(screen_with("page 1/1"), HasSubstr("node 1"));
  press("q");
  expect_restored("exit=0");
}

TEST_F(TopTerminalTest, FindsAVmShowsWhereItsMemoryIsAndMovesItOnceThatIsConfirmed) {
  EXPECT_THAT(screen_with("page 1/1"), HasSubstr("db \"7\"/0"));
  press("/ web");
  EXPECT_THAT(screen_with("name contains: web_"), Not(HasSubstr("db \"7\"/0")));
  press("Enter");
  EXPECT_THAT(screen_with("/web  Esc all"), HasSubstr("web1/0"));
  press("x");
  EXPECT_THAT(screen_with("Esc back"), HasSubstr("15.0 GiB*"));
  press("q v 1");
  EXPECT_THAT(screen_with("(Enter does, Esc does not): 1_"), HasSubstr("Move VM web1, client 0"));
  press("Enter");
  EXPECT_THAT(screen_with("moves to node 1"),
              HasSubstr("client 0 of c7a5fdbd-edaf-9455-926a-d65c16db1809 moves to node 1"));
  press("q");
  expect_restored("exit=0");
}

TEST_F(TopTerminalTest, AsksBeforeNoMoreMovesBeginAndTakesNoForAnAnswer) {
  EXPECT_THAT(screen_with("page 1/1"), HasSubstr("node 1"));
  press("p");
  EXPECT_THAT(screen_with("(y/n)?"), HasSubstr("start no more moves"));
  press("n");
  EXPECT_THAT(screen_with("page 1/1"), Not(HasSubstr("(y/n)?")));
  press("q");
  expect_restored("exit=0");
}

TEST_F(TopTerminalTest, AClickChoosesAClientAndASecondOneLooksIntoItsVm) {
  EXPECT_THAT(screen_with("page 1/1"), HasSubstr("node 1"));
  press("n");
  const std::string shown = screen_with("LOCAL  name");
  const std::size_t at = shown.find("\nweb1/0");
  ASSERT_NE(at, std::string::npos) << shown;
  const auto row =
      std::count(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(at) + 1, '\n');
  // As terminals of tmux's kind tell of a press and a release (xterm's control sequences, "X10
  // compatibility").
  const std::string place = fmt::format("21 {:02x}", 33 + row);
  const std::string click = fmt::format(" 1b 5b 4d 20 {0} 1b 5b 4d 23 {0}", place);
  press("-H" + click + click);  // both at once, as a slow machine reads a double click
  EXPECT_THAT(screen_with("Esc back"), StartsWith("VM web1 client 0"));
  press("q");
  press("q");
  expect_restored("exit=0");
}

TEST_F(TopTerminalTest, WhatTheMouseDoesWithoutAMeaningChangesNothing) {
  EXPECT_THAT(screen_with("page 1/1"), HasSubstr("node 1"));
  press("-H 1b 5b 4d 20 21 21");  // the first button goes down and stays there
  EXPECT_TRUE(questions_.wait_for_next());
  press("-H 1b 5b 4d 22 21 21 1b 5b 4d 23 21 21");  // the third one, down and up
  EXPECT_TRUE(questions_.wait_for_next());
  press("-H 1b 5b 4d 62 21 21");  // a wheel that turns sideways
  EXPECT_TRUE(questions_.wait_for_next());
  EXPECT_THAT(screen_with("page 1/1"), HasSubstr("node 1"));
  press("q");
  expect_restored("exit=0");
}

TEST_F(TopTerminalTest, LeavesTheTerminalAsItWasWhenItIsTerminated) {
  EXPECT_THAT(screen_with("page 1/1"), HasSubstr("node 1"));
  ASSERT_GT(program(), 1);
  ASSERT_EQ(::kill(program(), SIGTERM), 0);
  expect_restored("exit=0");
}

}  // namespace
}  // namespace vmnuma
