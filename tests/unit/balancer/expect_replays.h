// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "balancer/record/replay.h"

namespace vmnuma::tests {

/// What was recorded is whole, is over so many epochs, and each of them replays to the byte.
inline void expect_replays(const std::vector<std::string>& lines, std::int64_t epochs) {
  std::size_t next = 0;
  const auto report = balancer::replay(
      [&]() -> std::optional<std::string> {
        return next < lines.size() ? std::optional(lines[next++]) : std::nullopt;
      },
      {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->damage) << report->damage->message;
  EXPECT_EQ(report->epochs, epochs);
  EXPECT_EQ(report->differing, 0);
}

}  // namespace vmnuma::tests
