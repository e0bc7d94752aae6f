// SPDX-License-Identifier: Apache-2.0
#include "placement/kept_memory.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace vmnuma {
namespace {

constexpr std::size_t kNoPromise = static_cast<std::size_t>(-1);

/// How a node was reached: from another, by moving a part of a VM's promise; or, with kNoNode,
/// because the new promise starts there.
struct Step {
  NodeIndex from = kNoNode;
  std::size_t promise = kNoPromise;
  bool reached = false;
};

}  // namespace

KeptMemory::KeptMemory(std::vector<Bytes> capacity) : free_(std::move(capacity)) {
  for (Bytes& free : free_) {
    free = std::max(free, Bytes{});
  }
}

bool KeptMemory::keep(const std::vector<NodeIndex>& nodes, Bytes memory) {
  KeptMemory after = *this;
  if (after.push(nodes, memory) < memory) {
    return false;
  }
  *this = std::move(after);
  return true;
}

Bytes KeptMemory::most(const std::vector<NodeIndex>& nodes) const {
  KeptMemory after = *this;
  return after.push(nodes, Bytes{std::numeric_limits<std::int64_t>::max()});
}

Bytes KeptMemory::push(const std::vector<NodeIndex>& nodes, Bytes most) {
  promises_.push_back({nodes, std::vector<Bytes>(free_.size())});
  Bytes pushed;
  while (pushed < most) {
    const Bytes more = push_once(promises_.size() - 1, most - pushed);
    if (more == Bytes{}) {
      break;
    }
    pushed += more;
  }
  return pushed;
}

/// Pushes along one shortest path to a node with room. Zero if there is none.
Bytes KeptMemory::push_once(std::size_t promise, Bytes most) {
  std::vector<Step> steps(free_.size());
  std::vector<NodeIndex> queue;
  for (const NodeIndex node : promises_[promise].nodes) {
    steps[node].reached = true;
    queue.push_back(node);
  }
  NodeIndex end = kNoNode;
  for (std::size_t next = 0; next < queue.size() && end == kNoNode; ++next) {
    const NodeIndex node = queue[next];
    if (free_[node] > Bytes{}) {
      end = node;
      continue;
    }
    for (std::size_t other = 0; other < promises_.size(); ++other) {
      if (promises_[other].on[node] == Bytes{}) {
        continue;
      }
      for (const NodeIndex to : promises_[other].nodes) {
        if (!steps[to].reached) {
          steps[to] = {node, other, true};
          queue.push_back(to);
        }
      }
    }
  }
  if (end == kNoNode) {
    return {};
  }
  Bytes amount = std::min(most, free_[end]);
  NodeIndex start = end;
  for (; steps[start].from != kNoNode; start = steps[start].from) {
    amount = std::min(amount, promises_[steps[start].promise].on[steps[start].from]);
  }
  free_[end] -= amount;
  for (NodeIndex node = end; steps[node].from != kNoNode; node = steps[node].from) {
    promises_[steps[node].promise].on[steps[node].from] -= amount;
    promises_[steps[node].promise].on[node] += amount;
  }
  promises_[promise].on[start] += amount;
  return amount;
}

}  // namespace vmnuma
