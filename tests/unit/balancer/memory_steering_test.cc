// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/memory_steering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr const char* kSlice = "machine.slice";

VmId id_of(std::uint8_t number) {
  VmId id;
  id.uuid[15] = number;
  return id;
}

std::string scope_of(std::uint8_t number) {
  return "machine.slice/vm" + std::to_string(number) + ".scope";
}

/// A host whose cgroups obey at once, or not at all.
class MemorySteeringTest : public testing::Test {
 protected:
  /// The next epoch. What is asked for is carried out unless `problem_` says why not.
  MemorySteering::Steps epoch() {
    Sample sample;
    sample.sequence = ++sequence_;
    sample.protection_inherited = inherited_;
    std::vector<MemoryWish> wishes;
    for (const std::uint8_t number : running_) {
      VmSample vm;
      vm.id = id_of(number);
      vm.process = {100 + number, 1};
      vm.memory_state = MemoryState{};
      vm.memory_state->scope = scope_of(number);
      vm.memory_state->read_in = sequence_;
      vm.memory_state->limits = in_force_[scope_of(number)];
      if (const auto wished = wishes_.find(number); wished != wishes_.end()) {
        wishes.push_back({vm.id, "vm", vm.process, *vm.memory_state, wished->second});
      }
      sample.vms.push_back(vm);
    }
    if (!running_.empty() && slice_is_readable_) {
      sample.slices.push_back({kSlice, in_force_[kSlice]});
    }
    MemorySteering::Steps steps = steering_.steer(sample, wishes);
    for (const MemoryChange& change : steps.changes) {
      if (problem_.empty() && change.kind != MemoryChange::Kind::kForget) {
        in_force_[change.path] = change.limits;
      }
      const auto answer = steering_.answered(change.path, problem_);
      steps.notices.insert(steps.notices.end(), answer.notices.begin(), answer.notices.end());
    }
    return steps;
  }
  void epochs(int count) {
    for (int i = 0; i < count; ++i) {
      (void)epoch();
    }
  }

  MemorySteering steering_{{}};
  std::set<std::uint8_t> running_{1, 2};
  std::map<std::uint8_t, MemoryProtection> wishes_{{1, {kGiB, Bytes{}, std::nullopt, Bytes{}}}};
  std::map<std::string, MemoryLimits> in_force_;
  std::optional<bool> inherited_ = true;
  bool slice_is_readable_ = true;
  std::string problem_;
  std::int64_t sequence_ = 0;
};

TEST_F(MemorySteeringTest, WithoutAWishNothingIsTouched) {
  wishes_.clear();
  in_force_[scope_of(1)] = {kMiB, kMiB, kGiB, kGiB, Bytes{}};
  for (int i = 0; i < 5; ++i) {
    const auto steps = epoch();
    EXPECT_THAT(steps.changes, IsEmpty());
    EXPECT_FALSE(steps.originals_changed);
  }
}

TEST_F(MemorySteeringTest, AWishIsSetOnceWithWhatItsSlicesNeed) {
  wishes_[2] = {Bytes{}, kGiB * 2, kGiB * 3, std::nullopt};
  const auto steps = epoch();
  EXPECT_TRUE(steps.originals_changed);
  EXPECT_THAT(steps.changes,
              UnorderedElementsAre(MemoryChange{scope_of(1), {kGiB, {}, {}, {}, Bytes{}}},
                                   MemoryChange{scope_of(2), {{}, kGiB * 2, kGiB * 3, {}, {}}},
                                   MemoryChange{kSlice, {kGiB, kGiB * 2, {}, {}, {}}}));
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(epoch().changes, IsEmpty());
  }
  EXPECT_THAT(steering_.originals(), SizeIs(3));
}

TEST_F(MemorySteeringTest, WhatTheAdministratorHasSetIsKeptWhereItIsStricter) {
  in_force_[scope_of(1)] = {kMiB, kGiB * 9, kGiB * 4, kGiB * 5, kMiB};
  in_force_[kSlice] = {kGiB * 7, {}, {}, kGiB * 40, {}};
  wishes_[1] = {kGiB, kGiB, kGiB * 6, kGiB};
  (void)epoch();
  EXPECT_EQ(in_force_[scope_of(1)], (MemoryLimits{kGiB, kGiB * 9, kGiB * 4, kGiB * 5, kMiB}));
  EXPECT_EQ(in_force_[kSlice], (MemoryLimits{kGiB * 7, kGiB, {}, kGiB * 40, {}}));
}

