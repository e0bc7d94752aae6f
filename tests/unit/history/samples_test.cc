// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/history/loads.h"
#include "tests/unit/history/rows.h"

namespace vmnuma::stats::tests {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SamplesTest : public HistoryTest {
 protected:
  void append(const EpochRows& epoch) {
    const auto appended = history().append_epoch(epoch);
    ASSERT_TRUE(appended) << appended.error().message;
  }
  std::vector<Kept<NodeSampleRow>> nodes(SampleSpan span, std::int32_t node = 0,
                                         WallTime until = WallTime::max()) {
    auto rows = stored_nodes({.span = span, .since = {}, .until = until});
    std::erase_if(rows, [node](const auto& kept) { return kept.row.node != NodeId{node}; });
    return rows;
  }
};

TEST_F(SamplesTest, GivesBackAnEpochAsItWas) {
  EpochRows epoch = epoch_at(at(seconds(2)));
  epoch.clients = {client_row(1, 0, 4'000'000), client_row(1, 1, 10), client_row(2, 0, 0)};
  epoch.clients[1].memory.reset();
  epoch.clients[2].home = NodeId{};
  append(epoch);
  reopen();
  const auto node_rows = stored_nodes();
  ASSERT_THAT(node_rows, SizeIs(2));
  EXPECT_EQ(node_rows[0], (Kept<NodeSampleRow>{epoch.time, 1, {2'000'000}, epoch.nodes[0]}));
  EXPECT_EQ(node_rows[1], (Kept<NodeSampleRow>{epoch.time, 1, {2'000'000}, epoch.nodes[1]}));
  const auto client_rows = stored_clients();
  ASSERT_THAT(client_rows, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(client_rows[i], (Kept<ClientSampleRow>{epoch.time, 1, {2'000'000}, epoch.clients[i]}))
        << i;
  }
}

TEST_F(SamplesTest, AcceptsAnEpochWithoutNodesOrClients) {
  append({.time = at(seconds(2)), .epoch_length = {2'000'000}, .nodes = {}, .clients = {}});
  EXPECT_THAT(stored_nodes(), IsEmpty());
}

TEST_F(SamplesTest, AnEpochOfTheSameTimeReplacesTheFormer) {
  append(epoch_at(at(seconds(2)), 10));
  append(epoch_at(at(seconds(2)), 20));
  ASSERT_THAT(nodes(SampleSpan::kEpoch), SizeIs(1));
  EXPECT_EQ(nodes(SampleSpan::kEpoch)[0].row.used, CpuTime{20});
}

TEST_F(SamplesTest, AFinishedMinuteIsTheAverageOfItsEpochs) {
  // 30 epochs, at 0, 2, ... 58 s; the used times are 0, 100, ... 2900, so 1450 on the average, and
  // half of each on node 1: 0, 50, ... 1450, so 725.
  for (int i = 0; i < 30; ++i) {
    append(epoch_at(at(seconds(2 * i)), 100 * i));
    EXPECT_THAT(nodes(SampleSpan::kMinute), IsEmpty());
  }
  append(epoch_at(at(seconds(60)), 1'000'000));
  const auto minute = nodes(SampleSpan::kMinute);
  ASSERT_THAT(minute, SizeIs(1));
  EXPECT_EQ(minute[0].time, at(seconds(0)));
  EXPECT_EQ(minute[0].epochs, 30);
  EXPECT_EQ(minute[0].epoch_length.value, 2'000'000);
  EXPECT_EQ(minute[0].row.used, CpuTime{1450});
  EXPECT_EQ(minute[0].row.capacity, CpuTime{8'000'000});
  EXPECT_EQ(minute[0].row.load_average, Permille{125});
  EXPECT_EQ(minute[0].row.free, kGiB * 5);
  EXPECT_EQ(nodes(SampleSpan::kMinute, 1)[0].row.used, CpuTime{725});
  EXPECT_THAT(nodes(SampleSpan::kEpoch), SizeIs(31));
}

TEST_F(SamplesTest, AClientIsAveragedOverTheEpochsItWasThere) {
  // There in 2 of 3 epochs, demand 1000 and 2001: 1500 rounded down. It moved home in between, and
  // its memory was known in the first epoch only.
  EpochRows epoch = epoch_at(at(seconds(0)));
  epoch.clients = {client_row(1, 0, 1000)};
  epoch.clients[0].home = {0};
  append(epoch);
  append(epoch_at(at(seconds(2))));
  epoch.time = at(seconds(4));
  epoch.clients = {client_row(1, 0, 2001), client_row(2, 0, 50)};
  epoch.clients[0].memory.reset();
  epoch.clients[1].memory.reset();
  append(epoch);
  append(epoch_at(at(seconds(60))));
  const auto minute = stored_clients(SampleSpan::kMinute);
  ASSERT_THAT(minute, SizeIs(2));
  EXPECT_EQ(minute[0].epochs, 2);
  EXPECT_EQ(minute[0].row.demand, CpuTime{1500});
  EXPECT_EQ(minute[0].row.home, NodeId{1});
  EXPECT_EQ(minute[0].row.memory, (MemorySplit{kGiB * 3, kGiB}));
  EXPECT_EQ(minute[1].epochs, 1);
  EXPECT_EQ(minute[1].row.demand, CpuTime{50});
  EXPECT_EQ(minute[1].row.memory, std::nullopt);
}

TEST_F(SamplesTest, AnHourWeighsItsMinutesByTheirEpochs) {
  // Minute 0 has 3 epochs of 100, minute 59 one of 500: (3 * 100 + 500) / 4 = 200.
  for (int i = 0; i < 3; ++i) {
    append(epoch_at(at(seconds(2 * i)), 100));
  }
  append(epoch_at(at(minutes(59)), 500));
  append(epoch_at(at(minutes(60)), 7));
  append(epoch_at(at(minutes(61)), 7));
  const auto hour = nodes(SampleSpan::kHour);
  ASSERT_THAT(hour, SizeIs(1));
  EXPECT_EQ(hour[0].time, at(hours(0)));
  EXPECT_EQ(hour[0].epochs, 4);
  EXPECT_EQ(hour[0].row.used, CpuTime{200});
}

TEST_F(SamplesTest, AMinuteCutByARestartIsMadeAfterIt) {
  append(epoch_at(at(seconds(0)), 100));
  reopen();
  append(epoch_at(at(seconds(50)), 300));
  reopen();
  append(epoch_at(at(seconds(130)), 0));
  ASSERT_THAT(nodes(SampleSpan::kMinute), SizeIs(1));
  EXPECT_EQ(nodes(SampleSpan::kMinute)[0].row.used, CpuTime{200});
}

TEST_F(SamplesTest, CatchesUpAfterALongStop) {
  append(epoch_at(at(minutes(0)), 100));
  append(epoch_at(at(minutes(1)), 100));
  append(epoch_at(at(minutes(2)), 100));
  for (int i = 0; i < 40; ++i) {
    append(epoch_at(at(hours(5) + seconds(2 * i)), 100));
  }
  // Minutes 0, 1, 2 of the first hour, the whole first minute of the sixth; and the first hour.
  EXPECT_THAT(nodes(SampleSpan::kMinute), SizeIs(4));
  EXPECT_THAT(nodes(SampleSpan::kHour), SizeIs(1));
}

TEST_F(SamplesTest, AClockThatGoesBackKeepsTheAveragesThatExist) {
  for (int i = 0; i <= 60; ++i) {
    append(epoch_at(at(seconds(2 * i)), 100));
  }
  ASSERT_THAT(nodes(SampleSpan::kMinute), SizeIs(2));
  for (int i = 0; i <= 90; ++i) {  // back to the beginning, one millisecond off the former epochs
    append(epoch_at(at(seconds(2 * i) + milliseconds(1)), 300));
  }
  const auto minute = nodes(SampleSpan::kMinute);
  ASSERT_THAT(minute, SizeIs(3));
  EXPECT_EQ(minute[0].row.used, CpuTime{100});
  EXPECT_EQ(minute[1].row.used, CpuTime{100});
  // The epoch at 120 s is the last of the first life: (1 * 100 + 30 * 300) / 31 = 293 rounded down.
  EXPECT_EQ(minute[2].row.used, CpuTime{293});
}

TEST_F(SamplesTest, AClockThatWasFarAheadDoesNotStopTheAverages) {
  append(epoch_at(at(days(3650)), 100));
  append(epoch_at(at(days(3650) + minutes(1)), 100));
  ASSERT_THAT(nodes(SampleSpan::kMinute), SizeIs(1));
  for (int i = 0; i <= 30; ++i) {
    append(epoch_at(at(seconds(2 * i)), 300));
  }
  const auto minute = nodes(SampleSpan::kMinute, 0, at(days(1)));
  ASSERT_THAT(minute, SizeIs(1));
  EXPECT_EQ(minute[0].row.used, CpuTime{300});
}

TEST_F(SamplesTest, MinutesRecordedWhileTheClockWasAheadAreNotRead) {
  const auto wants = [&](milliseconds since, std::int64_t demand_us) {
    EpochRows epoch = epoch_at(at(since));
    epoch.clients = {client_row(1, 0, demand_us)};
    append(epoch);
  };
  wants(days(10), 8'000'000);
  wants(days(10) + minutes(1), 8'000'000);
  for (int i = 0; i < 3; ++i) {
    wants(minutes(i), 800'000);
  }
  std::vector<MinuteLoad> read;
  const auto until = read_vm_loads(file(), "", [&](VmLoads loads) {
    read = std::move(loads.minutes);
    return true;
  });
  const std::int64_t first = at(minutes(0)).time_since_epoch() / minutes(1);
  EXPECT_EQ(until.value(), first + 2);
  EXPECT_THAT(read,
              ElementsAre(MinuteLoad{first, Permille{100}}, MinuteLoad{first + 1, Permille{100}}));
}

TEST_F(SamplesTest, AVmIsShownAsItIsNow) {
  EpochRows epoch = epoch_at(at(seconds(0)));
  epoch.clients = {client_row(1, 0, 10)};
  append(epoch);
  epoch.time = at(seconds(2));
  epoch.clients[0].vm_name = "renamed";
  epoch.clients[0].vm_memory_mib = 8192;
  epoch.clients[0].vm_shares = 50;
  epoch.clients[0].guest_os = "";
  append(epoch);
  for (const auto& kept : stored_clients()) {
    EXPECT_EQ(kept.row.vm_name, "renamed");
    EXPECT_EQ(kept.row.vm_memory_mib, 8192);
    EXPECT_EQ(kept.row.vm_shares, 50);
    EXPECT_EQ(kept.row.guest_os, "");
  }
}

TEST_F(SamplesTest, FiltersByTimeAndLimit) {
  for (int i = 0; i < 4; ++i) {
    append(epoch_at(at(seconds(2 * i))));
  }
  EXPECT_THAT(stored_nodes({.since = at(seconds(2)), .until = at(seconds(6))}), SizeIs(4));
  EXPECT_THAT(stored_nodes({.limit = 3}), SizeIs(3));
}

class BusyTimesTest : public SamplesTest {
 protected:
  // One epoch in each minute, in which the VM demands that share of its 4 vCPUs' 8 s.
  void live(std::uint8_t vm, WallTime begin, const std::vector<int>& permilles) {
    WallTime time = begin;
    for (const int permille : permilles) {
      EpochRows epoch = epoch_at(time);
      epoch.clients = {client_row(vm, 0, permille * 8000)};
      append(epoch);
      time += minutes(1);
    }
    append(epoch_at(time));
  }
};

TEST_F(BusyTimesTest, KnowsNothingOfAnUnknownVm) {
  EXPECT_EQ(history().cpu_p95_permille(vm_id(1)).value(), std::nullopt);
}

TEST_F(BusyTimesTest, KnowsNothingBeforeAWholeMinute) {
  EpochRows epoch = epoch_at(at(seconds(0)));
  epoch.clients = {client_row(1, 0, 800)};
  append(epoch);
  EXPECT_EQ(history().cpu_p95_permille(vm_id(1)).value(), std::nullopt);
}

TEST_F(BusyTimesTest, IsTheNearestRankOfTheMinutes) {
  std::vector<int> permilles;
  for (int i = 1; i <= 20; ++i) {
    permilles.push_back(i * 10);  // rank ceil(0.95 * 20) = 19: 190
  }
  live(1, at(hours(0)), permilles);
  EXPECT_EQ(history().cpu_p95_permille(vm_id(1)).value(), Permille{190});
  live(2, at(hours(1)), {420});  // rank ceil(0.95) = 1
  EXPECT_EQ(history().cpu_p95_permille(vm_id(2)).value(), Permille{420});
}

TEST_F(BusyTimesTest, TakesAllClientsOfAVmTogether) {
  EpochRows epoch = epoch_at(at(seconds(0)));
  epoch.clients = {client_row(1, 0, 8'000'000), client_row(1, 1, 0)};  // 1000 and 0 permille
  append(epoch);
  append(epoch_at(at(minutes(1))));
  EXPECT_EQ(history().cpu_p95_permille(vm_id(1)).value(), Permille{500});
}

TEST_F(BusyTimesTest, IsNeverMoreThanAllVcpus) {
  live(1, at(hours(0)), {1010});
  EXPECT_EQ(history().cpu_p95_permille(vm_id(1)).value(), Permille{1000});
}

TEST_F(BusyTimesTest, AVmWithoutVcpusHasNone) {
  EpochRows epoch = epoch_at(at(seconds(0)));
  epoch.clients = {client_row(1, 0, 100)};
  epoch.clients[0].vcpus = 0;
  append(epoch);
  append(epoch_at(at(minutes(1))));
  EXPECT_EQ(history().cpu_p95_permille(vm_id(1)).value(), std::nullopt);
}

TEST_F(BusyTimesTest, FallsBackToHoursWhereNoMinutesAreLeft) {
  live(1, at(hours(0)), {300, 500});
  append(epoch_at(at(days(40) - hours(6))));
  for (int i = 0; i < 5; ++i) {  // the hour is averaged, and the minutes are 40 days old and go
    append(epoch_at(at(days(40) + minutes(i))));
  }
  ASSERT_EQ(number("SELECT count(*) FROM client_sample WHERE span < 3600"), 0);
  EXPECT_EQ(history().cpu_p95_permille(vm_id(1)).value(), Permille{400});
}

}  // namespace
}  // namespace vmnuma::stats::tests
