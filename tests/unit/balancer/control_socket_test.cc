// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/control_socket.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "balancer/protocol/response.h"

namespace vmnuma::tests {
namespace {

using balancer::ControlSocket;
using balancer::Request;
using testing::HasSubstr;

/// A connected client; everything it does is non-blocking from the socket's point of view, because
/// the test runs the socket's context itself.
class Client {
 public:
  explicit Client(const std::string& path)
      : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  [[nodiscard]] bool connected() const { return connected_; }
  void send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return;  // full, or closed by the other side
      }
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// What has arrived; closed_ is set at the end of the stream.
  std::string received() {
    std::string text;
    std::array<char, 4096> buffer{};
    ssize_t size = 0;
    while ((size = recv(fd_, buffer.data(), buffer.size(), 0)) > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    // A stream that was closed before all of it was read ends with a reset.
    closed_ = size == 0 || errno == ECONNRESET;
    return text;
  }
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  int fd_;
  bool connected_ = false;
  bool closed_ = false;
};

class ControlSocketTest : public testing::Test {
 protected:
  ControlSocketTest() {
    std::string pattern = "/tmp/vmnuma-XXXXXX";  // short, a socket's path has 107 bytes
    directory_ = mkdtemp(pattern.data());
    path_ = directory_ + "/s";
    listen();
  }
  ~ControlSocketTest() override {
    socket_.reset();
    std::filesystem::remove_all(directory_);
  }
  void listen() {
    auto listening = ControlSocket::listen(
        context_, path_, "",
        [this](std::int64_t token, const balancer::Peer& /*peer*/, const Request& request) {
          ++requests_;
          socket_->answer(token, encode_response(request.id, Result<balancer::Answer>(
                                                                 balancer::DoneView{"done", {}})));
        });
    ASSERT_TRUE(listening) << listening.error().message;
    socket_ = std::move(*listening);
  }
  void run() {
    context_.restart();
    while (context_.poll() > 0) {
    }
  }

