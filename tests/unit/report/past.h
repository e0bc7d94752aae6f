// SPDX-License-Identifier: Apache-2.0
/// An hour of two nodes and three actions.
#pragma once

#include "tests/support/views.h"
#include "tools/vmnuma/report/host_report.h"

namespace vmnuma::tools {

inline stats::WallTime wall(std::int64_t unix_s) {
  return stats::WallTime(std::chrono::seconds(unix_s));
}

inline stats::PastAction past_action(std::int64_t id, const std::string& reason) {
  stats::PastAction past;
  past.action.id = id;
  past.action.time = wall(tests::kNoonUnixS - id * 60);
  past.action.reason = reason;
  past.action.relocations = {{{}, "web<1>", 0, {0}, {1}, kGiB}};
  past.action.predicted.lost_before = {500'000};
  past.action.predicted.lost_after = {80'000};
  past.state = stats::ActionState::kDone;
  return past;
}

inline HostReport hour_report() {
  HostReport report;
  report.host_name = "host<1>";
  report.since_unix_s = tests::kNoonUnixS - 3600;
  report.until_unix_s = tests::kNoonUnixS;
  for (std::int64_t minute = 0; minute < 60; minute += 15) {
    const stats::WallTime time = wall(report.since_unix_s + minute * 60);
    for (std::int32_t node = 0; node < 2; ++node) {
      stats::Kept<stats::NodeSampleRow> sample;
      sample.time = time;
      sample.row.node = {node};
      sample.row.capacity = {10'000'000};
      // From 130 % to 70 %, and from 10 % to 70 %.
      sample.row.load_average = {node == 0 ? 1300 - minute * 40 / 3 : 100 + minute * 40 / 3};
      sample.row.owed = {node == 0 ? 2'000'000 - minute * 40'000 : 0};
      // Others use a fifth of node 0.
      sample.row.threads = CpuTime{12'500'000};
      sample.row.non_vm = {node == 0 ? 2'500'000 : 0};
      sample.epoch_length = {900'000'000};  // the samples are a quarter of an hour apart
      report.past.nodes.push_back(sample);
    }
    report.past.locality.push_back({time, kGiB * (5 + minute / 15), kGiB * 5});
  }
  stats::PastAction done = past_action(1, "load-move");
  done.outcome = stats::ActionOutcome{.lost_before = {498'000},
                                      .lost_after = {95'000},
                                      .locality_before = Permille{970},
                                      .locality_after = Permille{120},
                                      .moved = kGiB,
                                      .took = std::chrono::milliseconds(4200)};
  stats::PastAction undone = past_action(2, "load-move");
  undone.state = stats::ActionState::kUndone;
  undone.detail = "node 1 has no room";
  report.past.actions = {done, undone, past_action(3, "initial-placement")};
  report.past.actions[2].action.relocations[0].from = {-1};
  report.past.vms = {
      {"web<1>", "u", {Permille{123}, Permille{40}, {}, Permille{250}, Permille{330}}},
      {"idle", "v", {Permille{0}, {}, {}}}};
  report.host = tests::host_view();
  return report;
}

}  // namespace vmnuma::tools
