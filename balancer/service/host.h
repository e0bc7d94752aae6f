// SPDX-License-Identifier: Apache-2.0
/// The port through which the service has its host: what it reads there, and whom it tells to
/// change something. Implemented by LinuxHost over the kernel and its hypervisors, and by the
/// simulated host of `vmnumad --simulate`.
///
/// Problem: the service is threads, deadlines, a socket and a history around a controller; none of
/// that depends on what the host is, and all of it is to be tried without one. Approach: one
/// object. Whatever blocks is called by one worker only, which is named at each function; these
/// calls may run at the same time. Properties:
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
  std::optional<placement::Topology> topology;  ///< if it is another one than before
  placement::Sample sample;                     ///< of that topology
  std::optional<LogLine> news = std::nullopt;   ///< what somebody should know of it, said once
};

/// What somebody does to a simulated host, or to a recording, from outside.
using PlayCommand = std::variant<SimStartRequest, SimStopRequest, SimLoadRequest, SimStepRequest>;

class Host {
 public:
  virtual ~Host() = default;

  // The service's thread.

  /// For messages: "libvirt at qemu:///system".
  [[nodiscard]] virtual std::string name() const = 0;
  /// What people call it.
  [[nodiscard]] virtual std::string host_name() const = 0;
  /// As it was found when the host was opened.
  [[nodiscard]] virtual const placement::Topology& topology() const = 0;
  /// The directory that is the host's root, for what single questions read there.
  [[nodiscard]] virtual const std::string& root() const = 0;
  /// Copied by whoever needs it.
  [[nodiscard]] virtual HostTime time() const = 0;
  /// Once, before anything is read. `on_change` says "VMs changed, call refresh()", once between
  /// two refresh() calls, from any thread; it must only pass the word on. It does not run while
  /// refresh() last answered unavailable.
  virtual void watch(std::function<void()> on_change) = 0;
  /// What of the kernel is missing, as long as it runs. At the start only: looks into a few files.
  [[nodiscard]] virtual std::vector<stats::HostLack> lacks() const = 0;

  // Any thread; neither blocks.

  /// Looks at this VM again with the next refresh(), and says that there is a change.
  virtual void mark_dirty(const placement::VmId& vm) = 0;

  // The sampler's thread.

  [[nodiscard]] virtual HostReading read(const stats::SampleRequest& request) = 0;

  // The inventory worker's thread.

  /// All running VMs, with the nodes of their devices. Errors: as those of stats::DomainInventory.
  [[nodiscard]] virtual Result<std::vector<placement::VmDescription>> refresh() = 0;
  /// What somebody should know of what refresh() found, each once: sentences.
  [[nodiscard]] virtual std::vector<std::string> take_notices() = 0;
  /// Says what was done, in a sentence. Errors: unsupported (this host is a real one, of which
  /// others are in charge), not-found (no such VM), invalid-argument.
  [[nodiscard]] virtual Result<std::string> play(const PlayCommand& command) = 0;

  // The latency worker's thread.

  /// How far the nodes' memory is; what is measured is kept in `state_dir`. Blocks for seconds,
  /// unless all is `known`, and gives up early once `stop` is set.
  [[nodiscard]] virtual FoundLatencies find_latencies(
      const std::string& state_dir, const placement::Topology& topology,
      const std::vector<stats::MeasuredLatency>& known, const std::atomic<bool>& stop) = 0;

  // As the ports say. `control` is used by the executor's thread, and by the inventory worker's for
  // policies; `mover` by the executor's, `units` by the memory worker's.

  [[nodiscard]] virtual migration::DomainControl& control() = 0;
  [[nodiscard]] virtual migration::PageMover& mover() = 0;
  [[nodiscard]] virtual UnitControl& units() = 0;
};

}  // namespace vmnuma::balancer
