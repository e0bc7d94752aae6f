// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/live/live_host.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "placement/memory_cost.h"
#include "placement/model/suggest.h"
#include "placement/model/text.h"
#include "stats/latency/measured_distances.h"

namespace vmnuma::tools {

using migration::DomainRun;
using migration::ThreadId;

LiveClock live_clock(const balancer::HostTime& time) {
  return {[time] { return time.now(); },
          [time](Microseconds length) { std::this_thread::sleep_for(time.here(length)); }};
}

LiveHost::LiveHost(Setup setup)
    : scenario_(std::move(setup.scenario)),
      time_(setup.time),
      clock_(std::move(setup.clock)),
      say_(std::move(setup.say)),
      began_(clock_.now()),
      host_(scenario_.host, scenario_.seed, scenario_.options.prefer_ht != 0, work_clock_),
      course_(scenario_, host_) {
  found_topology_ = reported_topology_ = host_.firmware_topology();
  begin_epoch();
}

std::string LiveHost::name() const {
  return fmt::format("a simulated host, scenario '{}'", scenario_.name);
}

// ---- time ----

Microseconds LiveHost::whole_intervals(Microseconds time) const {
  const Microseconds length = course_.time_of(1) / kIntervalsPerEpoch;
  return length * (time.value / length.value);
}

void LiveHost::begin_epoch() {
  course_.begin_epoch(epoch_);
  course_.begin_and_end_faults(epoch_, [this](const Fault& fault, bool is_on) {
    if (fault.kind == FaultKind::kLibvirtGone) {
      libvirt_is_lost_ = is_on;
    }
  });
  (void)host_.take_moves();  // only the checks of simulations need them
}

void LiveHost::run_until(Microseconds time) {
  const Microseconds length = course_.time_of(1) / kIntervalsPerEpoch;
  while (at_ < time) {
    const Microseconds end =
        std::min({time, whole_intervals(at_) + length, course_.next_strike().value_or(time)});
    if (end > at_) {
      host_.run(end - at_);
      at_ = end;
    }
    if (course_.next_strike().value_or(at_ + length) <= at_) {
      (void)course_.strike();  // the daemon is not affected
    }
    if (at_ == course_.time_of(epoch_ + 1)) {
      ++epoch_;
      begin_epoch();
    }
  }
  for (const std::string& news : course_.take_news()) {
    say_(news);
  }
  report_changes();
}

void LiveHost::report_changes() {
  if (on_change_ && host_.domains_changed() && !libvirt_is_lost_ &&
      !std::exchange(change_is_reported_, true)) {
    on_change_();
  }
}

template <class Call>
auto LiveHost::act(Call call) {
  Microseconds took;
  auto result = [&] {
    const std::lock_guard lock(mutex_);
    const Microseconds now = clock_.now();
    run_until(whole_intervals(now - began_));
    work_clock_ = now;
    auto answer = call();
    took = work_clock_ - now;
    report_changes();
    return answer;
  }();
  clock_.wait(took);
  return result;
}

// ---- observation ----

void LiveHost::mark_dirty(const VmId& /*vm*/) {
  const std::lock_guard lock(mutex_);
  report_changes();
}

balancer::HostReading LiveHost::read(const stats::SampleRequest& request) {
  const std::lock_guard lock(mutex_);
  run_until(request.now - began_);
  balancer::HostReading reading;
  if (Topology now = host_.firmware_topology(); now != reported_topology_) {
    reported_topology_ = now;
    reading.topology = std::move(now);
  }
  reading.sample = host_.sample(request.sequence, began_ + at_, request.spilling);
  course_.spoil(epoch_, reading.sample);
  return reading;
}

Result<std::vector<VmDescription>> LiveHost::refresh() {
  return act([this]() -> Result<std::vector<VmDescription>> {
    change_is_reported_ = false;
    if (libvirt_is_lost_) {
      return failure(ErrorCode::kUnavailable, "libvirt does not answer");
    }
    return host_.refresh();
  });
}

// ---- commands of the player ----

Result<std::string> LiveHost::play(const balancer::PlayCommand& command) {
  return act(
      [&] { return std::visit([this](const auto& asked) { return carry_out(asked); }, command); });
}

/// Finds a VM by name or by UUID.
Result<VmId> LiveHost::find(const std::string& vm) {
  const auto running = host_.refresh().value();  // libvirt is not involved
  std::vector<std::string_view> names;
  for (const VmDescription& description : running) {
    if (description.name == vm || to_text(description.id) == vm) {
      return description.id;
    }
    names.push_back(description.name);
  }
  return failure(ErrorCode::kNotFound, fmt::format("no VM '{}' runs on the simulated host{}", vm,
                                                   did_you_mean(vm, names)));
}

namespace {

Result<void> check_range(std::string_view name, std::int64_t value, std::int64_t smallest,
                         std::int64_t largest) {
  if (value < smallest || value > largest) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("'{}' is {}, but must be {} to {}", name, value, smallest, largest));
  }
  return {};
}

constexpr std::int64_t kWholeCpu = 100;
constexpr std::int64_t kMostNameBytes = 100;

}  // namespace

