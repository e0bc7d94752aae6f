// SPDX-License-Identifier: Apache-2.0
/// Computations on the daemon's state, in a process of its own.
///
/// Problem: a solver may take long, need much memory or fail, and the daemon must do none of that.
/// Approach: the daemon sends its state, as in the first line of a recording; everything else is
/// done here, in a process of its own with limits on time and memory, which also parses that state.
/// Property: nothing is changed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "balancer/controller/controller.h"
#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

struct OutlookSearch {
  std::int64_t seconds = 0;     ///< its own time limit
  std::int64_t memory_mib = 0;  ///< its own memory limit
  std::function<std::string(const balancer::Outlook&)> make;
  /// Called instead of `make` if that did not finish, with the reason.
  std::function<std::string(const balancer::Outlook&, const std::string& trouble)> otherwise;
};

/// The result for the host as the daemon sees it. Errors: those of asking; busy if the daemon has
/// no outlook yet; corrupt.
[[nodiscard]] tl::expected<std::string, Refusal> make_apart(const Invocation& invocation,
                                                            const OutlookSearch& search,
                                                            const Surroundings& surroundings);

/// Seconds on a clock that never goes back.
[[nodiscard]] double seconds_now();

}  // namespace vmnuma::tools
