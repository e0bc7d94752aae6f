// SPDX-License-Identifier: Apache-2.0
/// COIN-OR CBC, the branch-and-cut solver, behind one function.
///
/// Approach: everything is checked before it is handed over, because CBC ends the process on input
/// that it does not accept; its messages are switched off. It reads the clock and takes as much
/// memory as it likes: a program that must be protected from that runs it in a process of its own
/// (tools/vmnuma/commands/run_apart.h).
/// Properties:
///  - a value that is not finite, or a column that does not exist, is an error and never reaches
///    CBC;
///  - `bound` is never above `cost`.
#pragma once

#include <vector>

#include "balancer/optimal/linear_program.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

struct SolveLimits {
  double seconds = 5;
  double gap = 0;  ///< a solution this close to the bound, in the unit of cost, is good enough
};

struct Solution {
  std::vector<double> values;  ///< one per column; empty if none was found
  double cost = 0;             ///< of `values`
  double bound = 0;            ///< no solution costs less; minus infinity if none is known
};

/// Solves the program. `start`: values of all columns, from which the search starts; may be empty.
/// Errors: invalid-argument (what is invalid in the program), not-found (nothing satisfies all
/// rows), unavailable (the solver gave up).
[[nodiscard]] Result<Solution> solve(const LinearProgram& program, const std::vector<double>& start,
                                     const SolveLimits& limits);

}  // namespace vmnuma::balancer
