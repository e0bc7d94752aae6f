// SPDX-License-Identifier: Apache-2.0
/// A killed process loses at most the epoch that was being written.
#include <array>
#include <csignal>
#include <optional>
#include <thread>

#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/history/rows.h"

namespace vmnuma::stats::tests {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class CrashTest : public HistoryTest {
 protected:
  static constexpr int kClients = 50;

  static EpochRows epoch(int number) {
    EpochRows epoch = epoch_at(at(seconds(2 * number)), number);
    for (int client = 0; client < kClients; ++client) {
      epoch.clients.push_back(client_row(1, client, number));
    }
    return epoch;
  }

  // Writes epochs from `first` on for ever, and tells each number when it is stored.
  [[noreturn]] void write_epochs(int first, int tell) {
    auto opened = History::open(options_);
    for (int number = first; opened; ++number) {
      if (!(*opened)->append_epoch(epoch(number)) ||
          ::write(tell, &number, sizeof number) != sizeof number) {
        break;
      }
    }
    ::_exit(1);
  }

  // Starts a writer, kills it after it told `epochs` of them; returns the last number it told.
  int run_and_kill(int first, int epochs) {
    std::array<int, 2> pipe{};
    EXPECT_EQ(::pipe(pipe.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(pipe[0]);
      write_epochs(first, pipe[1]);
    }
    ::close(pipe[1]);
    int told = first - 1;
    for (int i = 0; i < epochs; ++i) {
      EXPECT_EQ(::read(pipe[0], &told, sizeof told), static_cast<ssize_t>(sizeof told));
    }
    ::kill(child, SIGKILL);
    while (::read(pipe[0], &told, sizeof told) == static_cast<ssize_t>(sizeof told)) {
      // what it told before the signal reached it
    }
    ::close(pipe[0]);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    return told;
  }
};

TEST_F(CrashTest, AKilledWriterLosesAtMostTheEpochInFlight) {
  int next = 0;
  for (const int epochs : {1, 2, 7, 40, 90}) {
    const int told = run_and_kill(next, epochs);
    reopen();
    EXPECT_EQ(history().notice(), "");
    const auto nodes = stored_nodes();
    const auto clients = stored_clients();
    const int last = static_cast<int>((nodes.back().time - at(seconds(0))) / seconds(2));
    EXPECT_GE(last, told);      // what append_epoch() said is stored is there
    EXPECT_LE(last, told + 1);  // and no more than one that it did not get to say
    // No epoch is there in part.
    EXPECT_EQ(nodes.size(), 2U * static_cast<std::size_t>(last + 1));
    EXPECT_EQ(clients.size(), std::size_t{kClients} * static_cast<std::size_t>(last + 1));
    next = last + 1;
    history_.reset();
  }
}

TEST_F(CrashTest, AKilledExecutorLeavesItsIntent) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto opened = History::open(options_);
    const bool ok = opened && (*opened)->open_action(action_row(1)) &&
                    (*opened)->begin_step(1, 1, "pin vCPU 0");
    ::kill(::getpid(), ok ? SIGKILL : SIGTERM);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_THAT(history().open_actions().value(),
              ElementsAre(OpenAction{action_row(1), {{1, "pin vCPU 0", std::nullopt}}}));
}

TEST_F(CrashTest, ServesTwoWorkersAtOnce) {
  reopen();
  std::optional<Error> failed;
  std::thread executor([&] {
    for (int id = 1; id <= 50 && !failed; ++id) {
      auto done = history_->open_action(action_row(id));
      for (int step = 1; step <= 4 && done; ++step) {
        done = history_->begin_step(id, step, "pin");
        if (done) {
          done = history_->end_step(id, step, "ok");
        }
      }
      if (done) {
        done = history_->close_action(id, ActionState::kDone, "");
      }
      if (!done) {
        failed = done.error();
      }
    }
  });
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(history_->append_epoch(epoch(i)));
  }
  executor.join();
  EXPECT_FALSE(failed) << failed->message;
  EXPECT_THAT(history_->recent_actions({}).value(), SizeIs(50));
  EXPECT_THAT(stored_nodes(), SizeIs(400));
}

TEST_F(CrashTest, AReaderSeesOneStateAndStopsNoWriter) {
  ASSERT_TRUE(history().append_epoch(epoch(0)));
  SQLite::Database reader(file(), SQLite::OPEN_READONLY);
  const auto count = [&] {
    return reader.execAndGet("SELECT count(*) FROM client_sample").getInt();
  };
  reader.exec("BEGIN");
  EXPECT_EQ(count(), kClients);
  for (int i = 1; i < 10; ++i) {
    ASSERT_TRUE(history().append_epoch(epoch(i)));
  }
  ASSERT_TRUE(history().open_action(action_row(1)));
  EXPECT_EQ(count(), kClients);
  reader.exec("COMMIT");
  EXPECT_EQ(count(), 10 * kClients);
}

}  // namespace
}  // namespace vmnuma::stats::tests
