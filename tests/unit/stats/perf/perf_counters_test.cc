// SPDX-License-Identifier: Apache-2.0
#include "stats/perf/perf_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

TEST(PerfEventsTest, NothingIsCountedWhereKvmHandsCountersOverToGuests) {
  tests::FakeHost host;
  host.write("sys/module/kvm_intel/parameters/enable_mediated_pmu", "Y\n");
  const auto root = files::Directory::open(host.path());
  ASSERT_TRUE(root);
  const auto events = find_perf_events(*root);
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(events.error().message, testing::HasSubstr("enable_mediated_pmu"));
}

}  // namespace
}  // namespace vmnuma::stats
