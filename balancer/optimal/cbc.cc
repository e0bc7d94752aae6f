// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/cbc.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include <coin/Cbc_C_Interface.h>
#include <fmt/format.h>

namespace vmnuma::balancer {

namespace {

using Column = LinearProgram::Column;
using Row = LinearProgram::Row;
using Term = LinearProgram::Term;

struct Delete {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};
using Model = std::unique_ptr<Cbc_Model, Delete>;

tl::unexpected<Error> refused(std::string message) {
  return failure(ErrorCode::kInvalidArgument, std::move(message));
}

Result<void> check(const LinearProgram& program, const std::vector<double>& start,
                   const SolveLimits& limits) {
  constexpr auto kMostEntries = static_cast<std::size_t>(std::numeric_limits<int>::max() / 4);
  if (program.columns.empty() || program.columns.size() > kMostEntries ||
      program.rows.size() > kMostEntries) {
    return refused(fmt::format("a program of {} columns and {} rows cannot be solved",
                               program.columns.size(), program.rows.size()));
  }
  for (std::size_t i = 0; i < program.columns.size(); ++i) {
    const Column& column = program.columns[i];
    if (!std::isfinite(column.least) || std::isnan(column.most) || column.most < column.least ||
        !std::isfinite(column.cost)) {
      return refused(fmt::format("column {} goes from {} to {} at a cost of {}", i, column.least,
                                 column.most, column.cost));
    }
  }
  std::size_t entries = 0;
  for (std::size_t i = 0; i < program.rows.size(); ++i) {
    const Row& row = program.rows[i];
    entries += row.terms.size();
    const bool sound = std::ranges::all_of(row.terms, [&](const Term& term) {
      return term.column < program.columns.size() && std::isfinite(term.factor);
    });
    if (!sound || !std::isfinite(row.limit)) {
      return refused(fmt::format("row {} has a column or a number that does not exist", i));
    }
  }
  if (entries > kMostEntries) {
    return refused(fmt::format("a program of {} entries cannot be solved", entries));
  }
  if (!start.empty() &&
      (start.size() != program.columns.size() ||
       !std::ranges::all_of(start, [](double value) { return std::isfinite(value); }))) {
    return refused("the start does not fit the program");
  }
  if (!(limits.seconds > 0) || !(limits.gap >= 0)) {
    return refused(
        fmt::format("a limit of {} s and a gap of {} make no sense", limits.seconds, limits.gap));
  }
  return {};
}

Model load(const LinearProgram& program) {
  // By columns, the format that CBC accepts.
  const std::size_t count = program.columns.size();
  std::vector<int> starts(count + 1, 0);
  for (const Row& row : program.rows) {
    for (const Term& term : row.terms) {
      ++starts[term.column + 1];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    starts[i + 1] += starts[i];
  }
  const auto entries = static_cast<std::size_t>(starts.back());
  std::vector<int> rows(entries);
  std::vector<double> factors(entries);
  std::vector<int> next(starts.begin(), starts.end() - 1);
  std::vector<double> row_least;
  std::vector<double> row_most;
  for (std::size_t i = 0; i < program.rows.size(); ++i) {
    const Row& row = program.rows[i];
    for (const Term& term : row.terms) {
      const auto at = static_cast<std::size_t>(next[term.column]++);
      rows[at] = static_cast<int>(i);
      factors[at] = term.factor;
    }
    row_least.push_back(row.exactly ? row.limit : -std::numeric_limits<double>::max());
    row_most.push_back(row.limit);
  }
  std::vector<double> least;
  std::vector<double> most;
  std::vector<double> costs;
  for (const Column& column : program.columns) {
    least.push_back(column.least);
    most.push_back(std::min(column.most, std::numeric_limits<double>::max()));
    costs.push_back(column.cost);
  }
  Model model(Cbc_newModel());
  Cbc_setParameter(model.get(), "log", "0");
  Cbc_setLogLevel(model.get(), 0);
  Cbc_loadProblem(model.get(), static_cast<int>(count), static_cast<int>(program.rows.size()),
                  starts.data(), rows.data(), factors.data(), least.data(), most.data(),
                  costs.data(), row_least.data(), row_most.data());
  for (std::size_t i = 0; i < count; ++i) {
    if (program.columns[i].whole) {
      Cbc_setInteger(model.get(), static_cast<int>(i));
    }
  }
  return model;
}

void give_start(Cbc_Model* model, const LinearProgram& program, const std::vector<double>& start) {
  std::vector<int> columns;
  std::vector<double> values;
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (program.columns[i].whole) {
      columns.push_back(static_cast<int>(i));
      values.push_back(start[i]);
    }
  }
  Cbc_setMIPStartI(model, static_cast<int>(columns.size()), columns.data(), values.data());
}

}  // namespace

Result<Solution> solve(const LinearProgram& program, const std::vector<double>& start,
                       const SolveLimits& limits) {
  if (Result<void> sound = check(program, start, limits); !sound) {
    return tl::unexpected(std::move(sound).error());
  }
  const Model model = load(program);
  if (!start.empty()) {
    give_start(model.get(), program, start);
  }
  Cbc_setParameter(model.get(), "timeMode", "elapsed");
  Cbc_setMaximumSeconds(model.get(), limits.seconds);
  Cbc_setAllowableGap(model.get(), limits.gap);
  Cbc_solve(model.get());

  const bool searched = Cbc_status(model.get()) >= 0;
  if (searched && Cbc_isProvenInfeasible(model.get()) != 0) {
    return failure(ErrorCode::kNotFound, "no solution satisfies all rows");
  }
  if (!searched || Cbc_isAbandoned(model.get()) != 0 ||
      Cbc_isContinuousUnbounded(model.get()) != 0) {
    return failure(ErrorCode::kUnavailable, "the solver gave up");
  }
  Solution solution;
  solution.bound = Cbc_getBestPossibleObjValue(model.get());
  if (!std::isfinite(solution.bound) || std::abs(solution.bound) > 1e40) {
    solution.bound = -std::numeric_limits<double>::infinity();
  }
  const double* values = Cbc_bestSolution(model.get());
  if (values == nullptr) {
    return solution;
  }
  solution.values.assign(values, values + program.columns.size());
  for (std::size_t i = 0; i < program.columns.size(); ++i) {
    solution.cost += solution.values[i] * program.columns[i].cost;
  }
  // The search drops solutions within the gap without looking at them, so a finished search is
  // certain only to that extent.
  solution.bound = std::min(solution.bound, solution.cost);
  if (Cbc_isProvenOptimal(model.get()) != 0) {
    solution.bound = std::min(solution.bound, solution.cost - limits.gap);
  }
  return solution;
}

}  // namespace vmnuma::balancer
