// SPDX-License-Identifier: Apache-2.0
/// The tables home and meta. Internal to stats/history; History documents each function. All of
/// them may throw SQLite::Exception.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <SQLiteCpp/Database.h>

#include "placement/base/result.h"
#include "stats/history/rows.h"

namespace vmnuma::stats {

[[nodiscard]] Result<void> save_home(SQLite::Database& database, const HomeRow& home);
[[nodiscard]] Result<void> forget_homes(SQLite::Database& database, const VmId& vm);
[[nodiscard]] Result<std::vector<HomeRow>> load_homes(SQLite::Database& database);
[[nodiscard]] std::optional<std::string> read_meta(SQLite::Database& database,
                                                   std::string_view key);
[[nodiscard]] Result<void> write_meta(SQLite::Database& database, std::string_view key,
                                      std::string_view value);

}  // namespace vmnuma::stats