TEST_F(MemorySteeringTest, LimitsThatAreNoLongerWishedForAreAsTheyWereFound) {
  const MemoryLimits found{kMiB, {}, {}, kGiB * 5, {}};
  in_force_[scope_of(1)] = found;
  epochs(3);
  EXPECT_NE(in_force_[scope_of(1)], found);
  wishes_.clear();
  epochs(6);
  EXPECT_EQ(in_force_[scope_of(1)], found);
  EXPECT_EQ(in_force_[kSlice], MemoryLimits{});
  EXPECT_THAT(steering_.originals(), IsEmpty());
}

TEST_F(MemorySteeringTest, ASliceFollowsItsVms) {
  wishes_[2] = {kGiB * 2, Bytes{}, std::nullopt, Bytes{}};
  epochs(3);
  EXPECT_EQ(in_force_[kSlice].min, kGiB * 3);
  wishes_.erase(1);
  epochs(3);
  EXPECT_EQ(in_force_[kSlice].min, kGiB * 2);
}

TEST_F(MemorySteeringTest, ASliceWithoutVmsIsRestoredUnseen) {
  in_force_[kSlice].low = kMiB;
  epochs(3);
  running_.clear();
  EXPECT_TRUE(steering_.keep_only({}).originals_changed);
  epochs(4);
  EXPECT_EQ(in_force_[kSlice], (MemoryLimits{{}, kMiB, {}, {}, {}}));
  EXPECT_THAT(steering_.originals(), IsEmpty());
}

TEST_F(MemorySteeringTest, SettingsOfOthersStay) {
  epochs(3);
  in_force_[scope_of(1)].max = kGiB * 2;  // virsh memtune
  EXPECT_THAT(epoch().changes, IsEmpty());
  wishes_[1].min = kGiB / 2;
  epochs(3);
  EXPECT_EQ(in_force_[scope_of(1)], (MemoryLimits{kGiB / 2, {}, {}, kGiB * 2, Bytes{}}));
  wishes_.clear();
  epochs(6);
  EXPECT_EQ(in_force_[scope_of(1)], (MemoryLimits{{}, {}, {}, kGiB * 2, {}}));
}

TEST_F(MemorySteeringTest, AnAdministratorWhoInsistsPrevails) {
  int repairs = 0;
  bool said = false;
  for (int i = 0; i < 30; ++i) {
    in_force_[scope_of(1)] = {};
    const auto steps = epoch();
    repairs += static_cast<int>(steps.changes.size());
    for (const std::string& notice : steps.notices) {
      EXPECT_FALSE(said) << notice;
      said = true;
      EXPECT_THAT(notice, HasSubstr("'vm1.scope' were changed externally 4 times"));
    }
  }
  // The slice once, the scope once and three times more.
  EXPECT_EQ(repairs, 5);
  EXPECT_TRUE(said);
}

TEST_F(MemorySteeringTest, AFailureIsSaidOnceAndTriedAgain) {
  problem_ = "systemd cannot be reached";
  std::vector<std::string> notices;
  std::int64_t asked = 0;
  for (int i = 0; i < MemorySteering::kRetryAfter + 3; ++i) {
    const auto steps = epoch();
    asked += static_cast<std::int64_t>(steps.changes.size());
    notices.insert(notices.end(), steps.notices.begin(), steps.notices.end());
  }
  EXPECT_EQ(asked, 4);  // the scope and its slice, twice
  EXPECT_THAT(notices, ElementsAre(HasSubstr("systemd cannot be reached; tried again in 30")));
  problem_.clear();
  epochs(MemorySteering::kRetryAfter + 1);
  EXPECT_EQ(in_force_[scope_of(1)].min, kGiB);
}

TEST_F(MemorySteeringTest, ARestartedDaemonKnowsTheWayBack) {
  in_force_[scope_of(1)] = {kMiB, {}, {}, {}, {}};
  epochs(2);
  steering_ = MemorySteering(steering_.originals());
  epochs(3);
  EXPECT_EQ(in_force_[scope_of(1)].min, kGiB);
  wishes_.clear();
  epochs(3);
  EXPECT_EQ(in_force_[scope_of(1)].min, kMiB);
}

TEST_F(MemorySteeringTest, AChangeThatWasStoredAndNeverMadeDoesNotHideWhatWasFound) {
  in_force_[scope_of(1)] = {kMiB, {}, {}, {}, {}};
  epochs(2);
  wishes_[1].min = kGiB * 2;
  problem_ = "the daemon was killed";
  (void)epoch();
  steering_ = MemorySteering(steering_.originals());
  problem_.clear();
  wishes_.clear();
  epochs(4);
  EXPECT_EQ(in_force_[scope_of(1)], (MemoryLimits{kMiB, {}, {}, {}, {}}));
}

TEST_F(MemorySteeringTest, AnotherLifeOfTheVmIsAnotherCgroup) {
  epochs(2);
  MemoryOriginals originals = steering_.originals();
  originals.at(scope_of(1)).process.pid = 7;
  originals.at(scope_of(1)).found.min = kGiB * 9;
  steering_ = MemorySteering(originals);
  in_force_[scope_of(1)] = {};
  epochs(2);
  EXPECT_EQ(steering_.originals().at(scope_of(1)).found, MemoryLimits{});
}

