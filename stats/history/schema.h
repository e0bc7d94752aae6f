// SPDX-License-Identifier: Apache-2.0
/// The tables of the history, and the migration of older files.
///
/// The file's header identifies its application (application_id) and version (user_version).
/// Version N is the result of applying the first N migrations to an empty file; a released
/// migration is never changed.
#pragma once

#include <cstdint>
#include <span>

#include <SQLiteCpp/Database.h>

namespace vmnuma::stats {

/// PRAGMA application_id: "vmnu".
inline constexpr std::int32_t kApplicationId = 0x766d6e75;

/// Returns the migrations as SQL texts. The one at index N migrates a file from version N to N + 1.
[[nodiscard]] std::span<const char* const> migrations();

/// Returns this program's version of the schema: the number of migrations.
[[nodiscard]] std::int32_t newest_version();

/// Applies the missing migrations, each in its own transaction, so a crash leaves the file in one
/// version or the next, never in between. Throws SQLite::Exception.
void migrate(SQLite::Database& database, std::span<const char* const> steps);

/// Adds the missing columns of vm_sample, one per figure of a VM (placement/model/vm_figures.h).
/// Older rows have NULL there. Throws SQLite::Exception.
void add_vm_figures(SQLite::Database& database);

}  // namespace vmnuma::stats
