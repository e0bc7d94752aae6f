// SPDX-License-Identifier: Apache-2.0
/// Which interfaces Open vSwitch has below its bridges.
///
/// Problem: the kernel knows a datapath with all ports of all bridges; only Open vSwitch's database
/// tells which port belongs to which bridge, and which bridges are joined by patch ports. Approach:
/// read three of its tables whole. Property: circular patch ports terminate.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"

namespace vmnuma::stats {

class OvsBridges {
 public:
  /// The interfaces of the bridge and of all bridges joined to it by patch ports, excluding the
  /// bridges themselves and other internal ones; ascending. A fake bridge (ovs-vsctl(8)) is a port
  /// of another bridge and stands for that one. Empty if there is no such bridge.
  [[nodiscard]] std::vector<std::string> adapters_below(const std::string& bridge) const;

 private:
  friend Result<OvsBridges> parse_ovs_answer(std::string_view answer);
  struct Interface {
    std::string type;  ///< empty: a host interface
    std::string peer;  ///< of a patch port
  };
  std::map<std::string, std::string> bridge_of_;  ///< by the name of the port or interface
  std::map<std::string, std::map<std::string, Interface>> bridges_;
};

/// The request for all bridges, ports and interfaces, with id 0: JSON-RPC as in RFC 7047, section
/// 4.1.3 and 5.2.5; tables and columns as in ovs-vswitchd.conf.db(5), Open vSwitch 3.1.
[[nodiscard]] std::string_view ovs_request();

/// The answer to it. Error: corrupt.
[[nodiscard]] Result<OvsBridges> parse_ovs_answer(std::string_view answer);

/// Limit for an answer: some 20,000 ports.
inline constexpr std::size_t kMostOvsBytes = std::size_t{8} * 1024 * 1024;

}  // namespace vmnuma::stats
