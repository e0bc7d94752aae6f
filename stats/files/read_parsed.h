// SPDX-License-Identifier: Apache-2.0
/// Reads and parses a kernel file in one step, with errors that name the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placement/base/result.h"
#include "stats/files/directory.h"

namespace vmnuma::files {

/// Reads the file and passes its text to `parse`, which returns a Result. Errors: those of
/// KeptFile::read and of `parse`.
template <class Parse>
[[nodiscard]] auto read_parsed(const KeptFile& file, std::string& scratch, Parse parse)
    -> decltype(parse(std::string_view{})) {
  VMNUMA_ASSIGN_OR_RETURN(const auto text, file.read(scratch));
  auto parsed = parse(text);
  if (!parsed) {
    return failure(std::move(parsed).error(), "while reading '" + file.path() + "'");
  }
  return parsed;
}

/// Likewise, for a file that is opened, read once and closed.
template <class Parse>
[[nodiscard]] auto read_parsed(const Directory& directory, std::string_view relative, Parse parse)
    -> decltype(parse(std::string_view{})) {
  VMNUMA_ASSIGN_OR_RETURN(const auto text, directory.read(relative));
  auto parsed = parse(std::string_view(text));
  if (!parsed) {
    return failure(std::move(parsed).error(),
                   "while reading '" + directory.path_of(relative) + "'");
  }
  return parsed;
}

/// Likewise, but nothing for a file that does not exist, as a kernel may lack it.
template <class Parse>
[[nodiscard]] auto read_parsed_if_there(const Directory& directory, std::string_view relative,
                                        Parse parse)
    -> Result<std::optional<typename decltype(parse(std::string_view{}))::value_type>> {
  auto value = read_parsed(directory, relative, parse);
  if (value) {
    return std::optional(std::move(*value));
  }
  if (value.error().code == ErrorCode::kNotFound) {
    return std::nullopt;
  }
  return tl::unexpected(std::move(value).error());
}

/// Returns the first line of a file; empty if it cannot be read.
[[nodiscard]] inline std::string first_line_of(const Directory& directory,
                                               std::string_view relative) {
  const std::string text = directory.read(relative).value_or("");
  return text.substr(0, text.find('\n'));
}

/// Returns the boot id of the running host (random(4)); empty if it cannot be read.
[[nodiscard]] inline std::string boot_id_of(const Directory& root) {
  return first_line_of(root, "proc/sys/kernel/random/boot_id");
}

/// Returns the names in a directory, sorted; empty if it cannot be read.
[[nodiscard]] inline std::vector<std::string> names_in(const Directory& directory,
                                                       std::string_view relative) {
  const auto found = directory.directory(relative);
  return found ? found->names().value_or(std::vector<std::string>{}) : std::vector<std::string>{};
}

}  // namespace vmnuma::files
