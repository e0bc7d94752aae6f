// SPDX-License-Identifier: Apache-2.0
#include "stats/history/actions.h"

#include <optional>
#include <string>
#include <utility>

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include "placement/model/text.h"
#include "stats/history/database.h"

namespace vmnuma::stats {
namespace {

// The columns of an action in the order in which read_action() takes them.
constexpr std::string_view kColumns =
    "id, time_ms, epoch, reason, state, detail, order_text, predicted_lost_before_us,"
    " predicted_lost_after_us, predicted_cost_us, predicted_imbalance_before,"
    " predicted_imbalance_after, predicted_locality_before, predicted_locality_after,"
    " measured_lost_before_us, measured_lost_after_us, measured_imbalance_before,"
    " measured_imbalance_after, measured_locality_before, measured_locality_after, moved_bytes, "
    "took_ms";

std::optional<Permille> permille_or_null(const SQLite::Column& column) {
  return column.isNull() ? std::nullopt : std::optional(Permille{column.getInt64()});
}

NodeId node_or_none(const SQLite::Column& column) {
  return column.isNull() ? NodeId{} : NodeId{column.getInt()};
}

Result<ActionState> parse_state(std::string_view text) {
  if (const auto state = value_named<ActionState>(text)) {
    return *state;
  }
  return failure(ErrorCode::kCorrupt, fmt::format("'{}' is not the state of an action", text));
}

Result<PastAction> read_action(SQLite::Statement& row) {
  int column = 0;
  const auto integer = [&] { return row.getColumn(column++).getInt64(); };
  const auto text = [&] { return row.getColumn(column++).getString(); };
  PastAction past;
  ActionRow& action = past.action;
  action.id = integer();
  action.time = WallTime(std::chrono::milliseconds(integer()));
  action.epoch = integer();
  action.reason = text();
  const auto state = parse_state(text());
  if (!state) {
    return tl::unexpected<Error>(state.error());
  }
  past.state = *state;
  past.detail = text();
  action.order_text = text();
  action.predicted.known = !row.isColumnNull(column);  // NULL reads as 0
  action.predicted.lost_before = CpuTime{integer()};
  action.predicted.lost_after = CpuTime{integer()};
  action.predicted.cost = CpuTime{integer()};
  action.predicted.imbalance_before = Permille{integer()};
  action.predicted.imbalance_after = Permille{integer()};
  action.predicted.locality_before = Permille{integer()};
  action.predicted.locality_after = Permille{integer()};
  if (!row.isColumnNull(column)) {
    ActionOutcome& outcome = past.outcome.emplace();
    outcome.lost_before = CpuTime{integer()};
    outcome.lost_after = CpuTime{integer()};
    outcome.imbalance_before = Permille{integer()};
    outcome.imbalance_after = Permille{integer()};
    outcome.locality_before = permille_or_null(row.getColumn(column++));
    outcome.locality_after = permille_or_null(row.getColumn(column++));
    outcome.moved = Bytes{integer()};
    outcome.took = std::chrono::milliseconds(integer());
  }
  return past;
}

Result<std::vector<RelocationRow>> read_relocations(SQLite::Database& database,
                                                    std::int64_t action) {
  SQLite::Statement select(
      database,
      "SELECT vm, vm_name, client, from_node, to_node, memory_bytes, spill_node"
      " FROM relocation WHERE action = ? ORDER BY number");
  select.bind(1, action);
  std::vector<RelocationRow> relocations;
  while (select.executeStep()) {
    const auto vm = parse_vm_id(select.getColumn(0).getString());
    if (!vm) {
      return failure(ErrorCode::kCorrupt, vm.error().message);
    }
    relocations.push_back({.vm = *vm,
                           .vm_name = select.getColumn(1).getString(),
                           .client = select.getColumn(2).getInt(),
                           .from = node_or_none(select.getColumn(3)),
                           .to = node_or_none(select.getColumn(4)),
                           .memory = Bytes{select.getColumn(5).getInt64()},
                           .spills_to = node_or_none(select.getColumn(6))});
  }
  return relocations;
}

Result<std::vector<PastAction>> read_actions(SQLite::Database& database,
                                             SQLite::Statement& select) {
  std::vector<PastAction> actions;
  while (select.executeStep()) {
    auto past = read_action(select);
    if (!past) {
      return past.map([](auto&) { return std::vector<PastAction>(); });
    }
    auto relocations = read_relocations(database, past->action.id);
    if (!relocations) {
      return failure(std::move(relocations).error(), fmt::format("in action {}", past->action.id));
    }
    past->action.relocations = std::move(*relocations);
    actions.push_back(std::move(*past));
  }
  return actions;
}

std::vector<StepRow> read_steps(SQLite::Database& database, std::int64_t action) {
  SQLite::Statement select(
      database, "SELECT number, text, outcome FROM step WHERE action = ? ORDER BY number");
  select.bind(1, action);
  std::vector<StepRow> steps;
  while (select.executeStep()) {
    StepRow& step = steps.emplace_back();
    step.number = select.getColumn(0).getInt();
    step.text = select.getColumn(1).getString();
    if (!select.isColumnNull(2)) {
      step.outcome = select.getColumn(2).getString();
    }
  }
  return steps;
}

bool exists(SQLite::Database& database, const char* query, std::int64_t action) {
  SQLite::Statement select(database, query);
  select.bind(1, action);
  return select.executeStep();
}

tl::unexpected<Error> no_open_action(std::int64_t action) {
  return failure(ErrorCode::kNotFound, fmt::format("there is no open action {}", action));
}

constexpr const char* kIsOpen = "SELECT 1 FROM action WHERE id = ? AND state = 'open'";

/// Call within a transaction.
Result<void> insert_action(SQLite::Database& database, const ActionRow& action) {
  if (exists(database, "SELECT 1 FROM action WHERE id = ?", action.id)) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("the number {} belongs to another action", action.id));
  }
  SQLite::Statement insert(
      database,
      "INSERT INTO action (id, time_ms, epoch, reason, order_text, predicted_lost_before_us,"
      " predicted_lost_after_us, predicted_cost_us, predicted_imbalance_before,"
      " predicted_imbalance_after, predicted_locality_before, predicted_locality_after)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, action.id);
  insert.bind(2, to_ms(action.time));
  insert.bind(3, action.epoch);
  insert.bind(4, action.reason);
  insert.bind(5, action.order_text);
  const Prediction& predicted = action.predicted;
  int column = 6;
  for (const std::int64_t value :
       {predicted.lost_before.value, predicted.lost_after.value, predicted.cost.value,
        predicted.imbalance_before.value, predicted.imbalance_after.value,
        predicted.locality_before.value, predicted.locality_after.value}) {
    bind_or_null(insert, column++, predicted.known, value);
  }
  insert.exec();

  SQLite::Statement relocation(database,
                               "INSERT INTO relocation (action, number, vm, vm_name, client,"
                               " from_node, to_node, memory_bytes, spill_node)"
                               " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  std::int32_t number = 0;
  for (const RelocationRow& row : action.relocations) {
    relocation.bind(1, action.id);
    relocation.bind(2, number++);
    relocation.bind(3, to_text(row.vm));
    relocation.bind(4, row.vm_name);
    relocation.bind(5, row.client);
    bind_or_null(relocation, 6, row.from.value >= 0, row.from.value);
    bind_or_null(relocation, 7, row.to.value >= 0, row.to.value);
    relocation.bind(8, row.memory.value);
    bind_or_null(relocation, 9, row.spills_to.value >= 0, row.spills_to.value);
    relocation.exec();
    relocation.reset();
  }
  return {};
}

/// Likewise.
Result<void> end_action(SQLite::Database& database, std::int64_t action, ActionState state,
                        std::string_view detail) {
  if (state == ActionState::kOpen) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("action {} cannot be closed as open", action));
  }
  SQLite::Statement update(
      database, "UPDATE action SET state = ?, detail = ? WHERE id = ? AND state = 'open'");
  update.bind(1, std::string(name_of(state)));
  update.bind(2, std::string(detail));
  update.bind(3, action);
  return update.exec() == 0 ? no_open_action(action) : Result<void>{};
}

}  // namespace

