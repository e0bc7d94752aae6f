// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/vcpu_watch.h"

#include <gmock/gmock.h>

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr VmId kVm{{1}};

std::vector<VmDescription> defined(std::vector<std::int32_t> vcpus) {
  VmDescription vm;
  vm.id = kVm;
  vm.vcpus = std::move(vcpus);
  return {vm};
}

Sample seen(const std::vector<std::int32_t>& vcpus) {
  VmSample vm{.id = kVm};
  for (const std::int32_t vcpu : vcpus) {
    vm.vcpus.push_back({.vcpu = vcpu});
  }
  Sample sample;
  sample.vms.push_back(std::move(vm));
  return sample;
}

TEST(VcpuWatchTest, TellsOfAPluggedVcpuAndOfOneThatIsTakenOut) {
  VcpuWatch watch;
  EXPECT_THAT(watch.changed(defined({0, 1}), seen({0, 1})), IsEmpty());
  EXPECT_THAT(watch.changed(defined({0, 1}), seen({0, 1, 2})), ElementsAre(kVm));
  EXPECT_THAT(watch.changed(defined({0, 1, 2}), seen({0, 1, 2})), IsEmpty());
  EXPECT_THAT(watch.changed(defined({0, 1, 2}), seen({0, 2})), ElementsAre(kVm));
}

TEST(VcpuWatchTest, TellsEachDifferenceOnce) {
  VcpuWatch watch;
  EXPECT_THAT(watch.changed(defined({0}), seen({0, 1})), ElementsAre(kVm));
  EXPECT_THAT(watch.changed(defined({0}), seen({0, 1})), IsEmpty());
  EXPECT_THAT(watch.changed(defined({0}), seen({0, 1, 2})), ElementsAre(kVm));
  EXPECT_THAT(watch.changed(defined({0}), seen({0})), IsEmpty());
  EXPECT_THAT(watch.changed(defined({0}), seen({0, 1})), ElementsAre(kVm));
}

TEST(VcpuWatchTest, TellsNothingOfVmsWithoutReadings) {
  VcpuWatch watch;
  EXPECT_THAT(watch.changed(defined({0}), {}), IsEmpty());
}

}  // namespace
}  // namespace vmnuma::balancer
