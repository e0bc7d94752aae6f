// SPDX-License-Identifier: Apache-2.0
// A host on which something is not measured yet, or not any more: the controller's answers and what
// goes into the history have no figure for it.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/controller/views.h"
#include "stats/history/epoch_rows.h"
#include "tests/support/time_zone.h"
#include "tests/unit/balancer/host_story.h"
#include "tools/exporter/metrics.h"
#include "tools/vmnuma/top/top_frame.h"

namespace vmnuma::tools {
namespace {

using balancer::HostView;
using balancer::StatusView;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class NewHostFiguresTest : public ::testing::Test {
 private:
  tests::TimeZone zone_{"UTC"};
};

Reading reading_of(HostView host) {
  Reading reading;
  reading.views = Views{{}, std::move(host), "{}", "{}", "null"};
  return reading;
}

template <class View>
View answer_of(tests::HostStory& host, balancer::Command command) {
  balancer::Effects effects =
      host.controller().on(balancer::CommandReceived{7, std::move(command)});
  EXPECT_TRUE(effects.replies.front().answer);
  return std::get<View>(*effects.replies.front().answer);
}

tests::HostStory started() {
  tests::HostStory host(2, balancer::Mode::kActive);
  host.start(tests::small_vm(1, "web1", 2), /*memory_node=*/0, /*busy_pct=*/50);
  return host;
}

/// Figures that nothing can have been measured for yet.
void expect_no_cpu_figures(tests::HostStory& host) {
  const auto status = answer_of<StatusView>(host, balancer::StatusRequest{});
  EXPECT_EQ(status.imbalance_pct, std::nullopt);
  EXPECT_EQ(status.lost_ms, std::nullopt);
  EXPECT_EQ(status.epoch_length_ms, 2000);
  const auto view = answer_of<HostView>(host, balancer::HostRequest{});
  EXPECT_EQ(view.epoch_length_ms, 2000);
  ASSERT_THAT(view.nodes, SizeIs(2));
  for (const balancer::NodeView& node : view.nodes) {
    EXPECT_EQ(node.load_pct, std::nullopt);
    EXPECT_EQ(node.capacity_ms, std::nullopt);
    EXPECT_EQ(node.non_vm_pct, std::nullopt);
    EXPECT_EQ(node.owed_ms, std::nullopt);
    EXPECT_GT(node.memory_bytes, 0);  // which the topology tells
  }
  for (const balancer::VmView& vm : view.vms) {
    EXPECT_EQ(vm.clients.front().used_ms, std::nullopt);
    EXPECT_EQ(vm.clients.front().owed_ms, std::nullopt);
  }
  const auto plan = answer_of<balancer::PlanView>(host, balancer::PlanRequest{});
  EXPECT_EQ(plan.lost_ms, std::nullopt);
  const auto pnode = answer_of<stats::Report>(host, balancer::StatsRequest{"numa-pnode"});
  ASSERT_THAT(pnode.rows, SizeIs(2));
  EXPECT_EQ(pnode.rows[0][1], stats::Cell(stats::NoValue{}));
  const std::string text = top_text(top_host(status, view));
  EXPECT_THAT(text, HasSubstr("imbalance -  lost - per epoch of 2000 ms"));
  EXPECT_THAT(text, Not(HasSubstr("%"))) << text;
}

TEST_F(NewHostFiguresTest, BeforeTheFirstEpochAHostHasNoFigures) {
  tests::HostStory host = started();
  const auto before = answer_of<StatusView>(host, balancer::StatusRequest{});
  EXPECT_EQ(before.vms, std::nullopt);  // libvirt has not answered yet
  EXPECT_EQ(before.clients, std::nullopt);
  EXPECT_EQ(before.late_ms, std::nullopt);
  expect_no_cpu_figures(host);
  const auto view = answer_of<HostView>(host, balancer::HostRequest{});
  for (const balancer::NodeView& node : view.nodes) {
    EXPECT_EQ(node.free_bytes, std::nullopt);
    EXPECT_EQ(node.reserve_bytes, std::nullopt);
    EXPECT_EQ(node.vcpus, std::nullopt);
    EXPECT_EQ(node.largest_vm_bytes, std::nullopt);
  }
  (void)host.report_domains();
  EXPECT_EQ(answer_of<StatusView>(host, balancer::StatusRequest{}).vms, 1);
}

TEST_F(NewHostFiguresTest, AfterTheFirstReadingOnlyMemoryIsKnown) {
  tests::HostStory host = started();
  (void)host.report_domains();
  const balancer::Effects effects = host.epoch();
  expect_no_cpu_figures(host);
  const auto view = answer_of<HostView>(host, balancer::HostRequest{});
  EXPECT_TRUE(view.nodes.front().free_bytes);
  EXPECT_EQ(view.vms.front().clients.front().locality_pct, std::nullopt);  // no home yet
  ASSERT_TRUE(effects.epoch);
  const stats::EpochRows rows = stats::epoch_rows(effects.epoch->snapshot, stats::WallTime{});
  EXPECT_THAT(rows.nodes, IsEmpty());
  EXPECT_THAT(rows.clients, IsEmpty());
}

TEST_F(NewHostFiguresTest, AfterTheSecondReadingEverythingIsKnown) {
  tests::HostStory host = started();
  (void)host.report_domains();
  (void)host.epoch();
  (void)host.epoch();
  const auto status = answer_of<StatusView>(host, balancer::StatusRequest{});
  EXPECT_EQ(status.imbalance_pct, 0);
  EXPECT_TRUE(status.late_ms);
  const auto view = answer_of<HostView>(host, balancer::HostRequest{});
  EXPECT_EQ(view.vms.front().clients.front().used_ms, 2000);  // 2 vCPUs at 50 % of 2000 ms
  EXPECT_TRUE(view.nodes.front().load_pct);
}

TEST_F(NewHostFiguresTest, HowLongAVmWaitsReachesHostViewMetricsAndHistory) {
  tests::HostStory host = started();
  (void)host.report_domains();
  (void)host.epoch();
  (void)host.epoch();
  auto view = answer_of<HostView>(host, balancer::HostRequest{});
  EXPECT_EQ(view.vms.front().figures.cpu_some, std::nullopt);
  host.set_waits(Permille{120}, Permille{30});
  const balancer::Effects effects = host.epoch();
  view = answer_of<HostView>(host, balancer::HostRequest{});
  EXPECT_EQ(view.vms.front().figures.cpu_some, Permille{120});
  EXPECT_EQ(view.vms.front().figures.memory_some, Permille{30});
  EXPECT_EQ(view.vms.front().figures.memory_full, std::nullopt);
  EXPECT_THAT(metrics_text(reading_of(view)),
              HasSubstr("vmnuma_vm_cpu_pressure_ratio{vm=\"web1\"} 0.12\n"));
  const stats::EpochRows rows = stats::epoch_rows(effects.epoch->snapshot, {});
  ASSERT_THAT(rows.vms, SizeIs(1));
  EXPECT_EQ(rows.vms.front().figures.memory_some, Permille{30});
}

TEST_F(NewHostFiguresTest, WorldsAreAllThreadsOfTheVm) {
  tests::HostStory host = started();
  (void)host.report_domains();
  (void)host.epoch();
  const auto clients = answer_of<stats::Report>(host, balancer::StatsRequest{"numa-clients"});
  ASSERT_THAT(clients.rows, SizeIs(1));
  EXPECT_EQ(clients.columns.at(5), "nWorlds");
  EXPECT_EQ(clients.rows[0].at(5), stats::Cell(2 + tests::kOtherThreads));
  EXPECT_EQ(clients.rows[0].at(6), stats::Cell(std::int64_t{2}));  // vmmWorlds
}

TEST_F(NewHostFiguresTest, TwoIdleVmsOnABusyHostAreNoLoad) {
  Snapshot snapshot;
  snapshot.epoch = 5;
  snapshot.epoch_length = CpuTime{2'000'000};
  snapshot.topology = tests::small_host(1);
  NodeState& node = snapshot.nodes.emplace_back();
  // Others leave a tenth of two CPUs, and the VMs want nine tenths of that.
  node.threads = CpuTime{4'000'000};
  node.non_vm = CpuTime{3'600'000};
  node.capacity = CpuTime{400'000};
  node.load_average = Permille{900};
  const balancer::Ledger ledger(snapshot.topology, {});
  const HostView view = balancer::host_view(snapshot, ledger, {});
  EXPECT_EQ(view.nodes.front().load_pct, 90);
  EXPECT_EQ(view.nodes.front().vm_load_pct, 9);
  EXPECT_EQ(view.nodes.front().non_vm_pct, 90);
  EXPECT_THAT(top_text(top_host({}, view)), HasSubstr("|####.   9%"));
}

TEST_F(NewHostFiguresTest, AVmThatCannotBeReadKeepsNoFiguresOfYesterday) {
  tests::HostStory host = started();
  (void)host.report_domains();
  (void)host.epoch();
  (void)host.epoch();
  host.hide(1);
  (void)host.epoch();
  const auto view = answer_of<HostView>(host, balancer::HostRequest{});
  EXPECT_FALSE(view.vms.front().managed);
  EXPECT_EQ(view.vms.front().clients.front().used_ms, std::nullopt);
  const auto explain = answer_of<balancer::ExplainView>(host, balancer::ExplainRequest{"web1"});
  EXPECT_EQ(explain.clients.front().used_ms, std::nullopt);
}

TEST_F(NewHostFiguresTest, AReleasedVmDoesNotCountInTheHostsLocality) {
  tests::HostStory host(2, balancer::Mode::kActive);
  for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
    host.start(tests::small_vm(number, "web" + std::to_string(number), 2), number - 1, 50);
    host.pin(number, tests::node_cpus(number - 1));
  }
  (void)host.report_domains();
  balancer::Effects effects = host.epoch();
  effects = host.epoch();
  ASSERT_THAT(stats::epoch_rows(effects.epoch->snapshot, {}).clients, SizeIs(2));
  const auto local_share = [](const stats::EpochRows& rows) {
    Bytes local;
    Bytes all;
    for (const stats::ClientSampleRow& row : rows.clients) {
      if (row.memory) {
        local += row.memory->local;
        all += row.memory->local + row.memory->remote;
      }
    }
    return permille_of(local.value, all.value, Permille{});
  };
  EXPECT_EQ(local_share(stats::epoch_rows(effects.epoch->snapshot, {})), Permille{1000});
  effects = host.controller().on(balancer::CommandReceived{7, balancer::ReleaseRequest{"web1"}});
  host.carry_out(effects);
  for (int epoch = 0; epoch < 3; ++epoch) {
    effects = host.epoch();
    EXPECT_EQ(local_share(stats::epoch_rows(effects.epoch->snapshot, {})), Permille{1000});
  }
  EXPECT_EQ(host.home(1), -1);
  const auto clients = answer_of<stats::Report>(host, balancer::StatsRequest{"numa-clients"});
  const auto global = answer_of<stats::Report>(host, balancer::StatsRequest{"numa-global"});
  for (const std::vector<stats::Cell>& row : global.rows) {
    if (row[0] == stats::Cell(std::string("remoteMemory"))) {
      EXPECT_EQ(row[1], stats::Cell(std::int64_t{0}));
    }
  }
}

}  // namespace
}  // namespace vmnuma::tools