TEST_F(MemorySteeringTest, AtTheEndAllIsRestoredAtOnce) {
  in_force_[scope_of(1)] = {kMiB, {}, {}, {}, {}};
  epochs(2);
  EXPECT_THAT(steering_.restore_all_limits().changes,
              UnorderedElementsAre(
                  MemoryChange{scope_of(1), {kMiB, {}, {}, {}, {}}, MemoryChange::Kind::kRestore},
                  MemoryChange{kSlice, {}, MemoryChange::Kind::kRestore}));
}

TEST_F(MemorySteeringTest, WhatIsRestoredIsSaidToBeSo) {
  epochs(3);
  wishes_.clear();
  const auto changes = epoch().changes;
  EXPECT_THAT(changes, SizeIs(2));
  for (const MemoryChange& change : changes) {
    EXPECT_EQ(change.kind, MemoryChange::Kind::kRestore) << change.path;
  }
  EXPECT_THAT(epoch().changes, IsEmpty());
}

TEST_F(MemorySteeringTest, AWayBackThatFailedIsTriedAgainThoughTheLimitsAreAsFound) {
  epochs(3);
  wishes_.clear();
  problem_ = "its settings could not be removed";
  EXPECT_THAT(epoch().changes, SizeIs(2));
  in_force_[scope_of(1)] = {};
  in_force_[kSlice] = {};
  epochs(MemorySteering::kRetryAfter - 1);
  problem_.clear();
  EXPECT_THAT(epoch().changes, IsEmpty());
  EXPECT_THAT(epoch().changes, SizeIs(2));
  epochs(3);
  EXPECT_THAT(steering_.originals(), IsEmpty());
}

TEST_F(MemorySteeringTest, NothingIsKeptOfAVmThatHasEnded) {
  epochs(3);
  running_.clear();
  EXPECT_THAT(steering_.keep_only({}).changes,
              ElementsAre(MemoryChange{scope_of(1), {}, MemoryChange::Kind::kForget}));
  EXPECT_THAT(steering_.keep_only({}).changes, IsEmpty());
  EXPECT_THAT(steering_.answered(scope_of(1), "no bus").notices,
              ElementsAre(HasSubstr("settings of 'vm1.scope', which has ended, may remain")));
}

TEST_F(MemorySteeringTest, WhatWasSaidOfAVmIsSaidAgainAfterItWasStartedAnew) {
  std::vector<std::string> notices;
  const auto insist = [&] {
    for (int i = 0; i < 30; ++i) {
      in_force_[scope_of(1)] = {};
      const auto steps = epoch();
      notices.insert(notices.end(), steps.notices.begin(), steps.notices.end());
    }
  };
  insist();
  EXPECT_THAT(notices, SizeIs(1));
  const auto steps = steering_.keep_only({id_of(2)});
  ASSERT_THAT(steps.changes, SizeIs(1));
  (void)steering_.answered(steps.changes.front().path, "");
  insist();
  EXPECT_THAT(notices, SizeIs(2));
}

TEST_F(MemorySteeringTest, WhereProtectionIsNotInheritedNoneIsSet) {
  inherited_ = false;
  const auto steps = epoch();
  EXPECT_THAT(steps.changes, IsEmpty());
  EXPECT_THAT(steps.notices, ElementsAre(HasSubstr("memory_recursiveprot")));
  EXPECT_THAT(epoch().notices, IsEmpty());
}

TEST_F(MemorySteeringTest, ASliceThatCannotBeReadIsSaid) {
  slice_is_readable_ = false;
  const auto steps = epoch();
  EXPECT_THAT(steps.changes, SizeIs(1));
  EXPECT_THAT(steps.notices, Contains(HasSubstr("'machine.slice' cannot be read")));
}

TEST_F(MemorySteeringTest, AReadingOlderThanTheAnswerIsNotLookedAt) {
  (void)epoch();
  Sample old;
  old.sequence = sequence_ + 1;
  VmSample vm;
  vm.id = id_of(1);
  vm.process = {101, 1};
  vm.memory_state = MemoryState{};
  vm.memory_state->scope = scope_of(1);
  vm.memory_state->read_in = sequence_;
  old.vms = {vm};
  const auto steps =
      steering_.steer(old, {{vm.id, "vm", vm.process, *vm.memory_state, wishes_.at(1)}});
  EXPECT_THAT(steps.changes, Not(Contains(testing::Field(&MemoryChange::path, scope_of(1)))));
}

}  // namespace
}  // namespace vmnuma::balancer