std::int64_t last_action_id(SQLite::Database& database) {
  // AUTOINCREMENT's own counter, which deleting actions does not lower.
  SQLite::Statement select(database, "SELECT seq FROM sqlite_sequence WHERE name = 'action'");
  return select.executeStep() ? select.getColumn(0).getInt64() : 0;
}

Result<void> open_action(SQLite::Database& database, const ActionRow& action) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kHost);
  Result<void> inserted = insert_action(database, action);
  if (inserted) {
    transaction.commit();
  }
  return inserted;
}

Result<void> begin_step(SQLite::Database& database, std::int64_t action, std::int32_t number,
                        std::string_view text) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
  if (!exists(database, kIsOpen, action)) {
    return no_open_action(action);
  }
  SQLite::Statement insert(database,
                           "INSERT OR REPLACE INTO step (action, number, text) VALUES (?, ?, ?)");
  insert.bind(1, action);
  insert.bind(2, number);
  insert.bind(3, std::string(text));
  insert.exec();
  transaction.commit();
  return {};
}

Result<void> end_step(SQLite::Database& database, std::int64_t action, std::int32_t number,
                      std::string_view outcome) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
  if (!exists(database, kIsOpen, action)) {
    return no_open_action(action);
  }
  SQLite::Statement update(
      database, "UPDATE step SET outcome = ? WHERE action = ? AND number = ? AND outcome IS NULL");
  update.bind(1, std::string(outcome));
  update.bind(2, action);
  update.bind(3, number);
  if (update.exec() == 0) {
    return failure(ErrorCode::kNotFound,
                   fmt::format("no step {} of action {} is under way", number, action));
  }
  transaction.commit();
  return {};
}

