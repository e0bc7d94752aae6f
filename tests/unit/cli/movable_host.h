// SPDX-License-Identifier: Apache-2.0
/// A daemon whose host has two VMs on node 0 and nothing on node 1, for commands that have VMs
/// moved step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "balancer/record/frame.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/views.h"
#include "tests/unit/balancer/host_story.h"
#include "tools/vmnuma/run.h"

namespace vmnuma::tools {

class MovableHostTest : public testing::Test {
 protected:
  /// VMs 'one' and 'two', of 64 MiB and `vcpus` vCPUs that want `load_pct` each. Half of each
  /// node's GiB is free, less the reserve.
  MovableHostTest(std::int32_t vcpus, std::int32_t load_pct) : story_(2, balancer::Mode::kObserve) {
    for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
      story_.start(tests::small_vm(number, number == 1 ? "one" : "two", vcpus), 0, load_pct);
      story_.pin(number, tests::node_cpus(0));
    }
    (void)story_.report_domains();
    for (int epoch = 0; epoch < 10; ++epoch) {
      (void)story_.epoch();
    }
  }

  /// `answers` is standard input.
  int run_words(const std::vector<std::string>& words, const std::string& answers = "") {
    const tests::FakeDaemon daemon(tests::FakeDaemon::answering(
        [this](const balancer::Command& command) { return answer_to(command); }));
    std::vector<std::string> arguments{"--socket", daemon.socket_path()};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const auto invocation = parse_arguments(arguments, /*now_unix_s=*/0);
    EXPECT_TRUE(invocation) << invocation.error().text;
    std::istringstream in(answers);
    Surroundings surroundings{out_, err_, false, [](std::chrono::milliseconds) { return false; },
                              std::chrono::milliseconds(60'000)};
    surroundings.in = &in;
    return run(*invocation, surroundings);
  }

  Result<balancer::Answer> answer_ = balancer::Answer(balancer::DoneView{"moving", 7});
  std::string state_ = "done";  ///< of each step, once it is asked for
  std::int64_t then_free_ = 0;  ///< for a VM on node 0, once something has moved
  balancer::StatusView status_ = tests::status_view();
  std::vector<balancer::MoveTogetherRequest> ordered_;
  std::ostringstream out_;
  std::ostringstream err_;

 private:
  Result<balancer::Answer> answer_to(const balancer::Command& command) {
    if (std::holds_alternative<balancer::StateRequest>(command)) {
      return balancer::Answer(
          balancer::StateView{balancer::header_line(0, story_.controller(), nullptr)});
    }
    if (const auto* moves = std::get_if<balancer::MoveTogetherRequest>(&command)) {
      ordered_.push_back(*moves);
      return answer_;
    }
    if (std::holds_alternative<balancer::StatusRequest>(command)) {
      return balancer::Answer(status_);
    }
    if (std::holds_alternative<balancer::HostRequest>(command)) {
      balancer::HostView host;
      host.nodes.emplace_back();
      host.nodes.back().node = NodeId{0};
      host.nodes.back().largest_vm_bytes = then_free_;
      host.nodes.emplace_back();
      host.nodes.back().node = NodeId{1};
      return balancer::Answer(host);
    }
    EXPECT_TRUE(std::holds_alternative<balancer::HistoryRequest>(command));
    balancer::HistoryView view;
    view.moves.emplace_back();
    view.moves.back().action = 7;
    view.moves.back().state = state_;
    view.moves.back().detail = "moved 64.0 MiB";
    return balancer::Answer(view);
  }

  tests::HostStory story_;
};

}  // namespace vmnuma::tools
