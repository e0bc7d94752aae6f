// SPDX-License-Identifier: Apache-2.0
/// What actions really brought, and whether to go on acting.
///
/// Problem: a prediction is a guess; a balancer with wrong guesses does harm with every move. But a
/// host's lost time before and after an action says little about it: other actions were under way
/// at the same time, and the VMs' loads have changed. Approach: attribution by counterfactual. The
/// first epoch after an action's pins are made is sampled, and the question is what that very epoch
/// would have lost with the action's clients where they were. What clients wanted is measured, what
/// they would have been owed elsewhere is computed (reckoning.h). The cost of far memory is added
/// once the memory has arrived or was given up: what it costs the clients where they are now,
/// against what it would have gone on costing where they were, at the loads of the sampled epoch.
/// The computation may be wrong, too: what is owed on the action's nodes beyond what is computed,
/// in the first clean epoch, counts as caused by the action, less the same excess when the action
/// was decided. Both with and without the action as many clients are assumed to spill as it pays
/// for (spill.h): a move is worth what it saves with spills taken into account, and that is how it
/// was predicted. Of actions that are under way together each is credited with what it adds to
/// those before it, as it was predicted, so that their gains add up to what they brought together.
/// An action did harm if the host loses more with it than without it by Numa.MigThreshold of its
/// capacity; wake-ups are left out, since VMs wake each other more when they have more work
/// together. Numa.BreakerFailures failed or harmful actions in a row open the breaker for
/// Numa.BreakerRest epochs: failed ones since an action was last carried out, harmful ones since a
/// move was last measured to do none. Actions that fail in one epoch count as one, because they
/// mostly have one cause, such as a libvirt that was gone for a moment.
///
/// Terms: *clean* - an epoch in which no client on an action's nodes was being moved, came or left.
///
/// Properties:
///  1. Every finished action is measured once, unless its clients are gone by then.
///  2. Where homes, demand and memory decide what is lost, as computed, the measured gain is the
///     computed one whatever else moves and however loads change in between.
///  3. With nothing but measured owed time changed the measured gain is that change.
///  4. An action that is done resets the count of failures, a move that does no harm that of harm;
///     an open breaker closes by itself.
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
  /// Owed, and time lost to memory where it lies, to far devices and wake-ups and to broken groups.
  CpuTime lost;
  CpuTime demand;
  Permille imbalance;  ///< largest difference of owed / capacity between two nodes
  CpuTime talk;        ///< of `lost`, wake-ups from node to node
  bool operator==(const Measured&) const = default;
};
[[nodiscard]] Measured measure(const Snapshot& snapshot, const Options& options);

/// Local share of the memory of these clients; nothing if it is not known.
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
  /// From the end of an action until its memory is counted where it now lies.
  static constexpr std::int64_t kSettleEpochs = 3;
  /// From an action's last pin to the first epoch that can be clean; and for how many more to wait.
  static constexpr std::int64_t kPinsSettle = 2;
  static constexpr std::int64_t kLongestWait = 10;

  void began(std::int64_t action, const Action& plan, const Snapshot& snapshot,
             const Options& options);
  /// Its vCPUs are where they are to be, its memory may still be on the way.
  void pinned(std::int64_t action, std::int64_t epoch);
  /// `failed`: undone or dropped for a reason that counts against acting.
  void ended(std::int64_t action, bool done, bool failed, const Options& options,
             std::int64_t epoch);
  /// The actions that have settled by this epoch. To be called in every epoch, with its snapshot.
  [[nodiscard]] std::vector<MeasuredOutcome> settle(const Snapshot& snapshot,
                                                    const Options& options);
  /// False once it has been measured, has failed, or cannot be measured any more.
  [[nodiscard]] bool watches(std::int64_t action) const { return watched_.contains(action); }
  [[nodiscard]] bool breaker_open(std::int64_t epoch) const { return epoch < rest_until_; }
  [[nodiscard]] std::int64_t rests_until() const { return rest_until_; }

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording keeps of this
  /// One client of an action. Nodes by number, as the topology may change.
  struct Step {
    ClientId client;
    NodeId from;  ///< a negative number: nowhere
    NodeId to;
    /// What far memory would have cost it per epoch had it stayed, if all its vCPUs were busy.
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
    /// Owed on its nodes beyond what is computed, when it was decided and after it, in clean
    /// epochs; may be negative.
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
