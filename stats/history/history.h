// SPDX-License-Identifier: Apache-2.0
/// The host's history: which actions were taken and their effects, the figures of nodes and
/// clients, and the home of every client.
///
/// Problem: a daemon that was killed must know which actions it had begun; an administrator wants
/// to look back at last week; a VM that is started again should count with its known load. All of
/// this must fit in a file of bounded size at no noticeable cost per epoch, and the loss of or
/// damage to that file must never stop the balancer.
///
/// Approach: one SQLite file in WAL mode, written by this class alone, readable by any program at
/// any time. One transaction per epoch. Averages are computed when a minute or an hour is over, and
/// old rows are deleted in small slices at every epoch, so there is never a long cleanup.
///
/// Terms: *journal* = the tables action, relocation and step; *slice* = what one epoch may
/// aggregate or delete.
///
/// Properties:
/// - A killed process loses at most the epoch that was being appended.
/// - An action that open_action() accepted is on disk before the call returns and survives a power
///   failure. Steps and samples survive a crash of the process, but not necessarily one of the
///   host, which ends what they describe anyway.
/// - Raw epochs, averages over minutes and hours, and actions are kept for as long as
///   HistoryOptions specifies; the file stays below `max_bytes` by deleting the oldest detail
///   first. Open actions are never deleted.
/// - A file that is damaged, not ours or of another version is set aside, not deleted (the last
///   three are kept), and a new one is created.
/// - If the disk is full or another program locks the file, the call fails, never the process;
///   calls succeed again once the cause is gone.
/// - If the wall clock is set back, the averages of the repeated time are lost, nothing else. While
///   it is far ahead, rows that seem too old are deleted, one slice per epoch.
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

/// How long each kind of row is kept. Rows that are not averaged yet are kept until they are.
struct KeptFor {
  std::chrono::minutes epochs = std::chrono::hours(1);
  std::chrono::days minutes{30};
  std::chrono::days hours{365};
  std::chrono::days actions{365};  ///< closed actions, and events of reservations
};

struct HistoryOptions {
  std::filesystem::path path;  ///< of the file; its directory must exist
  /// Size of the file without its log; at least 1 MiB.
  std::int64_t max_bytes = std::int64_t{256} << 20;
  KeptFor kept = {};
  bool is_damaged = false;  ///< known to be damaged: set aside even if no damage is found
};

/// Thread-safe: every call takes one mutex. Calls do disk I/O and belong on a worker thread. Errors
/// of every call: no-space, permission-denied (read-only), busy (another program holds a lock),
/// corrupt (the file was damaged while open: is_damaged()), io. Errors name the file and what could
/// not be done. There is one function per kind of row written and per query, all on one connection.
class History {
 public:
  /// Opens the file, or creates it with mode 0640. Checks the whole file for damage, which takes
  /// time in proportion to its size. Errors besides those above: not-found (no such directory),
  /// invalid-argument (`max_bytes` too small).
  [[nodiscard]] static Result<std::unique_ptr<History>> open(const HistoryOptions& options);
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const;
  /// Returns a sentence for the user if open() had to set a file aside; otherwise it is empty.
  [[nodiscard]] const std::string& notice() const;
  /// Returns whether a call has found the file damaged. Takes no mutex.
  [[nodiscard]] bool is_damaged() const;

  // ---- journal ----

  /// Returns the largest action number ever used, including those of deleted actions; 0 in a new
  /// history.
  [[nodiscard]] Result<std::int64_t> last_action_id();
  /// Records an intent before its first effect. Errors: invalid-argument (the number was already
  /// used).
  [[nodiscard]] Result<void> open_action(const ActionRow& action);
  /// Records that a step begins; this replaces an earlier record of that number. Errors: not-found
  /// (no such open action).
  [[nodiscard]] Result<void> begin_step(std::int64_t action, std::int32_t number,
                                        std::string_view text);
  /// Records how a step ended. Errors: not-found (no open action has such a step that has begun and
  /// not ended).
  [[nodiscard]] Result<void> end_step(std::int64_t action, std::int32_t number,
                                      std::string_view outcome);
  /// Ends an action with `state`, which must not be kOpen. On disk when the call returns. Errors:
  /// not-found (no such open action), invalid-argument (kOpen).
  [[nodiscard]] Result<void> close_action(std::int64_t action, ActionState state,
                                          std::string_view detail);
  /// Records an action together with its end, in one step, so that a crash cannot leave it open.
  /// Errors: those of open_action(), invalid-argument (kOpen).
  [[nodiscard]] Result<void> record_action(const ActionRow& action, ActionState state,
                                           std::string_view detail);
  /// Records the effects of an action; a later call replaces an earlier one. Errors: not-found.
  [[nodiscard]] Result<void> set_outcome(std::int64_t action, const ActionOutcome& outcome);
  /// Returns all open actions with their steps, by number.
  [[nodiscard]] Result<std::vector<OpenAction>> open_actions();
  /// Returns the orders of actions that are open or done, oldest first.
  [[nodiscard]] Result<std::vector<std::string>> orders_carried_out();
  /// Returns actions in any state, newest first.
  [[nodiscard]] Result<std::vector<PastAction>> recent_actions(const ActionFilter& filter);
  /// Returns VMs by name, then UUID.
  [[nodiscard]] Result<std::vector<PastVm>> past_vms();

  // ---- reservations ----

  /// Records an event, which survives a crash of the process but not necessarily one of the host.
  [[nodiscard]] Result<void> record_reservation_event(const ReservationEventRow& event);
  /// Newest first.
  [[nodiscard]] Result<std::vector<ReservationEventRow>> reservation_events(
      const ReservationEventFilter& filter);

  // ---- samples ----

  /// Stores one epoch, computes due averages and deletes a slice of what is too old, in one
  /// transaction. Errors: busy, also if a read by another program has kept the log from shrinking
  /// for too long.
  [[nodiscard]] Result<void> append_epoch(const EpochRows& epoch);
  /// Returns a VM's demand at its busy times: the 95th percentile (nearest rank) of its CPU demand
  /// per minute, in thousandths of its vCPUs' full time; per hour if no minutes are left. Nothing
  /// for a VM that is unknown or was not yet seen for a whole minute.
  [[nodiscard]] Result<std::optional<Permille>> cpu_p95_permille(const VmId& vm);

  // ---- homes and notes ----

  [[nodiscard]] Result<void> save_home(const VmId& vm, std::int32_t client, NodeId node);
  /// Deletes all homes of a VM that is gone or whose division into clients changed. Homes of a VM
  /// that has no samples and actions left are deleted by append_epoch().
  [[nodiscard]] Result<void> forget_homes(const VmId& vm);
  /// By VM, then client.
  [[nodiscard]] Result<std::vector<HomeRow>> load_homes();

  /// Returns a small note that outlives the daemon; nothing if it was never set.
  [[nodiscard]] Result<std::optional<std::string>> meta(std::string_view key);
  [[nodiscard]] Result<void> set_meta(std::string_view key, std::string_view value);

 private:
  struct Store;
  explicit History(std::unique_ptr<Store> store);
  std::unique_ptr<Store> store_;
};

}  // namespace vmnuma::stats
