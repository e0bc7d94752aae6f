// SPDX-License-Identifier: Apache-2.0
/// Which interfaces Open vSwitch has below its bridges.
///
/// Problem: the kernel knows a datapath with all ports of all bridges; which port belongs to which
/// bridge, and which bridges are joined by patch ports, only Open vSwitch's database says.
/// Approach: three tables of it are read whole. Property: patch ports in a circle come to an end.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"

namespace vmnuma::stats {

class OvsBridges {
 public:
  /// The interfaces of the bridge and of all bridges that patch ports join it to, itself and other
  /// internal ones left out; ascending. A fake bridge (ovs-vsctl(8)) is a port of another one and
  /// stands for that. Empty if there is no such bridge.
  [[nodiscard]] std::vector<std::string> adapters_below(const std::string& bridge) const;

 private:
  friend Result<OvsBridges> parse_ovs_answer(std::string_view answer);
  struct Interface {
    std::string type;  ///< empty: one of the host's own
    std::string peer;  ///< of a patch port
  };
  std::map<std::string, std::string> bridge_of_;  ///< by the name of the port or interface
  std::map<std::string, std::map<std::string, Interface>> bridges_;
};

/// The request for all bridges, ports and interfaces, with id 0: JSON-RPC as of RFC 7047, section
/// 4.1.3 and 5.2.5; tables and columns as of ovs-vswitchd.conf.db(5), Open vSwitch 3.1.
[[nodiscard]] std::string_view ovs_request();

/// The answer to it. Error: corrupt.
[[nodiscard]] Result<OvsBridges> parse_ovs_answer(std::string_view answer);

/// No answer is longer: some 20,000 ports.
inline constexpr std::size_t kMostOvsBytes = std::size_t{8} * 1024 * 1024;

}  // namespace vmnuma::stats
