// SPDX-License-Identifier: Apache-2.0
/// Every call of a plan fails once, in every way it can; the program dies at every call, twice if
/// it must; a VM ends, or ends and starts anew, at every call. Afterwards no VM is half moved, no
/// page is lost, no action is open, and nothing meant for a VM that ended reached the next one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/migration/world.h"

namespace vmnuma::migration {
namespace {

using testing::IsEmpty;

constexpr Bytes kMemory = kMiB * 6;
constexpr std::int64_t kAction = 7;

/// Two VMs that change places; a has huge pages, b small ones. Node 1 is so full that they must
/// take turns.
class Swap {
 public:
  Swap() {
    Limits limits = world.limits();
    limits.node_reserve = {};
    world.set_limits(limits);
    world.memory.set_used_by_others(NodeId{1}, kMiB * 248);  // 2 MiB are free
    if (with_mask_) {
      for (VmChange& change : order_.changes) {
        change.memory_mode = MemoryMode::kMask;
        change.memory.allowed_before = {change.homes.front().from};
      }
    }
  }
  void submit() { world.executor().submit(order_); }

  /// What must hold whatever happened. `alive` says which VMs still run.
  void expect_sound(bool a_alive, bool b_alive) {
    EXPECT_THAT(*world.journal.open_actions(), IsEmpty());
    EXPECT_TRUE(world.executor().idle());
    EXPECT_TRUE(world.memory.consistent());
    for (const auto& [vm, alive] : {std::pair(a, a_alive), std::pair(b, b_alive)}) {
      const Bytes there = world.memory_on(vm, 0) + world.memory_on(vm, 1);
      EXPECT_EQ(there, alive ? kMemory : Bytes{}) << vm.name;
      if (alive) {
        EXPECT_NE(world.home(vm), -1) << vm.name << " is half moved";
      }
    }
    if (a_alive && b_alive) {
      EXPECT_NE(world.home(a), world.home(b)) << "half a swap";
    }
  }
  [[nodiscard]] bool swapped() { return world.home(a) == 1 && world.home(b) == 0; }
  [[nodiscard]] bool memory_swapped() const {
    return world.memory_on(a, 1) == kMemory && world.memory_on(b, 0) == kMemory;
  }

  /// Ends a VM and starts it anew: same UUID, nothing else in common.
  void replace(const TestVm& vm) {
    replaced_ = world.replace_vm(vm, /*node=*/vm.id == a.id ? 0 : 1, kNewMemory);
    as_started_ = world.running(vm.id);
  }
  /// The new VM is as it started. False if no VM was replaced.
  bool expect_the_new_one_untouched() {
    if (!replaced_) {
      return false;
    }
    EXPECT_EQ(world.running(replaced_->id), as_started_);
    EXPECT_EQ(world.memory_on(*replaced_, replaced_->id == a.id ? 0 : 1), kNewMemory);
    return true;
  }

  World world;
  const TestVm a = world.start_vm("a", 0, kMemory, true);
  const TestVm b = world.start_vm("b", 1, kMemory, false);

