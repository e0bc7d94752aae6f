// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using tests::kCpu;

constexpr std::int64_t kEpochUs = 2'000'000;

VmId id_of(std::uint8_t number) {
  VmId id;
  id.uuid[15] = number;
  return id;
}

VmDescription vm_of(std::uint8_t number, std::int32_t vcpus) {
  VmDescription vm;
  vm.id = id_of(number);
  vm.name = "vm" + std::to_string(number);
  for (std::int32_t vcpu = 0; vcpu < vcpus; ++vcpu) {
    vm.vcpus.push_back(vcpu);
  }
  vm.max_vcpus = vcpus;
  vm.memory = kGiB * 2;
  return vm;
}

/// Two nodes of 4 CPUs and a ledger; every epoch each vCPU runs 1 s and waits half a second.
class LedgerTest : public testing::Test {
 protected:
  LedgerTest() : ledger_(tests::equal_nodes(2, 4, 1, 64), Options{}) {}

  void run(const std::vector<VmDescription>& vms) {
    running_ = vms;
    ledger_.set_domains(vms);
  }

  /// The next epoch's readings.
  Sample next() {
    ++epoch_;
    busy_epochs_ += idle_ ? 0 : 1;
    Sample sample;
    sample.sequence = epoch_;
    sample.taken_at = {epoch_ * kEpochUs};
    for (const Node& node : ledger_.topology().nodes) {
      sample.nodes.push_back({node.id, kGiB * 32, kGiB * 64});
      for (const Cpu& cpu : node.cpus) {
        sample.cpus.push_back({cpu.id, epoch_ * kEpochUs / 2});
      }
      sample.nodes.back().copying_us = epoch_ * copying_us_;
    }
    for (const VmDescription& vm : running_) {
      VmSample reading;
      reading.id = vm.id;
      reading.process = {1000 + vm.id.uuid[15], 7};
      for (const std::int32_t vcpu : vm.vcpus) {
        reading.vcpus.push_back(
            {vcpu, 5000 + vcpu, busy_epochs_ * 1'000'000'000, busy_epochs_ * 500'000'000});
      }
      reading.memory = {kGiB, kGiB};
      if (epoch_ % beside_is_read_every_ == 0) {
        reading.beside_us = epoch_ * beside_us_;
      }
      sample.vms.push_back(reading);
    }
    return sample;
  }
  Snapshot epoch() { return ledger_.advance(next()); }
  Snapshot epochs(int count) {
    for (int i = 1; i < count; ++i) {
      (void)epoch();
    }
    return epoch();
  }

  Ledger ledger_;
  std::vector<VmDescription> running_;
  std::int64_t epoch_ = 0;
  std::int64_t busy_epochs_ = 0;
  std::int64_t copying_us_ = 0;  ///< an epoch, on each node
  std::int64_t beside_us_ = 0;   ///< an epoch, of each VM
  std::int64_t beside_is_read_every_ = 1;
  bool idle_ = false;
};

TEST_F(LedgerTest, AShortageCountsByHowLongItHasLasted) {
  const auto share_that_lasted = [](const Snapshot& snapshot) {
    const NodeState& node = snapshot.nodes[0];
    return permille_of(node.short_lately.value, (node.demand - node.capacity).value, Permille{});
  };
  run({vm_of(1, 4), vm_of(2, 4), vm_of(3, 4)});
  for (std::uint8_t vm = 1; vm <= 3; ++vm) {
    ledger_.set_home({id_of(vm), 0}, NodeId{0}, Reason::kInitialPlacement);
  }
  (void)epoch();
  const Permille at_first = share_that_lasted(epoch());
  EXPECT_GT(at_first, Permille{50});
  EXPECT_LT(at_first, Permille{200});
  const Permille after_ten_seconds = share_that_lasted(epochs(5));
  EXPECT_GT(after_ten_seconds, Permille{400});
  EXPECT_LT(after_ten_seconds, Permille{700});
  EXPECT_GT(share_that_lasted(epochs(30)), Permille{950});

  Options at_once;
  at_once.shortage_half_life = 0;
  ledger_.set_options(at_once);
  idle_ = true;
  EXPECT_EQ(epoch().nodes[0].short_lately, CpuTime{});
  idle_ = false;
  EXPECT_EQ(share_that_lasted(epoch()), Permille{1000});
}

TEST_F(LedgerTest, ASpillIsKeptUntilItEndsOrTheClientMoves) {
  run({vm_of(1, 2)});
  const ClientId client{id_of(1), 0};
  ledger_.set_home(client, NodeId{0}, Reason::kInitialPlacement);
  ledger_.set_spill(client, NodeId{1});
  ledger_.record_spills({{client, 1, kCpu}}, CpuTime{kEpochUs});
  Snapshot snapshot = epoch();
  EXPECT_EQ(snapshot.clients[0].spills_to, 1U);
  EXPECT_EQ(snapshot.clients[0].spill_saves, kCpu);
  ledger_.set_home(client, NodeId{1}, Reason::kLoadMove);
  snapshot = epoch();
  EXPECT_EQ(snapshot.clients[0].spills_to, kNoNode);
  EXPECT_EQ(snapshot.clients[0].spill_saves, CpuTime{});
}

TEST_F(LedgerTest, AVmIsOneMemoryUnlessEachOfItsClientsHoldsWholeCells) {
  const auto shares_memory = [this](std::int32_t cells, std::int32_t vcpus_each) {
    VmDescription vm = vm_of(1, cells * vcpus_each);
    for (std::int32_t cell = 0; cell < cells; ++cell) {
      GuestCell& added = vm.cells.emplace_back();
      added.id = cell;
      added.memory = kGiB;
      for (std::int32_t vcpu = 0; vcpu < vcpus_each; ++vcpu) {
        added.vcpus.push_back(cell * vcpus_each + vcpu);
      }
    }
    run({});
    run({vm});
    return epoch().vms.front().shares_memory;
  };
  EXPECT_FALSE(shares_memory(2, 4));
  EXPECT_TRUE(shares_memory(2, 6));
  EXPECT_TRUE(shares_memory(1, 6));
}

TEST_F(LedgerTest, AClientKnowsThePagesOfItsCellsAndWhereTheyAreBound) {
  VmDescription vm = vm_of(1, 8);
  vm.huge_page_size = kGiB;
  vm.cells = {{0, {0, 1, 2, 3}, kGiB}, {1, {4, 5, 6, 7}, kGiB}};
  vm.cells[1].page_size = Bytes{};
  vm.cells[1].binding = CellBinding{NumatuneMode::kStrict, {NodeId{1}}};
  run({vm});
  const Snapshot snapshot = epoch();
  ASSERT_EQ(snapshot.clients.size(), 2U);
  EXPECT_EQ(page_size_of(snapshot, snapshot.clients[0]), kGiB);
  EXPECT_EQ(page_size_of(snapshot, snapshot.clients[1]), Bytes{});
  EXPECT_THAT(snapshot.clients[0].bound_to, testing::IsEmpty());
  EXPECT_THAT(snapshot.clients[1].bound_to, testing::ElementsAre(1));
}

TEST_F(LedgerTest, ChatsAreOfVmsThatRun) {
  run({vm_of(1, 2), vm_of(2, 2), vm_of(3, 2)});
  const auto talking = [this] {
    Sample sample = next();
    sample.wakeups = {{id_of(1), id_of(2), epoch_ * 100'000}, {id_of(2), id_of(3), epoch_ * 20}};
    return ledger_.advance(sample);
  };
  EXPECT_THAT(talking().chats, testing::IsEmpty());
  const Snapshot snapshot = talking();
  ASSERT_EQ(snapshot.chats.size(), 1U);  // 10 a second are not worth mentioning
  EXPECT_EQ(snapshot.chats[0].a, id_of(1));
  EXPECT_EQ(snapshot.chats[0].b, id_of(2));
  run({vm_of(1, 2), vm_of(3, 2)});
  EXPECT_THAT(talking().chats, testing::IsEmpty());
}

TEST_F(LedgerTest, TheShareOnHugePagesIsThatOfResidentMemoryWhereItIsKnown) {
  VmDescription on_hugetlbfs = vm_of(1, 1);
  on_hugetlbfs.huge_page_size = kMiB * 2;
  run({on_hugetlbfs, vm_of(2, 1), vm_of(3, 1), vm_of(4, 1)});
  Sample sample = next();
  sample.vms[1].memory_state.emplace();  // three quarters
  sample.vms[1].memory_state->anonymous = kGiB * 3;
  sample.vms[1].memory_state->shared = kGiB;
  sample.vms[1].memory_state->huge = kGiB * 3;
  sample.vms[2].memory_state = sample.vms[1].memory_state;  // a kernel without huge pages
  sample.vms[2].memory_state->huge.reset();
  const Snapshot snapshot = ledger_.advance(sample);
  EXPECT_EQ(snapshot.vms[0].figures.huge_pages, Permille{1000});
  EXPECT_EQ(snapshot.vms[1].figures.huge_pages, Permille{750});
  EXPECT_EQ(snapshot.vms[2].figures.huge_pages, std::nullopt);
  EXPECT_EQ(snapshot.vms[3].figures.huge_pages, std::nullopt);
}

/// Readings a minute apart that make half of a VM's run time waiting for memory, of 90 ns a read.
class CountedPriceTest : public LedgerTest {
 protected:
  Snapshot count(int times) {
    Snapshot snapshot;
    for (int i = 0; i < times; ++i) {
      (void)epochs(29);
      Sample sample = next();
      sample.vms[0].memory_reads =
          MemoryReads{.count = 111'111'112, .counted = {10'000'000}, .ran = {10'000'000}};
      snapshot = ledger_.advance(sample);
    }
    return snapshot;
  }
};

TEST_F(CountedPriceTest, WhatItsCpusCountedIsAVmsPriceAndAFigure) {
  ledger_.set_local_read_ns(90);
  run({vm_of(1, 1), vm_of(2, 1)});
  EXPECT_EQ(count(2).vms[0].stall, Permille{300});
  const Snapshot snapshot = count(1);
  EXPECT_EQ(snapshot.vms[0].stall, Permille{500});
  EXPECT_EQ(snapshot.vms[0].counted_stall, Permille{500});
  EXPECT_EQ(snapshot.vms[0].figures.memory_stall, Permille{500});
  EXPECT_EQ(snapshot.vms[1].stall, Permille{300});
  EXPECT_EQ(snapshot.vms[1].figures.memory_stall, std::nullopt);
  EXPECT_EQ(epoch().vms[0].stall, Permille{500});
}

TEST_F(CountedPriceTest, APriceThatIsSetIsEveryVms) {
  ledger_.set_local_read_ns(90);
  run({vm_of(1, 1)});
  (void)count(3);
  ledger_.set_local_read_ns(std::nullopt);
  const Snapshot snapshot = count(1);
  EXPECT_EQ(snapshot.vms[0].stall, Permille{300});
  EXPECT_EQ(snapshot.vms[0].counted_stall, std::nullopt);
}

TEST_F(CountedPriceTest, ARestartedVmIsCountedAnew) {
  ledger_.set_local_read_ns(90);
  run({vm_of(1, 1)});
  (void)count(3);
  Sample restarted = next();
  ++restarted.vms[0].process.pid;
  EXPECT_EQ(ledger_.advance(restarted).vms[0].stall, Permille{300});
}

TEST_F(LedgerTest, NumbersNeedTwoReadings) {
  run({vm_of(1, 2)});
  const Snapshot first = epoch();
  EXPECT_FALSE(first.vms[0].fresh);
  EXPECT_THAT(first.vms[0].stale_because, HasSubstr("needs a second reading"));
  EXPECT_EQ(first.clients[0].demand, CpuTime{});

  const Snapshot second = epoch();
  EXPECT_TRUE(second.vms[0].fresh);
  EXPECT_EQ(second.epoch_length, kCpu);
  EXPECT_EQ(second.clients[0].used, kCpu);       // 2 x 1 s
  EXPECT_EQ(second.clients[0].ready, kCpu / 2);  // 2 x 0.5 s
  EXPECT_EQ(second.clients[0].demand, kCpu + kCpu / 2);
  EXPECT_EQ(second.nodes[0].free, kGiB * 32);
  EXPECT_EQ(second.nodes[0].reserve, kGiB * 64 * 2 / 100);
}

TEST_F(LedgerTest, ANewVmIsPlacedByWhatItIsExpectedToUseAndThatFades) {
  run({});
  (void)epoch();
  run({vm_of(1, 2)});
  const Snapshot first = epoch();
  EXPECT_TRUE(first.vms[0].fresh);  // it may be placed
  EXPECT_FALSE(first.vms[0].measured);
  EXPECT_EQ(first.clients[0].load, kCpu);  // half of its vCPUs

  run({vm_of(1, 2), vm_of(2, 2)});
  ledger_.set_expected_load(id_of(2), Permille{1000});
  ledger_.set_expected_load(id_of(9), Permille{1000});  // unknown: nothing happens
  const Snapshot second = epoch();
  EXPECT_EQ(second.clients[1].load, kCpu * 2);
  // Measured at 1.5 of the 2 expected; what is pending of the rest is gone within a minute.
  EXPECT_GT(epoch().clients[1].load, kCpu + kCpu / 2);
  EXPECT_EQ(epochs(31).clients[1].load, kCpu + kCpu / 2);
}

TEST_F(LedgerTest, ANewVmIsPlacedByTheColdStartShareThatIsSet) {
  Options options;
  options.cold_start_pct = 80;
  ledger_.set_options(options);
  run({});
  (void)epoch();
  run({vm_of(1, 2)});
  EXPECT_EQ(epoch().clients[0].load, kCpu * 2 * 80 / 100);
}

TEST_F(LedgerTest, TheLoadAverageFollowsWithTheHalfLifeThatIsSet) {
  // 1.5 s a second until now, and then nothing: after one half-life half of it is left.
  Options options;
  options.load_half_life = 20;
  ledger_.set_options(options);
  run({vm_of(1, 2)});
  const CpuTime before = epochs(5).clients[0].load;
  idle_ = true;
  const CpuTime after = epochs(10).clients[0].load;  // of 2 s
  EXPECT_NEAR(static_cast<double>(after.value) / static_cast<double>(before.value), 0.5, 0.02);
}

TEST_F(LedgerTest, UntilAnEpochWasMeasuredItIsAsLongAsTheRebalancePeriod) {
  Options options;
  options.rebalance_period = 5000;
  ledger_.set_options(options);
  EXPECT_EQ(epoch().epoch_length, CpuTime{5'000'000});
}

TEST_F(LedgerTest, PreferHtForAllMakesOneClientOfWhatFitsTheThreads) {
  // Nodes of 4 cores with 2 threads each: 6 vCPUs fit the threads and not the cores.
  for (const std::int64_t prefer_ht : {0, 1}) {
    Options options;
    options.prefer_ht = prefer_ht;
    Ledger ledger(tests::equal_nodes(2, 4, 2, 64), options);
    ledger.set_domains({vm_of(1, 6)});
    EXPECT_THAT(ledger.find(id_of(1))->clients, SizeIs(prefer_ht == 1 ? 1 : 2));
  }
}

TEST_F(LedgerTest, ForecastsHoldForTenMinutesUnlessMoreIsMeasured) {
  run({vm_of(1, 2), vm_of(2, 2)});
  (void)epochs(3);
  // Both want three quarters of their time.
  ledger_.set_forecasts({{id_of(1), {Permille{250}, Permille{900}}},
                         {id_of(2), {Permille{250}, Permille{700}}},
                         {id_of(9), {Permille{100}, Permille{100}}}});
  const Snapshot now = epoch();
  ASSERT_TRUE(now.clients[0].ahead);
  EXPECT_EQ(now.clients[0].ahead->mean, kCpu / 2);
  EXPECT_EQ(now.clients[0].ahead->p95, kCpu * 9 / 5);
  EXPECT_FALSE(now.clients[1].ahead);  // it wants more than was believed possible
  EXPECT_TRUE(epochs(299).clients[0].ahead);
  EXPECT_EQ(ledger_.start_load(id_of(1)), Permille{900});
  EXPECT_FALSE(epochs(2).clients[0].ahead);
  EXPECT_EQ(ledger_.start_load(id_of(1)), Permille{500});
}

TEST_F(LedgerTest, WhatOtherThreadsTakeDoesNotBelieAForecastOfVcpus) {
  beside_us_ = 500'000;
  run({vm_of(1, 2)});
  (void)epochs(100);
  // Its vCPUs want three quarters of their time, and all its threads together seven eighths.
  ledger_.set_forecasts({{id_of(1), {Permille{250}, Permille{800}}}});
  const Snapshot now = epoch();
  EXPECT_GT(now.clients[0].load, kCpu * 2 * 85 / 100);
  EXPECT_TRUE(now.clients[0].ahead);
}

TEST_F(LedgerTest, TheMarginIsAddedToWhatMinutesWillNotExceed) {
  Options options;
  options.forecast_margin = 20;
  ledger_.set_options(options);
  run({vm_of(1, 2)});
  (void)epochs(3);
  ledger_.set_forecasts(
      {{id_of(1), {Permille{250}, Permille{800}}}, {id_of(2), {Permille{250}, Permille{950}}}});
  const Snapshot now = epoch();
  ASSERT_TRUE(now.clients[0].ahead);
  EXPECT_EQ(now.clients[0].ahead->mean, kCpu / 2);
  EXPECT_EQ(now.clients[0].ahead->p95, kCpu * 2 * 96 / 100);
  EXPECT_EQ(ledger_.start_load(id_of(1)), Permille{960});
  EXPECT_EQ(ledger_.start_load(id_of(2)), Permille{1000});  // no VM wants more than there is
}

TEST_F(LedgerTest, ForecastsThatCountAreCountedByPredictor) {
  run({vm_of(1, 2), vm_of(2, 2), vm_of(3, 2)});
  (void)epochs(3);
  ledger_.set_forecasts(
      {{id_of(1), {Permille{250}, Permille{900}, PredictorKind::kTrained}},
       {id_of(2), {Permille{250}, Permille{900}, PredictorKind::kLastMaximum}},
       {id_of(9), {Permille{100}, Permille{100}, PredictorKind::kTrained}}});  // not here
  EXPECT_THAT(ledger_.forecasts_by(), testing::ElementsAre(1, 0, 1));
  (void)epochs(301);  // they hold for ten minutes
  EXPECT_THAT(ledger_.forecasts_by(), testing::ElementsAre(0, 0, 0));
}

TEST_F(LedgerTest, ForecastsCountForNothingIfTheirWeightIsNothing) {
  Options options;
  options.forecast_weight = 0;
  ledger_.set_options(options);
  run({vm_of(1, 2)});
  (void)epochs(3);
  ledger_.set_forecasts({{id_of(1), {Permille{250}, Permille{900}}}});
  EXPECT_FALSE(epoch().clients[0].ahead);
  EXPECT_EQ(ledger_.start_load(id_of(1)), Permille{500});
  ledger_.set_options({});
  EXPECT_EQ(ledger_.start_load(id_of(1)), Permille{900});
  EXPECT_EQ(ledger_.start_load(id_of(2)), Permille{500});
}

TEST_F(LedgerTest, WhatCannotBeTrustedMakesTheVmStaleAndItsNumbersAreHeld) {
  run({vm_of(1, 2)});
  const Snapshot known = epochs(2);
  const auto stale_after = [&](auto&& harm) {
    Sample sample = next();
    harm(sample);
    const Snapshot snapshot = ledger_.advance(sample);
    EXPECT_FALSE(snapshot.vms[0].fresh);
    EXPECT_EQ(snapshot.clients[0].demand, known.clients[0].demand);
    const std::string why = snapshot.vms[0].stale_because;
    (void)epochs(2);
    return why;
  };
  EXPECT_THAT(stale_after([](Sample& it) { it.vms[0].vcpus[1].run_ns = 0; }),
              HasSubstr("vCPU 1 has no two readings"));
  EXPECT_THAT(stale_after([](Sample& it) { it.vms[0].vcpus[1].wait_ns = 0; }),
              HasSubstr("vCPU 1 has no two readings"));
  EXPECT_THAT(stale_after([](Sample& it) { it.vms[0].vcpus[0].tid = 1; }),
              HasSubstr("vCPU 0 has no two readings"));
  EXPECT_THAT(stale_after([](Sample& it) { it.vms[0].vcpus.pop_back(); }),
              HasSubstr("vCPU 1 has no two readings"));
  EXPECT_THAT(stale_after([](Sample& it) { it.vms.clear(); }), "it was not read in this epoch");
  EXPECT_THAT(stale_after([](Sample& it) {
                it.vms.clear();
                it.missing.push_back({"/proc/stat", "gone", std::nullopt});
                it.missing.push_back({"its schedstat", "permission denied", id_of(1)});
              }),
              "its schedstat: permission denied");
}

TEST_F(LedgerTest, AfterAGapOneReadingIsNotEnough) {
  run({vm_of(1, 2)});
  (void)epochs(2);
  Sample gap = next();
  gap.vms.clear();
  (void)ledger_.advance(gap);
  EXPECT_EQ(epoch().vms[0].stale_because, "it was not read in the epoch before");
  EXPECT_TRUE(epoch().vms[0].fresh);
}

TEST_F(LedgerTest, ReadingsThatAreHoursApartAreNotCompared) {
  run({vm_of(1, 2)});
  ledger_.set_home({id_of(1), 0}, NodeId{0}, Reason::kInitialPlacement);
  (void)epochs(3);
  epoch_ += 10'000;  // the daemon was stopped
  const Snapshot late = epoch();
  EXPECT_EQ(late.epoch_length, CpuTime{kEpochUs});
  EXPECT_EQ(late.vms[0].stale_because, "it was not read in the epoch before");
  EXPECT_EQ(late.clients[0].demand, kCpu * 3 / 2);  // held
  EXPECT_TRUE(epoch().vms[0].fresh);
  epoch_ += 200;  // late, but an epoch
  const Snapshot long_one = epoch();
  EXPECT_EQ(long_one.epoch_length, CpuTime{kEpochUs * 201});
  EXPECT_TRUE(long_one.vms[0].fresh);
}

TEST_F(LedgerTest, EpochsWithoutUsableReadingsAreCountedInARow) {
  run({vm_of(1, 2)});
  (void)epochs(2);
  for (std::int64_t epoch = 1; epoch <= 3; ++epoch) {
    Sample gap = next();
    gap.vms.clear();
    EXPECT_EQ(ledger_.advance(gap).vms[0].epochs_stale, epoch);
  }
  EXPECT_EQ(epoch().vms[0].epochs_stale, 4) << "one reading is not enough";
  EXPECT_EQ(epoch().vms[0].epochs_stale, 0);
}

TEST_F(LedgerTest, ANewProcessStartsAnew) {
  run({vm_of(1, 2)});
  (void)epochs(3);
  Sample sample = next();
  sample.vms[0].process.start_time_ticks = 8;
  sample.vms[0].memory.reset();
  const Snapshot snapshot = ledger_.advance(sample);
  EXPECT_EQ(snapshot.vms[0].stale_because, "its process is a new one");
  EXPECT_FALSE(snapshot.clients[0].memory_known);
  EXPECT_EQ(snapshot.clients[0].demand, CpuTime{});
}

TEST_F(LedgerTest, WaitingForItsOwnQuotaIsNotOwed) {
  run({vm_of(1, 2)});
  (void)epoch();
  Sample throttled = next();
  throttled.vms[0].throttled_us = kEpochUs / 4;
  EXPECT_EQ(ledger_.advance(throttled).clients[0].demand, kCpu + kCpu / 4);

  Sample limited = next();
  limited.vms[0].throttled_us = kEpochUs / 4;
  limited.vms[0].quota_permille = 500;
  EXPECT_EQ(ledger_.advance(limited).clients[0].demand, kCpu / 2);
}

TEST_F(LedgerTest, ANodeWithoutReadingsIsUnknown) {
  run({});
  (void)epoch();
  Sample sample = next();
  sample.nodes.erase(sample.nodes.begin());
  const Snapshot no_memory = ledger_.advance(sample);
  EXPECT_FALSE(no_memory.nodes[0].known);
  EXPECT_TRUE(no_memory.nodes[1].known);
  sample = next();
  sample.cpus.pop_back();
  const Snapshot no_cpu = ledger_.advance(sample);
  EXPECT_TRUE(no_cpu.nodes[0].known);
  EXPECT_FALSE(no_cpu.nodes[1].known);
  EXPECT_TRUE(epochs(2).nodes[1].known);
}

TEST_F(LedgerTest, HomesAreKeptCountedAndForgotten) {
  run({vm_of(1, 2)});
  const ClientId client{id_of(1), 0};
  ledger_.set_home(client, NodeId{0}, Reason::kInitialPlacement);
  Snapshot snapshot = epoch();
  EXPECT_EQ(snapshot.clients[0].home, 0U);
  EXPECT_EQ(snapshot.clients[0].came_from, kNoNode);
  EXPECT_EQ(snapshot.clients[0].epochs_here, 1);

  ledger_.set_home(client, NodeId{1}, Reason::kLoadSwap);
  ledger_.set_moving(id_of(1), true);
  snapshot = epoch();
  EXPECT_EQ(snapshot.clients[0].home, 1U);
  EXPECT_EQ(snapshot.clients[0].came_from, 0U);
  EXPECT_EQ(snapshot.clients[0].epochs_since_swap, 1);
  EXPECT_TRUE(snapshot.clients[0].moving);

  // The same home, an unknown node, an unknown client: nothing happens.
  ledger_.set_home(client, NodeId{1}, Reason::kLoadMove);
  ledger_.set_home(client, NodeId{7}, Reason::kLoadMove);
  ledger_.set_home({id_of(1), 4}, NodeId{0}, Reason::kLoadMove);
  ledger_.set_home({id_of(1), -1}, NodeId{0}, Reason::kLoadMove);
  ledger_.set_home({id_of(2), 0}, NodeId{0}, Reason::kLoadMove);
  ledger_.adopt_home({id_of(2), 0}, NodeId{0});
  ledger_.adopt_home(client, NodeId{7});
  ledger_.adopt_home(client, NodeId{1});
  ledger_.forget_home({id_of(2), 0});
  ledger_.count_move({id_of(2), 0}, Reason::kLoadMove);
  ledger_.set_moving(id_of(2), true);
  ledger_.transfer_began(id_of(2));
  ledger_.transfer_ended(id_of(2), Bytes{}, Bytes{});
  EXPECT_EQ(epoch().clients[0].epochs_here, 2);
  EXPECT_EQ(ledger_.find(id_of(2)), nullptr);

  ledger_.adopt_home(client, NodeId{0});
  EXPECT_EQ(epoch().clients[0].came_from, kNoNode);
  ledger_.forget_home(client);
  EXPECT_EQ(epoch().clients[0].home, kNoNode);
}

TEST_F(LedgerTest, AClientThatIsFoundAtHomeIsNoNewcomerThere) {
  run({vm_of(1, 2)});
  ledger_.adopt_home({id_of(1), 0}, NodeId{1});
  EXPECT_EQ(epoch().clients[0].epochs_here, 1);
  EXPECT_EQ(epoch().clients[0].epochs_here, Options{}.residency);
  EXPECT_EQ(epoch().clients[0].epochs_here, Options{}.residency + 1);
}

TEST_F(LedgerTest, AClientThatGetsItsHomeLaterIsANewcomerThere) {
  run({vm_of(1, 2)});
  (void)epochs(2);
  ledger_.set_home({id_of(1), 0}, NodeId{0}, Reason::kInitialPlacement);
  EXPECT_EQ(epochs(2).clients[0].epochs_here, 2);

  run({vm_of(1, 2), vm_of(2, 2)});
  ledger_.adopt_home({id_of(2), 0}, NodeId{0});
  EXPECT_EQ(epochs(2).clients[1].epochs_here, 2);
}

TEST_F(LedgerTest, AClientThatIsMovedIsANewcomerAgain) {
  run({vm_of(1, 2)});
  ledger_.adopt_home({id_of(1), 0}, NodeId{1});
  (void)epochs(2);
  ledger_.set_home({id_of(1), 0}, NodeId{0}, Reason::kLoadMove);
  EXPECT_EQ(epoch().clients[0].epochs_here, 1);
  EXPECT_EQ(epoch().clients[0].epochs_here, 2);
}

TEST_F(LedgerTest, MovesAreCountedByReason) {
  run({vm_of(1, 2)});
  for (const Reason reason :
       {Reason::kInitialPlacement, Reason::kLoadMove, Reason::kLoadSwap, Reason::kLongTermMove,
        Reason::kLongTermSwap, Reason::kLocalityMove, Reason::kLocalitySwap, Reason::kAffinityMove,
        Reason::kForecastMove, Reason::kMemoryPull, Reason::kAdministrator}) {
    ledger_.count_move({id_of(1), 0}, reason);
  }
  EXPECT_EQ(ledger_.find(id_of(1))->clients[0].counts, (MigrationCounts{.balance = 2,
                                                                        .load_swap = 1,
                                                                        .locality = 2,
                                                                        .locality_swap = 1,
                                                                        .long_term = 2,
                                                                        .administrator = 1}));
}

TEST_F(LedgerTest, WhatATransferLeftIsWhatTheReadingsShowLater) {
  run({vm_of(1, 2)});
  ledger_.set_home({id_of(1), 0}, NodeId{0}, Reason::kInitialPlacement);
  ledger_.transfer_began(id_of(1));
  EXPECT_TRUE(epoch().vms[0].transferring);
  ledger_.transfer_ended(id_of(1), Bytes{}, Bytes{100});
  const Snapshot ended = epoch();
  EXPECT_FALSE(ended.vms[0].transferring);
  EXPECT_EQ(ended.vms[0].left_behind, Bytes{100});
  EXPECT_EQ(ended.vms[0].epochs_since_transfer, 1);
  EXPECT_EQ(epochs(2).vms[0].left_behind, kGiB);  // what still lies on node 1
}

TEST_F(LedgerTest, HowLongMemoryTravelsIsCountedFromEachMoveOn) {
  run({vm_of(1, 2)});
  const ClientId client{id_of(1), 0};
  const auto travelled = [&] { return epoch().vms[0].epochs_travelled; };
  ledger_.set_home(client, NodeId{0}, Reason::kInitialPlacement);
  ledger_.transfer_began(id_of(1));
  EXPECT_EQ(travelled(), 0);  // it was placed, not moved
  ledger_.transfer_ended(id_of(1), Bytes{}, Bytes{});

  ledger_.set_home(client, NodeId{1}, Reason::kLongTermMove);
  EXPECT_EQ(travelled(), 0);
  ledger_.transfer_began(id_of(1));
  EXPECT_EQ(travelled(), 1);
  EXPECT_EQ(travelled(), 2);
  ledger_.transfer_ended(id_of(1), Bytes{}, Bytes{});
  EXPECT_EQ(travelled(), 2);
  ledger_.transfer_began(id_of(1));  // what was left is fetched
  EXPECT_EQ(travelled(), 3);
  ledger_.set_home(client, NodeId{0}, Reason::kLongTermMove);
  EXPECT_EQ(travelled(), 1);
}

TEST_F(LedgerTest, AVmRestsWheneverItsMemoryDoesNotTravelHoweverOftenTheRestIsFetched) {
  run({vm_of(1, 2)});
  const ClientId client{id_of(1), 0};
  ledger_.set_home(client, NodeId{0}, Reason::kInitialPlacement);
  (void)epoch();
  ledger_.set_home(client, NodeId{1}, Reason::kLongTermMove);
  ledger_.transfer_began(id_of(1));
  EXPECT_EQ(epoch().vms[0].epochs_rested, 0);
  ledger_.transfer_ended(id_of(1), Bytes{}, Bytes{});
  EXPECT_EQ(epochs(5).vms[0].epochs_rested, 5);
  ledger_.transfer_began(id_of(1));
  EXPECT_EQ(epoch().vms[0].epochs_rested, 5);
  ledger_.transfer_ended(id_of(1), Bytes{}, Bytes{});
  EXPECT_EQ(epoch().vms[0].epochs_rested, 6);
}

TEST_F(LedgerTest, WhatTransfersLeaveIsTriedAgainEverMoreRarely) {
  run({vm_of(1, 2)});
  const auto again_after = [&] {
    ledger_.transfer_began(id_of(1));
    ledger_.transfer_ended(id_of(1), Bytes{}, kGiB);
    return epoch().vms[0].pull_again_after;
  };
  const std::int64_t first = again_after();
  EXPECT_GT(first, kEpochsUntilCounted);
  EXPECT_EQ(again_after(), first * 3);
  EXPECT_EQ(again_after(), first * 9);
  ledger_.set_home({id_of(1), 0}, NodeId{1}, Reason::kLoadMove);
  EXPECT_EQ(epoch().vms[0].pull_again_after, 0);  // all else is elsewhere now
}

TEST_F(LedgerTest, AMoveThatWasNotMadeDoesNotHideWhereTheClientCameFrom) {
  run({vm_of(1, 2)});
  const ClientId client{id_of(1), 0};
  ledger_.set_home(client, NodeId{1}, Reason::kInitialPlacement);
  ledger_.set_home(client, NodeId{0}, Reason::kLoadMove);
  (void)epochs(5);
  ledger_.set_home(client, NodeId{1}, Reason::kLoadSwap);
  ledger_.restore_home(client, NodeId{0});
  const Snapshot snapshot = epoch();
  EXPECT_EQ(snapshot.clients[0].home, 0U);
  EXPECT_EQ(snapshot.clients[0].came_from, 1U);  // Numa.NoReturn still knows
  EXPECT_EQ(snapshot.clients[0].epochs_here, 1);
}

TEST_F(LedgerTest, MemoryThatNeverMovesIsGivenUpUntilHomesChange) {
  run({vm_of(1, 2)});
  const auto again_after = [&](Bytes moved) {
    ledger_.transfer_began(id_of(1));
    ledger_.transfer_ended(id_of(1), moved, kGiB);
    return epoch().vms[0].pull_again_after;
  };
  std::int64_t gap = again_after(Bytes{});
  int tries = 1;
  for (; gap != kNotAgain && tries < 20; ++tries) {
    gap = again_after(Bytes{});
  }
  EXPECT_EQ(tries, 6);
  EXPECT_EQ(again_after(kGiB), 300);
  EXPECT_EQ(again_after(Bytes{}), kNotAgain);
  ledger_.set_home({id_of(1), 0}, NodeId{1}, Reason::kLoadMove);
  EXPECT_EQ(epoch().vms[0].pull_again_after, 0);
}

TEST_F(LedgerTest, AsLongAsSomeOfItMovesTheRestIsTriedAgain) {
  run({vm_of(1, 2)});
  for (int i = 0; i < 20; ++i) {
    ledger_.transfer_began(id_of(1));
    ledger_.transfer_ended(id_of(1), kGiB / 4, kGiB);
    EXPECT_LE(epoch().vms[0].pull_again_after, 300);
  }
}

TEST_F(LedgerTest, MemoryIsKnownOnceReadAndWhileTheHostIsTheSame) {
  run({vm_of(1, 2)});
  const Snapshot snapshot = epoch();
  EXPECT_TRUE(snapshot.clients[0].memory_known);
  EXPECT_EQ(snapshot.clients[0].memory, (std::vector<Bytes>{kGiB, kGiB}));
  ledger_.set_topology(tests::equal_nodes(3, 4, 1, 64));
  Sample sample = next();
  sample.vms[0].memory.reset();
  EXPECT_FALSE(ledger_.advance(sample).clients[0].memory_known);
}

TEST_F(LedgerTest, OtherDistancesChangeNothingElseThoughPoolsHaveChangedSince) {
  run({vm_of(1, 2)});
  Topology topology = epoch().topology;
  Sample sample = next();
  sample.nodes[0].huge_pages = {{kGiB, 4}};
  (void)ledger_.advance(sample);
  topology.distances = {10, 30, 30, 10};
  ledger_.set_topology(topology);
  sample = next();
  sample.vms[0].memory.reset();
  const Snapshot snapshot = ledger_.advance(sample);
  EXPECT_TRUE(snapshot.clients[0].memory_known);
  EXPECT_EQ(snapshot.topology.distances, topology.distances);
  EXPECT_THAT(snapshot.topology.nodes[0].huge_pages, SizeIs(1));
}

TEST_F(LedgerTest, HomesOnNodesThatAreGoneBecomeNone) {
  run({vm_of(1, 2)});
  ledger_.set_home({id_of(1), 0}, NodeId{1}, Reason::kInitialPlacement);
  (void)epoch();
  ledger_.set_topology(tests::equal_nodes(1, 4, 1, 64));
  EXPECT_EQ(epoch().clients[0].home, kNoNode);
}

TEST_F(LedgerTest, HomesOutsideANewPolicyBecomeNone) {
  run({vm_of(1, 2)});
  ledger_.set_home({id_of(1), 0}, NodeId{1}, Reason::kInitialPlacement);
  VmDescription vm = vm_of(1, 2);
  vm.policy.nodes = {NodeId{0}};
  run({vm});
  EXPECT_EQ(epoch().clients[0].home, kNoNode);
}

TEST_F(LedgerTest, AVmThatSplitsAnewKeepsTheHomesThatCorrespond) {
  run({vm_of(1, 4)});
  ledger_.set_home({id_of(1), 0}, NodeId{1}, Reason::kInitialPlacement);
  run({vm_of(1, 8)});
  const Snapshot snapshot = epoch();
  ASSERT_THAT(snapshot.clients, SizeIs(2));
  EXPECT_EQ(snapshot.clients[0].home, 1U);
  EXPECT_EQ(snapshot.clients[1].home, kNoNode);
  // Threads instead of cores make no difference here; 2 vCPUs a client do.
  Options options;
  options.prefer_ht = 1;
  ledger_.set_options(options);
  EXPECT_THAT(epoch().clients, SizeIs(2));
  EXPECT_EQ(ledger_.options(), options);
}

TEST_F(LedgerTest, VanishedVmsLoseTheirRecord) {
  run({vm_of(1, 2), vm_of(2, 2)});
  (void)epoch();
  run({vm_of(2, 2)});
  EXPECT_THAT(epoch().vms, SizeIs(1));
  EXPECT_EQ(ledger_.find(id_of(1)), nullptr);
  ASSERT_NE(ledger_.find(id_of(2)), nullptr);
  run({});
  EXPECT_THAT(epoch().vms, IsEmpty());
}

TEST_F(LedgerTest, PinnedVcpusMakeNonVmLoadOfTheRestOfTheirNode) {
  // CPUs 0..3 are node 0's, each busy 1 s of 2; the VM's two vCPUs ran 1 s each there.
  VmDescription vm = vm_of(1, 2);
  vm.vcpu_pins = {{0, {CpuId{0}, CpuId{1}}}, {1, {CpuId{0}, CpuId{1}}}};
  run({vm});
  ledger_.adopt_home({id_of(1), 0}, NodeId{0});
  const Snapshot snapshot = epochs(200);
  EXPECT_NEAR(static_cast<double>(snapshot.nodes[0].non_vm.value), 1e6 * 2, 1e5);
  EXPECT_NEAR(static_cast<double>(snapshot.nodes[1].non_vm.value), 1e6 * 4, 1e5);

  // Pinned across nodes, or not all of them, is not bound anywhere.
  vm.vcpu_pins = {{0, {CpuId{0}, CpuId{4}}}, {1, {CpuId{0}}}};
  run({vm});
  EXPECT_EQ(ledger_.find(id_of(1))->clients[0].pinned_to, NodeId{});
  vm.vcpu_pins = {{0, {CpuId{0}}}};
  run({vm});
  EXPECT_EQ(ledger_.find(id_of(1))->clients[0].pinned_to, NodeId{});
  vm.vcpu_pins = {{0, {CpuId{0}}}, {1, {}}};
  run({vm});
  EXPECT_EQ(ledger_.find(id_of(1))->clients[0].pinned_to, NodeId{});
}

TEST_F(LedgerTest, AVmThatIsPinnedToTwoNodesIsCountedOnBoth) {
  // CPUs 0..3 are node 0's; all are busy half of the time, and the VM's two vCPUs 1 s an epoch
  // each.
  VmDescription vm = vm_of(1, 2);
  vm.vcpu_pins = {{0, {CpuId{0}, CpuId{4}}}, {1, {CpuId{0}, CpuId{4}}}};
  run({vm});
  ledger_.adopt_home({id_of(1), 0}, NodeId{0});
  ledger_.set_spill({id_of(1), 0}, NodeId{1});
  const Snapshot snapshot = epochs(200);
  EXPECT_NEAR(static_cast<double>(snapshot.nodes[0].non_vm.value), 1e6 * 3, 1e5);
  EXPECT_NEAR(static_cast<double>(snapshot.nodes[1].non_vm.value), 1e6 * 3, 1e5);
  EXPECT_THAT(ledger_.find(id_of(1))->clients[0].pinned_to_two, ElementsAre(NodeId{0}, NodeId{1}));
}

TEST_F(LedgerTest, AClientWithoutAHomeDoesNotSpill) {
  run({vm_of(1, 2)});
  const ClientId client{id_of(1), 0};
  ledger_.set_home(client, NodeId{0}, Reason::kInitialPlacement);
  EXPECT_THAT(ledger_.spilling(), IsEmpty());
  ledger_.set_spill(client, NodeId{1});
  EXPECT_THAT(ledger_.spilling(), ElementsAre(id_of(1)));
  ledger_.forget_home(client);
  EXPECT_EQ(epoch().clients[0].spills_to, kNoNode);
  EXPECT_THAT(ledger_.spilling(), IsEmpty());
  // An order that fails takes things back, also where the home has gone meanwhile.
  ledger_.set_spill(client, NodeId{1});
  EXPECT_EQ(epoch().clients[0].spills_to, kNoNode);
}

TEST_F(LedgerTest, TheDaemonsOwnCopyingIsNotCountedAsLoad) {
  run({});
  EXPECT_NEAR(static_cast<double>(epochs(100).nodes[0].non_vm.value), 1e6 * 4, 1e5);
  ledger_ = Ledger(ledger_.topology(), ledger_.options());
  copying_us_ = 1'500'000;
  const Snapshot snapshot = epochs(100);
  EXPECT_NEAR(static_cast<double>(snapshot.nodes[0].non_vm.value), 1e6 * 2.5, 1e5);
  EXPECT_EQ(snapshot.nodes[0].non_vm_now, CpuTime{2'500'000});
}

TEST_F(LedgerTest, WhatAVmsOtherThreadsTakeIsItsOwnUse) {
  for (const std::int64_t every : {1, 7}) {
    ledger_ = Ledger(ledger_.topology(), ledger_.options());
    beside_is_read_every_ = every;
    beside_us_ = 1'500'000;
    VmDescription vm = vm_of(1, 2);
    vm.vcpu_pins = {{0, {CpuId{0}, CpuId{1}}}, {1, {CpuId{0}, CpuId{1}}}};
    run({vm});
    ledger_.adopt_home({id_of(1), 0}, NodeId{0});
    const Snapshot snapshot = epochs(210);
    EXPECT_NEAR(static_cast<double>(snapshot.clients[0].used.value), 1e6 * 3.5, 1e5) << every;
    EXPECT_NEAR(static_cast<double>(snapshot.clients[0].demand.value), 1e6 * 4.5, 1e5) << every;
    EXPECT_NEAR(static_cast<double>(snapshot.nodes[0].non_vm.value), 1e6 * 0.5, 1e5) << every;
  }
}

TEST_F(LedgerTest, AVcpuThatIsUnpluggedIsNotTakenForAnotherThread) {
  run({vm_of(1, 4)});
  ledger_.set_home({id_of(1), 0}, NodeId{0}, Reason::kInitialPlacement);
  (void)epochs(50);
  // Its scope has used what four vCPUs ran, of which two are left.
  VmDescription vm = vm_of(1, 4);
  vm.vcpus = {0, 1};
  run({vm});
  Sample sample = next();
  sample.vms[0].beside_us = 100'000'000;
  const Snapshot snapshot = ledger_.advance(sample);
  EXPECT_LE(snapshot.clients[0].demand, kCpu * 3);
}

TEST_F(LedgerTest, WhatIsOwedIsAveragedOverMinutesAlsoWithoutTurns) {
  Options options;
  options.lterm_fairness_interval = 0;
  ledger_.set_options(options);
  run({vm_of(1, 4), vm_of(2, 4)});
  for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
    ledger_.set_home({id_of(number), 0}, NodeId{0}, Reason::kInitialPlacement);
  }
  const ClientState client = epochs(3).clients[0];
  ASSERT_GT(client.owed, CpuTime{});
  EXPECT_LT(client.owed_on_average, client.owed * 9 / 10);
}

TEST_F(LedgerTest, WhatIsOwedIsRememberedForAFewEpochsAndOnAverage) {
  run({vm_of(1, 4), vm_of(2, 4)});
  for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
    ledger_.set_home({id_of(number), 0}, NodeId{0}, Reason::kInitialPlacement);
  }
  const Snapshot snapshot = epochs(20);
  const ClientState& client = snapshot.clients[0];
  EXPECT_THAT(client.owed_before, SizeIs(4));  // Numa.LTermFairnessInterval, with this epoch's
  EXPECT_LE(client.owed_on_average, client.owed);
  EXPECT_GE(ledger_.find(id_of(1))->clients[0].all_mib_epochs,
            ledger_.find(id_of(1))->clients[0].local_mib_epochs);
}

TEST_F(LedgerTest, EqualReadingsGiveEqualSnapshots) {
  run({vm_of(1, 2), vm_of(2, 6)});
  Ledger other(ledger_.topology(), Options{});
  other.set_domains(running_);
  for (int i = 0; i < 5; ++i) {
    const Sample sample = next();
    EXPECT_EQ(ledger_.advance(sample), other.advance(sample));
  }
}

}  // namespace
}  // namespace vmnuma::balancer
