// SPDX-License-Identifier: Apache-2.0
#include "tools/client/client.h"

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "balancer/protocol/response.h"
#include "tests/support/fake_daemon.h"
#include "tools/client/sim_folder.h"

namespace vmnuma::tools {
namespace {

using balancer::Answer;
using balancer::DoneView;
using balancer::PauseRequest;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using tests::FakeDaemon;

constexpr milliseconds kPlenty{60000};
constexpr milliseconds kShort{20};

TEST(ClientTest, ReturnsTheResult) {
  FakeDaemon daemon(FakeDaemon::answering([](const balancer::Command& command) -> Result<Answer> {
    EXPECT_TRUE(std::holds_alternative<PauseRequest>(command));
    return DoneView{"paused", std::nullopt};
  }));
  const auto result = ask(daemon.socket_path(), PauseRequest{}, kPlenty);
  ASSERT_TRUE(result) << result.error().error.message;
  EXPECT_EQ(*result, R"({"message":"paused","action":null})");
}

TEST(ClientTest, DaemonsNoIsTheDaemons) {
  FakeDaemon daemon(FakeDaemon::answering([](const balancer::Command&) -> Result<Answer> {
    return failure(ErrorCode::kPermissionDenied, "only root may pause");
  }));
  const auto result = ask(daemon.socket_path(), PauseRequest{}, kPlenty);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().by_daemon);
  EXPECT_EQ(result.error().error.code, ErrorCode::kPermissionDenied);
  EXPECT_EQ(result.error().error.message, "only root may pause");
}

TEST(ClientTest, MissingSocketMeansThatTheDaemonDoesNotRun) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/none";
  const auto result = ask(path, PauseRequest{}, kPlenty);
  ASSERT_FALSE(result);
  EXPECT_FALSE(result.error().by_daemon);
  EXPECT_EQ(result.error().error.message,
            "cannot connect to '" + path +
                "': No such file or directory; vmnumad does not seem to be running");
}

TEST(ClientTest, MissingSocketOfTheSimulatedHostNamesTheDaemonThatIsMissing) {
  const tests::TempDirectory directory;
  const std::string path = sim_socket(sim_folder(directory.path().c_str(), ::geteuid()));
  ::setenv("XDG_RUNTIME_DIR", directory.path().c_str(), /*overwrite=*/1);
  EXPECT_THAT(ask(path, PauseRequest{}, kPlenty).error().error.message,
              HasSubstr("; 'vmnumad --simulate' does not seem to be running"));
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST(ClientTest, PathThatCannotBeASocketIsRefused) {
  EXPECT_THAT(ask("", PauseRequest{}, kPlenty).error().error.message,
              HasSubstr("cannot be a socket"));
  EXPECT_THAT(ask("/" + std::string(108, 'x'), PauseRequest{}, kPlenty).error().error.message,
              HasSubstr("the path must have 1 to 107 bytes"));
}

TEST(ClientTest, GivesUpOnASilentDaemon) {
  FakeDaemon daemon([](const std::string&) { return std::nullopt; });
  const auto result = ask(daemon.socket_path(), PauseRequest{}, kShort);
  ASSERT_FALSE(result);
  EXPECT_FALSE(result.error().by_daemon);
  EXPECT_THAT(result.error().error.message, HasSubstr("did not answer within 20 ms"));
}

TEST(ClientTest, TimeThatIsUpBeforeConnectingIsUp) {
  FakeDaemon daemon([](const std::string&) { return std::nullopt; });
  EXPECT_THAT(ask(daemon.socket_path(), PauseRequest{}, milliseconds(0)).error().error.message,
              HasSubstr("there was no time left to ask the daemon behind"));
}

TEST(ClientTest, DaemonThatHangsUpIsUnreachable) {
  for (const char* text : {"", "{\"version\":1,", "x"}) {
    FakeDaemon daemon([text](const std::string&) { return std::optional<std::string>(text); });
    const auto result = ask(daemon.socket_path(), PauseRequest{}, kPlenty);
    ASSERT_FALSE(result);
    EXPECT_FALSE(result.error().by_daemon);
    EXPECT_THAT(result.error().error.message, HasSubstr("hung up without an answer"));
  }
}

TEST(ClientTest, AnswerThatMakesNoSenseIsUnreachable) {
  for (const char* text :
       {"\n", "hello\n", "[]\n", "{\"version\":1,\"id\":99,\"ok\":true,\"result\":{}}\n",
        "{\"version\":3}\n"}) {
    FakeDaemon daemon([text](const std::string&) { return std::optional<std::string>(text); });
    const auto result = ask(daemon.socket_path(), PauseRequest{}, kPlenty);
    ASSERT_FALSE(result) << text;
    EXPECT_FALSE(result.error().by_daemon) << text;
    EXPECT_THAT(result.error().error.message, HasSubstr("from '" + daemon.socket_path() + "'"));
  }
}

TEST(ClientTest, OversizedAnswerIsRefused) {
  FakeDaemon daemon([](const std::string&) {
    return std::optional<std::string>(std::string(balancer::kLongestAnswer + 1, 'x'));
  });
  const auto result = ask(daemon.socket_path(), PauseRequest{}, kPlenty);
  ASSERT_FALSE(result);
  EXPECT_FALSE(result.error().by_daemon);
  EXPECT_THAT(result.error().error.message, HasSubstr("a line is longer than 16777216 bytes"));
}

TEST(ClientTest, LargeAnswerIsReadWhole) {
  const std::string message(3000000, 'x');
  FakeDaemon daemon(FakeDaemon::answering([&message](const balancer::Command&) -> Result<Answer> {
    return DoneView{message, std::nullopt};
  }));
  const auto result = ask(daemon.socket_path(), PauseRequest{}, kPlenty);
  ASSERT_TRUE(result) << result.error().error.message;
  EXPECT_EQ(balancer::decode_view<DoneView>(*result)->message, message);
}

}  // namespace
}  // namespace vmnuma::tools
