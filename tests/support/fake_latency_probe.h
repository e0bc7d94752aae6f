// SPDX-License-Identifier: Apache-2.0
/// A latency probe whose read times a test sets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "stats/latency/measure.h"

namespace vmnuma::tests {

class FakeLatencyProbe final : public stats::LatencyProbe {
 public:
  using Pair = std::pair<NodeId, NodeId>;

  /// Rounds of a pair of nodes, in order; the last one is repeated.
  std::map<Pair, std::vector<stats::LatencyRound>> rounds;
  /// Why a pair cannot be measured.
  std::map<Pair, Error> errors;
  std::vector<Pair> prepared;
  std::size_t rounds_read = 0;
  std::function<void()> after_round = [] {};

  /// Returns a round in which every read took that long and the thread ran for that share of the
  /// time.
  [[nodiscard]] static stats::LatencyRound round_of(std::int64_t read_ns,
                                                    std::int64_t running_pct = 100) {
    return {1000, read_ns * 1000, read_ns * 10 * running_pct};
  }

  [[nodiscard]] Result<void> prepare(const Node& cpus, NodeId memory) override {
    prepared.emplace_back(cpus.id, memory);
    at_ = 0;
    if (const auto error = errors.find(prepared.back()); error != errors.end()) {
      return tl::unexpected(error->second);
    }
    return {};
  }

  [[nodiscard]] stats::LatencyRound round() override {
    ++rounds_read;
    after_round();
    const std::vector<stats::LatencyRound>& told = rounds[prepared.back()];
    return told.empty() ? stats::LatencyRound{} : told[std::min(at_++, told.size() - 1)];
  }

 private:
  std::size_t at_ = 0;
};

}  // namespace vmnuma::tests