Result<std::string> LiveHost::carry_out(const balancer::SimStartRequest& request) {
  const Bytes most = sum_of(host_.topology().nodes, &Node::memory);
  const std::int64_t page_mib = kSimPage.value / kMiB.value;
  VMNUMA_RETURN_IF_ERROR(check_range("vcpus", request.vcpus, 1, balancer::kMostVcpus));
  VMNUMA_RETURN_IF_ERROR(
      check_range("memory_mib", request.memory_mib, page_mib, most.value / kMiB.value));
  VMNUMA_RETURN_IF_ERROR(check_range("load_pct", request.load_pct, 0, kWholeCpu));
  VMNUMA_RETURN_IF_ERROR(
      check_range("length of the name", std::ssize(request.vm), 1, kMostNameBytes));
  if (find(request.vm)) {
    return failure(ErrorCode::kInvalidArgument, fmt::format("a VM '{}' runs already", request.vm));
  }
  ScenarioVm vm;
  vm.name = request.vm;
  vm.vcpus = static_cast<std::int32_t>(request.vcpus);
  vm.memory = kSimPage * (request.memory_mib / page_mib);
  vm.load = {{.from = 0, .pct = request.load_pct}};
  (void)host_.start(vm);
  return fmt::format("VM '{}' starts: {} vCPUs, {} MiB, load {} %", request.vm, request.vcpus,
                     request.memory_mib, request.load_pct);
}

Result<std::string> LiveHost::carry_out(const balancer::SimStepRequest& /*request*/) {
  return failure(ErrorCode::kUnsupported,
                 "only a recording (vmnumad --replay) can be stepped through");
}

Result<std::string> LiveHost::carry_out(const balancer::SimStopRequest& request) {
  return find(request.vm).map([&](const VmId& vm) {
    host_.stop(vm);
    return fmt::format("VM '{}' stops", request.vm);
  });
}

Result<std::string> LiveHost::carry_out(const balancer::SimLoadRequest& request) {
  return check_range("load_pct", request.load_pct, 0, kWholeCpu)
      .and_then([&] { return find(request.vm); })
      .map([&](const VmId& vm) {
        host_.set_load(vm, request.load_pct);
        return fmt::format("VM '{}' wants {} % of each vCPU from now on", request.vm,
                           request.load_pct);
      });
}

// ---- latencies ----

balancer::FoundLatencies LiveHost::find_latencies(const std::string& /*state_dir*/,
                                                  const Topology& topology,
                                                  const std::vector<stats::MeasuredLatency>&
                                                  /*known*/,
                                                  const std::atomic<bool>& /*stop*/) {
  balancer::FoundLatencies found;
  found.log = {balancer::Severity::kDebug, "memory latencies are those of the scenario", {}};
  const std::lock_guard lock(mutex_);
  if (!host_.distances_are_measured()) {
    return found;
  }
  const Topology& truth = host_.topology();
  for (NodeIndex cpu = 0; cpu < truth.nodes.size(); ++cpu) {
    for (NodeIndex memory = 0; memory < truth.nodes.size(); ++memory) {
      const auto reader = topology.index_of(truth.nodes[cpu].id);
      const auto read = topology.index_of(truth.nodes[memory].id);
      if (reader && read && topology.nodes[*reader].cpu_count() > 0 &&
          topology.nodes[*read].memory > Bytes{}) {
        found.latencies.measured.push_back(
            {truth.nodes[cpu].id, truth.nodes[memory].id, stats::LatencyState::kMeasured,
             kTypicalReadNs * truth.distance(cpu, memory) / kLocalDistance});
      }
    }
  }
  return found;
}

// ---- libvirt ----

Result<void> LiveHost::pin(const DomainRun& run, ThreadId thread, const std::vector<CpuId>& cpus) {
  return act([&] { return host_.libvirt().pin(run, thread, cpus); });
}

Result<void> LiveHost::change_memory_nodes(const DomainRun& run, const std::vector<NodeId>& nodes,
                                           migration::MemoryNodes change) {
  return act([&] { return host_.libvirt().change_memory_nodes(run, nodes, change); });
}

Result<void> LiveHost::check_free(const DomainRun& run) {
  return act([&] { return host_.libvirt().check_free(run); });
}

Result<void> LiveHost::set_policy(const VmId& vm, const std::vector<PolicySetting>& settings,
                                  bool persistent) {
  return act([&] { return host_.libvirt().set_policy(vm, settings, persistent); });
}

// ---- the kernel ----

Result<void> LiveHost::check(const VmProcess& process) {
  return act([&] { return host_.kernel().check(process); });
}

Result<std::vector<migration::MemoryRange>> LiveHost::find_ranges(const VmProcess& process) {
  return act([&] { return host_.kernel().find_ranges(process); });
}

Result<void> LiveHost::reveal(const VmProcess& process, std::span<const std::uint64_t> addresses,
                              Bytes unit) {
  return act([&] { return host_.kernel().reveal(process, addresses, unit); });
}

Result<std::vector<int>> LiveHost::query(const VmProcess& process,
                                         std::span<const std::uint64_t> addresses) {
  return act([&] { return host_.kernel().query(process, addresses); });
}

Result<migration::MoveResult> LiveHost::move(const VmProcess& process,
                                             std::span<const std::uint64_t> addresses, NodeId node,
                                             migration::SharedPages shared) {
  return act([&] { return host_.kernel().move(process, addresses, node, shared); });
}

Result<migration::NodeMemory> LiveHost::node_memory(NodeId node) {
  return act([&] { return host_.kernel().node_memory(node); });
}

// ---- systemd ----

namespace {

tl::unexpected<Error> no_systemd() {
  return failure(ErrorCode::kUnavailable, "a simulated host has no systemd");
}

}  // namespace

Result<void> LiveHost::set_memory(const std::string& /*unit*/, const MemoryLimits& /*limits*/) {
  return no_systemd();
}

Result<bool> LiveHost::has_memory_settings(const std::string& /*unit*/) {
  return no_systemd();
}

Result<void> LiveHost::remove_memory_settings(const std::string& /*unit*/) {
  return no_systemd();
}

}  // namespace vmnuma::tools
