// SPDX-License-Identifier: Apache-2.0
// The server against clients of every kind, over real connections. Nothing here waits for a fixed
// time: a client that is refused learns it by the end of its connection.
#include "tools/exporter/http_server.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "stats/files/file_descriptor.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temp_directory.h"

namespace vmnuma::tools {
namespace {

using std::chrono::milliseconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::size_t kBigBody = std::size_t{16} << 20U;
constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

HttpLimits patient() {
  return {.most_connections = 64,
          .to_ask = milliseconds(60000),
          .to_answer = milliseconds(60000),
          .linger_time = milliseconds(60000)};
}

class Served {
 public:
  explicit Served(HttpLimits limits, const ListenAddress& address = {"127.0.0.1", 0})
      : stop_(::eventfd(0, EFD_CLOEXEC)) {
    auto server = HttpServer::listen(address, limits, [this](const HttpRequest& request) {
      return request.path == "/big" ? HttpResponse{200, "text/plain", big_}
                                    : HttpResponse::of(200, "path " + request.path);
    });
    VMNUMA_CHECK(server.has_value());
    const std::string url = (*server)->url();  // "http://127.0.0.1:PORT/"
    const auto colon = url.rfind(':');
    std::from_chars(url.data() + colon + 1, url.data() + url.size() - 1, port_);
    thread_ = std::thread([this, server = std::move(*server)] {
      const auto ran = server->run(stop_.get());
      EXPECT_TRUE(ran);
    });
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() {
    const std::uint64_t one = 1;
    VMNUMA_CHECK(::write(stop_.get(), &one, sizeof(one)) == sizeof(one));
    thread_.join();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  std::shared_ptr<const std::string> big_ = std::make_shared<const std::string>(kBigBody, 'x');
  files::FileDescriptor stop_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

class Client {
 public:
  explicit Client(const Served& served) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(served.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    VMNUMA_CHECK(
        ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  }

  /// False if the other side does not want any more.
  bool send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// Everything up to the end of the connection.
  std::string rest() {
    std::string text;
    std::vector<char> chunk(65536);
    while (true) {
      const ssize_t got = ::recv(fd_.get(), chunk.data(), chunk.size(), 0);
      if (got <= 0) {
        return text;
      }
      text.append(chunk.data(), static_cast<std::size_t>(got));
    }
  }
  void end_sending() { (void)::shutdown(fd_.get(), SHUT_WR); }

 private:
  files::FileDescriptor fd_;
};

std::string ask(const Served& served, const std::string& text) {
  Client client(served);
  (void)client.send(text);
  return client.rest();
}

void expect_served(const Served& served) {
  EXPECT_THAT(ask(served, kGet), EndsWith("\r\n\r\npath /"));
}

/// Of this process, in bytes.
std::size_t resident() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0;
  std::size_t pages = 0;
  file >> size >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(HttpServerTest, AnswersAndCloses) {
  const Served served(patient());
  const std::string answer = ask(served, "GET /a/b?c HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\npath /a/b"));
}

TEST(HttpServerTest, ARequestMayComeInPieces) {
  const Served served(patient());
  Client client(served);
  for (const char c : std::string(kGet)) {
    ASSERT_TRUE(client.send(std::string(1, c)));
  }
  EXPECT_THAT(client.rest(), EndsWith("path /"));
}

TEST(HttpServerTest, AnswersHeadWithoutABody) {
  const Served served(patient());
  const std::string answer = ask(served, "HEAD /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 7\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST(HttpServerTest, RefusesEverythingButGetAndHead) {
  const Served served(patient());
  const std::string answer =
      ask(served, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 405 Method Not Allowed\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nAllow: GET, HEAD\r\n"));
}

TEST(HttpServerTest, EverythingElseIsNamedForWhatItIs) {
  const Served served(patient());
  const auto status_of = [&served](const std::string& head) {
    return ask(served, head + "\r\n\r\n").substr(std::string_view("HTTP/1.1 ").size(), 3);
  };
  EXPECT_EQ(status_of("GET / HTTP/1.0"), "200");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHOST:  x:80 \r\nContent-Length: 0"), "200");
  EXPECT_EQ(status_of("GET"), "400");
  EXPECT_EQ(status_of("GET /"), "400");
  EXPECT_EQ(status_of("GET / HTTP/1.1"), "400");  // without a Host
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nHost: b"), "400");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a b"), "400");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nno colon"), "400");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\n folded: b"), "400");
  EXPECT_EQ(status_of("G\xc3\xa4T / HTTP/1.1\r\nHost: a"), "400");
  EXPECT_EQ(status_of("GET / HTTP/2"), "505");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5"), "413");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked"), "413");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue"), "417");
}

TEST(HttpServerTest, EveryHeadGetsAnAnswerOrTheEndOfItsConnection) {
  // A good head with one byte after the other replaced by some that mean something.
  const Served served(patient());
  const std::string good = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (const char byte : {'\0', '\r', '\n', ' ', ':', '\x80', '\xff'}) {
    for (std::size_t at = 0; at < good.size(); ++at) {
      std::string changed = good;
      changed[at] = byte;
      Client client(served);
      (void)client.send(changed);
      client.end_sending();
      const std::string answer = client.rest();
      EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 ")) << answer;
    }
  }
  expect_served(served);
}

TEST(HttpServerTest, AMegabyteInOneLineIsRefusedAndItsSenderReadsWhy) {
  const Served served(patient());
  Client client(served);
  (void)client.send("GET /" + std::string(1U << 20U, 'a'));
  client.end_sending();
  EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 431 "));
  expect_served(served);
}

TEST(HttpServerTest, AnswersBinaryNoise) {
  const Served served(patient());
  std::string noise;
  std::uint32_t state = 1;
  for (int i = 0; i < 4096; ++i) {
    state = state * 1664525U + 1013904223U;
    noise += static_cast<char>(state >> 24U);
  }
  EXPECT_THAT(ask(served, noise + "\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  expect_served(served);
}

TEST(HttpServerTest, EndsConnectionsThatNeverFinishTheirRequest) {
  HttpLimits limits = patient();
  limits.to_ask = milliseconds(20);
  const Served served(limits);
  EXPECT_EQ(ask(served, "GET / HT"), "");
  EXPECT_EQ(ask(served, ""), "");
}

TEST(HttpServerTest, EndsConnectionsThatNeverReadTheirAnswer) {
  HttpLimits limits = patient();
  limits.to_answer = milliseconds(20);
  limits.linger_time = milliseconds(20);
  const Served served(limits);
  Client slow(served);
  ASSERT_TRUE(slow.send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n"));
  // More than the limit passes while others are served until the connection is reset under it.
  while (slow.send("x")) {
    expect_served(served);
  }
  EXPECT_LT(slow.rest().size(), kBigBody);
}

TEST(HttpServerTest, EndsConnectionsThatSendForEver) {
  HttpLimits limits = patient();
  limits.linger_time = milliseconds(20);
  const Served served(limits);
  Client endless(served);
  ASSERT_TRUE(endless.send(kGet));
  const std::string noise(65536, 'x');
  while (endless.send(noise)) {
  }
  expect_served(served);
}

TEST(HttpServerTest, ConnectionsThatSayNothingLockNoOtherOut) {
  HttpLimits limits = patient();
  limits.most_connections = 8;
  const Served served(limits);
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 200; ++i) {
    silent.push_back(std::make_unique<Client>(served));
    (void)silent.back()->send("GET / HTTP/1.1\r\nHo");
    if (i % 20 == 0) {
      expect_served(served);
    }
  }
  expect_served(served);
  EXPECT_EQ(silent.front()->rest(), "");  // it had to make room
}

TEST(HttpServerTest, TenThousandConnectionsAndSlowReadersCostLittleMemory) {
  const Served served(patient());
  expect_served(served);
  const std::size_t before = resident();
  std::vector<std::unique_ptr<Client>> open;
  const std::string long_head = "GET / HTTP/1.1\r\nX: " + std::string(8000, 'y');
  for (int i = 0; i < 10000; ++i) {
    auto client = std::make_unique<Client>(served);
    (void)client->send(i % 2 == 0 ? long_head : "GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
    // Our own side of it must not run out of descriptors.
    if (open.size() < 200) {
      open.push_back(std::move(client));
    } else {
      open[static_cast<std::size_t>(i) % open.size()] = std::move(client);
    }
  }
  // 64 places of 8 KiB and the kernel's business; the big answer is there once.
  EXPECT_TRUE(tests::kUnderSanitizer || resident() < before + (std::size_t{16} << 20U));
  open.clear();
  expect_served(served);
}

/// What `curl --unix-socket` reads.
std::string ask_at(const std::string& path, std::string_view text) {
  const files::FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return "";
  }
  EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
  std::string answer(65536, '\0');
  std::size_t length = 0;
  for (ssize_t got = 1; got > 0; length += static_cast<std::size_t>(std::max<ssize_t>(got, 0))) {
    got = ::recv(fd.get(), answer.data() + length, answer.size() - length, 0);
  }
  return answer.substr(0, length);
}

TEST(HttpServerTest, ServesAtAUnixSocketAndTakesItAway) {
  const tests::TempDirectory directory;
  const ListenAddress address{"", 0, directory.path() + "/web.sock"};
  {
    const Served served(patient(), address);
    EXPECT_THAT(ask_at(address.path, kGet), EndsWith("\r\n\r\npath /"));
    const auto second = HttpServer::listen(address, patient(), {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::kBusy);
    EXPECT_THAT(ask_at(address.path, kGet), EndsWith("\r\n\r\npath /"));
  }
  EXPECT_NE(::access(address.path.c_str(), F_OK), 0);
}

TEST(HttpServerTest, TakesThePlaceOfASocketThatIsDeadAndOfNothingElse) {
  const tests::TempDirectory directory;
  const ListenAddress address{"", 0, directory.path() + "/web.sock"};
  {
    const files::FileDescriptor dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    address.path.copy(name.sun_path, sizeof(name.sun_path) - 1);
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  }
  { const Served served(patient(), address); }
  std::ofstream(address.path) << "mine";
  EXPECT_FALSE(HttpServer::listen(address, patient(), {}));
  EXPECT_EQ(::access(address.path.c_str(), F_OK), 0);
}

TEST(HttpServerTest, SaysWhereItCannotListen) {
  const Served served(patient());
  const auto second = HttpServer::listen({"127.0.0.1", served.port()}, patient(),
                                         [](const HttpRequest&) { return HttpResponse{}; });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  EXPECT_THAT(second.error().message, HasSubstr("cannot listen at '127.0.0.1:"));
  const auto foreign = HttpServer::listen({"203.0.113.1", 0}, patient(),
                                          [](const HttpRequest&) { return HttpResponse{}; });
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, ErrorCode::kInvalidArgument);
}

TEST(HttpServerTest, ReadsAddresses) {
  const auto address = parse_listen_address("[::1]:80");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->host, "::1");
  EXPECT_EQ(address->port, 80);
}

}  // namespace
}  // namespace vmnuma::tools
