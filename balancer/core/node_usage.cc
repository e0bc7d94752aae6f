// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/node_usage.h"

#include <algorithm>
#include <optional>

namespace vmnuma::balancer {

using placement::CpuId;
using placement::CpuSample;
using placement::CpuTime;
using placement::NodeIndex;
using placement::Sample;

namespace {

std::optional<std::int64_t> busy_at(const Sample& sample, CpuId cpu) {
  const auto found =
      std::lower_bound(sample.cpus.begin(), sample.cpus.end(), cpu,
                       [](const CpuSample& entry, CpuId key) { return entry.id < key; });
  return found != sample.cpus.end() && found->id == cpu ? std::optional(found->busy_us)
                                                        : std::nullopt;
}

}  // namespace

std::vector<NodeBusy> busy_between(const placement::Topology& topology, const Sample* before,
                                   const Sample& now, CpuTime epoch) {
  std::vector<NodeBusy> nodes(topology.nodes.size());
  for (NodeIndex node = 0; node < nodes.size(); ++node) {
    for (const placement::Cpu& cpu : topology.nodes[node].cpus) {
      const std::optional<std::int64_t> last = busy_at(now, cpu.id);
      const std::optional<std::int64_t> first = before != nullptr ? busy_at(*before, cpu.id) : last;
      if (!last || !first || *last < *first) {
        nodes[node].known = false;
      } else {
        nodes[node].busy += std::min(CpuTime{*last - *first}, epoch);
      }
    }
  }
  return nodes;
}

namespace {

/// Takes `amount` from `left`, by `parts` of it in proportion, and returns what was more than
/// these.
CpuTime take_away(CpuTime amount, const std::vector<CpuTime>& parts, std::vector<CpuTime>& left) {
  CpuTime all;
  for (const CpuTime part : parts) {
    all += part;
  }
  const CpuTime taken = std::min(amount, all);
  for (NodeIndex node = 0; node < left.size(); ++node) {
    left[node] = std::max(left[node] - scaled(taken, parts[node].value, all.value), CpuTime{});
  }
  return amount - taken;
}

}  // namespace

std::vector<CpuTime> non_vm_time(const std::vector<NodeBusy>& nodes,
                                 const std::vector<CpuTime>& bound, CpuTime unbound,
                                 const std::vector<CpuTime>& before) {
  std::vector<CpuTime> left(nodes.size());
  std::vector<CpuTime> more(nodes.size());
  for (NodeIndex node = 0; node < nodes.size(); ++node) {
    left[node] = std::max(nodes[node].busy - bound[node], CpuTime{});
    more[node] =
        std::max(left[node] - (node < before.size() ? before[node] : CpuTime{}), CpuTime{});
  }
  const CpuTime rest = take_away(unbound, more, left);
  (void)take_away(rest, std::vector<CpuTime>(left), left);
  return left;
}

}  // namespace vmnuma::balancer
