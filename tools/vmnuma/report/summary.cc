// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/report/summary.h"

#include <algorithm>
#include <map>

#include "tools/vmnuma/top/top_state.h"

namespace vmnuma::tools {

namespace {

std::int64_t milliseconds(placement::CpuTime time) {
  return time.value / 1000;
}

std::vector<NodeSummary> nodes_of(const stats::Past& past) {
  struct Sums {
    std::int64_t samples = 0;
    std::int64_t load = 0;
    std::int64_t highest = 0;
    std::int64_t owed = 0;
    std::int64_t capacity = 0;
  };
  std::map<std::int32_t, Sums> sums;
  for (const auto& sample : past.nodes) {
    Sums& sum = sums[sample.row.node.value];
    ++sum.samples;
    sum.load += sample.row.load_average.value;
    sum.highest = std::max(sum.highest, sample.row.load_average.value);
    sum.owed += sample.row.owed.value;
    sum.capacity += sample.row.capacity.value;
  }
  std::vector<NodeSummary> nodes;
  nodes.reserve(sums.size());
  for (const auto& [node, sum] : sums) {
    nodes.push_back(
        {node, sum.load / sum.samples, sum.highest, share_permille(sum.owed, sum.capacity)});
  }
  return nodes;
}

void count(ReasonSummary& summary, const stats::PastAction& action) {
  switch (action.state) {
    case stats::ActionState::kOpen:
      ++summary.open;
      break;
    case stats::ActionState::kDone:
      ++summary.done;
      break;
    case stats::ActionState::kUndone:
      ++summary.undone;
      break;
    case stats::ActionState::kDropped:
      ++summary.dropped;
      break;
  }
  if (action.outcome) {
    const placement::Prediction& predicted = action.action.predicted;
    ++summary.measured;
    summary.promised_ms += milliseconds(predicted.lost_before - predicted.lost_after);
    summary.brought_ms += milliseconds(action.outcome->lost_before - action.outcome->lost_after);
  }
}

std::optional<std::int64_t> locality_of(const stats::LocalityPoint& point) {
  const std::int64_t all = point.local.value + point.remote.value;
  return all > 0 ? std::optional(share_permille(point.local.value, all)) : std::nullopt;
}

}  // namespace

ReportSummary summary_of(const stats::Past& past) {
  ReportSummary summary;
  summary.nodes = nodes_of(past);
  std::map<std::string, ReasonSummary> reasons;
  for (const stats::PastAction& action : past.actions) {
    ReasonSummary& reason = reasons[action.action.reason];
    reason.reason = action.action.reason;
    count(reason, action);
    summary.moved_bytes += action.outcome ? action.outcome->moved.value : 0;
  }
  for (auto& [name, reason] : reasons) {
    summary.reasons.push_back(std::move(reason));
  }
  if (!past.locality.empty()) {
    summary.locality_first_permille = locality_of(past.locality.front());
    summary.locality_last_permille = locality_of(past.locality.back());
  }
  return summary;
}

}  // namespace vmnuma::tools
