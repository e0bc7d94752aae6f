// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/linux_host.h"

#include <utility>

#include <fmt/format.h>

#include "balancer/service/hypervisors.h"
#include "stats/devices/host_devices.h"
#include "stats/formats/memory_formats.h"
#include "stats/latency/chase_probe.h"
#include "stats/topology/topology_reader.h"

namespace vmnuma::balancer {
namespace {

constexpr const char* kRoot = "/";

}  // namespace

Result<std::unique_ptr<Host>> LinuxHost::open(const Config& config) {
  VMNUMA_ASSIGN_OR_RETURN(auto samples, files::Directory::open(kRoot));
  Result<stats::TopologyReading> topology = stats::read_topology(samples);
  if (!topology) {
    return failure(std::move(topology).error(), "cannot read the host's topology");
  }
  VMNUMA_ASSIGN_OR_RETURN(auto changes, files::Directory::open(kRoot));
  VMNUMA_ASSIGN_OR_RETURN(auto devices, files::Directory::open(kRoot));
  VMNUMA_ASSIGN_OR_RETURN(auto latencies, files::Directory::open(kRoot));
  VMNUMA_ASSIGN_OR_RETURN(auto settings, files::Directory::open(kRoot));
  VMNUMA_ASSIGN_OR_RETURN(auto mover, migration::LinuxPageMover::open(kRoot));
  VMNUMA_ASSIGN_OR_RETURN(
      const auto huge_page_size,
      samples.read("proc/meminfo").and_then(stats::parse_default_huge_page_size));
  std::unique_ptr<LinuxHost> host(new LinuxHost(
      {std::move(samples), std::move(changes), std::move(devices), std::move(latencies),
       std::move(settings), std::move(mover), std::move(*topology)}));
  VMNUMA_ASSIGN_OR_RETURN(host->hypervisor_,
                          open_hypervisors(config.hypervisor, config.uri, huge_page_size,
                                           [host = host.get()] { host->on_change_(); }));
  return host;
}

LinuxHost::LinuxHost(Opened opened)
    : root_(kRoot),
      topology_(opened.topology.topology),
      left_out_(opened.topology.left_out),
      sampler_(std::move(opened.samples), topology_, {}),
      topology_watch_(std::move(opened.changes), std::move(opened.topology)),
      settings_(std::move(opened.settings)),
      devices_(std::move(opened.devices)),
      latencies_(std::move(opened.latencies)),
      mover_(std::move(opened.mover)),
      systemd_(/*address=*/"", SystemdControl::kSettings) {
  record_cpus(topology_);
}

std::vector<stats::HostLack> LinuxHost::lacks() const {
  const auto root = files::Directory::open(root_);
  return root ? stats::host_lacks(*root) : std::vector<stats::HostLack>{};
}

HostReading LinuxHost::read(const stats::SampleRequest& request) {
  HostReading reading;
  if (std::optional<stats::TopologyReading> now = topology_watch_.look()) {
    sampler_.set_topology(now->topology);
    record_cpus(now->topology);
    reading.topology = std::move(now->topology);
    left_out_ = std::move(now->left_out);
  }
  reading.sample = sampler_.sample(request);
  reading.sample.missing.insert(reading.sample.missing.end(), left_out_.begin(), left_out_.end());
  report_copying_time(reading.sample);
  count_reads(reading);
  for (const VmId& vm : vcpu_watch_.changed(request.running, reading.sample)) {
    hypervisor_->mark_dirty(vm);
  }
  return reading;
}

void LinuxHost::record_cpus(const Topology& topology) {
  for (const Node& node : topology.nodes) {
    for (const Cpu& cpu : node.cpus) {
      node_of_cpu_[cpu.id] = node.id;
    }
  }
}

void LinuxHost::report_copying_time(Sample& sample) const {
  for (const auto& [cpu, used] : mover_.used()) {
    const auto where = node_of_cpu_.find(cpu);
    for (NodeSample& node : sample.nodes) {
      node.copying_us += where != node_of_cpu_.end() && where->second == node.id ? used.value : 0;
    }
  }
}

/// Counts reads. The counters are set up only once there are VMs: by then KVM's module is loaded,
/// with its settings.
void LinuxHost::count_reads(HostReading& reading) {
  if (!read_turns_ && !reading.sample.vms.empty()) {
    const Result<stats::PerfEvents> events = stats::find_perf_events(settings_);
    if (events) {
      counters_ = std::make_unique<stats::PerfCounters>(*events);
    }
    reading.news = {Severity::kInfo,
                    events ? "the CPUs count how often each VM reads memory, so each has its own "
                             "price of remote memory"
                           : fmt::format("remote memory has the same price for every VM: {}",
                                         events.error().message),
                    {}};
    read_turns_.emplace(counters_.get());
  }
  if (read_turns_) {
    read_turns_->take_turns(reading.sample);
  }
}

Result<std::vector<VmDescription>> LinuxHost::refresh() {
  Result<std::vector<VmDescription>> running = hypervisor_->refresh();
  if (running) {
    stats::read_device_nodes(devices_, *running);
  }
  return running;
}

Result<std::string> LinuxHost::play(const PlayCommand& /*command*/) {
  return failure(ErrorCode::kUnsupported,
                 "this daemon runs on a real host; VMs can be started, stopped and changed only on "
                 "the simulated host of 'vmnumad --simulate'");
}

FoundLatencies LinuxHost::find_latencies(const std::string& state_dir, const Topology& topology,
                                         const std::vector<stats::MeasuredLatency>& known,
                                         const std::atomic<bool>& stop) {
  stats::ChaseProbe probe;
  return balancer::find_latencies(latencies_, state_dir, topology, known, probe, stop);
}

}  // namespace vmnuma::balancer
