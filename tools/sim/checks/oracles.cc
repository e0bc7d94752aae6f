// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/checks/oracles.h"

#include <algorithm>

#include <fmt/format.h>

#include "balancer/controller/orders.h"
#include "migration/limits.h"
#include "migration/pacing.h"
#include "placement/clients.h"
#include "placement/model/text.h"

namespace vmnuma::tools {

using migration::HomeChange;
using migration::Order;
using migration::VmChange;

namespace {

constexpr std::size_t kMostViolations = 100;
/// In a shorter scenario, memory may still be on the move at the end.
constexpr std::int64_t kLongEnoughForRest = 90;

/// Returns whether the balancer chose to make a move for this reason.
bool is_balancing(Reason reason) {
  return moves_a_home(reason) && reason != Reason::kAdministrator && reason != Reason::kMakeRoom;
}

std::string client_name(const VmChange& change, const HomeChange& home) {
  return fmt::format("'{}'/{}", change.vm_name, home.client);
}

}  // namespace

Oracles::Oracles(const Scenario& scenario) : scenario_(scenario) {}

void Oracles::violation(std::string text) {
  if (violations_.size() < kMostViolations) {
    violations_.push_back(fmt::format("epoch {}: {}", epoch_, text));
  }
}

bool Oracles::is_under_way(const VmId& vm) const {
  return std::ranges::any_of(under_way_, [&](const auto& entry) {
    return std::ranges::count(entry.second.order.changes, vm, &VmChange::vm) > 0;
  });
}

// ---- orders ----

void Oracles::order_given(std::int64_t epoch, const Order& order, const SimHost& host) {
  if (epoch != epoch_) {
    epoch_ = epoch;
    begun_in_epoch_ = 0;
  }
  if (under_way_.contains(order.action) || ended_.contains(order.action)) {
    violation(fmt::format("action {} was ordered twice", order.action));
  }
  const auto homes = static_cast<std::int64_t>(scenario_.host.nodes.size());
  if (is_balancing(order.reason) &&
      ++begun_in_epoch_ > migrations_per_epoch(scenario_.options, homes)) {
    violation(fmt::format("action {} is one more than may begin in one epoch", order.action));
  }
  UnderWay under_way{order, {}};
  for (const VmChange& change : order.changes) {
    for (const HomeChange& home : change.homes) {
      check_home_change(epoch, order, change, home, host);
      const ClientId client{change.vm, home.client};
      const auto stay = stays_.find(client);
      under_way.before[client] = stay == stays_.end() ? std::nullopt : std::optional(stay->second);
      const bool stays = home.from == home.to;  // the client gets other CPUs of its node
      if (!stays) {
        stays_[client] = {epoch, home.from};
      }
      if (is_balancing(order.reason) && !is_a_turn(order.reason)) {
        last_balancing_move_ = epoch;
      }
    }
    check_new_pins(order, change, host);
  }
  under_way_.emplace(order.action, std::move(under_way));
}

void Oracles::check_home_change(std::int64_t epoch, const Order& order, const VmChange& change,
                                const HomeChange& home, const SimHost& host) {
  const std::optional<NodeIndex> to = host.topology().index_of(home.to);
  const std::string what =
      fmt::format("action {} ({}) moves {} to node {}", order.action, name_of(order.reason),
                  client_name(change, home), home.to.value);
  const bool stays = home.from == home.to;  // it stays where it was found and gets other CPUs there
  if (!stays && (!to || !host.topology().can_be_home(*to))) {
    violation(what + ", which cannot be a home");
  }
  if (!host.runs(change.vm)) {
    return;
  }
  // All nodes that can be homes, if currently none of those that the policy names can.
  const std::vector<NodeIndex> allowed =
      allowed_homes(host.topology(), host.description(change.vm).policy);
  if (to && !stays && std::ranges::find(allowed, *to) == allowed.end()) {
    violation(what + ", which its VM may not use");
  }
  const auto stay = stays_.find({change.vm, home.client});
  if (!is_balancing(order.reason) || home.from.value < 0 || stay == stays_.end()) {
    return;
  }
  const std::int64_t stayed = epoch - stay->second.since;
  if (stayed < scenario_.options.residency) {
    violation(fmt::format("{} after {} epochs, sooner than Numa.Residency", what, stayed));
  }
  if (stay->second.came_from == home.to && stayed < scenario_.options.no_return) {
    violation(fmt::format("{} where it came from {} epochs ago, sooner than Numa.NoReturn", what,
                          stayed));
  }
}

void Oracles::check_new_pins(const Order& order, const VmChange& change, const SimHost& host) {
  if (order.reason == Reason::kAdministrator || !host.runs(change.vm)) {
    return;
  }
  const std::vector<NodeId>& mask = host.description(change.vm).policy.nodes;
  // All nodes that can be homes, if currently none of those that the policy names can.
  const std::vector<NodeIndex> homes =
      allowed_homes(host.topology(), host.description(change.vm).policy);
  const auto may_run_on = [&](NodeIndex index) {
    const NodeId node = host.topology().nodes[index].id;
    return mask.empty() || std::ranges::find(mask, node) != mask.end() ||
           std::ranges::find(homes, index) != homes.end() ||
           std::ranges::any_of(change.homes, [&](const HomeChange& home) {
             return home.from == node || home.to == node;
           });
  };
  for (NodeIndex index = 0; index < host.topology().nodes.size(); ++index) {
    const Node& node = host.topology().nodes[index];
    for (const migration::PinChange& pin : change.pins) {
      if (pin.thread == migration::PinChange::Thread::kVcpu &&
          std::ranges::any_of(pin.after, [&](CpuId cpu) { return node.has(cpu); }) &&
          !may_run_on(index)) {
        violation(fmt::format(
            "action {} ({}) lets vCPU {} of '{}' run on node {}, which its VM may not use",
            order.action, name_of(order.reason), pin.number, change.vm_name, node.id.value));
      }
    }
  }
}

void Oracles::action_told(const migration::ActionEvent& event) {
  if (event.kind != migration::ActionEvent::Kind::kFinished) {
    return;
  }
  const auto found = under_way_.find(event.action);
  if (found == under_way_.end()) {
    violation(fmt::format("action {} ended {}", event.action,
                          ended_.contains(event.action) ? "twice" : "without having been ordered"));
    return;
  }
  if (event.state != migration::ActionState::kDone) {
    for (const auto& [client, stay] : found->second.before) {
      if (stay) {
        stays_[client] = *stay;
      } else {
        stays_.erase(client);
      }
    }
  }
  ended_.insert(event.action);
  under_way_.erase(found);
}

void Oracles::daemon_stopped(const std::vector<migration::OpenAction>& left_open) {
  // Orders that were not in the journal never took effect. The new daemon does not know when
  // clients left which nodes, nor how much was moved in this second.
  std::erase_if(under_way_, [&](const auto& entry) {
    return std::ranges::none_of(left_open, [&](const migration::OpenAction& open) {
      return open.order.action == entry.first;
    });
  });
  stays_.clear();
  host_meter_ = {};
  vm_meters_.clear();
}

// ---- pages ----

void Oracles::check_rate(Meter& meter, Bytes rate, const PageMove& move, const std::string& whose) {
  if (rate <= Bytes{}) {
    return;
  }
  const std::int64_t passed = std::max<std::int64_t>((move.at - meter.at).value, 0);
  const Bytes leaked = rate * (passed / kMicrosecondsPerSecond) +
                       rate * (passed % kMicrosecondsPerSecond) / kMicrosecondsPerSecond;
  meter.level = std::max(meter.level - leaked, Bytes{}) + move.moved;
  meter.at = move.at;
  // The bucket, which pacing may empty at once, plus one call that it cannot foresee.
  const Bytes most = std::max(migration::kSmallestBucket, rate / 10) + migration::kSmallestBucket;
  if (meter.level > most) {
    violation(
        fmt::format("pages of {} were moved faster than {} bytes per second", whose, rate.value));
    meter.level = Bytes{};
  }
}

Bytes Oracles::reserve_of(NodeId node, const SimHost& host) const {
  const Bytes total = host.topology().nodes[*host.topology().index_of(node)].memory;
  return total / 1000 *
         migration::limits_from(scenario_.options, host.topology()).node_reserve.value;
}

Bytes Oracles::below_reserve(const PageMove& move, const SimHost& host) const {
  return move.huge_pages ? Bytes{}
                         : std::clamp(reserve_of(move.to, host) - move.left, Bytes{}, move.moved);
}

void Oracles::pages_moved(const PageMove& move, const SimHost& host) {
  const migration::Limits limits = migration::limits_from(scenario_.options, host.topology());
  check_rate(host_meter_, limits.bytes_per_second, move, "the host");
  if (!host.runs(move.vm)) {
    return;
  }
  const VmDescription& vm = host.description(move.vm);
  check_rate(vm_meters_[move.vm], limits.vm_bytes_per_second, move, "'" + vm.name + "'");
  if (!move.huge_pages && move.free_told - move.moved < reserve_of(move.to, host)) {
    violation(fmt::format("{} bytes of '{}' were moved to node {}, below its reserve",
                          move.moved.value, vm.name, move.to.value));
  }
  if (const auto why = why_memory_stays(vm)) {
    violation(fmt::format("pages of '{}' were moved, although {}", vm.name, *why));
  }
  if (!limits.move_memory) {
    violation(fmt::format("pages of '{}' were moved, although Numa.PageMigEnable is 0", vm.name));
  }
}

// ---- the state after an epoch ----

namespace {

/// Returns those of the CPUs that are online.
std::vector<CpuId> online_of(const std::vector<CpuId>& cpus, const Topology& topology) {
  std::vector<CpuId> online = topology.cpu_ids();
  std::erase_if(online, [&](CpuId cpu) { return std::ranges::find(cpus, cpu) == cpus.end(); });
  return online;
}

/// Returns whether pins may not match the homes yet: because CPUs went offline or online, because
/// libvirt could not be reached, or because orders that a killed daemon had begun are being undone,
/// which takes long if pins are slow.
bool pins_are_being_repaired(const Scenario& scenario, std::int64_t epoch) {
  constexpr std::int64_t kPatience = 40;  // a VM is left alone for so long after three attempts
  constexpr std::int64_t kLooksAround = 2;
  const bool slow = std::ranges::any_of(scenario.faults, [epoch](const Fault& fault) {
    return fault.kind == FaultKind::kSlowLibvirt && fault.epoch <= epoch;
  });
  return std::ranges::any_of(scenario.faults, [&](const Fault& fault) {
    const bool matters =
        fault.kind == FaultKind::kNodeOffline || fault.kind == FaultKind::kLibvirtGone;
    const std::int64_t end = fault.epoch + fault.epochs;
    if (fault.kind == FaultKind::kDaemonRestart && end <= epoch &&
        epoch < end + (slow ? kPatience : kLooksAround)) {
      return true;
    }
    return matters && ((fault.epoch <= epoch && epoch < fault.epoch + kPatience) ||
                       (end <= epoch && epoch < end + kPatience));
  });
}

}  // namespace

void Oracles::check_pins(const SimHost& host, const balancer::Controller& controller) {
  const std::map<VmId, balancer::VmCpus> cpu_subsets = controller.cpu_subsets();
  const std::vector<CpuId> all_cpus = host.topology().cpu_ids();
  for (const auto& [id, vm] : controller.ledger().vms()) {
    if (!host.runs(id) || is_under_way(id)) {
      continue;
    }
    const VmDescription& live = host.description(id);
    for (std::size_t index = 0; index < vm.clients.size(); ++index) {
      const balancer::ClientRecord& client = vm.clients[index];
      std::set<std::vector<CpuId>> pins;
      for (const std::int32_t vcpu : client.shape.vcpus) {
        pins.insert(pinned_cpus(live.vcpu_pins, vcpu));
      }
      if (pins.contains({})) {
        pins.erase(all_cpus);  // a pin that was restored to "any CPU" names all of them
      }
      if (pins.size() > 1) {
        violation(
            fmt::format("the vCPUs of '{}'/{} are pinned to different places", live.name, index));
        continue;
      }
      const auto home = host.topology().index_of(client.home);
      const auto subset = cpu_subsets.find(id);
      const bool has_a_part = subset != cpu_subsets.end() && index < subset->second.clients.size();
      if (host.topology().only_home() && !has_a_part) {
        continue;  // no thread has to be pinned there
      }
      if (client.home.value >= 0 && pins.size() == 1 && home &&
          online_of(*pins.begin(), host.topology()) !=
              online_of(has_a_part ? subset->second.clients[index]
                                   : balancer::cpus_of(host.topology().nodes[*home]),
                        host.topology())) {
        violation(fmt::format("'{}'/{} has its home on node {} and is pinned to CPUs '{}'",
                              live.name, index, client.home.value, to_list(*pins.begin())));
      }
    }
  }
}

void Oracles::epoch_ended(std::int64_t epoch, const SimHost& host, const SimDaemon& daemon) {
  epoch_ = epoch;
  if (const auto problem = host.audit_memory()) {
    violation("memory does not add up: " + *problem);
  }
  if (daemon.span_round()) {
    violation("the executor does not come to rest");
  }
  if (daemon.running() && !pins_are_being_repaired(scenario_, epoch)) {
    check_pins(host, daemon.controller());
  }
  if (daemon.running()) {
    for (const std::string& text : daemon.controller().plan_violations()) {
      violation("the plan breaks a rule: " + text);
    }
  }
  if (host.topology().only_home()) {
    stays_.clear();  // if all clients live on one node, none can have come from another
  }
  std::erase_if(vm_meters_, [&](const auto& entry) { return !is_under_way(entry.first); });
  begun_in_epoch_ = 0;
}

std::optional<std::int64_t> Oracles::quiet_from() const {
  if (scenario_.epochs < kLongEnoughForRest) {
    return std::nullopt;
  }
  std::int64_t last_change = 0;
  for (const ScenarioVm& vm : scenario_.vms) {
    if (vm.load_repeats > 0 || vm.noise_pct > 0) {
      return std::nullopt;
    }
    last_change = std::max({last_change, vm.start, vm.stop.value_or(0)});
    for (const LoadStep& step : vm.load) {
      last_change = std::max(last_change, step.from);
    }
  }
  for (const OtherLoad& other : scenario_.host.others) {
    last_change = std::max({last_change, other.from, other.until.value_or(0)});
  }
  for (const Fault& fault : scenario_.faults) {
    last_change = std::max(last_change, fault.epoch + fault.epochs);
  }
  const bool settled = last_change <= scenario_.epochs / 3;
  return settled ? std::optional(scenario_.epochs - scenario_.epochs / 3) : std::nullopt;
}

void Oracles::simulation_ended(SimDaemon& daemon) {
  if (daemon.running() && daemon.executor_idle()) {
    if (daemon.journal().open_count() > 0) {
      violation(
          fmt::format("{} actions were left open in the journal", daemon.journal().open_count()));
    }
    for (const auto& [action, under_way] : under_way_) {
      violation(fmt::format("nothing reported how action {} ended", action));
    }
  }
  if (const auto quiet = quiet_from(); quiet && last_balancing_move_ >= *quiet) {
    violation(
        fmt::format("moves do not come to an end although the load no longer changes; the last "
                    "was in epoch {}",
                    last_balancing_move_));
  }
}

}  // namespace vmnuma::tools