  boost::asio::io_context context_;
  std::string directory_;
  std::string path_;
  std::unique_ptr<ControlSocket> socket_;
  int requests_ = 0;
};

constexpr std::string_view kStatus =
    "{\"version\":1,\"id\":5,\"command\":\"status\",\"args\":{}}\n";

TEST_F(ControlSocketTest, IsOpenToItsGroupOnly) {
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0660U);
}

TEST_F(ControlSocketTest, LeavesAFileAloneThatIsNoSocket) {
  const std::string path = directory_ + "/file";
  { const std::ofstream file(path); }
  EXPECT_FALSE(ControlSocket::listen(context_, path, "",
                                     [](std::int64_t, const balancer::Peer&, const Request&) {}));
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

TEST_F(ControlSocketTest, AnswersARequestUnderItsId) {
  Client client(path_);
  run();
  client.send(kStatus);
  run();
  EXPECT_THAT(client.received(), HasSubstr("\"id\":5,\"ok\":true"));
}

TEST_F(ControlSocketTest, PutsARequestTogetherThatComesInPieces) {
  Client client(path_);
  for (const char c : kStatus) {
    client.send({&c, 1});
    run();
  }
  EXPECT_EQ(requests_, 1);
}

TEST_F(ControlSocketTest, AnswersSeveralRequestsOfOneSession) {
  Client client(path_);
  client.send(std::string(kStatus) + std::string(kStatus) + std::string(kStatus));
  run();
  EXPECT_EQ(requests_, 3);
}

TEST_F(ControlSocketTest, RefusesNoiseAndGoesOn) {
  Client client(path_);
  client.send("\x01\xff not json\n" + std::string(kStatus));
  run();
  const std::string answers = client.received();
  EXPECT_THAT(answers, HasSubstr("\"ok\":false"));
  EXPECT_THAT(answers, HasSubstr("\"ok\":true"));
}

TEST_F(ControlSocketTest, ClosesASessionThatSendsAnEndlessLine) {
  Client client(path_);
  run();
  const std::string piece(32 * 1024, 'x');
  for (int i = 0; i < 4; ++i) {
    client.send(piece);
    run();
  }
  EXPECT_THAT(client.received(), HasSubstr("\"ok\":false"));
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(requests_, 0);
}

TEST_F(ControlSocketTest, TakesNoMoreSessionsThanItsLimit) {
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i < balancer::kMostSessions + 5; ++i) {
    clients.push_back(std::make_unique<Client>(path_));
    run();
  }
  // The five that have said nothing for longest had to go.
  for (std::size_t i = 0; i < clients.size(); ++i) {
    (void)clients[i]->received();
    EXPECT_EQ(clients[i]->closed(), i < 5) << i;
  }
}

TEST_F(ControlSocketTest, AClientThatAsksNowAndThenKeepsItsPlace) {
  Client regular(path_);
  std::vector<std::unique_ptr<Client>> silent;
  for (std::size_t i = 0; i < 3 * balancer::kMostSessions; ++i) {
    silent.push_back(std::make_unique<Client>(path_));
    silent.back()->send("{\"version\":1,\"id\":7,");  // and never the rest
    if (i % 10 == 0) {
      regular.send(kStatus);
    }
    run();
  }
  (void)regular.received();
  EXPECT_FALSE(regular.closed());
  EXPECT_EQ(requests_, 20);  // 192 / 10, rounded up
}

TEST_F(ControlSocketTest, AClientThatWaitsForUsIsNotClosedForAnother) {
  socket_.reset();
  std::vector<std::int64_t> asked;
  auto listening = ControlSocket::listen(
      context_, path_, "", [&asked](std::int64_t token, const balancer::Peer&, const Request&) {
        asked.push_back(token);  // answered later
      });
  ASSERT_TRUE(listening);
  socket_ = std::move(*listening);
  std::vector<std::unique_ptr<Client>> waiting;
  for (std::size_t i = 0; i < balancer::kMostSessions; ++i) {
    waiting.push_back(std::make_unique<Client>(path_));
    waiting.back()->send(kStatus);
    run();
  }
  ASSERT_EQ(asked.size(), balancer::kMostSessions);
  Client late(path_);
  run();
  (void)late.received();
  EXPECT_TRUE(late.closed());
  socket_->answer(asked[0],
                  encode_response(5, Result<balancer::Answer>(balancer::DoneView{"done", {}})));
  run();
  EXPECT_THAT(waiting[0]->received(), HasSubstr("\"ok\":true"));
  Client next(path_);  // takes the place of the one that has its answer
  run();
  (void)next.received();
  EXPECT_FALSE(next.closed());
  (void)waiting[0]->received();
  EXPECT_TRUE(waiting[0]->closed());
}

TEST_F(ControlSocketTest, AClientThatLeftWhileItWaitedMakesPlace) {
  socket_.reset();
  std::vector<std::int64_t> asked;
  auto listening = ControlSocket::listen(
      context_, path_, "", [&asked](std::int64_t token, const balancer::Peer&, const Request&) {
        asked.push_back(token);  // not answered
      });
  ASSERT_TRUE(listening);
  socket_ = std::move(*listening);
  std::vector<std::unique_ptr<Client>> waiting;
  for (std::size_t i = 0; i < balancer::kMostSessions; ++i) {
    waiting.push_back(std::make_unique<Client>(path_));
    waiting.back()->send(kStatus);
    run();
  }
  ASSERT_EQ(asked.size(), balancer::kMostSessions);
  waiting[3].reset();
  Client next(path_);
  run();
  (void)next.received();
  EXPECT_FALSE(next.closed());
  socket_->answer(asked[3],
                  encode_response(5, Result<balancer::Answer>(balancer::DoneView{"done", {}})));
  run();
  EXPECT_FALSE(waiting[0]->closed());
}

TEST_F(ControlSocketTest, MembersOfItsGroupDoNotLockRootOut) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can connect as somebody else";
  }
  socket_.reset();
  std::map<std::uint32_t, int> asked;
  auto listening = ControlSocket::listen(
      context_, path_, "",
      [&](std::int64_t token, const balancer::Peer& peer, const Request& request) {
        ++asked[peer.uid];
        if (peer.is_administrator) {
          socket_->answer(token, encode_response(request.id, Result<balancer::Answer>(
                                                                 balancer::DoneView{"done", {}})));
        }
      });
  ASSERT_TRUE(listening);
  socket_ = std::move(*listening);
  std::filesystem::permissions(directory_, std::filesystem::perms::all);
  std::filesystem::permissions(path_, std::filesystem::perms::all);
  std::vector<std::unique_ptr<Client>> members;
  for (const uid_t member : {2001U, 2002U, 2003U, 2004U, 2005U}) {
    for (std::size_t i = 0; i < balancer::kMostSessions; ++i) {
      ASSERT_EQ(seteuid(member), 0);
      members.push_back(std::make_unique<Client>(path_));
      ASSERT_EQ(seteuid(0), 0);
      members.back()->send(kStatus);  // and waits for the answer
      run();
    }
  }
  EXPECT_EQ(asked[2001], static_cast<int>(balancer::kMostOfOneUser));
  EXPECT_EQ(asked[2002], static_cast<int>(balancer::kMostOfOneUser));
  for (int i = 0; i < 30; ++i) {
    Client root(path_);
    root.send(kStatus);
    run();
    EXPECT_THAT(root.received(), HasSubstr("\"ok\":true")) << i;
  }
}

