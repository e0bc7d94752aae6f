// SPDX-License-Identifier: Apache-2.0
/// A database server of Open vSwitch that says one thing to every client.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "placement/base/result.h"

namespace vmnuma::tests {

class FakeOvs {
 public:
  /// `answer` is sent once something was asked. Empty: nothing is ever sent, and the connection
  /// stays open until the end.
  FakeOvs(const std::string& socket_path, std::string answer) : answer_(std::move(answer)) {
    std::filesystem::create_directories(std::filesystem::path(socket_path).parent_path());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    VMNUMA_CHECK(socket_path.size() < sizeof(address.sun_path));
    socket_path.copy(address.sun_path, socket_path.size());
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    VMNUMA_CHECK(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) ==
                 0);
    VMNUMA_CHECK(::listen(listener_, 8) == 0);
    thread_ = std::thread([this] { serve(); });
  }
  FakeOvs(const FakeOvs&) = delete;
  FakeOvs& operator=(const FakeOvs&) = delete;
  ~FakeOvs() {
    (void)::shutdown(listener_, SHUT_RDWR);  // wakes accept(), which then fails
    thread_.join();
    for (const int fd : held_) {
      (void)::close(fd);  // the test is over
    }
    (void)::close(listener_);
  }

  [[nodiscard]] int connections() const { return connections_; }

 private:
  void serve() {
    while (true) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) {
        return;
      }
      ++connections_;
      held_.push_back(fd);
      char first = 0;
      if (!answer_.empty() && ::recv(fd, &first, 1, 0) == 1) {
        (void)::send(fd, answer_.data(), answer_.size(), MSG_NOSIGNAL);  // short enough for one
      }
    }
  }

  std::string answer_;
  int listener_ = -1;
  std::atomic<int> connections_ = 0;
  std::vector<int> held_;
  std::thread thread_;
};

/// As ovsdb-server 3.1 answers for
///   br-ex: eth1, patch-ex; br-int: vnet0, patch-int; br-bond: bond0 of eth2 and eth3;
///   fake1: a fake bridge of br-ex.
inline constexpr const char* kOvsAnswer =
    R"({"id":0,"result":[{"rows":[)"
    R"({"name":"br-ex","ports":["set",[["uuid","p1"],["uuid","p2"],["uuid","p5"],["uuid","p6"]]]},)"
    R"({"name":"br-int","ports":["set",[["uuid","p3"],["uuid","p4"]]]},)"
    R"({"name":"br-bond","ports":["uuid","p7"]}]},)"
    R"({"rows":[)"
    R"({"_uuid":["uuid","p1"],"name":"eth1","interfaces":["uuid","i1"]},)"
    R"({"_uuid":["uuid","p2"],"name":"patch-ex","interfaces":["uuid","i2"]},)"
    R"({"_uuid":["uuid","p3"],"name":"patch-int","interfaces":["uuid","i3"]},)"
    R"({"_uuid":["uuid","p4"],"name":"vnet0","interfaces":["uuid","i4"]},)"
    R"({"_uuid":["uuid","p5"],"name":"br-ex","interfaces":["uuid","i5"]},)"
    R"({"_uuid":["uuid","p6"],"name":"fake1","interfaces":["uuid","i6"]},)"
    R"({"_uuid":["uuid","p7"],"name":"bond0","interfaces":["set",[["uuid","i7"],["uuid","i8"]]]}]},)"
    R"({"rows":[)"
    R"({"_uuid":["uuid","i1"],"name":"eth1","type":"","options":["map",[]]},)"
    R"({"_uuid":["uuid","i2"],"name":"patch-ex","type":"patch","options":["map",[["peer","patch-int"]]]},)"
    R"({"_uuid":["uuid","i3"],"name":"patch-int","type":"patch","options":["map",[["peer","patch-ex"]]]},)"
    R"({"_uuid":["uuid","i4"],"name":"vnet0","type":"","options":["map",[]]},)"
    R"({"_uuid":["uuid","i5"],"name":"br-ex","type":"internal","options":["map",[]]},)"
    R"({"_uuid":["uuid","i6"],"name":"fake1","type":"internal","options":["map",[]]},)"
    R"({"_uuid":["uuid","i7"],"name":"eth2","type":"","options":["map",[]]},)"
    R"({"_uuid":["uuid","i8"],"name":"eth3","type":"system","options":["map",[]]}]}],"error":null})";

}  // namespace vmnuma::tests
