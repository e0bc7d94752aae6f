// SPDX-License-Identifier: Apache-2.0
/// A daemon's end of the control socket, with answers defined by the test.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "balancer/protocol/request.h"
#include "balancer/protocol/response.h"
#include "tests/support/temp_directory.h"

namespace vmnuma::tests {

class FakeDaemon {
 public:
  /// Returns what to send for a line; nothing means never to answer and to keep the connection
  /// open. An empty string closes it.
  using Reply = std::function<std::optional<std::string>(const std::string& line)>;

  explicit FakeDaemon(Reply reply);
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;
  ~FakeDaemon();

  /// Answers every request with the result of `answer`.
  [[nodiscard]] static Reply answering(
      std::function<Result<balancer::Answer>(const balancer::Command&)> answer);

  [[nodiscard]] std::string socket_path() const { return directory_.path() + "/s"; }

 private:
  void serve();

  TempDirectory directory_;
  Reply reply_;
  int listener_ = -1;
  std::vector<int> held_;  // connections that are kept open
  std::thread thread_;
};

}  // namespace vmnuma::tests
