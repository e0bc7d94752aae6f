// SPDX-License-Identifier: Apache-2.0
/// The rows of `vmnuma top`: nodes and clients in one grid, so that their bars are aligned. Pure.
///
///     NODE             CPUS VCPU LOAD        OWED        MEMORY            LOCAL
///     node 0             32   34 |||##.  47% |.....  10% ||||..   48.0 GiB ||||..  75%
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tools/vmnuma/text/screen.h"
#include "tools/vmnuma/top/top_host.h"

namespace vmnuma::tools {

/// Widths of the parts that grow with the terminal.
struct TopGrid {
  std::size_t name = 16;
  std::size_t bar = 6;  ///< 0: digits only
};
/// Returns the grid for a terminal. On 80 columns, rows are exactly 80 columns wide; they are never
/// wider than a terminal of 56 or more.
[[nodiscard]] TopGrid grid_for(std::size_t columns);
/// Returns the grid for 80 columns, or a wider one if a name does not fit.
[[nodiscard]] TopGrid grid_with_names_of(const TopHost& host);

[[nodiscard]] std::string header_text(std::string_view first, std::string_view second,
                                      const TopGrid& grid);
[[nodiscard]] Line node_line(const TopHost& host, const balancer::NodeView& node,
                             const TopGrid& grid);
[[nodiscard]] Line client_line(const TopHost& host, const TopClient& client, const TopGrid& grid);
[[nodiscard]] Line transfer_line(const balancer::TransferView& transfer, const TopGrid& grid);

/// Returns `width` characters of which `permille` thousandths are full; at least one if it is not
/// 0.
[[nodiscard]] std::string bar(std::int64_t permille, std::size_t width);
/// Likewise with a second part after the first, of '#': other load. If both do not fit, the second
/// part is cut, but if `width` is at least two, at least one character of each non-zero part is
/// shown.
[[nodiscard]] std::string bar(std::int64_t permille, std::int64_t others_permille,
                              std::size_t width);

}  // namespace vmnuma::tools
