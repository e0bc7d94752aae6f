// SPDX-License-Identifier: Apache-2.0
/// This machine: its kernel files, its hypervisors and its systemd.
///
/// Properties:
///  - libvirtd need not be running yet when the host is opened;
///  - play() is not supported;
///  - a part of the topology that cannot be read is a missing source in every sample, so the mode
///    is degraded until it can be read;
///  - a VM is read again if it has a vCPU for which libvirt raised no event (vcpu_watch.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "balancer/config/config.h"
#include "balancer/inventory/hypervisor.h"
#include "balancer/service/host.h"
#include "balancer/service/systemd_control.h"
#include "balancer/service/vcpu_watch.h"
#include "migration/linux/linux_page_mover.h"
#include "stats/files/directory.h"
#include "stats/linux/host_name.h"
#include "stats/perf/perf_counters.h"
#include "stats/perf/read_turns.h"
#include "stats/topology/topology_watch.h"

namespace vmnuma::balancer {

class LinuxHost final : public Host {
 public:
  /// Opens the host with the configured hypervisors. One at a time per process. Errors: those of
  /// the libvirt event loop, and of /proc and /sys.
  [[nodiscard]] static Result<std::unique_ptr<Host>> open(const Config& config);

  [[nodiscard]] std::string name() const override { return hypervisor_->name(); }
  [[nodiscard]] std::string host_name() const override { return stats::host_name(); }
  [[nodiscard]] const Topology& topology() const override { return topology_; }
  [[nodiscard]] const std::string& root() const override { return root_; }
  [[nodiscard]] HostTime time() const override { return {}; }
  void watch(std::function<void()> on_change) override { on_change_ = std::move(on_change); }
  void mark_dirty(const VmId& vm) override { hypervisor_->mark_dirty(vm); }
  [[nodiscard]] std::vector<stats::HostLack> lacks() const override;
  [[nodiscard]] HostReading read(const stats::SampleRequest& request) override;
  [[nodiscard]] Result<std::vector<VmDescription>> refresh() override;
  [[nodiscard]] std::vector<VmId> unreadable() const override { return hypervisor_->unreadable(); }
  [[nodiscard]] std::vector<std::string> take_notices() override {
    return hypervisor_->take_notices();
  }
  [[nodiscard]] Result<std::string> play(const PlayCommand& command) override;
  [[nodiscard]] FoundLatencies find_latencies(const std::string& state_dir,
                                              const Topology& topology,
                                              const std::vector<stats::MeasuredLatency>& known,
                                              const std::atomic<bool>& stop) override;
  [[nodiscard]] migration::DomainControl& control() override { return hypervisor_->control(); }
  [[nodiscard]] migration::PageMover& mover() override { return mover_; }
  [[nodiscard]] UnitControl& units() override { return systemd_; }

 private:
  /// The results of open().
  struct Opened {
    files::Directory samples;    ///< the root, for the sampler
    files::Directory changes;    ///< for changes of the topology; the root, as are the others
    files::Directory devices;    ///< for the inventory worker
    files::Directory latencies;  ///< for the latency worker
    files::Directory settings;   ///< for finding out what can be counted
    migration::LinuxPageMover mover;
    stats::TopologyReading topology;
  };
  explicit LinuxHost(Opened opened);
  void record_cpus(const Topology& topology);
  void report_copying_time(Sample& sample) const;
  void count_reads(HostReading& reading);

  const std::string root_;
  const Topology topology_;
  std::function<void()> on_change_;
  std::vector<MissingSource> left_out_;            ///< sampler's thread only
  stats::Sampler sampler_;                         ///< sampler's thread only
  stats::TopologyWatch topology_watch_;            ///< sampler's thread only
  VcpuWatch vcpu_watch_;                           ///< sampler's thread only
  files::Directory settings_;                      ///< sampler's thread only; the root
  std::unique_ptr<stats::PerfCounters> counters_;  ///< sampler's thread only; null: there are none
  std::optional<stats::ReadTurns> read_turns_;     ///< sampler's; nothing: not checked yet
  files::Directory devices_;                       ///< inventory worker only
  files::Directory latencies_;                     ///< latency worker only
  std::unique_ptr<Hypervisor> hypervisor_;
  std::map<CpuId, NodeId> node_of_cpu_;  ///< of all CPUs that were ever seen
  migration::LinuxPageMover mover_;
  SystemdControl systemd_;
};

}  // namespace vmnuma::balancer
