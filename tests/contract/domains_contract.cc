// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/domains_contract.h"

#include <algorithm>

#include "placement/model/text.h"

namespace vmnuma::tests {
namespace {

using migration::DomainRun;
using migration::MemoryNodes;
using Thread = migration::ThreadId::Kind;

constexpr CpuId kNoSuchCpu{15000};
constexpr NodeId kNoSuchNode{900};
constexpr VmId kNoSuchVm{{0xde, 0xad}};

/// Returns the error code of a result, or nothing on success.
std::optional<ErrorCode> code_of(const Result<void>& result) {
  return result ? std::nullopt : std::optional(result.error().code);
}

bool is_listed(const std::optional<VmDescription>& vm) {
  return vm.has_value();
}
bool is_not_listed(const std::optional<VmDescription>& vm) {
  return !vm.has_value();
}

}  // namespace

void PrintTo(const DomainHostKind& kind, std::ostream* stream) {
  *stream << kind.name;
}

std::string name_of_kind(const testing::TestParamInfo<DomainHostKind>& tested) {
  return tested.param.name;
}

std::string uuid_of(const std::string& name) {
  VmId id{{0xc0, 0xff, 0xee}};
  for (std::size_t i = 0; i < name.size(); ++i) {
    std::uint8_t& byte = id.uuid[4 + i % 12];
    byte = static_cast<std::uint8_t>(byte * 31 + static_cast<unsigned char>(name[i]));
  }
  return to_text(id);
}

std::vector<VmDescription> DomainsContract::running() {
  auto vms = host().refresh();
  EXPECT_TRUE(vms.has_value()) << vms.error().message;
  return vms.value_or(std::vector<VmDescription>{});
}

std::optional<VmDescription> DomainsContract::find(const VmId& vm) {
  for (const VmDescription& one : running()) {
    if (one.id == vm) {
      return one;
    }
  }
  return std::nullopt;
}

testing::AssertionResult DomainsContract::becomes(
    const VmId& vm, const std::function<bool(const std::optional<VmDescription>&)>& holds) {
  while (!holds(find(vm))) {
    if (!host().wait_for_change()) {
      return testing::AssertionFailure() << "VM " << to_text(vm) << " never got there";
    }
  }
  return testing::AssertionSuccess();
}

DomainRun DomainsContract::run_of(const VmId& vm) {
  EXPECT_TRUE(becomes(vm, is_listed));
  const auto now = find(vm);
  return {vm, now ? now->domain_id : -1};
}

void DomainsContract::expect_refused_and_unchanged(const DomainRun& run) {
  EXPECT_TRUE(becomes(run.vm, is_listed));
  const auto before = find(run.vm);

  EXPECT_EQ(code_of(host().control().pin(run, {Thread::kVcpu, 0}, {host().cpu()})),
            ErrorCode::kVanished);
  EXPECT_EQ(code_of(host().control().pin(run, {Thread::kEmulator}, {host().cpu()})),
            ErrorCode::kVanished);
  EXPECT_EQ(code_of(host().control().pin(run, {Thread::kIoThread, 1}, {host().cpu()})),
            ErrorCode::kVanished);
  EXPECT_EQ(code_of(host().control().change_memory_nodes(run, {host().node()}, MemoryNodes::kSet)),
            ErrorCode::kVanished);
  host().changed(run.vm);

  EXPECT_EQ(find(run.vm), before);
}

TEST_P(DomainsContract, ListsRunningVmsAscendingById) {
  const VmId a = host().start("contract-a", NumatuneMode::kNone);
  const VmId b = host().start("contract-b", NumatuneMode::kNone);
  const VmId c = host().start("contract-c", NumatuneMode::kNone);

  const auto vms = running();

  EXPECT_TRUE(std::is_sorted(vms.begin(), vms.end(),
                             [](const auto& x, const auto& y) { return x.id < y.id; }));
  for (const VmId& id : {a, b, c}) {
    EXPECT_EQ(std::count_if(vms.begin(), vms.end(), [&](const auto& vm) { return vm.id == id; }),
              1);
  }
}

TEST_P(DomainsContract, DescribesAVm) {
  const VmId id = host().start("contract-a", NumatuneMode::kStrict);

  const auto vm = find(id);

  ASSERT_TRUE(vm.has_value());
  EXPECT_EQ(vm->name, "contract-a");
  EXPECT_GE(vm->domain_id, 0);
  EXPECT_EQ(vm->vcpus, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(vm->io_threads, std::vector<std::int32_t>{1});
  EXPECT_EQ(vm->numatune, NumatuneMode::kStrict);
  EXPECT_EQ(vm->numatune_nodes, std::vector<NodeId>{host().node()});
}

TEST_P(DomainsContract, AnswersTheSameWhileNothingChanges) {
  (void)host().start("contract-a", NumatuneMode::kNone);
  const auto first = running();
  EXPECT_EQ(running(), first);
}

TEST_P(DomainsContract, SeesAVmThatStarts) {
  (void)running();
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  EXPECT_TRUE(becomes(vm, is_listed));
}

TEST_P(DomainsContract, ForgetsAVmThatStops) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  ASSERT_TRUE(becomes(vm, is_listed));
  host().stop(vm);
  EXPECT_TRUE(becomes(vm, is_not_listed));
}

TEST_P(DomainsContract, AVcpuPinShowsInTheDescription) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  ASSERT_TRUE(becomes(vm, is_listed));

