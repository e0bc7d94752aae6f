// SPDX-License-Identifier: Apache-2.0
/// A host at rest stays at rest: whatever happened to it, some time after the last change there is
/// no order, nothing to remember and nothing to say.
#include <ostream>
#include <string>

#include "tests/property/any_host.h"
#include "tests/support/property.h"
#include "tools/sim/simulation.h"

namespace vmnuma::tools {
namespace {

using tests::Draw;

constexpr std::int64_t kLastChange = 40;  ///< epochs in which something happens
constexpr std::int64_t kUntilRest = 160;  ///< by then it has come to rest
constexpr std::int64_t kEpochs = 200;

/// A simulated host whose VMs want the same all the time, and what happens to it in the beginning.
struct RestingHost {
  int nodes = 1;
  int vms = 0;
  int faults = 0;
  std::uint64_t seed = 0;

  [[nodiscard]] Scenario scenario() const;
  /// The node that always stays.
  [[nodiscard]] NodeId home() const {
    return {static_cast<std::int32_t>(Draw(seed, 1).up_to(nodes - 1))};
  }
};

std::ostream& operator<<(std::ostream& out, const RestingHost& host) {
  return out << "RestingHost{.nodes = " << host.nodes << ", .vms = " << host.vms
             << ", .faults = " << host.faults << ", .seed = " << host.seed << "U}";
}

ScenarioNode node_of(const RestingHost& host, int number) {
  Draw draw(host.seed, 1000 + static_cast<std::uint64_t>(number));
  ScenarioNode node;
  node.id = NodeId{number};
  node.cores = static_cast<std::int32_t>(draw.between(2, 6));
  node.threads_per_core = static_cast<std::int32_t>(draw.between(1, 2));
  node.memory = kGiB * draw.between(8, 16);
  if (node.id != host.home() && draw.one_in(5)) {
    node.memory = {};
  } else if (node.id != host.home() && draw.one_in(5)) {
    node.cores = 0;
  }
  return node;
}

ScenarioVm vm_of(const RestingHost& host, int number, const ScenarioHost& simulated) {
  Draw draw(host.seed, 2000 + static_cast<std::uint64_t>(number));
  ScenarioVm vm;
  vm.name = "vm" + std::to_string(number);
  vm.vcpus = static_cast<std::int32_t>(draw.between(1, draw.one_in(4) ? 8 : 2));
  vm.memory = kGiB / 2;
  vm.start = draw.one_in(3) ? draw.up_to(kLastChange) : 0;
  if (draw.one_in(6)) {
    vm.stop = vm.start + draw.between(1, kLastChange);
  }
  vm.load = {{0, draw.between(0, 50)}};
  const std::int64_t most = static_cast<std::int64_t>(simulated.nodes.size()) - 1;
  const ScenarioNode& some = simulated.nodes[static_cast<std::size_t>(draw.up_to(most))];
  if (some.cores > 0 && some.memory > Bytes{} && draw.one_in(3)) {
    vm.pinned_on = {some.id};
  }
  if (draw.one_in(6)) {
    vm.policy.nodes = {some.id};
  }
  if (draw.one_in(8)) {
    vm.policy.cpu_binding = draw.one_in(2) ? CpuBinding::kExclusive : CpuBinding::kShare;
  }
  if (draw.one_in(8)) {
    vm.policy.memory_mode = MemoryMode::kMask;
  }
  return vm;
}

Fault fault_of(const RestingHost& host, int number) {
  Draw draw(host.seed, 3000 + static_cast<std::uint64_t>(number));
  Fault fault;
  fault.epoch = draw.up_to(kLastChange - 10);
  fault.epochs = draw.between(1, 10);
  switch (draw.up_to(3)) {
    case 0:
      fault.kind = FaultKind::kDaemonRestart;
      break;
    case 1:
      fault.kind = FaultKind::kLibvirtGone;
      break;
    default:
      fault.kind = FaultKind::kNodeOffline;
      fault.node = NodeId{static_cast<std::int32_t>(draw.up_to(host.nodes - 1))};
      if (draw.one_in(2)) {
        fault.cores = static_cast<std::int32_t>(draw.between(1, 5));
      }
      if (draw.one_in(3)) {
        fault.epochs = kEpochs;  // it never comes back
      }
      if (draw.one_in(3)) {
        fault.epoch = 0;  // it was never there, or is outside of machine.slice
      }
  }
  return fault;
}

Scenario RestingHost::scenario() const {
  Scenario scenario;
  scenario.name = "rest";
  scenario.seed = seed;
  scenario.epochs = kEpochs;
  // Turns are never done, and cores of one's own may leave others too few.
  scenario.options.lterm_fairness_interval = 0;
  for (int i = 0; i < nodes; ++i) {
    scenario.host.nodes.push_back(node_of(*this, i));
    for (int j = 0; j < nodes; ++j) {
      scenario.host.distances.push_back(i == j ? 10 : i / 2 == j / 2 ? 16 : 21);
    }
  }
  for (int i = 0; i < vms; ++i) {
    scenario.vms.push_back(vm_of(*this, i, scenario.host));
  }
  for (int i = 0; i < faults; ++i) {
    const Fault fault = fault_of(*this, i);
    // Some node always stays, and a node does not go twice.
    const bool leaves_some =
        fault.cores > 0 && fault.node == home() && fault.cores < node_of(*this, home().value).cores;
    bool again = fault.node == home() && !leaves_some;
    for (const Fault& other : scenario.faults) {
      again = again || (fault.kind == FaultKind::kNodeOffline && other.node == fault.node) ||
              (fault.kind != FaultKind::kNodeOffline && other.kind == fault.kind);
    }
    if (!again) {
      scenario.faults.push_back(fault);
    }
  }
  return scenario;
}

rc::Gen<RestingHost> resting_host() {
  return rc::gen::build<RestingHost>(
      rc::gen::set(&RestingHost::nodes,
                   rc::gen::oneOf(rc::gen::inRange(1, 4), rc::gen::inRange(1, 17))),
      rc::gen::set(&RestingHost::vms, rc::gen::inRange(0, 9)),
      rc::gen::set(&RestingHost::faults, rc::gen::inRange(0, 5)),
      rc::gen::set(&RestingHost::seed,
                   rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(0, 1U << 30U))));
}

RC_GTEST_PROP(RestProperty, AHostAtRestStaysAtRest, ()) {
  const RestingHost host = *resting_host();
  Simulation simulation(host.scenario());
  while (!simulation.finished()) {
    simulation.run_epoch();
    for (const std::string& line : simulation.news()) {
      RC_LOG() << simulation.epoch() - 1 << ": " << line << "\n";
    }
  }
  RC_ASSERT(simulation.last_activity() < kUntilRest);
  const SimulationResult result = simulation.result();
  for (const std::string& violation : result.violations) {
    RC_LOG() << violation << "\n";
  }
  RC_ASSERT(result.violations.empty());
}

}  // namespace
}  // namespace vmnuma::tools
