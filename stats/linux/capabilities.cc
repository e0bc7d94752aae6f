// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/capabilities.h"

#include <charconv>
#include <cstdint>
#include <system_error>

#include <linux/capability.h>

namespace vmnuma::stats {

Result<std::string> lacking_capabilities(std::string_view status) {
  constexpr std::string_view kLabel = "\nCapEff:\t";
  const std::size_t at = status.find(kLabel);
  const std::string_view text =
      at == std::string_view::npos ? "" : status.substr(at + kLabel.size());
  std::uint64_t capabilities = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), capabilities, /*base=*/16).ec !=
      std::errc{}) {
    return failure(ErrorCode::kCorrupt, "there are no effective capabilities in it");
  }
  std::string missing;
  if ((capabilities >> CAP_SYS_PTRACE & 1U) == 0) {
    missing = "CAP_SYS_PTRACE";
  }
  if ((capabilities >> CAP_SYS_NICE & 1U) == 0) {
    missing += missing.empty() ? "CAP_SYS_NICE" : " and CAP_SYS_NICE";
  }
  return missing;
}

}  // namespace vmnuma::stats
