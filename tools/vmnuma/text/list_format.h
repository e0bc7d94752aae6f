// SPDX-License-Identifier: Apache-2.0
/// The values of `-o` of commands that list something.
#pragma once

#include <array>
#include <string_view>

namespace vmnuma::tools {

enum class ListFormat {
  kTable,
  kWide,  ///< with more columns
  kJson,  ///< as --json
  kCsv,   ///< RFC 4180, but with "\n" as line end; amounts in their smallest unit
  kName,  ///< the names of the rows' subjects, each once
};
inline constexpr std::array<std::string_view, 5> kListFormats{"table", "wide", "json", "csv",
                                                              "name"};

}  // namespace vmnuma::tools