  ASSERT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kVcpu, 1}, {host().cpu()})),
            std::nullopt);
  host().changed(vm);

  EXPECT_TRUE(becomes(vm, [&](const auto& now) {
    return now && now->vcpu_pins == std::vector<Pin>{{1, {host().cpu()}}};
  }));
}

TEST_P(DomainsContract, AnEmulatorPinShowsInTheDescription) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  ASSERT_TRUE(becomes(vm, is_listed));

  ASSERT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kEmulator}, {host().cpu()})),
            std::nullopt);
  host().changed(vm);

  EXPECT_TRUE(becomes(vm, [&](const auto& now) {
    return now && now->emulator_pin == std::vector<CpuId>{host().cpu()};
  }));
}

TEST_P(DomainsContract, AnIoThreadPinShowsInTheDescription) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  ASSERT_TRUE(becomes(vm, is_listed));

  ASSERT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kIoThread, 1}, {host().cpu()})),
            std::nullopt);
  host().changed(vm);

  EXPECT_TRUE(becomes(vm, [&](const auto& now) {
    return now && now->io_thread_pins == std::vector<Pin>{{1, {host().cpu()}}};
  }));
}

TEST_P(DomainsContract, RefusesAnEmptyCpuSet) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kVcpu, 0}, {})),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kEmulator}, {})),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kIoThread, 1}, {})),
            ErrorCode::kInvalidArgument);
}

TEST_P(DomainsContract, RefusesACpuTheHostDoesNotHaveAndChangesNothing) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  ASSERT_TRUE(becomes(vm, is_listed));
  const std::vector<CpuId> cpus{host().cpu(), kNoSuchCpu};

  EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kVcpu, 0}, cpus)),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kEmulator}, cpus)),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kIoThread, 1}, cpus)),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kVcpu, 0}, {CpuId{-1}})),
            ErrorCode::kInvalidArgument);
  host().changed(vm);

  const auto now = find(vm);
  ASSERT_TRUE(now.has_value());
  EXPECT_TRUE(now->vcpu_pins.empty());
  EXPECT_TRUE(now->emulator_pin.empty());
  EXPECT_TRUE(now->io_thread_pins.empty());
}

TEST_P(DomainsContract, AnOfflineCpuBesideAnOnlineOneIsAccepted) {
  const auto offline = host().offline_cpu();
  if (!offline) {
    GTEST_SKIP() << "this host has no offline CPU";
  }
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  ASSERT_TRUE(becomes(vm, is_listed));
  std::vector<CpuId> cpus{host().cpu(), *offline};
  std::sort(cpus.begin(), cpus.end());

  EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kVcpu, 0}, cpus)), std::nullopt);
  EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kEmulator}, cpus)), std::nullopt);
  EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kIoThread, 1}, cpus)), std::nullopt);
  host().changed(vm);

  // Whether the offline CPU is described, too, depends on the implementation.
  EXPECT_TRUE(becomes(vm, [&](const auto& now) {
    const std::vector<CpuId> one{host().cpu()};
    const auto online = [&](std::vector<CpuId> pin) {
      std::erase(pin, *offline);
      return pin;
    };
    return now && now->vcpu_pins.size() == 1 && online(now->vcpu_pins.front().cpus) == one &&
           online(now->emulator_pin) == one && now->io_thread_pins.size() == 1 &&
           online(now->io_thread_pins.front().cpus) == one;
  }));
}

