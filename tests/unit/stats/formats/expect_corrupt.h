// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/base/result.h"

namespace vmnuma::stats {

/// The text is refused, and the message quotes what is wrong with it.
template <class T>
void expect_corrupt(const Result<T>& result, const std::string& quoted) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(result.error().message, testing::HasSubstr(quoted));
}

}  // namespace vmnuma::stats
