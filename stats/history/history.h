// SPDX-License-Identifier: Apache-2.0
/// The host's history: which actions were taken and their effects, the figures of nodes and
/// clients, and the home of every client.
///
/// Problem: a daemon that was killed must know what it had begun; an administrator wants to see
/// last week; a VM that starts again should count with its known load. All that has to fit in a
/// bounded file that costs nothing noticeable per epoch, and its loss or damage must never stop the
/// balancer.
///
/// Approach: one SQLite file in WAL mode, written by this class alone, readable by any program at
/// any time. One transaction per epoch. Averages are computed when a minute or an hour is over, old
/// rows are deleted in small slices with every epoch, so there is never a long clean-up.
///
/// Terms: *journal* = the tables action, relocation and step; *slice* = what one epoch may
/// aggregate or delete.
///
/// Properties:
/// - A killed process loses at most the epoch that was being appended.
/// - An action that open_action() accepted is on disk before the call returns; it survives a power
///   cut. Steps and samples survive the process, not necessarily the host: what they are about ends
///   with the host.
/// - Raw epochs, averages of minutes and hours, and actions stay as long as HistoryOptions say; the
///   file stays below `max_bytes` by giving up the oldest detail first. Open actions are never
///   given up.
/// - A file that is damaged, not ours or of a newer version is set aside, not deleted (the last
///   three are kept), and a new one is begun.
/// - A full disk or another program that holds the file fails the call, never the process, and
///   calls work again once the cause is gone.
/// - A wall clock that goes back costs the averages of the repeated time, nothing else. While it is
///   far ahead, what seems too old is deleted, a slice an epoch.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "stats/history/rows.h"

namespace vmnuma::stats {

/// How long each kind is kept. What is not averaged yet stays until it is.
struct KeptFor {
  std::chrono::minutes epochs = std::chrono::hours(1);
  std::chrono::days minutes{30};
  std::chrono::days hours{365};
  std::chrono::days actions{365};  ///< closed ones, and what happened to reservations
};

struct HistoryOptions {
  std::filesystem::path path;  ///< of the file; its directory must exist
  /// Size of the file without its log; at least 1 MiB.
  std::int64_t max_bytes = std::int64_t{256} << 20;
  KeptFor kept = {};
  bool is_damaged = false;  ///< it is known to be, and set aside even if no damage is found
};

/// Thread-safe: every call takes one mutex. Calls do disk I/O and belong on a worker. Errors of
/// every call: no-space, permission-denied (read-only), busy (another program holds a lock),
/// corrupt (the file was damaged while open: is_damaged()), io. They name the file
/// and what could not be done. One function per kind of row written and per question asked, all on
/// one connection.
class History {
 public:
  /// Opens the file, or creates it with mode 0640, and brings an older version up to date. Checks
  /// the whole file for damage, which takes longer the larger it is. Errors besides those above:
  /// not-found (no such directory), invalid-argument (`max_bytes` too small).
  [[nodiscard]] static Result<std::unique_ptr<History>> open(const HistoryOptions& options);
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const;
  /// A sentence for the user if open() had to set a file aside, otherwise empty.
  [[nodiscard]] const std::string& notice() const;
  /// Whether a call has found the file damaged. Takes no mutex.
  [[nodiscard]] bool is_damaged() const;

  // ---- journal ----

  /// The largest action number ever used, including those of deleted actions; 0 in a new history.
  [[nodiscard]] Result<std::int64_t> last_action_id();
  /// Records an intent before its first effect. Errors: invalid-argument (the number was used
  /// before).
  [[nodiscard]] Result<void> open_action(const ActionRow& action);
  /// Records that a step begins; beginning it again replaces the former record of that number.
  /// Errors: not-found (no such open action).
  [[nodiscard]] Result<void> begin_step(std::int64_t action, std::int32_t number,
                                        std::string_view text);
  /// Records how a step ended. Errors: not-found (no such step of an open action that has begun and
  /// not ended).
  [[nodiscard]] Result<void> end_step(std::int64_t action, std::int32_t number,
                                      std::string_view outcome);
  /// Ends an action as `state`, which is not kOpen. On disk when it returns. Errors: not-found (no
  /// such open action), invalid-argument (kOpen).
  [[nodiscard]] Result<void> close_action(std::int64_t action, ActionState state,
                                          std::string_view detail);
  /// Records an action that is over before it began, in one step, so that a crash cannot leave it
  /// open. Errors: those of open_action(), invalid-argument (kOpen).
  [[nodiscard]] Result<void> note_action(const ActionRow& action, ActionState state,
                                         std::string_view detail);
  /// Records the effects of an action; a later call replaces an earlier one. Errors: not-found.
  [[nodiscard]] Result<void> set_outcome(std::int64_t action, const ActionOutcome& outcome);
  /// All open actions with their steps, by number.
  [[nodiscard]] Result<std::vector<OpenAction>> open_actions();
  /// The orders of actions that are open or done, oldest first.
  [[nodiscard]] Result<std::vector<std::string>> orders_carried_out();
  /// Actions in any state, newest first.
  [[nodiscard]] Result<std::vector<PastAction>> recent_actions(const ActionFilter& filter);
  /// By name, then UUID.
  [[nodiscard]] Result<std::vector<PastVm>> past_vms();

  // ---- reservations ----

  /// Survives the process, not necessarily the host.
  [[nodiscard]] Result<void> note_reservation_event(const ReservationEventRow& event);
  /// Newest first.
  [[nodiscard]] Result<std::vector<ReservationEventRow>> reservation_events(
      const ReservationEventFilter& filter);

  // ---- samples ----

  /// Stores one epoch, computes due averages and deletes a slice of what is too old, in one
  /// transaction. Errors: busy also if another program's read has kept the log from shrinking for
  /// too long.
  [[nodiscard]] Result<void> append_epoch(const EpochRows& epoch);
  /// Ascending time, then node.
  [[nodiscard]] Result<std::vector<Kept<NodeSampleRow>>> node_samples(const SampleFilter& filter);
  /// Ascending time, then VM in the order they were first seen, then client.
  [[nodiscard]] Result<std::vector<Kept<ClientSampleRow>>> client_samples(
      const SampleFilter& filter);
  /// What a VM wants at its busy times: the 95th percentile (nearest rank) of its CPU demand per
  /// minute, in thousandths of its vCPUs' full time; over hours if no minutes are left. Nothing for
  /// an unknown VM or one not yet seen for a whole minute.
  [[nodiscard]] Result<std::optional<Permille>> cpu_p95_permille(const VmId& vm);

  // ---- homes and notes ----

  [[nodiscard]] Result<void> save_home(const VmId& vm, std::int32_t client, NodeId node);
  /// Forgets all homes of a VM that is gone or was divided differently. Those of a VM of which no
  /// samples and actions are left any more are forgotten by append_epoch().
  [[nodiscard]] Result<void> forget_homes(const VmId& vm);
  /// By VM, then client.
  [[nodiscard]] Result<std::vector<HomeRow>> load_homes();

  /// A small note that outlives the daemon; nothing if never set.
  [[nodiscard]] Result<std::optional<std::string>> meta(std::string_view key);
  [[nodiscard]] Result<void> set_meta(std::string_view key, std::string_view value);

 private:
  struct Store;
  explicit History(std::unique_ptr<Store> store);
  std::unique_ptr<Store> store_;
};

}  // namespace vmnuma::stats
