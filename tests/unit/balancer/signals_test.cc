// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/signals.h"

#include <csignal>
#include <future>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

namespace vmnuma::tests {
namespace {

using balancer::Signals;
using balancer::TaskBoard;

void send(int signal) {
  ASSERT_EQ(::kill(::getpid(), signal), 0);
}

/// Signals stay blocked where a test has blocked them, and the other tests need them.
class SignalsTest : public testing::Test {
 protected:
  SignalsTest() { (void)pthread_sigmask(SIG_SETMASK, nullptr, &before_); }
  ~SignalsTest() override { (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  sigset_t before_{};
  TaskBoard board_;
};

TEST_F(SignalsTest, AHangupThatComesBeforeAReceiverIsSetIsNotLost) {
  std::promise<void> reloaded;
  Signals signals(board_);
  send(SIGHUP);
  signals.pass_to({[&] { reloaded.set_value(); }, [] {}});
  reloaded.get_future().wait();
}

TEST_F(SignalsTest, AStopThatIsOverInTimeEndsNothingElse) {
  std::promise<void> stopped;
  {
    Signals signals(board_);
    signals.pass_to({[] {}, [&] { stopped.set_value(); }});
    send(SIGTERM);
    stopped.get_future().wait();
  }
  SUCCEED();
}

using SignalsDeathTest = SignalsTest;

TEST_F(SignalsDeathTest, AStopBeforeAnythingHasBegunEndsTheProcessAtOnce) {
  EXPECT_EXIT(
      {
        Signals signals(board_);
        send(SIGTERM);
        for (;;) {
          ::pause();
        }
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(SignalsDeathTest, AStopThatHangsIsCutShortAndNamesWhatHangs) {
  EXPECT_EXIT(
      {
        TaskBoard::Place disk(board_, "disk", std::chrono::seconds(1));
        (void)disk.note("writing the history");
        std::promise<void> stopped;
        Signals signals(board_);
        signals.pass_to({[] {}, [&] { stopped.set_value(); }});
        send(SIGTERM);
        stopped.get_future().wait();
        signals.allow_until(std::chrono::steady_clock::now());  // instead of waiting for seconds
        for (;;) {
          ::pause();
        }
      },
      testing::ExitedWithCode(Signals::kExitHung),
      "stopping takes too long.*still at work: 'disk' \\(writing the history, for 0 s\\)");
}

}  // namespace
}  // namespace vmnuma::tests
