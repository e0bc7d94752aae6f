// SPDX-License-Identifier: Apache-2.0
/// The interfaces that belong to Open vSwitch's bridges.
///
/// Problem: the kernel knows one datapath with the ports of all bridges; only Open vSwitch's
/// database records which port belongs to which bridge, and which bridges are joined by patch
/// ports. Approach: read three of its tables completely. Property: a cycle of patch ports does not
/// cause an endless loop.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"

namespace vmnuma::stats {

class OvsBridges {
 public:
  /// Returns the interfaces of the bridge and of all bridges joined to it by patch ports, excluding
  /// the bridges themselves and other internal ones; ascending. A fake bridge (ovs-vsctl(8)) is a
  /// port of another bridge and counts as that bridge. Empty if there is no such bridge.
  [[nodiscard]] std::vector<std::string> adapters_below(const std::string& bridge) const;

 private:
  friend Result<OvsBridges> parse_ovs_answer(std::string_view answer);
  struct Interface {
    std::string type;  ///< empty for a host interface
    std::string peer;  ///< of a patch port
  };
  std::map<std::string, std::string> bridge_of_;  ///< by the name of the port or interface
  std::map<std::string, std::map<std::string, Interface>> bridges_;
};

/// Returns the request for all bridges, ports and interfaces, with id 0: JSON-RPC as in RFC 7047,
/// section 4.1.3 and 5.2.5; tables and columns as in ovs-vswitchd.conf.db(5), Open vSwitch 3.1.
[[nodiscard]] std::string_view ovs_request();

/// Parses the answer to ovs_request(). Error: corrupt.
[[nodiscard]] Result<OvsBridges> parse_ovs_answer(std::string_view answer);

/// Limit for the size of an answer; enough for some 20,000 ports.
inline constexpr std::size_t kMostOvsBytes = std::size_t{8} * 1024 * 1024;

}  // namespace vmnuma::stats
