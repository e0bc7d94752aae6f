// SPDX-License-Identifier: Apache-2.0
/// A daemon on a simulated host, for the dashboard: the shipped controller behind
/// a control socket.
///
/// Prints the socket's path and serves until its standard input ends. When it starts serving, a
/// scenario has run for some epochs; at each request for the status another epoch passes. The
/// history contains what the plans predicted, and what was measured a few epochs later.
///
/// Usage: vmnuma_page_host SCENARIO_FILE EPOCHS
#include <cstdlib>
#include <deque>
#include <iostream>
#include <variant>

#include "tests/support/fake_daemon.h"
#include "tools/sim/scenario/scenario_file.h"
#include "tools/sim/simulation.h"

namespace {

using vmnuma::Result;
using vmnuma::balancer::Answer;
using vmnuma::balancer::Command;
using vmnuma::balancer::HistoryRowView;

constexpr std::int64_t kSettle = 6;  // epochs
constexpr std::size_t kMostRows = 30;
constexpr std::int64_t kBeginUnixS = 1738324800;  // 2025-01-31T12:00:00Z

class PageHost {
 public:
  PageHost(vmnuma::tools::Scenario scenario, std::int64_t epochs)
      : simulation_(std::move(scenario)) {
    while (simulation_.epoch() < epochs && !simulation_.finished()) {
      pass_epoch();
    }
  }

  Result<Answer> answer(const Command& command) {
    if (std::holds_alternative<vmnuma::balancer::HistoryRequest>(command)) {
      vmnuma::balancer::HistoryView view;
      for (const Waiting& row : rows_) {
        view.moves.push_back(row.row);
      }
      return Answer(std::move(view));
    }
    if (std::holds_alternative<vmnuma::balancer::StatusRequest>(command) &&
        !simulation_.finished()) {
      pass_epoch();
    }
    return simulation_.ask(command);
  }

 private:
  struct Waiting {
    HistoryRowView row;
    std::int64_t due = 0;
    std::int64_t moved_before = 0;
  };

  template <class View>
  View view_of(const Command& command) {
    Result<Answer> answer = simulation_.ask(command);
    return answer ? std::get<View>(std::move(*answer)) : View{};
  }

  void pass_epoch() {
    simulation_.run_epoch();
    const auto status = view_of<vmnuma::balancer::StatusView>(vmnuma::balancer::StatusRequest{});
    const auto host = view_of<vmnuma::balancer::HostView>(vmnuma::balancer::HostRequest{});
    const auto plan = view_of<vmnuma::balancer::PlanView>(vmnuma::balancer::PlanRequest{});
    for (const auto& action : plan.actions) {
      ++action_;
      for (const auto& relocation : action.relocations) {
        HistoryRowView row;
        row.action = action_;
        row.time_unix_s = kBeginUnixS + simulation_.epoch() * 2;
        row.vm = relocation.vm;
        row.vm_uuid = relocation.vm_uuid;
        row.client = relocation.client;
        row.reason = action.reason;
        row.from = relocation.from;
        row.to = relocation.to;
        row.predicted = action.predicted;
        row.state = "open";
        rows_.push_front({row, simulation_.epoch() + kSettle, host.moved_bytes});
      }
    }
    if (rows_.size() > kMostRows) {
      rows_.resize(kMostRows);
    }
    for (Waiting& waiting : rows_) {
      if (waiting.due != simulation_.epoch()) {
        continue;
      }
      waiting.row.state = "done";
      const auto& predicted = waiting.row.predicted;
      if (waiting.row.reason == "initial-placement" || !predicted.lost_before_ms ||
          !predicted.imbalance_before_pct || !status.lost_ms || !status.imbalance_pct) {
        continue;  // nothing was predicted, or nothing was measured
      }
      vmnuma::balancer::OutcomeView outcome;
      outcome.lost_before_ms = *predicted.lost_before_ms;
      outcome.lost_after_ms = *status.lost_ms;
      outcome.imbalance_before_pct = *predicted.imbalance_before_pct;
      outcome.imbalance_after_pct = *status.imbalance_pct;
      outcome.moved_bytes = host.moved_bytes - waiting.moved_before;
      outcome.took_ms = kSettle * 2000;
      waiting.row.outcome = outcome;
    }
  }

  vmnuma::tools::Simulation simulation_;
  std::deque<Waiting> rows_;  // newest first
  std::int64_t action_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "Usage: vmnuma_page_host SCENARIO_FILE EPOCHS\n";
    return 2;
  }
  auto scenario = vmnuma::tools::read_scenario(argv[1]);
  if (!scenario) {
    std::cerr << scenario.error().message << "\n";
    return 1;
  }
  PageHost host(std::move(*scenario), std::strtol(argv[2], nullptr, 10));
  const vmnuma::tests::FakeDaemon daemon(vmnuma::tests::FakeDaemon::answering(
      [&host](const Command& command) { return host.answer(command); }));
  std::cout << daemon.socket_path() << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
  }
  return 0;
}
