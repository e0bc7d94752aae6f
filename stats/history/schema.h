// SPDX-License-Identifier: Apache-2.0
/// The tables of the history, and the migration of older files.
///
/// The file's header identifies its application (application_id) and version (user_version).
/// Version N is what the first N migrations make of an empty file; a released migration is never
/// changed.
#pragma once

#include <cstdint>
#include <span>

#include <SQLiteCpp/Database.h>

namespace vmnuma::stats {

/// PRAGMA application_id: "vmnu".
inline constexpr std::int32_t kApplicationId = 0x766d6e75;

/// SQL texts; each migrates a file from the version of its index to the next.
[[nodiscard]] std::span<const char* const> migrations();

/// The version of this program: the number of migrations.
[[nodiscard]] std::int32_t newest_version();

/// Applies the migrations that the file lacks, each in a transaction of its own, so a crash leaves
/// one version or another, never a mixture. Throws SQLite::Exception.
void migrate(SQLite::Database& database, std::span<const char* const> steps);

/// Adds the columns that vm_sample lacks, one per figure of a VM (placement/model/vm_figures.h).
/// Older rows have NULL there. Throws SQLite::Exception.
void add_vm_figures(SQLite::Database& database);

}  // namespace vmnuma::stats
