// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/cbc.h"

#include <limits>

#include <gmock/gmock.h>

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Two of three things of weight 3, 4 and 5 fit into 8; worth 4, 5 and 7.
LinearProgram knapsack() {
  LinearProgram program;
  program.columns = {{0, 1, -4, true}, {0, 1, -5, true}, {0, 1, -7, true}};
  program.rows = {{{{0, 3}, {1, 4}, {2, 5}}, 8, /*exactly=*/false}};
  return program;
}

TEST(CbcTest, FindsTheBestWholeNumbers) {
  const auto solution = solve(knapsack(), {}, {});
  ASSERT_TRUE(solution) << solution.error().message;
  EXPECT_THAT(solution->values, ElementsAre(1, 0, 1));
  EXPECT_DOUBLE_EQ(solution->cost, -11);
  EXPECT_NEAR(solution->bound, -11, 1e-6);
}

TEST(CbcTest, NeverClaimsABoundAboveWhatItFound) {
  const auto solution = solve(knapsack(), {1, 1, 0}, {.seconds = 5, .gap = 3});
  ASSERT_TRUE(solution) << solution.error().message;
  EXPECT_LE(solution->cost, -9);
  EXPECT_LE(solution->bound, -11) << "the best there is";
}

TEST(CbcTest, HoldsARowExactlyWhereItIsAsked) {
  LinearProgram program = knapsack();
  program.rows.push_back({{{0, 1}, {1, 1}, {2, 1}}, 1, /*exactly=*/true});
  const auto solution = solve(program, {}, {});
  ASSERT_TRUE(solution) << solution.error().message;
  EXPECT_THAT(solution->values, ElementsAre(0, 0, 1));
}

TEST(CbcTest, SaysThatNothingSatisfiesAllRows) {
  LinearProgram program = knapsack();
  program.rows.push_back({{{0, 1}}, 2, /*exactly=*/true});
  const auto solution = solve(program, {}, {});
  ASSERT_FALSE(solution);
  EXPECT_EQ(solution.error().code, ErrorCode::kNotFound);
}

TEST(CbcTest, RefusesWhatIsNoProgramBeforeTheSolverSeesIt) {
  const auto why = [](const LinearProgram& program, const std::vector<double>& start = {},
                      const SolveLimits& limits = {}) {
    const auto solution = solve(program, start, limits);
    return solution ? std::string("nothing") : solution.error().message;
  };
  EXPECT_THAT(why(LinearProgram{}), HasSubstr("0 columns"));

  LinearProgram broken = knapsack();
  broken.rows[0].terms[1].column = 3;
  EXPECT_THAT(why(broken), HasSubstr("row 0"));
  broken = knapsack();
  broken.rows[0].terms[1].factor = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(why(broken), HasSubstr("row 0"));
  broken = knapsack();
  broken.columns[2].cost = std::numeric_limits<double>::infinity();
  EXPECT_THAT(why(broken), HasSubstr("column 2"));
  broken = knapsack();
  broken.columns[1].most = -1;
  EXPECT_THAT(why(broken), HasSubstr("column 1"));

  EXPECT_THAT(why(knapsack(), {1, 1}), HasSubstr("start"));
  EXPECT_THAT(why(knapsack(), {}, {.seconds = 0, .gap = 0}), HasSubstr("limit"));
}

}  // namespace
}  // namespace vmnuma::balancer
