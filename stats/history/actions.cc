// SPDX-License-Identifier: Apache-2.0
#include "stats/history/actions.h"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "placement/model/text.h"
#include "stats/history/database.h"
#include "stats/history/store.h"

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
std::optional<std::int64_t> value_of(std::optional<Permille> permille) {
  return permille ? std::optional(permille->value) : std::nullopt;
}

NodeId node_or_none(const SQLite::Column& column) {
  return column.isNull() ? NodeId{} : NodeId{column.getInt()};
}
std::optional<std::int32_t> value_of(NodeId node) {
  return node.value < 0 ? std::nullopt : std::optional(node.value);
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
  VMNUMA_ASSIGN_OR_RETURN(past.state, parse_state(text()));
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
  SQLite::Statement select =
      prepare(database,
              "SELECT vm, vm_name, client, from_node, to_node, memory_bytes, spill_node"
              " FROM relocation WHERE action = ? ORDER BY number",
              action);
  std::vector<RelocationRow> relocations;
  while (select.executeStep()) {
    VMNUMA_ASSIGN_OR_RETURN(const VmId vm, vm_id_of(select.getColumn(0)));
    relocations.push_back({.vm = vm,
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
    VMNUMA_ASSIGN_OR_RETURN(PastAction past, read_action(select));
    auto relocations = read_relocations(database, past.action.id);
    if (!relocations) {
      return failure(std::move(relocations).error(), fmt::format("in action {}", past.action.id));
    }
    past.action.relocations = std::move(*relocations);
    actions.push_back(std::move(past));
  }
  return actions;
}

std::vector<StepRow> read_steps(SQLite::Database& database, std::int64_t action) {
  SQLite::Statement select = prepare(
      database, "SELECT number, text, outcome FROM step WHERE action = ? ORDER BY number", action);
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

bool is_open(SQLite::Database& database, std::int64_t action) {
  return prepare(database, "SELECT 1 FROM action WHERE id = ? AND state = 'open'", action)
      .executeStep();
}

tl::unexpected<Error> no_open_action(std::int64_t action) {
  return failure(ErrorCode::kNotFound, fmt::format("there is no open action {}", action));
}

/// Call within a transaction.
Result<void> insert_action(SQLite::Database& database, const ActionRow& action) {
  if (prepare(database, "SELECT 1 FROM action WHERE id = ?", action.id).executeStep()) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("the number {} belongs to another action", action.id));
  }
  const Prediction& predicted = action.predicted;
  const auto if_known = [&](auto amount) {
    return predicted.known ? std::optional(amount.value) : std::nullopt;
  };
  execute(database,
          "INSERT INTO action (id, time_ms, epoch, reason, order_text, predicted_lost_before_us,"
          " predicted_lost_after_us, predicted_cost_us, predicted_imbalance_before,"
          " predicted_imbalance_after, predicted_locality_before, predicted_locality_after)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          action.id, to_ms(action.time), action.epoch, action.reason, action.order_text,
          if_known(predicted.lost_before), if_known(predicted.lost_after), if_known(predicted.cost),
          if_known(predicted.imbalance_before), if_known(predicted.imbalance_after),
          if_known(predicted.locality_before), if_known(predicted.locality_after));
  std::int32_t number = 0;
  for (const RelocationRow& row : action.relocations) {
    execute(database,
            "INSERT INTO relocation (action, number, vm, vm_name, client, from_node, to_node,"
            " memory_bytes, spill_node) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            action.id, number++, to_text(row.vm), row.vm_name, row.client, value_of(row.from),
            value_of(row.to), row.memory.value, value_of(row.spills_to));
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
  const int ended =
      execute(database, "UPDATE action SET state = ?, detail = ? WHERE id = ? AND state = 'open'",
              name_of(state), detail, action);
  return ended == 0 ? no_open_action(action) : Result<void>{};
}

}  // namespace

Result<std::int64_t> History::last_action_id() {
  return store_->run(
      "read the last action's number", [](SQLite::Database& database) -> Result<std::int64_t> {
        // AUTOINCREMENT's own counter, which deleting actions does not lower.
        SQLite::Statement select(database, "SELECT seq FROM sqlite_sequence WHERE name = 'action'");
        return select.executeStep() ? select.getColumn(0).getInt64() : 0;
      });
}

Result<void> History::open_action(const ActionRow& action) {
  return store_->write(fmt::format("record action {}", action.id), Outlive::kHost,
                       [&](SQLite::Database& database) { return insert_action(database, action); });
}

Result<void> History::begin_step(std::int64_t action, std::int32_t number, std::string_view text) {
  return store_->write(
      fmt::format("record step {} of action {}", number, action), Outlive::kProcess,
      [&](SQLite::Database& database) -> Result<void> {
        if (!is_open(database, action)) {
          return no_open_action(action);
        }
        execute(database, "INSERT OR REPLACE INTO step (action, number, text) VALUES (?, ?, ?)",
                action, number, text);
        return {};
      });
}

Result<void> History::end_step(std::int64_t action, std::int32_t number, std::string_view outcome) {
  return store_->write(
      fmt::format("record the end of step {} of action {}", number, action), Outlive::kProcess,
      [&](SQLite::Database& database) -> Result<void> {
        if (!is_open(database, action)) {
          return no_open_action(action);
        }
        if (execute(
                database,
                "UPDATE step SET outcome = ? WHERE action = ? AND number = ? AND outcome IS NULL",
                outcome, action, number) == 0) {
          return failure(ErrorCode::kNotFound,
                         fmt::format("no step {} of action {} is under way", number, action));
        }
        return {};
      });
}

Result<void> History::close_action(std::int64_t action, ActionState state,
                                   std::string_view detail) {
  return store_->write(
      fmt::format("record the end of action {}", action), Outlive::kHost,
      [&](SQLite::Database& database) { return end_action(database, action, state, detail); });
}

Result<void> History::record_action(const ActionRow& action, ActionState state,
                                    std::string_view detail) {
  return store_->write(fmt::format("record action {}", action.id), Outlive::kProcess,
                       [&](SQLite::Database& database) {
                         return insert_action(database, action).and_then([&] {
                           return end_action(database, action.id, state, detail);
                         });
                       });
}

Result<void> History::set_outcome(std::int64_t action, const ActionOutcome& outcome) {
  return store_->write(
      fmt::format("record the outcome of action {}", action), Outlive::kProcess,
      [&](SQLite::Database& database) -> Result<void> {
        const int changed =
            execute(database,
                    "UPDATE action SET measured_lost_before_us = ?, measured_lost_after_us = ?,"
                    " measured_imbalance_before = ?, measured_imbalance_after = ?,"
                    " measured_locality_before = ?, measured_locality_after = ?, moved_bytes = ?,"
                    " took_ms = ? WHERE id = ?",
                    outcome.lost_before.value, outcome.lost_after.value,
                    outcome.imbalance_before.value, outcome.imbalance_after.value,
                    value_of(outcome.locality_before), value_of(outcome.locality_after),
                    outcome.moved.value, std::int64_t{outcome.took.count()}, action);
        if (changed == 0) {
          return failure(ErrorCode::kNotFound, fmt::format("there is no action {}", action));
        }
        return {};
      });
}

Result<std::vector<OpenAction>> History::open_actions() {
  return store_->run(
      "read the open actions", [](SQLite::Database& database) -> Result<std::vector<OpenAction>> {
        SQLite::Statement select(
            database,
            fmt::format("SELECT {} FROM action WHERE state = 'open' ORDER BY id", kColumns));
        VMNUMA_ASSIGN_OR_RETURN(auto found, read_actions(database, select));
        std::vector<OpenAction> open;
        for (PastAction& past : found) {
          std::vector<StepRow> steps = read_steps(database, past.action.id);
          open.push_back({std::move(past.action), std::move(steps)});
        }
        return open;
      });
}

Result<std::vector<std::string>> History::orders_carried_out() {
  return store_->run(
      "read the orders", [](SQLite::Database& database) -> Result<std::vector<std::string>> {
        SQLite::Statement select(
            database, "SELECT order_text FROM action WHERE state IN ('open', 'done') ORDER BY id");
        std::vector<std::string> orders;
        while (select.executeStep()) {
          orders.push_back(select.getColumn(0).getString());
        }
        return orders;
      });
}

Result<std::vector<PastAction>> History::recent_actions(const ActionFilter& filter) {
  return store_->run("read the actions", [&](SQLite::Database& database) {
    return stats::recent_actions(database, filter);
  });
}

Result<std::vector<PastVm>> History::past_vms() {
  return store_->run("read the VMs", [](SQLite::Database& database) -> Result<std::vector<PastVm>> {
    SQLite::Statement select(database,
                             "SELECT uuid, name FROM vm UNION SELECT vm, vm_name FROM"
                             " (SELECT DISTINCT vm, vm_name FROM relocation) ORDER BY 2, 1");
    std::vector<PastVm> vms;
    while (select.executeStep()) {
      vms.push_back({select.getColumn(0).getString(), select.getColumn(1).getString()});
    }
    return vms;
  });
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
