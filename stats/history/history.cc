// SPDX-License-Identifier: Apache-2.0
#include "stats/history/history.h"

#include <atomic>
#include <mutex>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "stats/history/actions.h"
#include "stats/history/database.h"
#include "stats/history/homes.h"
#include "stats/history/reservation_events.h"
#include "stats/history/retention.h"
#include "stats/history/samples.h"

namespace vmnuma::stats {
namespace {

constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;
// The log stays near 4 MiB unless a long read keeps it from being merged into the file.
constexpr std::uintmax_t kMostLogBytes = std::uintmax_t{64} << 20;

template <class T>
struct IsResult : std::false_type {};
template <class T>
struct IsResult<Result<T>> : std::true_type {};

}  // namespace

struct History::Store {
  HistoryOptions options;
  std::string notice;
  std::mutex mutex;
  SQLite::Database database;  // under `mutex`
  std::atomic<bool> is_damaged = false;

  // Calls a function with the database and these arguments, and converts SQLite's exceptions to
  // errors. `doing` completes "cannot ... in 'file'".
  template <class Function, class... Arguments>
  auto run(std::string_view doing, Function function, const Arguments&... arguments) {
    using Value = std::invoke_result_t<Function, SQLite::Database&, const Arguments&...>;
    using Returned = std::conditional_t<IsResult<Value>::value, Value, Result<Value>>;
    const std::lock_guard lock(mutex);
    try {
      Returned result = function(database, arguments...);
      if (!result) {
        return Returned(failure(std::move(result).error(),
                                fmt::format("cannot {} in '{}'", doing, options.path.string())));
      }
      return result;
    } catch (const SQLite::Exception& exception) {
      auto failed = sqlite_failure(exception, doing, options.path, database.getHandle());
      if (failed.value().code == ErrorCode::kCorrupt) {
        is_damaged = true;
      }
      return Returned(std::move(failed));
    }
  }
};

History::History(std::unique_ptr<Store> store) : store_(std::move(store)) {}
History::~History() = default;

Result<std::unique_ptr<History>> History::open(const HistoryOptions& options) {
  if (options.max_bytes < kLeastBytes) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("the history needs at least {} bytes, {} are too few", kLeastBytes,
                               options.max_bytes));
  }
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(options.path, error);
  if (error || !path.has_filename()) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("'{}' is not the path of a file", options.path.string()),
                   error.value());
  }
  auto opened = open_database(path, options.is_damaged);
  if (!opened) {
    return tl::unexpected<Error>(std::move(opened).error());
  }
  return std::unique_ptr<History>(
      new History(std::unique_ptr<Store>(new Store{{path, options.max_bytes, options.kept},
                                                   std::move(opened->notice),
                                                   {},
                                                   std::move(opened->database)})));
}

const std::filesystem::path& History::path() const {
  return store_->options.path;
}
const std::string& History::notice() const {
  return store_->notice;
}
bool History::is_damaged() const {
  return store_->is_damaged;
}

Result<std::int64_t> History::last_action_id() {
  return store_->run("read the last action's number", stats::last_action_id);
}

Result<void> History::open_action(const ActionRow& action) {
  return store_->run(fmt::format("record action {}", action.id), stats::open_action, action);
}

Result<void> History::begin_step(std::int64_t action, std::int32_t number, std::string_view text) {
  return store_->run(fmt::format("record step {} of action {}", number, action), stats::begin_step,
                     action, number, text);
}

Result<void> History::end_step(std::int64_t action, std::int32_t number, std::string_view outcome) {
  return store_->run(fmt::format("record the end of step {} of action {}", number, action),
                     stats::end_step, action, number, outcome);
}

Result<void> History::close_action(std::int64_t action, ActionState state,
                                   std::string_view detail) {
  return store_->run(fmt::format("record the end of action {}", action), stats::close_action,
                     action, state, detail);
}

Result<void> History::record_action(const ActionRow& action, ActionState state,
                                    std::string_view detail) {
  return store_->run(fmt::format("record action {}", action.id), stats::record_action, action,
                     state, detail);
}

Result<void> History::set_outcome(std::int64_t action, const ActionOutcome& outcome) {
  return store_->run(fmt::format("record the outcome of action {}", action), stats::set_outcome,
                     action, outcome);
}

Result<std::vector<OpenAction>> History::open_actions() {
  return store_->run("read the open actions", stats::open_actions);
}

Result<std::vector<std::string>> History::orders_carried_out() {
  return store_->run("read the orders", stats::orders_carried_out);
}

Result<std::vector<PastAction>> History::recent_actions(const ActionFilter& filter) {
  return store_->run("read the actions", stats::recent_actions, filter);
}

Result<std::vector<PastVm>> History::past_vms() {
  return store_->run("read the VMs", stats::past_vms);
}

Result<void> History::record_reservation_event(const ReservationEventRow& event) {
  return store_->run("record what happened to a reservation", stats::record_reservation_event,
                     event);
}

Result<std::vector<ReservationEventRow>> History::reservation_events(
    const ReservationEventFilter& filter) {
  return store_->run("read what happened to reservations", stats::reservation_events, filter);
}

Result<void> History::append_epoch(const EpochRows& epoch) {
  return store_->run("record an epoch", [&](SQLite::Database& database) -> Result<void> {
    std::error_code no_log;
    const std::uintmax_t log_bytes =
        std::filesystem::file_size(store_->options.path.string() + "-wal", no_log);
    if (!no_log && log_bytes > kMostLogBytes &&
        database.execAndGet("PRAGMA wal_checkpoint(TRUNCATE)").getInt() != 0) {
      return failure(
          ErrorCode::kBusy,
          fmt::format("the log '{}-wal' has {} bytes because another program has been reading"
                      " the history for long; epochs are not kept until it ends",
                      store_->options.path.string(), log_bytes));
    }
    const std::int64_t now_ms = epoch.time.time_since_epoch().count();
    SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
    prune(database, now_ms, store_->options);
    insert_epoch(database, epoch);
    make_averages(database, now_ms);
    transaction.commit();
    return {};
  });
}

Result<std::optional<Permille>> History::cpu_p95_permille(const VmId& vm) {
  return store_->run("read a VM's demand", read_cpu_p95, vm);
}

Result<void> History::save_home(const VmId& vm, std::int32_t client, NodeId node) {
  return store_->run("record a home", stats::save_home, HomeRow{vm, client, node});
}

Result<void> History::forget_homes(const VmId& vm) {
  return store_->run("forget homes", stats::forget_homes, vm);
}

Result<std::vector<HomeRow>> History::load_homes() {
  return store_->run("read the homes", stats::load_homes);
}

Result<std::optional<std::string>> History::meta(std::string_view key) {
  return store_->run("read a note", read_meta, key);
}

Result<void> History::set_meta(std::string_view key, std::string_view value) {
  return store_->run("record a note", write_meta, key, value);
}

}  // namespace vmnuma::stats