Result<void> close_action(SQLite::Database& database, std::int64_t action, ActionState state,
                          std::string_view detail) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kHost);
  Result<void> ended = end_action(database, action, state, detail);
  if (ended) {
    transaction.commit();
  }
  return ended;
}

Result<void> record_action(SQLite::Database& database, const ActionRow& action, ActionState state,
                           std::string_view detail) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
  Result<void> noted = insert_action(database, action).and_then([&] {
    return end_action(database, action.id, state, detail);
  });
  if (noted) {
    transaction.commit();
  }
  return noted;
}

Result<void> set_outcome(SQLite::Database& database, std::int64_t action,
                         const ActionOutcome& outcome) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
  SQLite::Statement update(
      database,
      "UPDATE action SET measured_lost_before_us = ?, measured_lost_after_us = ?,"
      " measured_imbalance_before = ?, measured_imbalance_after = ?, measured_locality_before = ?,"
      " measured_locality_after = ?, moved_bytes = ?, took_ms = ? WHERE id = ?");
  update.bind(1, outcome.lost_before.value);
  update.bind(2, outcome.lost_after.value);
  update.bind(3, outcome.imbalance_before.value);
  update.bind(4, outcome.imbalance_after.value);
  bind_or_null(update, 5, outcome.locality_before.has_value(),
               outcome.locality_before.value_or(Permille{}).value);
  bind_or_null(update, 6, outcome.locality_after.has_value(),
               outcome.locality_after.value_or(Permille{}).value);
  update.bind(7, outcome.moved.value);
  update.bind(8, std::int64_t{outcome.took.count()});
  update.bind(9, action);
  if (update.exec() == 0) {
    return failure(ErrorCode::kNotFound, fmt::format("there is no action {}", action));
  }
  transaction.commit();
  return {};
}

Result<std::vector<OpenAction>> open_actions(SQLite::Database& database) {
  SQLite::Statement select(
      database, fmt::format("SELECT {} FROM action WHERE state = 'open' ORDER BY id", kColumns));
  auto found = read_actions(database, select);
  if (!found) {
    return tl::unexpected<Error>(std::move(found).error());
  }
  std::vector<OpenAction> open;
  for (PastAction& past : *found) {
    std::vector<StepRow> steps = read_steps(database, past.action.id);
    open.push_back({std::move(past.action), std::move(steps)});
  }
  return open;
}

std::vector<std::string> orders_carried_out(SQLite::Database& database) {
  SQLite::Statement select(
      database, "SELECT order_text FROM action WHERE state IN ('open', 'done') ORDER BY id");
  std::vector<std::string> orders;
  while (select.executeStep()) {
    orders.push_back(select.getColumn(0).getString());
  }
  return orders;
}

std::vector<PastVm> past_vms(SQLite::Database& database) {
  SQLite::Statement select(database,
                           "SELECT uuid, name FROM vm UNION SELECT vm, vm_name FROM"
                           " (SELECT DISTINCT vm, vm_name FROM relocation) ORDER BY 2, 1");
  std::vector<PastVm> vms;
  while (select.executeStep()) {
    vms.push_back({select.getColumn(0).getString(), select.getColumn(1).getString()});
  }
  return vms;
}

Result<std::vector<PastAction>> recent_actions(SQLite::Database& database,
                                               const ActionFilter& filter) {
  std::string query = fmt::format("SELECT {} FROM action WHERE 1", kColumns);
  if (filter.since) {
    query += " AND time_ms >= :since";
  }
  if (filter.until) {
    query += " AND time_ms < :until";
  }
  if (!filter.reason.empty()) {
    query += " AND reason = :reason";
  }
  if (!filter.vm.empty()) {
    // A VM's name may be the UUID of another VM. Each part has an index.
    query +=
        " AND id IN (SELECT action FROM relocation WHERE vm = :uuid UNION ALL"
        " SELECT action FROM relocation WHERE vm_name = :vm AND NOT EXISTS (SELECT 1 FROM"
        " relocation WHERE vm = :uuid) AND NOT EXISTS (SELECT 1 FROM vm WHERE uuid = :uuid))";
  }
  if (filter.node) {
    query +=
        " AND EXISTS (SELECT 1 FROM relocation WHERE action = action.id AND :node IN (from_node,"
        " to_node, spill_node))";
  }
  query += " ORDER BY id DESC LIMIT :limit";
  SQLite::Statement select(database, query);
  if (filter.since) {
    select.bind(":since", to_ms(*filter.since));
  }
  if (filter.until) {
    select.bind(":until", to_ms(*filter.until));
  }
  if (!filter.reason.empty()) {
    select.bind(":reason", filter.reason);
  }
  if (!filter.vm.empty()) {
    const auto id = parse_vm_id(filter.vm);
    select.bind(":uuid", id ? to_text(*id) : filter.vm);
    select.bind(":vm", filter.vm);
  }
  if (filter.node) {
    select.bind(":node", filter.node->value);
  }
  select.bind(":limit", filter.limit);
  return read_actions(database, select);
}

}  // namespace vmnuma::stats
