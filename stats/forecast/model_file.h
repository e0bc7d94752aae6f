// SPDX-License-Identifier: Apache-2.0
/// The file of a trained model.
///
/// Problem: one program writes the file, and another, which has more rights and may be of another
/// version, reads it; the file may be half written or damaged. Approach: one JSON line with a
/// checksum (FNV-1a, 64 bits, of the model's text), a version and the names of the model's inputs
/// (figures) in order. It is written to a new file, which then replaces the old one.
///
///     {"format":"vmnuma-forecast-model","version":1,"checksum":"0123456789abcdef","model":{
///      "features":["last",...],"trained_until":29000000,
///      "trees":[[[feature,threshold,left,right,correction],...],...]}}
///
/// Properties:
///  - a reader finds the old file, the new one or none, never a mixture;
///  - a model that was read is valid (placement/forecast/tree_model.h);
///  - a model with other figures is rejected.
#pragma once

#include <filesystem>
#include <string_view>

#include "placement/base/result.h"
#include "placement/forecast/tree_model.h"

namespace vmnuma::stats {

inline constexpr std::int64_t kModelVersion = 1;
/// The name of the file; it is in the directory of the history.
inline constexpr const char* kModelFile = "forecast-model.json";

/// Reads the file. Errors: not-found, permission-denied, io; corrupt (cut off, damaged, invalid);
/// unsupported (another version, other figures). All errors name the file.
[[nodiscard]] Result<TreeModel> read_model(const std::filesystem::path& path);

/// Parses the text of such a file; errors do not name the file.
[[nodiscard]] Result<TreeModel> parse_model(std::string_view text);

/// Creates or replaces the file; mode 0640. Errors: those of the file system.
[[nodiscard]] Result<void> write_model(const std::filesystem::path& path, const TreeModel& model);

}  // namespace vmnuma::stats
