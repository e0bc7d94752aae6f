// SPDX-License-Identifier: Apache-2.0
/// What `-o` of the commands that list something takes.
#pragma once

#include <array>
#include <string_view>

namespace vmnuma::tools {

enum class ListFormat {
  kTable,
  kWide,  ///< with more columns
  kJson,  ///< as --json
  kCsv,   ///< RFC 4180, with the line ends of this system; amounts in their smallest unit
  kName,  ///< the names of what the rows are about, each once
};
inline constexpr std::array<std::string_view, 5> kListFormats{"table", "wide", "json", "csv",
                                                              "name"};

}  // namespace vmnuma::tools
