// SPDX-License-Identifier: Apache-2.0
/// The results of `vmnuma doctor`: one finding per check, even if everything is in order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "placement/base/names.h"
#include "tools/vmnuma/text/listing.h"

namespace vmnuma::tools {

enum class Severity {
  kOk,
  kNote,     ///< for information; nothing has to be done
  kWarning,  ///< something works less well than it could
  kError,    ///< VMs are not balanced, or do not start
};

/// "ok", "note", "warning", "error".
[[nodiscard]] constexpr auto names(Severity) {
  return names_in_order<Severity>("ok", "note", "warning", "error");
}

struct Finding {
  std::string_view check;  ///< one word: "cgroup"
  Severity severity{};
  std::string what;       ///< a sentence
  std::string mend = {};  ///< a sentence: how to fix it; empty if nothing has to be fixed
  std::vector<std::string> lines = {};  ///< for the shell or a file, to be copied literally
  bool operator==(const Finding&) const = default;
};

/// Returns the worst severity; kOk for an empty list.
[[nodiscard]] Severity worst_of(const std::vector<Finding>& findings);

/// Returns one line per finding, followed by the fix if something is wrong; with `colours` for a
/// terminal.
[[nodiscard]] std::string text_of(const std::vector<Finding>& findings, bool colours);
/// Returns a row per finding, with the fix and without the lines for the shell.
[[nodiscard]] Listing listing_of(const std::vector<Finding>& findings);
/// {"worst":"warning","findings":[{"check":...,"severity":...,"what":...,"mend":...,"lines":[]}]}
[[nodiscard]] std::string json_of(const std::vector<Finding>& findings);

}  // namespace vmnuma::tools