TEST_F(ControlSocketTest, AClientThatDoesNotReadIsClosedForAnother) {
  socket_.reset();
  auto listening = ControlSocket::listen(
      context_, path_, "", [this](std::int64_t token, const balancer::Peer&, const Request&) {
        socket_->answer(token, std::string(std::size_t{4} << 20U, 'x') + "\n");
      });
  ASSERT_TRUE(listening);
  socket_ = std::move(*listening);
  std::vector<std::unique_ptr<Client>> slow;
  for (std::size_t i = 0; i < balancer::kMostSessions; ++i) {
    slow.push_back(std::make_unique<Client>(path_));
    slow.back()->send(kStatus);
    run();
  }
  Client reader(path_);
  reader.send(kStatus);
  run();
  std::string answer;
  while (answer.empty() || answer.back() != '\n') {
    answer += reader.received();
    ASSERT_FALSE(reader.closed());
    run();
  }
  EXPECT_EQ(answer.size(), (std::size_t{4} << 20U) + 1);
}

TEST_F(ControlSocketTest, ABinaryFloodCostsOnlyItsSession) {
  Client flood(path_);
  std::uint32_t state = 1;
  for (int round = 0; round < 64; ++round) {
    std::string noise;
    for (int i = 0; i < 16384; ++i) {
      state = state * 1664525U + 1013904223U;
      noise += static_cast<char>(state >> 24U);
    }
    flood.send(noise);
    run();
    (void)flood.received();
  }
  EXPECT_EQ(requests_, 0);
  Client other(path_);
  other.send(kStatus);
  run();
  EXPECT_THAT(other.received(), HasSubstr("\"ok\":true"));
}

TEST_F(ControlSocketTest, AClientThatLeavesBeforeItsAnswerHarmsNoOther) {
  {
    Client client(path_);
    client.send(kStatus);
  }
  run();
  Client other(path_);
  other.send(kStatus);
  run();
  EXPECT_THAT(other.received(), HasSubstr("\"ok\":true"));
}

TEST_F(ControlSocketTest, DoesNotTakeASocketAwayFromALivingDaemon) {
  const auto second = ControlSocket::listen(
      context_, path_, "", [](std::int64_t, const balancer::Peer&, const Request&) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
}

TEST_F(ControlSocketTest, ReplacesASocketThatNoProcessListensOnAnyMore) {
  socket_.reset();
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  close(fd);  // killed: the file stays
  listen();
  EXPECT_TRUE(Client(path_).connected());
}

TEST_F(ControlSocketTest, SaysWhichGroupIsMissing) {
  const auto other =
      ControlSocket::listen(context_, directory_ + "/t", "no-such-group-here",
                            [](std::int64_t, const balancer::Peer&, const Request&) {});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("no-such-group-here"));
}

}  // namespace
}  // namespace vmnuma::tests
