// SPDX-License-Identifier: Apache-2.0
#include "stats/wakeup_totals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

VmId id(std::uint8_t last) {
  VmId vm;
  vm.uuid.back() = last;
  return vm;
}

VmSample vm(std::uint8_t last, std::int64_t pid, std::uint64_t start_time_ticks = 1) {
  return {.id = id(last), .process = {pid, start_time_ticks}};
}

WakeupCounts counts(std::vector<PidWakeups> pairs) {
  return {{}, {}, std::move(pairs)};
}

TEST(WakeupTotalsTest, AreByVmAndNotByPid) {
  WakeupTotals totals;
  EXPECT_THAT(totals.advance(counts({{10, 20, 7}, {10, 30, 5}}), {vm(1, 30), vm(2, 20), vm(3, 10)}),
              ElementsAre(WakeupSample{id(1), id(3), 5}, WakeupSample{id(2), id(3), 7}));
}

TEST(WakeupTotalsTest, ProcessesThatAreNoVmsDoNotCount) {
  WakeupTotals totals;
  EXPECT_THAT(totals.advance(counts({{10, 20, 7}, {20, 30, 5}}), {vm(1, 10), vm(2, 30)}),
              IsEmpty());
}

TEST(WakeupTotalsTest, GoOnWhereCountingBeginsAnew) {
  const std::vector<VmSample> vms = {vm(1, 10), vm(2, 20)};
  WakeupTotals totals;
  (void)totals.advance(counts({{10, 20, 7}}), vms);
  EXPECT_THAT(totals.advance(counts({{10, 20, 9}}), vms),
              ElementsAre(WakeupSample{id(1), id(2), 9}));
  // Nothing was counted yet: what was told stays.
  EXPECT_THAT(totals.advance(counts({}), vms), ElementsAre(WakeupSample{id(1), id(2), 9}));
  EXPECT_THAT(totals.advance(counts({{10, 20, 2}}), vms),
              ElementsAre(WakeupSample{id(1), id(2), 11}));
}

TEST(WakeupTotalsTest, OutliveAnEpochInWhichAVmCouldNotBeRead) {
  const std::vector<VmSample> vms = {vm(1, 10), vm(2, 20)};
  WakeupTotals totals;
  (void)totals.advance(counts({{10, 20, 7}}), vms);
  (void)totals.advance(counts({{10, 20, 3}}), vms);
  EXPECT_THAT(totals.advance(counts({{10, 20, 4}}), {vm(1, 10)}), IsEmpty());
  EXPECT_THAT(totals.advance(counts({{10, 20, 4}}), vms),
              ElementsAre(WakeupSample{id(1), id(2), 11}));
}

TEST(WakeupTotalsTest, BeginAnewWithAVm) {
  WakeupTotals totals;
  (void)totals.advance(counts({{10, 20, 7}}), {vm(1, 10), vm(2, 20)});
  EXPECT_THAT(totals.advance(counts({}), {vm(1, 10), vm(2, 21)}), IsEmpty());
  EXPECT_THAT(totals.advance(counts({{10, 21, 1}}), {vm(1, 10), vm(2, 21)}),
              ElementsAre(WakeupSample{id(1), id(2), 1}));
}

TEST(WakeupTotalsTest, ForgetVmsThatEnded) {
  const std::vector<VmSample> vms = {vm(1, 10), vm(2, 20)};
  WakeupTotals totals;
  (void)totals.advance(counts({{10, 20, 7}}), vms);
  totals.forget_if([](const VmId& vm) { return vm == id(2); });
  EXPECT_THAT(totals.advance(counts({}), vms), IsEmpty());
}

}  // namespace
}  // namespace vmnuma::stats
