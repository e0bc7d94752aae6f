// SPDX-License-Identifier: Apache-2.0
/// The file of a trained model.
///
/// Problem: it is written by one program and read by another with more rights, perhaps of another
/// version, perhaps half written, perhaps damaged. Approach: one JSON line with its checksum
/// (FNV-1a, 64 bits, of the model's text), beside it a version and the names of the figures in
/// their order; it is written beside the old one and then takes its name.
///
///     {"format":"vmnuma-forecast-model","version":1,"checksum":"0123456789abcdef","model":{
///      "features":["last",...],"trained_until":29000000,
///      "trees":[[[feature,threshold,left,right,correction],...],...]}}
///
/// Properties:
///  - a reader finds the old file, or the new one, or none, never a mixture;
///  - what it reads is sound (placement/forecast/tree_model.h);
///  - a model with other figures is refused.
#pragma once

#include <filesystem>
#include <string_view>

#include "placement/base/result.h"
#include "placement/forecast/tree_model.h"

namespace vmnuma::stats {

inline constexpr std::int64_t kModelVersion = 1;
/// Its name, beside the history.
inline constexpr const char* kModelFile = "forecast-model.json";

/// Errors: not-found, permission-denied, io; corrupt (cut off, damaged, unsound); unsupported
/// (another version, other figures). All name the file.
[[nodiscard]] Result<placement::TreeModel> read_model(const std::filesystem::path& path);

/// The same of its text, without naming the file.
[[nodiscard]] Result<placement::TreeModel> parse_model(std::string_view text);

/// Replaces the file, if there is one; mode 0640. Errors: of the file system.
[[nodiscard]] Result<void> write_model(const std::filesystem::path& path,
                                       const placement::TreeModel& model);

}  // namespace vmnuma::stats
