// SPDX-License-Identifier: Apache-2.0
/// Where the value of a setting comes from, as `vmnuma options` and the effective configuration
/// show it.
#pragma once

#include <string_view>

#include "placement/base/names.h"

namespace vmnuma::balancer {

enum class Origin {
  kDefault,
  kFile,         ///< the configuration file
  kCommandLine,  ///< an argument of vmnumad
  kRuntime,      ///< `vmnuma options set`, lost at the next start
  kPersisted,    ///< `vmnuma options set --persist`
  kMetadata,     ///< the domain's own metadata, as `vmnuma set` writes it
  kMeasured,     ///< derived from what was measured on this host
};

[[nodiscard]] constexpr auto names(Origin) {
  return names_in_order<Origin>("default", "file", "command-line", "runtime", "persisted",
                                "metadata", "measured");
}

}  // namespace vmnuma::balancer
