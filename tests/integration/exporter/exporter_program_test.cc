// SPDX-License-Identifier: Apache-2.0
/// vmnuma-exporter as a process: it says where it listens, is scraped, survives its daemon and a
/// lack of descriptors, and ends when told to.
#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fake_daemon.h"
#include "tests/support/temp_directory.h"
#include "tests/support/views.h"

namespace vmnuma::tests {
namespace {

using balancer::Answer;
using balancer::Command;
using testing::HasSubstr;
using testing::StartsWith;

Result<Answer> answer(const Command& command) {
  if (std::holds_alternative<balancer::StatusRequest>(command)) {
    return Answer(status_view());
  }
  if (std::holds_alternative<balancer::HostRequest>(command)) {
    return Answer(host_view());
  }
  if (std::holds_alternative<balancer::HistoryRequest>(command)) {
    return Answer(history_view());
  }
  return failure(ErrorCode::kUnsupported, "nobody should ask that");
}

/// The program, from its first line on.
class Exporter {
 public:
  explicit Exporter(const std::string& socket) {
    std::array<int, 2> pipe{};
    VMNUMA_CHECK(::pipe2(pipe.data(), O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions{};
    VMNUMA_CHECK(posix_spawn_file_actions_init(&actions) == 0);
    VMNUMA_CHECK(posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO) == 0);
    std::array<std::string, 5> words{VMNUMA_EXPORTER, "--socket", socket, "--listen",
                                     "127.0.0.1:0"};
    std::array<char*, 6> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) {
      arguments[i] = words[i].data();
    }
    VMNUMA_CHECK(
        ::posix_spawn(&pid_, VMNUMA_EXPORTER, &actions, nullptr, arguments.data(), environ) == 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)::close(pipe[1]);
    for (char c = 0; ::read(pipe[0], &c, 1) == 1 && c != '\n';) {
      first_line_ += c;
    }
    (void)::close(pipe[0]);
    const auto colon = first_line_.rfind(':') + 1;
    (void)std::from_chars(first_line_.data() + colon, first_line_.data() + first_line_.size(),
                          port_);
  }
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;
  ~Exporter() {
    if (pid_ > 0) {
      (void)end();
    }
  }

  [[nodiscard]] const std::string& first_line() const { return first_line_; }
  /// Returns a connection.
  [[nodiscard]] int connect() const {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    VMNUMA_CHECK(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    return fd;
  }
  /// From now on it can open only that many files and connections more.
  void limit_descriptors(rlim_t more) const {
    rlim_t open = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid_))) {
      open = std::max<rlim_t>(open, std::stoul(entry.path().filename().string()) + 1);
    }
    const rlimit limit{open + more, open + more};
    VMNUMA_CHECK(::prlimit(pid_, RLIMIT_NOFILE, &limit, nullptr) == 0);
  }
  [[nodiscard]] std::string get(const std::string& path) const {
    const int fd = connect();
    const std::string request =
        fmt::format("GET {} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", path, port_);
    VMNUMA_CHECK(::send(fd, request.data(), request.size(), MSG_NOSIGNAL) ==
                 static_cast<ssize_t>(request.size()));
    std::string text;
    std::array<char, 4096> chunk{};
    for (ssize_t got = 0; (got = ::recv(fd, chunk.data(), chunk.size(), 0)) > 0;) {
      text.append(chunk.data(), static_cast<std::size_t>(got));
    }
    (void)::close(fd);
    return text;
  }
  /// Asks it to end; its exit status, or -1.
  int end() {
    (void)::kill(std::exchange(pid_, 0), SIGTERM);
    int status = 0;
    (void)::wait(&status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
  std::string first_line_;
  std::uint16_t port_ = 0;
};

std::string body(const std::string& answer) {
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

/// promtool's opinion; empty if it has none.
std::string lint(const std::string& metrics) {
  const TempDirectory directory;
  std::ofstream(directory.path() + "/metrics") << metrics;
  // The command line is the test's own.
  const int status = std::system(  // NOLINT(cert-env33-c)
      fmt::format("{} check metrics <{}/metrics >{}/out 2>&1", VMNUMA_PROMTOOL, directory.path(),
                  directory.path())
          .c_str());
  std::ifstream out(directory.path() + "/out");
  std::string text{std::istreambuf_iterator<char>(out), {}};
  return status == 0 ? text : fmt::format("status {}: {}", status, text);
}

TEST(ExporterProgramTest, SaysWhereItListensAndEndsWhenTold) {
  const FakeDaemon daemon(FakeDaemon::answering(answer));
  Exporter exporter(daemon.socket_path());
  EXPECT_THAT(exporter.first_line(), HasSubstr(" serves http://127.0.0.1:"));
  EXPECT_THAT(exporter.get("/"), HasSubstr("<!doctype html>"));
  EXPECT_EQ(exporter.end(), 0);
}

TEST(ExporterProgramTest, PromtoolFindsNothingToSay) {
  if (std::string(VMNUMA_PROMTOOL).ends_with("NOTFOUND")) {
    GTEST_SKIP() << "promtool is not installed (Debian package prometheus)";
  }
  const FakeDaemon daemon(FakeDaemon::answering(answer));
  const Exporter exporter(daemon.socket_path());
  const std::string metrics = body(exporter.get("/metrics"));
  EXPECT_THAT(metrics, HasSubstr("\nvmnuma_up 1\n"));
  EXPECT_EQ(lint(metrics), "");
}

TEST(ExporterProgramTest, WithoutADaemonItIsUpAndSaysThatTheDaemonIsNot) {
  const TempDirectory directory;
  const Exporter exporter(directory.path() + "/nobody");
  const std::string answer = exporter.get("/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\nvmnuma_up 0\n"));
  EXPECT_THAT(exporter.get("/api/state"), HasSubstr("vmnumad does not seem to be running"));
}

TEST(ExporterProgramTest, ASilentDaemonCostsATimeLimitAndNoMore) {
  const FakeDaemon daemon([](const std::string&) { return std::nullopt; });
  const Exporter exporter(daemon.socket_path());
  EXPECT_THAT(body(exporter.get("/metrics")), HasSubstr("\nvmnuma_up 0\n"));
}

TEST(ExporterProgramTest, ConnectionsThatTakeItsLastDescriptorsLockNoOtherOut) {
  const FakeDaemon daemon(FakeDaemon::answering(answer));
  Exporter exporter(daemon.socket_path());
  exporter.limit_descriptors(3);
  std::vector<int> silent;
  for (int i = 0; i < 8; ++i) {
    silent.push_back(exporter.connect());
  }
  EXPECT_THAT(exporter.get("/"), HasSubstr("<!doctype html>"));
  EXPECT_THAT(exporter.get("/metrics"), StartsWith("HTTP/1.1 200 OK\r\n"));
  for (const int fd : silent) {
    (void)::close(fd);
  }
  EXPECT_EQ(exporter.end(), 0);
}

TEST(ExporterProgramTest, NothingElseIsThere) {
  const FakeDaemon daemon(FakeDaemon::answering(answer));
  const Exporter exporter(daemon.socket_path());
  EXPECT_THAT(exporter.get("/pause"), StartsWith("HTTP/1.1 404 Not Found\r\n"));
}

}  // namespace
}  // namespace vmnuma::tests