TEST_P(DomainsContract, OnlyOfflineCpusMeanAllOnlineOnes) {
  const auto offline = host().offline_cpu();
  if (!offline) {
    GTEST_SKIP() << "this host has no offline CPU";
  }
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  ASSERT_TRUE(becomes(vm, is_listed));

  EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kEmulator}, {*offline})),
            std::nullopt);
  host().changed(vm);

  EXPECT_TRUE(becomes(vm, [&](const auto& now) {
    const auto has = [&](CpuId cpu) {
      return std::count(now->emulator_pin.begin(), now->emulator_pin.end(), cpu) > 0;
    };
    return now && (now->emulator_pin.empty() || (has(host().cpu()) && !has(*offline)));
  }));
  EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kVcpu, 0}, {*offline})),
            std::nullopt);
  EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kIoThread, 1}, {*offline})),
            std::nullopt);
}

TEST_P(DomainsContract, AVmWithoutAJobIsFreeAndSoIsOneThatIsNotThere) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  EXPECT_EQ(code_of(host().control().check_free(run_of(vm))), std::nullopt);
  EXPECT_EQ(code_of(host().control().check_free({kNoSuchVm, 1})), std::nullopt);
}

TEST_P(DomainsContract, AnUnknownVmIsNotFound) {
  EXPECT_EQ(code_of(host().control().pin({kNoSuchVm, 1}, {Thread::kVcpu, 0}, {host().cpu()})),
            ErrorCode::kNotFound);
  EXPECT_EQ(code_of(host().control().pin({kNoSuchVm, 1}, {Thread::kEmulator}, {host().cpu()})),
            ErrorCode::kNotFound);
  EXPECT_EQ(code_of(host().control().pin({kNoSuchVm, 1}, {Thread::kIoThread, 1}, {host().cpu()})),
            ErrorCode::kNotFound);
  EXPECT_EQ(code_of(host().control().change_memory_nodes({kNoSuchVm, 1}, {host().node()},
                                                         MemoryNodes::kSet)),
            ErrorCode::kNotFound);
}

TEST_P(DomainsContract, AStoppedVmIsNotFound) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  const DomainRun run = run_of(vm);
  host().stop(vm);
  EXPECT_EQ(code_of(host().control().pin(run, {Thread::kVcpu, 0}, {host().cpu()})),
            ErrorCode::kNotFound);
  EXPECT_EQ(code_of(host().control().pin(run, {Thread::kEmulator}, {host().cpu()})),
            ErrorCode::kNotFound);
  EXPECT_EQ(code_of(host().control().change_memory_nodes(run, {host().node()}, MemoryNodes::kSet)),
            ErrorCode::kNotFound);
}

TEST_P(DomainsContract, AnotherRunOfTheVmThanIsMeantIsLeftAlone) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  DomainRun other = run_of(vm);
  ++other.domain_id;
  expect_refused_and_unchanged(other);
}

TEST_P(DomainsContract, AVmThatWasStartedAnewIsLeftAlone) {
  if (const auto reason = host().gap(ContractClaim::kUuidsReturn)) {
    GTEST_SKIP() << *reason;
  }
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  const DomainRun ended = run_of(vm);
  host().stop(vm);
  ASSERT_TRUE(becomes(vm, is_not_listed));
  ASSERT_EQ(host().start("contract-a", NumatuneMode::kNone), vm);
  expect_refused_and_unchanged(ended);
}

TEST_P(DomainsContract, ARunThatIsNotKnownIsWhicheverThereIs) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  EXPECT_EQ(code_of(host().control().pin({vm}, {Thread::kVcpu, 0}, {host().cpu()})), std::nullopt);
}

