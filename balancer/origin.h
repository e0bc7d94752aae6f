// SPDX-License-Identifier: Apache-2.0
/// Where the value of a setting comes from, as `vmnuma options` and the effective configuration
/// show it.
#pragma once

#include <string_view>

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

[[nodiscard]] constexpr std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::kDefault:
      return "default";
    case Origin::kFile:
      return "file";
    case Origin::kCommandLine:
      return "command-line";
    case Origin::kRuntime:
      return "runtime";
    case Origin::kPersisted:
      return "persisted";
    case Origin::kMetadata:
      return "metadata";
    case Origin::kMeasured:
      return "measured";
  }
  return "unknown";
}

}  // namespace vmnuma::balancer
