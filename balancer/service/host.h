// SPDX-License-Identifier: Apache-2.0
/// The port between the service and its host: everything that the service reads or changes there.
/// Implemented by LinuxHost over the kernel and its hypervisors, and by the simulated host of
/// `vmnumad --simulate`.
///
/// Problem: the service consists of threads, deadlines, a socket and a history around a controller;
/// none of that depends on what the host is, and all of it must be testable without one. Approach:
/// one object. A blocking function is called by one worker only, which is named above it; calls by
/// different workers may run at the same time. Properties:
///  - the service does not know which host it has;
///  - nothing of a host is used after its service has ended.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "balancer/protocol/request.h"
#include "balancer/service/host_latencies.h"
#include "balancer/service/host_time.h"
#include "balancer/service/unit_control.h"
#include "migration/domain_control.h"
#include "migration/page_mover.h"
#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"
#include "stats/linux/host_needs.h"
#include "stats/sampler.h"

namespace vmnuma::balancer {

struct HostReading {
  std::optional<Topology> topology;            ///< if it has changed
  Sample sample;                               ///< of that topology
  std::optional<LogLine> news = std::nullopt;  ///< a message to be logged once
};

/// External changes to a simulated host, or to a recording.
using PlayCommand = std::variant<SimStartRequest, SimStopRequest, SimLoadRequest, SimStepRequest>;

class Host {
 public:
  virtual ~Host() = default;

  // Called on the service's thread.

  /// The hypervisors' name, for messages: "libvirt at qemu:///system".
  [[nodiscard]] virtual std::string name() const = 0;
  /// The name by which people know the host.
  [[nodiscard]] virtual std::string host_name() const = 0;
  /// The topology found when the host was opened.
  [[nodiscard]] virtual const Topology& topology() const = 0;
  /// The host's root directory, for questions whose answers need its files.
  [[nodiscard]] virtual const std::string& root() const = 0;
  /// The host's time, to be copied where needed.
  [[nodiscard]] virtual HostTime time() const = 0;
  /// Called once, before anything is read. `on_change` means "VMs changed, call refresh()". It is
  /// called once between two refresh() calls, from any thread, and must only forward this. It is
  /// not called while the last refresh() returned unavailable.
  virtual void watch(std::function<void()> on_change) = 0;
  /// Features that the running kernel lacks. Called only at the start: reads a few files.
  [[nodiscard]] virtual std::vector<stats::HostLack> lacks() const = 0;

  // Called on any thread; neither call blocks.

  /// Marks this VM to be read again by the next refresh(), and reports a change.
  virtual void mark_dirty(const VmId& vm) = 0;

  // Called on the sampler's thread.

  [[nodiscard]] virtual HostReading read(const stats::SampleRequest& request) = 0;

  // Called on the inventory worker's thread.

  /// Returns all running VMs, with the nodes of their devices. Errors: those of
  /// Hypervisor::refresh().
  [[nodiscard]] virtual Result<std::vector<VmDescription>> refresh() = 0;
  /// Returns the VMs that run but that no refresh() could describe yet.
  [[nodiscard]] virtual std::vector<VmId> unreadable() const { return {}; }
  /// Returns notices about what refresh() found, as sentences, each once.
  [[nodiscard]] virtual std::vector<std::string> take_notices() = 0;
  /// Makes an external change. Returns what was done, as a sentence. Errors: unsupported (this is a
  /// real host, controlled by others), not-found (no such VM), invalid-argument.
  [[nodiscard]] virtual Result<std::string> play(const PlayCommand& command) = 0;

  // Called on the latency worker's thread.

  /// Finds the latencies between the nodes and their memory; measurements are stored in
  /// `state_dir`. Blocks for seconds, unless all are `known`, and gives up early once `stop` is
  /// set.
  [[nodiscard]] virtual FoundLatencies find_latencies(
      const std::string& state_dir, const Topology& topology,
      const std::vector<stats::MeasuredLatency>& known, const std::atomic<bool>& stop) = 0;

  // Threads as documented in the ports: `control` is used on the executor's thread, and for
  // policies on the inventory worker's; `mover` on the executor's, `units` on the memory worker's.

  [[nodiscard]] virtual migration::DomainControl& control() = 0;
  [[nodiscard]] virtual migration::PageMover& mover() = 0;
  [[nodiscard]] virtual UnitControl& units() = 0;
};

}  // namespace vmnuma::balancer