TEST_P(DomainsContract, AnUnknownThreadIsNotFound) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  for (const std::int32_t number : {-1, 99}) {
    EXPECT_EQ(code_of(host().control().pin(run_of(vm), {Thread::kVcpu, number}, {host().cpu()})),
              ErrorCode::kNotFound)
        << number;
    EXPECT_EQ(
        code_of(host().control().pin(run_of(vm), {Thread::kIoThread, number}, {host().cpu()})),
        ErrorCode::kNotFound)
        << number;
  }
}

TEST_P(DomainsContract, MemoryNodesMakeTheModeRestrictiveAndMayBeSetAgain) {
  if (const auto reason = host().gap(ContractClaim::kMemoryNodesCanBeSet)) {
    GTEST_SKIP() << *reason;
  }
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  ASSERT_TRUE(becomes(vm, is_listed));

  for (int i = 0; i < 2; ++i) {
    const auto set =
        host().control().change_memory_nodes(run_of(vm), {host().node()}, MemoryNodes::kSet);
    ASSERT_TRUE(set.has_value()) << set.error().message;
  }
  host().changed(vm);

  EXPECT_TRUE(becomes(vm, [&](const auto& now) {
    return now && now->numatune == NumatuneMode::kRestrictive &&
           now->numatune_nodes == std::vector<NodeId>{host().node()};
  }));
}

TEST_P(DomainsContract, WideningNeverRemovesANode) {
  const auto other = host().other_node();
  if (!other || host().gap(ContractClaim::kMemoryNodesCanBeSet)) {
    GTEST_SKIP() << "there are no two nodes that memory can be set to";
  }
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  ASSERT_EQ(code_of(host().control().change_memory_nodes(run_of(vm), {*other}, MemoryNodes::kSet)),
            std::nullopt);

  const auto widened =
      host().control().change_memory_nodes(run_of(vm), {host().node()}, MemoryNodes::kWiden);
  ASSERT_TRUE(widened.has_value()) << widened.error().message;
  host().changed(vm);

  std::vector<NodeId> both{host().node(), *other};
  std::sort(both.begin(), both.end());
  EXPECT_TRUE(becomes(vm, [&](const auto& now) { return now && now->numatune_nodes == both; }));
}

TEST_P(DomainsContract, WideningLeavesAVmAloneThatMayUseAllNodes) {
  if (const auto reason = host().gap(ContractClaim::kMemoryNodesCanBeSet)) {
    GTEST_SKIP() << *reason;
  }
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);

  EXPECT_EQ(code_of(host().control().change_memory_nodes(run_of(vm), {host().node()},
                                                         MemoryNodes::kWiden)),
            std::nullopt);
  host().changed(vm);

  const auto now = find(vm);
  ASSERT_TRUE(now.has_value());
  EXPECT_EQ(now->numatune, NumatuneMode::kNone);
}

TEST_P(DomainsContract, WhereMemoryNodesCannotBeSetTheVmSaysSoAndTheyAreUnsupported) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  const bool can_be_set = !host().gap(ContractClaim::kMemoryNodesCanBeSet);
  EXPECT_TRUE(
      becomes(vm, [&](const auto& now) { return now && now->memory_nodes_fixed == !can_be_set; }));
  if (!can_be_set) {
    EXPECT_EQ(code_of(host().control().change_memory_nodes(run_of(vm), {host().node()},
                                                           MemoryNodes::kSet)),
              ErrorCode::kUnsupported);
  }
}

TEST_P(DomainsContract, MemoryNodesOfABoundVmAreUnsupported) {
  const VmId vm = host().start("contract-a", NumatuneMode::kStrict);
  EXPECT_EQ(
      code_of(host().control().change_memory_nodes(run_of(vm), {host().node()}, MemoryNodes::kSet)),
      ErrorCode::kUnsupported);
}

TEST_P(DomainsContract, RefusesAnEmptyNodeSet) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  EXPECT_EQ(code_of(host().control().change_memory_nodes(run_of(vm), {}, MemoryNodes::kSet)),
            ErrorCode::kInvalidArgument);
}

