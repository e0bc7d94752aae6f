// SPDX-License-Identifier: Apache-2.0
/// A simulated host on which a daemon runs in real time, as on a real one.
///
/// Problem: users want to see and try out what the daemon does on a NUMA host without having one.
/// Approach: the simulator's host (sim_host.h) and the course of a scenario (scenario_course.h) are
/// behind the service's port for its host. Every call first advances the host to the present, in
/// the same whiles as simulations: exactly to the present for a reading, and to the end of the last
/// whole while for anything else, because in simulations the executor works between whiles. A call
/// that takes time on the simulated host returns after that time. After the scenario's last epoch
/// its loads stay as they are, and repeating ones keep repeating.
///
/// Left out is what only a simulation can do: restart the daemon, and have a history from before
/// the start.
///
/// Properties:
///  - the host follows the scenario, epoch by epoch, however often and by however many threads it
///    is called;
///  - no part of it is accessed by two threads at a time;
///  - calls wait outside the lock, so a slow libvirt delays no reading.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "balancer/service/host.h"
#include "tools/sim/host/sim_host.h"
#include "tools/sim/scenario/scenario.h"
#include "tools/sim/scenario_course.h"

namespace vmnuma::tools {

/// The time of the simulated host, and how to wait for it to pass.
struct LiveClock {
  std::function<Microseconds()> now;
  std::function<void(Microseconds)> wait;
};

/// Most of its functions are the ports of a host, one line each.
class LiveHost final : public balancer::Host,
                       private migration::DomainControl,
                       private migration::PageMover,
                       private balancer::UnitControl {
 public:
  struct Setup {
    Scenario scenario;
    balancer::HostTime time;
    /// The clock for `time`, or that of a test.
    LiveClock clock;
    /// Gets what happens to the host, as sentences. Any thread; must not call this object.
    std::function<void(const std::string&)> say;
  };
  /// Begins the scenario.
  explicit LiveHost(Setup setup);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::string host_name() const override { return scenario_.name; }
  [[nodiscard]] const Topology& topology() const override { return found_topology_; }
  /// The directory has no files.
  [[nodiscard]] const std::string& root() const override { return root_; }
  [[nodiscard]] balancer::HostTime time() const override { return time_; }
  void watch(std::function<void()> on_change) override { on_change_ = std::move(on_change); }
  [[nodiscard]] std::vector<stats::HostLack> lacks() const override { return {}; }
  void mark_dirty(const VmId& vm) override;
  [[nodiscard]] balancer::HostReading read(const stats::SampleRequest& request) override;
  [[nodiscard]] Result<std::vector<VmDescription>> refresh() override;
  [[nodiscard]] std::vector<std::string> take_notices() override { return {}; }
  /// A VM to be started must have a unique name; one with more memory than a host of this size has
  /// is refused.
  [[nodiscard]] Result<std::string> play(const balancer::PlayCommand& command) override;
  /// Returns the scenario's distances, if the scenario allows measuring them.
  [[nodiscard]] balancer::FoundLatencies find_latencies(
      const std::string& state_dir, const Topology& topology,
      const std::vector<stats::MeasuredLatency>& known, const std::atomic<bool>& stop) override;
  [[nodiscard]] migration::DomainControl& control() override { return *this; }
  [[nodiscard]] migration::PageMover& mover() override { return *this; }
  [[nodiscard]] balancer::UnitControl& units() override { return *this; }

 private:
  [[nodiscard]] Result<void> pin(const migration::DomainRun& run, migration::ThreadId thread,
                                 const std::vector<CpuId>& cpus) override;
  [[nodiscard]] Result<void> change_memory_nodes(const migration::DomainRun& run,
                                                 const std::vector<NodeId>& nodes,
                                                 migration::MemoryNodes change) override;
  [[nodiscard]] Result<void> check_free(const migration::DomainRun& run) override;
  [[nodiscard]] Result<void> set_policy(const VmId& vm, const std::vector<PolicySetting>& settings,
                                        bool persistent) override;

  [[nodiscard]] Result<void> check(const VmProcess& process) override;
  [[nodiscard]] Result<std::vector<migration::MemoryRange>> find_ranges(
      const VmProcess& process) override;
  [[nodiscard]] Result<void> reveal(const VmProcess& process,
                                    std::span<const std::uint64_t> addresses, Bytes unit) override;
  [[nodiscard]] Result<std::vector<int>> query(const VmProcess& process,
                                               std::span<const std::uint64_t> addresses) override;
  [[nodiscard]] Result<migration::MoveResult> move(const VmProcess& process,
                                                   std::span<const std::uint64_t> addresses,
                                                   NodeId node,
                                                   migration::SharedPages shared) override;
  [[nodiscard]] Result<migration::NodeMemory> node_memory(NodeId node) override;

  [[nodiscard]] Result<void> set_memory(const std::string& unit,
                                        const MemoryLimits& limits) override;
  [[nodiscard]] Result<bool> has_memory_settings(const std::string& unit) override;
  [[nodiscard]] Result<void> remove_memory_settings(const std::string& unit) override;

  /// Advances the host to the present, then returns the result of `call`, after the time that the
  /// call takes on the simulated host.
  template <class Call>
  auto act(Call call);
  // With the lock held.
  [[nodiscard]] Microseconds whole_intervals(Microseconds time) const;
  void run_until(Microseconds time);
  void begin_epoch();
  void report_changes();
  [[nodiscard]] Result<VmId> find(const std::string& vm);
  [[nodiscard]] Result<std::string> carry_out(const balancer::SimStartRequest& request);
  [[nodiscard]] Result<std::string> carry_out(const balancer::SimStopRequest& request);
  [[nodiscard]] Result<std::string> carry_out(const balancer::SimLoadRequest& request);
  /// Error: unsupported.
  [[nodiscard]] Result<std::string> carry_out(const balancer::SimStepRequest& request);

  const Scenario scenario_;
  const balancer::HostTime time_;
  const LiveClock clock_;
  const std::function<void(const std::string&)> say_;
  const std::string root_ = "/nonexistent";
  const Microseconds began_;
  Topology found_topology_;
  std::function<void()> on_change_;

  std::mutex mutex_;         // guards everything below
  Microseconds work_clock_;  ///< of the current call
  SimHost host_;
  ScenarioCourse course_;
  Topology reported_topology_;
  Microseconds at_;         ///< time that has passed on the host since its start
  std::int64_t epoch_ = 0;  ///< the current one
  bool libvirt_is_lost_ = false;
  bool change_is_reported_ = false;
};

/// Returns the clock for the host's kind of time.
[[nodiscard]] LiveClock live_clock(const balancer::HostTime& time);

}  // namespace vmnuma::tools
