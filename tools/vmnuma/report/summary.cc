// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/report/summary.h"

#include <algorithm>
#include <map>
#include <optional>

#include "placement/model/plan.h"
#include "tools/vmnuma/top/top_state.h"

namespace vmnuma::tools {

using balancer::Figure;

namespace {

std::int64_t whole_ms(CpuTime time) {
  return time.value / 1000;
}

/// The average of the known values.
struct Average {
  std::int64_t count = 0;
  std::int64_t sum = 0;
  void add(const Figure& figure) {
    count += figure ? 1 : 0;
    sum += figure.value_or(0);
  }
  [[nodiscard]] Figure value() const { return count > 0 ? Figure(sum / count) : std::nullopt; }
};

std::vector<NodeSummary> nodes_of(const stats::Past& past) {
  struct Sums {
    Average load;
    Average non_vm;
    Figure highest;
    std::int64_t owed = 0;
    std::int64_t capacity = 0;
  };
  std::map<std::int32_t, Sums> sums;
  for (const auto& sample : past.nodes) {
    Sums& sum = sums[sample.row.node.value];
    const Figure load = vm_load_permille(sample.row);
    sum.load.add(load);
    sum.non_vm.add(non_vm_permille(sample.row));
    sum.highest = std::max(sum.highest, load);  // an unknown figure compares less than any other
    sum.owed += sample.row.owed.value;
    sum.capacity += sample.row.capacity.value;
  }
  std::vector<NodeSummary> nodes;
  nodes.reserve(sums.size());
  for (const auto& [node, sum] : sums) {
    nodes.push_back({node, sum.load.value(), sum.highest, sum.non_vm.value(),
                     share_permille(sum.owed, sum.capacity)});
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
    const Prediction& predicted = action.action.predicted;
    ++summary.measured;
    if (predicted_figures(action.action.reason, predicted.known).lost_time) {
      summary.promised_ms =
          summary.promised_ms.value_or(0) + whole_ms(predicted.lost_before - predicted.lost_after);
    }
    summary.brought_ms = summary.brought_ms.value_or(0) +
                         whole_ms(action.outcome->lost_before - action.outcome->lost_after);
  }
}

Figure locality_figure(const stats::LocalityPoint& point) {
  return share_permille(point.local.value, point.local.value + point.remote.value);
}

}  // namespace

Figure vm_load_permille(const stats::NodeSampleRow& row) {
  return share_permille(scaled(row.threads - row.non_vm, row.load_average.value, 1000).value,
                        row.threads.value);
}

Figure non_vm_permille(const stats::NodeSampleRow& row) {
  return share_permille(row.non_vm.value, row.threads.value);
}

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
    summary.locality_first_permille = locality_figure(past.locality.front());
    summary.locality_last_permille = locality_figure(past.locality.back());
  }
  return summary;
}

}  // namespace vmnuma::tools
