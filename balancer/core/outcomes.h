// SPDX-License-Identifier: Apache-2.0
/// Measures what actions really gained, and decides whether to continue acting.
///
/// Problem: a prediction is a guess; a balancer with wrong guesses does harm with every move. But a
/// host's lost time before and after an action is not a measure of it: other actions were in
/// progress at the same time, and the VMs' loads have changed. Approach: attribution by
/// counterfactual. The first epoch after an action's pins are made is sampled, and the question is
/// what that very epoch would have lost with the action's clients where they were. What clients
/// wanted is measured, what they would have been owed elsewhere is computed (reckoning.h). The cost
/// of far memory is added once the memory has arrived or was given up: what it costs the clients
/// where they are now, against what it would have continued to cost where they were, at the loads
/// of the sampled epoch. The computation may be wrong, too: what is owed on the action's nodes
/// beyond what is computed, in the first clean epoch, counts as caused by the action, less the same
/// excess when the action was decided. Both with and without the action, as many clients are
/// assumed to spill as pays off (spill.h): a move is worth what it saves with spills taken into
/// account, and that is how it was predicted. Of several actions in progress together, each is
/// credited with what it adds to those before it, as in its prediction, so that their gains add up
/// to what they gained together.
/// An action did harm if the host loses more with it than without it by Numa.MigThreshold of its
/// capacity; wake-ups do not count, since VMs wake each other more when they have more work
/// together. Numa.BreakerFailures failed or harmful actions in a row open the breaker for
/// Numa.BreakerRest epochs. Failed ones are counted since an action was last carried out, harmful
/// ones since a move was last measured to do no harm. Actions that fail in one epoch count as one,
/// because they mostly have one cause, such as a libvirt that was unavailable for a moment.
///
/// Terms: *clean* - an epoch in which no client on an action's nodes was being moved, arrived or
/// left.
///
/// Properties:
///  1. Every finished action is measured once, unless its clients no longer exist.
///  2. If homes, demand and memory determine what is lost, as computed, the measured gain is the
///     computed one whatever else moves and however loads change in between.
///  3. If only measured owed time changes, the measured gain is that change.
///  4. An action that is done resets the count of failures, and a move that does no harm the count
///     of harmful ones; an open breaker closes by itself.
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
  /// Owed time, and time lost to far memory, far devices, wake-ups and broken groups.
  CpuTime lost;
  CpuTime demand;
  Permille imbalance;  ///< largest difference of owed / capacity between two nodes
  CpuTime talk;        ///< of `lost`, wake-ups from node to node
  bool operator==(const Measured&) const = default;
};
[[nodiscard]] Measured measure(const Snapshot& snapshot, const Options& options);

/// Returns the local share of the memory of these clients; nothing if it is not known.
[[nodiscard]] std::optional<Permille> locality_of(const Snapshot& snapshot,
                                                  const std::vector<ClientId>& clients);

struct RecordFields;

struct MeasuredOutcome {
  std::int64_t action = 0;
  Measured before;  ///< the sampled epoch as it would have been without the action
  Measured after;   ///< the sampled epoch
  std::optional<Permille> locality_before;
  std::optional<Permille> locality_after;
  bool harmful = false;
};

class Outcomes {
 public:
  /// Epochs from the end of an action until its memory is counted where it now lies.
  static constexpr std::int64_t kSettleEpochs = 3;
  /// Epochs from an action's last pin to the first that can be clean; and how many more to wait for
  /// a clean one.
  static constexpr std::int64_t kPinsSettle = 2;
  static constexpr std::int64_t kLongestWait = 10;

  void began(std::int64_t action, const Action& plan, const Snapshot& snapshot,
             const Options& options);
  /// Records that the action's vCPUs are in their final place; its memory may still be in transit.
  void pinned(std::int64_t action, std::int64_t epoch);
  /// Records that the action has ended. `failed`: undone or dropped for a reason that counts
  /// against acting.
  void ended(std::int64_t action, bool done, bool failed, const Options& options,
             std::int64_t epoch);
  /// Returns the actions that have settled by this epoch. Must be called in every epoch, with its
  /// snapshot.
  [[nodiscard]] std::vector<MeasuredOutcome> settle(const Snapshot& snapshot,
                                                    const Options& options);
  /// False once the action has been measured, has failed, or cannot be measured any more.
  [[nodiscard]] bool watches(std::int64_t action) const { return watched_.contains(action); }
  [[nodiscard]] bool breaker_open(std::int64_t epoch) const { return epoch < rest_until_; }
  [[nodiscard]] std::int64_t rests_until() const { return rest_until_; }

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording keeps of this
  /// One client of an action. Nodes by kernel number, because the topology may change.
  struct Step {
    ClientId client;
    NodeId from;  ///< a negative number: nowhere
    NodeId to;
    /// What far memory would have cost the client per epoch, had it stayed, if all its vCPUs were
    /// busy.
    CpuTime far_when_busy;
    Permille busy;  ///< of its vCPUs, in the sampled epoch
  };
  /// The sampled epoch; time lost to memory is only that of all other clients.
  struct Sampled {
    Measured before;
    Measured after;
  };
  struct Watched {
    std::optional<Permille> locality_before;
    std::vector<ClientId> clients;
    bool moves_clients = false;  ///< else only memory, which never counts as harm
    std::vector<Step> steps;
    /// Owed time on its nodes beyond what is computed, when the action was decided and after it, in
    /// clean epochs; may be negative.
    std::optional<CpuTime> unexplained_before;
    std::optional<CpuTime> unexplained_after;
    std::optional<std::int64_t> pinned;  ///< epoch
    std::optional<Sampled> sampled;
    std::optional<std::int64_t> due;  ///< epoch
  };
  using WatchedActions = std::map<std::int64_t, Watched>;

  void observe(WatchedActions::iterator entry, const Snapshot& snapshot, const Options& options);
  void sample(WatchedActions::iterator entry, const Snapshot& snapshot, const Options& options);
  [[nodiscard]] static bool is_complete(const Watched& watched, std::int64_t epoch);
  [[nodiscard]] static bool is_clean(const Watched& watched, const Snapshot& snapshot);
  [[nodiscard]] static MeasuredOutcome outcome_of(std::int64_t action, const Watched& watched,
                                                  const Snapshot& snapshot, const Options& options);
  void open_if_due(const Options& options, std::int64_t epoch);

  WatchedActions watched_;
  std::int64_t failed_in_a_row_ = 0;
  std::int64_t harmful_in_a_row_ = 0;
  std::int64_t last_failed_in_ = -1;  ///< epoch
  std::int64_t rest_until_ = 0;
};

}  // namespace vmnuma::balancer
