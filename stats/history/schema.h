// SPDX-License-Identifier: Apache-2.0
/// The tables of the history.
///
/// The file's header identifies its application (application_id) and version (user_version).
#pragma once

#include <cstdint>

#include <SQLiteCpp/Database.h>

namespace vmnuma::stats {

/// PRAGMA application_id: "vmnu".
inline constexpr std::int32_t kApplicationId = 0x766d6e75;

/// PRAGMA user_version of the only files that are read. No earlier version was ever released;
/// whoever changes the tables after a release increases it, and migrates released files in one
/// transaction.
inline constexpr std::int32_t kSchemaVersion = 8;

/// Creates the tables in an empty file, in one transaction. Throws SQLite::Exception.
void create_tables(SQLite::Database& database);

/// Adds the missing columns of vm_sample, one per figure of a VM (placement/model/vm_figures.h).
/// Older rows have NULL there. Throws SQLite::Exception.
void add_vm_figures(SQLite::Database& database);

}  // namespace vmnuma::stats