TEST_P(DomainsContract, RefusesANodeTheHostDoesNotHave) {
  if (const auto reason = host().gap(ContractClaim::kUnknownNodeIsRefused)) {
    GTEST_SKIP() << *reason;
  }
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  EXPECT_EQ(
      code_of(host().control().change_memory_nodes(run_of(vm), {kNoSuchNode}, MemoryNodes::kSet)),
      ErrorCode::kInvalidArgument);
}

TEST_P(DomainsContract, APolicyShowsInTheDescriptionAndCanBeTakenAway) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  ASSERT_TRUE(becomes(vm, is_listed));
  const std::vector<PolicySetting> policy{{"nodes", "0-1"}, {"affinity_group", "a<b>&\"'c ä"}};

  const auto set = host().control().set_policy(vm, policy, /*persistent=*/false);
  ASSERT_TRUE(set.has_value()) << set.error().message;
  EXPECT_TRUE(becomes(vm, [&](const auto& now) { return now && now->own_policy == policy; }));

  const std::vector<PolicySetting> other{{"do_not_move", "true"}};
  ASSERT_EQ(code_of(host().control().set_policy(vm, other, false)), std::nullopt);
  EXPECT_TRUE(becomes(vm, [&](const auto& now) { return now && now->own_policy == other; }));

  for (int i = 0; i < 2; ++i) {  // works even if there is none
    ASSERT_EQ(code_of(host().control().set_policy(vm, {}, false)), std::nullopt);
  }
  EXPECT_TRUE(becomes(vm, [&](const auto& now) { return now && now->own_policy.empty(); }));
}

TEST_P(DomainsContract, ThePolicyOfAnUnknownOrStoppedVmIsNotFound) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  host().stop(vm);
  EXPECT_EQ(code_of(host().control().set_policy(vm, {}, false)), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(host().control().set_policy(kNoSuchVm, {}, false)), ErrorCode::kNotFound);
}

TEST_P(DomainsContract, PersistingThePolicyOfATransientVmIsUnsupportedAndChangesNothing) {
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  EXPECT_EQ(code_of(host().control().set_policy(vm, {{"nodes", "0"}}, /*persistent=*/true)),
            ErrorCode::kUnsupported);
  const auto now = find(vm);
  ASSERT_TRUE(now.has_value());
  EXPECT_TRUE(now->own_policy.empty());
}

TEST_P(DomainsContract, OnlyAPersistentPolicyIsInTheDefinition) {
  if (const auto reason = host().gap(ContractClaim::kVmsHaveDefinitions)) {
    GTEST_SKIP() << *reason;
  }
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  host().define(vm);
  const std::vector<PolicySetting> running{{"nodes", "0"}};
  const std::vector<PolicySetting> kept{{"nodes", "1"}};

  ASSERT_EQ(code_of(host().control().set_policy(vm, running, /*persistent=*/false)), std::nullopt);
  EXPECT_TRUE(host().defined_policy(vm).empty());

  const auto set = host().control().set_policy(vm, kept, /*persistent=*/true);
  ASSERT_TRUE(set.has_value()) << set.error().message;
  EXPECT_EQ(host().defined_policy(vm), kept);
  EXPECT_TRUE(becomes(vm, [&](const auto& now) { return now && now->own_policy == kept; }));
}

TEST_P(DomainsContract, ALostConnectionIsUnavailableUntilItIsBack) {
  if (const auto reason = host().gap(ContractClaim::kLostConnectionIsUnavailable)) {
    GTEST_SKIP() << *reason;
  }
  const VmId vm = host().start("contract-a", NumatuneMode::kNone);
  ASSERT_TRUE(becomes(vm, is_listed));

  const DomainRun run = run_of(vm);

  host().lose_connection();
  const auto refreshed = host().refresh();
  ASSERT_FALSE(refreshed.has_value());
  EXPECT_EQ(refreshed.error().code, ErrorCode::kUnavailable) << refreshed.error().message;
  EXPECT_EQ(code_of(host().control().pin(run, {Thread::kVcpu, 0}, {host().cpu()})),
            ErrorCode::kUnavailable);

  host().restore_connection();
  EXPECT_TRUE(becomes(vm, is_listed));
  EXPECT_EQ(code_of(host().control().pin(run, {Thread::kVcpu, 0}, {host().cpu()})), std::nullopt);
}

}  // namespace vmnuma::tests