 private:
  static constexpr bool with_mask_ = true;
  static constexpr Bytes kNewMemory = kMiB;
  std::optional<TestVm> replaced_;
  std::optional<VmDescription> as_started_;
  Order order_ = World::order(kAction, {world.change(a, 0, 1), world.change(b, 1, 0)});
};

/// What the swap takes when nothing goes wrong.
int calls_of_a_swap() {
  Swap swap;
  swap.submit();
  EXPECT_EQ(finished(swap.world.run(), kAction).state, ActionState::kDone);
  EXPECT_TRUE(swap.swapped());
  EXPECT_TRUE(swap.memory_swapped());
  swap.expect_sound(true, true);
  return swap.world.faults.calls();
}

/// A swap during which the k-th call fails once.
void fail_once(int call, Fault::Kind kind, ErrorCode code) {
  SCOPED_TRACE("call " + std::to_string(call) + " fails with " + std::string(name_of(code)) +
               (kind == Fault::Kind::kFailsAfter ? " after" : " before") + " its effect");
  Swap swap;
  swap.world.faults.arm({call, kind, Error{code, 0, "it did not work"}, {}});
  swap.submit();
  const ActionEvent end = finished(swap.world.run(), kAction);
  swap.expect_sound(true, true);
  EXPECT_EQ(end.state == ActionState::kDone, swap.swapped());
  if (end.state == ActionState::kDone) {
    EXPECT_TRUE(swap.memory_swapped() || end.outcome.left > Bytes{} ||
                end.detail.find("not looked at") != std::string::npos)
        << end.detail;
  } else {
    EXPECT_EQ(end.outcome.moved, Bytes{});
    EXPECT_FALSE(swap.memory_swapped());
  }
}

TEST(ExecutorFaultTest, EveryCallMayFailOnceInEveryWay) {
  // Not vanished and not-found: ports say those only if they are true, see the tests below.
  constexpr ErrorCode kCodes[] = {ErrorCode::kInvalidArgument, ErrorCode::kPermissionDenied,
                                  ErrorCode::kUnavailable,     ErrorCode::kBusy,
                                  ErrorCode::kNoSpace,         ErrorCode::kUnsupported,
                                  ErrorCode::kCorrupt,         ErrorCode::kIo};
  const int calls = calls_of_a_swap();
  for (int call = 1; call <= calls; ++call) {
    for (const ErrorCode code : kCodes) {
      fail_once(call, Fault::Kind::kFailsBefore, code);
      fail_once(call, Fault::Kind::kFailsAfter, code);
    }
  }
}

TEST(ExecutorFaultTest, EveryCallMayFailForALongTime) {
  const int calls = calls_of_a_swap();
  for (int call = 1; call <= calls; ++call) {
    SCOPED_TRACE("from call " + std::to_string(call));
    Swap swap;
    for (int failing = call; failing < call + 8; ++failing) {
      swap.world.faults.arm({failing,
                             Fault::Kind::kFailsBefore,
                             Error{ErrorCode::kUnavailable, 0, "it did not work"},
                             {}});
    }
    swap.submit();
    const ActionEvent end = finished(swap.world.run(), kAction);
    swap.expect_sound(true, true);
    EXPECT_EQ(end.state == ActionState::kDone, swap.swapped());
  }
}

TEST(ExecutorFaultTest, AVmMayEndAtEveryCall) {
  const int calls = calls_of_a_swap();
  for (int call = 1; call <= calls; ++call) {
    for (const bool first : {true, false}) {
      SCOPED_TRACE((first ? "a ends at call " : "b ends at call ") + std::to_string(call));
      Swap swap;
      swap.world.faults.arm({call, Fault::Kind::kHappensBefore, {}, [&] {
                               swap.world.end_vm(first ? swap.a : swap.b);
                             }});
      swap.submit();
      const ActionEvent end = finished(swap.world.run(), kAction);
      swap.expect_sound(!first, first);
      const TestVm& other = first ? swap.b : swap.a;
      const std::int32_t new_home = first ? 0 : 1;
      EXPECT_EQ(end.state == ActionState::kDone, swap.world.home(other) == new_home);
    }
  }
}

TEST(ExecutorFaultTest, AVmMayBeReplacedAtEveryCallAndTheNewOneIsLeftAlone) {
  const int calls = calls_of_a_swap();
  for (int call = 1; call <= calls; ++call) {
    for (const bool first : {true, false}) {
      SCOPED_TRACE((first ? "a is replaced at call " : "b is replaced at call ") +
                   std::to_string(call));
      Swap swap;
      swap.world.faults.arm(
          {call, Fault::Kind::kHappensBefore, {}, [&] { swap.replace(first ? swap.a : swap.b); }});
      swap.submit();
      const ActionEvent end = finished(swap.world.run(), kAction);
      EXPECT_TRUE(swap.expect_the_new_one_untouched());
      EXPECT_THAT(*swap.world.journal.open_actions(), IsEmpty());
      EXPECT_TRUE(swap.world.executor().idle());
      const TestVm& other = first ? swap.b : swap.a;
      const std::int32_t new_home = first ? 0 : 1;
      EXPECT_NE(swap.world.home(other), -1) << other.name << " is half moved";
      EXPECT_EQ(end.state == ActionState::kDone, swap.world.home(other) == new_home);
    }
  }
}

/// A swap of which a call fails, and so many calls later a VM is replaced. How it ended, and
/// whether it lasted that long.
std::pair<ActionState, bool> replace_after_failure(int call, int later) {
  SCOPED_TRACE("call " + std::to_string(call) + " fails, and a is replaced " +
               std::to_string(later) + " calls later");
  Swap swap;
  swap.world.faults.arm(
      {call, Fault::Kind::kFailsAfter, Error{ErrorCode::kUnavailable, 0, "it did not work"}, {}});
  swap.world.faults.arm(
      {call + later, Fault::Kind::kHappensBefore, {}, [&] { swap.replace(swap.a); }});
  swap.submit();
  const ActionEvent end = finished(swap.world.run(), kAction);
  EXPECT_NE(swap.world.home(swap.b), -1) << "b is half moved";
  return {end.state, swap.expect_the_new_one_untouched()};
}

TEST(ExecutorFaultTest, AVmMayBeReplacedWhilePinsAreTakenBack) {
  constexpr int kNever = 1'000'000;
  constexpr int kStride = 3;  // a pin takes four calls, so that all kinds come
  const int calls = calls_of_a_swap();
  int taken_back = 0;
  for (int call = 1; call <= calls; call += kStride) {
    if (replace_after_failure(call, kNever).first != ActionState::kUndone) {
      continue;
    }
    ++taken_back;
    for (int later = 1; replace_after_failure(call, later).second; ++later) {
    }
  }
  EXPECT_GT(taken_back, 5);
}

TEST(ExecutorFaultTest, AVmMayBeReplacedWhileTheProgramIsDead) {
  const int calls = calls_of_a_swap();
  for (int call = 1; call <= calls; ++call) {
    SCOPED_TRACE("dies after call " + std::to_string(call));
    Swap swap;
    swap.world.faults.arm({call, Fault::Kind::kKillAfter, {}, {}});
    swap.submit();
    EXPECT_THROW(swap.world.run(), Killed);
    swap.replace(swap.a);
    swap.world.restart();
    swap.world.run();
    EXPECT_TRUE(swap.expect_the_new_one_untouched());
    EXPECT_NE(swap.world.home(swap.b), -1) << "b is half moved";
  }
}

TEST(ExecutorFaultTest, TheProgramMayDieAtEveryCall) {
  const int calls = calls_of_a_swap();
  for (int call = 1; call <= calls; ++call) {
    for (const Fault::Kind kind : {Fault::Kind::kKillBefore, Fault::Kind::kKillAfter}) {
      SCOPED_TRACE("dies " + std::string(kind == Fault::Kind::kKillAfter ? "after" : "before") +
                   " call " + std::to_string(call));
      Swap swap;
      swap.world.faults.arm({call, kind, {}, {}});
      swap.submit();
      EXPECT_THROW(swap.world.run(), Killed);
      swap.world.restart();
      swap.world.run();
      swap.expect_sound(true, true);
      EXPECT_EQ(swap.swapped(), swap.memory_swapped());
      if (!swap.world.journal.closed().empty()) {
        EXPECT_EQ(swap.world.journal.closed()[0].state == ActionState::kDone, swap.swapped());
      }
    }
  }
}

TEST(ExecutorFaultTest, TheProgramMayDieAgainWhileItRecovers) {
  const int calls = calls_of_a_swap();
  for (int call = 1; call <= calls; ++call) {
    bool recovered = false;
    for (int second = 1; !recovered; ++second) {
      SCOPED_TRACE("dies after call " + std::to_string(call) + " and before call " +
                   std::to_string(second) + " of its recovery");
      Swap swap;
      swap.world.faults.arm({call, Fault::Kind::kKillAfter, {}, {}});
      swap.submit();
      EXPECT_THROW(swap.world.run(), Killed);
      swap.world.faults.disarm();
      swap.world.faults.count_from_zero();
      swap.world.faults.arm({second, Fault::Kind::kKillBefore, {}, {}});
      swap.world.restart();
      try {
        swap.world.run();
        recovered = true;
      } catch (const Killed&) {
        swap.world.restart();
        swap.world.run();
      }
      swap.expect_sound(true, true);
    }
  }
}

TEST(ExecutorFaultTest, AVmMayEndWhileTheProgramIsDead) {
  const int calls = calls_of_a_swap();
  for (int call = 1; call <= calls; ++call) {
    SCOPED_TRACE("dies after call " + std::to_string(call));
    Swap swap;
    swap.world.faults.arm({call, Fault::Kind::kKillAfter, {}, {}});
    swap.submit();
    EXPECT_THROW(swap.world.run(), Killed);
    swap.world.end_vm(swap.a);
    swap.world.restart();
    swap.world.run();
    swap.expect_sound(false, true);
  }
}

}  // namespace
}  // namespace vmnuma::migration
