// SPDX-License-Identifier: Apache-2.0
/// Performs computations on the daemon's state in a separate process.
///
/// Problem: a solver may take long, need much memory or fail, none of which may happen to the
/// daemon. Approach: the daemon sends its state, as in the first line of a recording; everything
/// else, including parsing that state, is done in a separate process with limits on time and
/// memory. Property: nothing is changed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "balancer/controller/controller.h"
#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

struct OutlookSearch {
  std::int64_t seconds = 0;     ///< time limit of the computation
  std::int64_t memory_mib = 0;  ///< memory limit of the computation
  std::function<std::string(const balancer::Outlook&)> make;
  /// Called with the reason if `make` did not finish.
  std::function<std::string(const balancer::Outlook&, const std::string& trouble)> otherwise;
};

/// Returns the result for the host as the daemon sees it. Failures: those of asking; busy if the
/// daemon has no outlook yet; corrupt.
[[nodiscard]] OrFailure<std::string> make_apart(const Context& context,
                                                const OutlookSearch& search);

/// Returns the seconds of a monotonic clock.
[[nodiscard]] double seconds_now();

}  // namespace vmnuma::tools
