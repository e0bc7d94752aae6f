// SPDX-License-Identifier: Apache-2.0
/// Reads the tables action and relocation. Internal to stats/history.
#pragma once

#include <vector>

#include <SQLiteCpp/Database.h>

#include "placement/base/result.h"
#include "stats/history/rows.h"

namespace vmnuma::stats {

/// See History::recent_actions(). May throw SQLite::Exception.
[[nodiscard]] Result<std::vector<PastAction>> recent_actions(SQLite::Database& database,
                                                             const ActionFilter& filter);

}  // namespace vmnuma::stats
