// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/scenario_course.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace vmnuma::tools {

namespace {

/// Every second fault strikes early in the epoch, when orders are most likely to be half carried
/// out.
constexpr std::int64_t kEarlyPart = 16;

bool is_a_strike(FaultKind kind) {
  return kind == FaultKind::kVmVanishes || kind == FaultKind::kDaemonRestart;
}

}  // namespace

ScenarioCourse::ScenarioCourse(const Scenario& scenario, SimHost& host)
    : scenario_(scenario), host_(host), random_(scenario.seed), ids_(scenario.vms.size()) {}

Microseconds ScenarioCourse::time_of(std::int64_t epoch) const {
  return Microseconds{scenario_.options.rebalance_period * 1000} * epoch;
}

void ScenarioCourse::begin_epoch(std::int64_t epoch) {
  host_.begin_epoch(epoch);
  for (std::size_t i = 0; i < scenario_.vms.size(); ++i) {
    const ScenarioVm& vm = scenario_.vms[i];
    if (vm.stop == epoch && ids_[i] && host_.runs(*ids_[i])) {
      host_.stop(*ids_[i]);
      news_.push_back(fmt::format("VM '{}' stops", vm.name));
    }
    if (vm.start == epoch) {
      ids_[i] = host_.start(vm);
      begin_talks(i);
      if (epoch > 0) {
        news_.push_back(fmt::format("VM '{}' starts", vm.name));
      }
    }
  }
}

/// Begins the talks of a VM that has just started with those that run.
void ScenarioCourse::begin_talks(std::size_t vm) {
  for (const ScenarioTalk& talk : scenario_.talks) {
    if (std::ranges::find(talk.vms, vm) == talk.vms.end()) {
      continue;
    }
    for (const std::size_t other : talk.vms) {
      if (other != vm && ids_[other] && host_.runs(*ids_[other])) {
        host_.add_talk(*ids_[vm], *ids_[other], talk.wakeups_per_second);
      }
    }
  }
}

// ---- faults ----

void ScenarioCourse::begin_and_end_faults(std::int64_t epoch, const OnFault& on_fault) {
  for (const Fault& fault : scenario_.faults) {
    if (is_a_strike(fault.kind)) {
      if (fault.epoch == epoch) {
        const std::int64_t whole = time_of(1).value;
        const bool early = random_.below(2) == 0;
        const Microseconds after{random_.below(early ? whole / kEarlyPart : whole)};
        strikes_.push_back({time_of(epoch) + after, fault});
      }
    } else if (fault.epoch == epoch || fault.epoch + fault.epochs == epoch) {
      const bool is_on = set_fault(fault, epoch);
      on_fault(fault, is_on);
    }
  }
  std::ranges::stable_sort(strikes_, {}, &Strike::at);
}

bool ScenarioCourse::set_fault(const Fault& fault, std::int64_t epoch) {
  // Another fault of the same kind may continue, or begin as this one ends.
  const bool is_on = std::ranges::any_of(scenario_.faults, [&](const Fault& other) {
    return other.kind == fault.kind && other.vm == fault.vm && other.node == fault.node &&
           lasts(other, epoch);
  });
  const std::optional<VmId> vm = fault.vm ? ids_[*fault.vm] : std::nullopt;
  std::string victim = fault.vm ? fmt::format(" of VM '{}'", scenario_.vms[*fault.vm].name) : "";
  victim += fault.node ? fmt::format(" of node {}", fault.node->value) : "";
  news_.push_back(fmt::format("fault {}{} {}", name_of(fault.kind), victim,
                              fault.epoch == epoch ? "begins" : "ends"));
  const auto set = [&](bool SimVm::*member) {
    if (vm) {
      host_.set(*vm, member, is_on);
    }
  };
  switch (fault.kind) {
    case FaultKind::kPinRefused:
      set(&SimVm::refuses_pins);
      break;
    case FaultKind::kPagesBusy:
      set(&SimVm::pages_busy);
      break;
    case FaultKind::kNoMemory:
      set(&SimVm::finds_no_memory);
      if (!vm && fault.node) {
        host_.take_memory(*fault.node, is_on);
      }
      break;
    case FaultKind::kSlowLibvirt:
      set(&SimVm::slow_pins);
      if (!fault.vm) {
        host_.libvirt().slow_down(is_on);
      }
      break;
    case FaultKind::kNodeOffline:
      set_cores(*fault.node, epoch);
      break;
    case FaultKind::kLibvirtGone:
      host_.libvirt().lose(is_on);
      break;
    case FaultKind::kStaleSample:  // handled in spoil()
    case FaultKind::kVmVanishes:
    case FaultKind::kDaemonRestart:
      break;
  }
  return is_on;
}

void ScenarioCourse::set_cores(NodeId node, std::int64_t epoch) {
  std::int32_t most = 0;
  for (const Fault& fault : scenario_.faults) {
    if (fault.kind == FaultKind::kNodeOffline && fault.node == node && lasts(fault, epoch)) {
      most =
          std::max(most, fault.cores == 0 ? std::numeric_limits<std::int32_t>::max() : fault.cores);
    }
  }
  if (most > 0) {
    host_.take_cores(node, most);
  } else {
    host_.set_online(node, true);
  }
}

std::optional<Microseconds> ScenarioCourse::next_strike() const {
  return strikes_.empty() ? std::nullopt : std::optional(strikes_.front().at);
}

Fault ScenarioCourse::strike() {
  const Fault fault = strikes_.front().fault;
  strikes_.erase(strikes_.begin());
  if (fault.kind == FaultKind::kVmVanishes && ids_[*fault.vm]) {
    host_.stop(*ids_[*fault.vm]);
    news_.push_back(fmt::format("VM '{}' vanishes", scenario_.vms[*fault.vm].name));
  }
  return fault;
}

void ScenarioCourse::spoil(std::int64_t epoch, Sample& sample) const {
  for (const Fault& fault : scenario_.faults) {
    if (fault.kind != FaultKind::kStaleSample || !lasts(fault, epoch)) {
      continue;
    }
    if (fault.node) {
      std::erase_if(sample.nodes, [&](const NodeSample& node) { return node.id == *fault.node; });
      sample.missing.push_back(
          {fmt::format("/sys/devices/system/node/node{}/meminfo", fault.node->value),
           "it could not be read", std::nullopt});
    } else if (!fault.vm) {
      sample.cpus.clear();
      sample.missing.push_back({"/proc/stat", "it could not be read", std::nullopt});
    } else if (const std::optional<VmId>& id = ids_[*fault.vm]) {
      std::erase_if(sample.vms, [&](const VmSample& vm) { return vm.id == *id; });
      sample.missing.push_back({fmt::format("VM '{}' schedstat", scenario_.vms[*fault.vm].name),
                                "it could not be read", id});
    }
  }
}

std::vector<std::string> ScenarioCourse::take_news() {
  return std::exchange(news_, {});
}

}  // namespace vmnuma::tools
