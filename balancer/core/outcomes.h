// SPDX-License-Identifier: Apache-2.0
/// What actions really brought, and whether to go on acting.
///
/// Problem: a prediction is a guess; a balancer whose guesses are wrong does harm with every move.
/// Approach: the measured state of the epoch in which an action was decided is kept; kSettleEpochs
/// after it finished (pins made, memory arrived or given up) the state is measured again and put
/// beside the prediction. An action did harm if the host then loses more than before by
/// Numa.MigThreshold of its capacity although the demand has not grown as much;
/// wake-ups aside, which VMs have more of when they have more to say to each other.
/// Numa.BreakerFailures failed or harmful actions in a row open the breaker for Numa.BreakerRest
/// epochs. Properties: every finished action is measured exactly once; a good action closes the
/// count; an open breaker closes by itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "placement/model/options.h"
#include "placement/model/plan.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// The host's state in one epoch, as measured.
struct Measured {
  placement::CpuTime lost;  ///< owed, and time lost to memory where it lies and to far wake-ups
  placement::CpuTime demand;
  placement::Permille imbalance;  ///< largest difference of owed / capacity between two nodes
  placement::CpuTime talk;        ///< of `lost`, wake-ups from node to node
  bool operator==(const Measured&) const = default;
};
[[nodiscard]] Measured measure(const placement::Snapshot& snapshot,
                               const placement::Options& options);

/// Local share of the memory of these clients; nothing if it is not known.
[[nodiscard]] std::optional<placement::Permille> locality_of(
    const placement::Snapshot& snapshot, const std::vector<placement::ClientId>& clients);

struct RecordFields;

struct MeasuredOutcome {
  std::int64_t action = 0;
  Measured before;
  Measured after;
  std::optional<placement::Permille> locality_before;
  std::optional<placement::Permille> locality_after;
  bool harmful = false;
};

class Outcomes {
 public:
  static constexpr std::int64_t kSettleEpochs = 3;

  void began(std::int64_t action, const placement::Action& plan,
             const placement::Snapshot& snapshot, const placement::Options& options);
  /// `failed`: undone or dropped for a reason that counts against acting.
  void ended(std::int64_t action, bool done, bool failed, const placement::Options& options,
             std::int64_t epoch);
  /// What has settled by this epoch.
  [[nodiscard]] std::vector<MeasuredOutcome> settle(const placement::Snapshot& snapshot,
                                                    const placement::Options& options);
  [[nodiscard]] bool breaker_open(std::int64_t epoch) const { return epoch < rest_until_; }
  [[nodiscard]] std::int64_t rests_until() const { return rest_until_; }

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording keeps of this
  struct Watched {
    Measured before;
    std::optional<placement::Permille> locality_before;
    std::vector<placement::ClientId> clients;
    bool moves_clients = false;       ///< else only memory, which never counts as harm
    std::optional<std::int64_t> due;  ///< epoch
  };
  void count_failure(const placement::Options& options, std::int64_t epoch);

  std::map<std::int64_t, Watched> watched_;
  std::int64_t failures_in_a_row_ = 0;
  std::int64_t rest_until_ = 0;
};

}  // namespace vmnuma::balancer
