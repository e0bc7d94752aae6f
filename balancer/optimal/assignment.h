// SPDX-License-Identifier: Apache-2.0
/// Finds the best homes for all clients at once, and a bound on how much better any homes could be.
///
/// Approach: the program (program.h) is solved; its answer is judged by the planner's own figures,
/// and improved by single moves and exchanges as long as that helps. If more is owed by these
/// figures than in the program, the difference is added to the program (`learn`) and it is solved
/// again, until answer and bound meet or the time is used up. The result is the better of that
/// answer and the homes from which the search started, so it is never worse than those.
/// Terms: *cost* - lost time per epoch + cost of moving from the present homes / horizon.
/// Properties:
///  - cost >= bound, apart from rounding;
///  - the homes respect every constraint of the program;
///  - on hosts where all arrangements can be tried the answer is the best of them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "balancer/optimal/cbc.h"
#include "balancer/optimal/program.h"

namespace vmnuma::balancer {

struct Assignment {
  Homes homes;
  CpuTime lost;    ///< per epoch
  CpuTime moving;  ///< once, from the present homes
  CpuTime cost;
  bool operator==(const Assignment&) const = default;
};

/// Returns the arrangement with these homes instead of those of `now`.
[[nodiscard]] Arrangement arranged(const Arrangement& now, const Homes& homes);

/// Returns what these homes lose, and what it costs to move there from those of `now`. A client
/// without a home still has none.
[[nodiscard]] Assignment assess(const Arrangement& now, const Homes& homes);

struct SearchLimits {
  double seconds = 5;
  /// An answer this close to the bound is good enough; in thousandths of the demand of all clients.
  Permille gap{1};
};

struct Optimum {
  Assignment best;
  std::optional<CpuTime> bound;  ///< no homes cost less; nothing if it is not known
  std::string trouble;           ///< why no program was solved to the end; empty if one was
};

/// Searches for the best homes. `now` has basis kDemand and is as its snapshot. `start` are homes
/// to start from, such as those at which the planner comes to rest; the present ones are always
/// tried. `clock` returns seconds. Errors: none; if the solver fails, the answer is the better
/// start, without a bound, and `trouble` contains the reason.
[[nodiscard]] Optimum find_optimum(const Arrangement& now, const Homes& start,
                                   const SearchLimits& limits,
                                   const std::function<double()>& clock);

}  // namespace vmnuma::balancer
