// SPDX-License-Identifier: Apache-2.0
/// The tables action, relocation and step: what was intended, how it ended and its effects.
/// Internal to stats/history; History documents each function. All of them may throw
/// SQLite::Exception.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <SQLiteCpp/Database.h>

#include "placement/base/result.h"
#include "stats/history/rows.h"

namespace vmnuma::stats {

[[nodiscard]] std::int64_t last_action_id(SQLite::Database& database);
[[nodiscard]] Result<void> open_action(SQLite::Database& database, const ActionRow& action);
[[nodiscard]] Result<void> begin_step(SQLite::Database& database, std::int64_t action,
                                      std::int32_t number, std::string_view text);
[[nodiscard]] Result<void> end_step(SQLite::Database& database, std::int64_t action,
                                    std::int32_t number, std::string_view outcome);
[[nodiscard]] Result<void> close_action(SQLite::Database& database, std::int64_t action,
                                        ActionState state, std::string_view detail);
[[nodiscard]] Result<void> record_action(SQLite::Database& database, const ActionRow& action,
                                         ActionState state, std::string_view detail);
[[nodiscard]] Result<void> set_outcome(SQLite::Database& database, std::int64_t action,
                                       const ActionOutcome& outcome);
[[nodiscard]] Result<std::vector<OpenAction>> open_actions(SQLite::Database& database);
[[nodiscard]] std::vector<std::string> orders_carried_out(SQLite::Database& database);
[[nodiscard]] Result<std::vector<PastAction>> recent_actions(SQLite::Database& database,
                                                             const ActionFilter& filter);
/// Returns the VMs that have actions, and all those of table vm.
[[nodiscard]] std::vector<PastVm> past_vms(SQLite::Database& database);

}  // namespace vmnuma::stats
