// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/balancer/host_story.h"

#include <algorithm>

namespace vmnuma::tests {

using balancer::Effects;

namespace {

constexpr std::int64_t kEpochUs = 2'000'000;

balancer::ControllerSetup setup_for(std::int32_t nodes, balancer::Mode mode,
                                    const std::function<void(balancer::ControllerSetup&)>& change) {
  balancer::ControllerSetup setup;
  setup.mode = mode;
  setup.version = "test";
  setup.uri = "test:///";
  setup.topology = small_host(nodes);
  if (change) {
    change(setup);
  }
  return setup;
}

}  // namespace

Topology small_host(std::int32_t nodes) {
  Topology topology;
  for (std::int32_t n = 0; n < nodes; ++n) {
    Node node;
    node.id = NodeId{n};
    node.cpus = {{CpuId{2 * n}, 2 * n, n}, {CpuId{2 * n + 1}, 2 * n + 1, n}};
    node.memory = kGiB;
    topology.nodes.push_back(node);
    for (std::int32_t m = 0; m < nodes; ++m) {
      topology.distances.push_back(n == m ? 10 : 20);
    }
  }
  return topology;
}

VmId vm_id(std::uint8_t number) {
  VmId id;
  id.uuid[15] = number;
  return id;
}

VmDescription small_vm(std::uint8_t number, const std::string& name, std::int32_t vcpus) {
  VmDescription vm;
  vm.id = vm_id(number);
  vm.name = name;
  vm.domain_id = number;
  for (std::int32_t vcpu = 0; vcpu < vcpus; ++vcpu) {
    vm.vcpus.push_back(vcpu);
  }
  vm.max_vcpus = vcpus;
  vm.memory = vm.max_memory = kVmMemory;
  return vm;
}

std::vector<CpuId> node_cpus(std::int32_t node) {
  return {CpuId{2 * node}, CpuId{2 * node + 1}};
}

HostStory::HostStory(std::int32_t nodes, balancer::Mode mode,
                     const std::function<void(balancer::ControllerSetup&)>& change)
    : nodes_(nodes),
      controller_(setup_for(nodes, mode, change)),
      cpu_busy_us_(static_cast<std::size_t>(2 * nodes)) {}

void HostStory::start(const VmDescription& vm, std::int32_t memory_node, std::int32_t busy_pct) {
  Vm& entry = vms_[vm.id];
  entry.description = vm;
  entry.memory_node = memory_node;
  entry.busy_pct = busy_pct;
  entry.run_ns.assign(vm.vcpus.size(), 0);
  entry.wait_ns.assign(vm.vcpus.size(), 0);
}

void HostStory::stop(std::uint8_t number) {
  vms_.erase(vm_id(number));
}

void HostStory::plug_vcpu(std::uint8_t number) {
  Vm& vm = vms_.at(vm_id(number));
  vm.description.vcpus.push_back(vm.description.vcpus.back() + 1);
  if (!vm.description.default_pin.empty()) {
    vm.description.vcpu_pins.push_back({vm.description.vcpus.back(), vm.description.default_pin});
  }
  vm.run_ns.push_back(0);
  vm.wait_ns.push_back(0);
}

bool HostStory::all_pinned(std::uint8_t number) const {
  const VmDescription& vm = vms_.at(vm_id(number)).description;
  return vm.vcpu_pins.size() == vm.vcpus.size();
}

void HostStory::pin(std::uint8_t number, const std::vector<CpuId>& cpus) {
  VmDescription& vm = vms_.at(vm_id(number)).description;
  vm.vcpu_pins.clear();
  if (!cpus.empty()) {
    for (const std::int32_t vcpu : vm.vcpus) {
      vm.vcpu_pins.push_back({vcpu, cpus});
    }
  }
}

void HostStory::set_memory_nodes(std::uint8_t number, const std::vector<NodeId>& nodes) {
  VmDescription& vm = vms_.at(vm_id(number)).description;
  if (!nodes.empty()) {
    vm.numatune = NumatuneMode::kRestrictive;
    vm.numatune_auto = false;
    vm.numatune_nodes = nodes;
  }
}

std::vector<CpuId> HostStory::pins(std::uint8_t number) const {
  const std::vector<Pin>& pins = vms_.at(vm_id(number)).description.vcpu_pins;
  return pins.empty() ? std::vector<CpuId>{} : pins.front().cpus;
}

std::vector<CpuId> HostStory::last_pin(std::uint8_t number) const {
  const std::vector<Pin>& pins = vms_.at(vm_id(number)).description.vcpu_pins;
  return pins.empty() ? std::vector<CpuId>{} : pins.back().cpus;
}

Effects HostStory::report_domains() {
  balancer::DomainsChanged event;
  for (const auto& [id, vm] : vms_) {
    event.running.push_back(vm.description);
  }
  return recorder_.pass(controller_, event);
}

Effects HostStory::epoch() {
  // Time is shared out among the vCPUs that may run on a node's CPUs, in equal parts.
  std::map<std::int32_t, std::int64_t> wanted;
  const auto node_of = [](const Vm& vm) {
    return vm.description.vcpu_pins.empty()
               ? vm.memory_node
               : vm.description.vcpu_pins.front().cpus.front().value / 2;
  };
  for (const auto& [id, vm] : vms_) {
    wanted[node_of(vm)] +=
        static_cast<std::int64_t>(vm.run_ns.size()) * kEpochUs * vm.busy_pct / 100;
  }
  for (auto& [id, vm] : vms_) {
    const std::int32_t node = node_of(vm);
    const std::int64_t want = kEpochUs * vm.busy_pct / 100;
    const std::int64_t most = 2 * kEpochUs;
    const std::int64_t get = wanted[node] > most ? want * most / wanted[node] : want;
    for (std::size_t i = 0; i < vm.run_ns.size(); ++i) {
      vm.run_ns[i] += get * 1000;
      vm.wait_ns[i] += (want - get) * 1000;
      cpu_busy_us_[static_cast<std::size_t>(2 * node) + i % 2] += get;
    }
  }
  Sample sample;
  sample.sequence = ++sequence_;
  sample.memory_pressure = memory_pressure_;
  sample.direct_reclaims = direct_reclaims_;
  sample.wakeups = wakeups_;
  sample.taken_at = {sequence_ * kEpochUs};
  for (std::int32_t n = 0; n < nodes_; ++n) {
    const auto free = free_on_.find(n);
    sample.nodes.push_back(
        {NodeId{n}, free == free_on_.end() ? free_ : free->second, kGiB, pools_});
  }
  for (std::int32_t cpu = 0; cpu < 2 * nodes_; ++cpu) {
    sample.cpus.push_back({CpuId{cpu}, cpu_busy_us_[static_cast<std::size_t>(cpu)]});
  }
  for (const auto& [id, vm] : vms_) {
    if (vm.hidden) {
      sample.missing.push_back({"VM '" + vm.description.name + "'", "no such file", id});
      continue;
    }
    VmSample entry;
    entry.id = id;
    entry.process = {1000 + id.uuid[15], 1};
    for (std::size_t i = 0; i < vm.run_ns.size(); ++i) {
      entry.vcpus.push_back({static_cast<std::int32_t>(i),
                             100 * id.uuid[15] + static_cast<std::int64_t>(i), vm.run_ns[i],
                             vm.wait_ns[i]});
    }
    entry.memory.emplace(static_cast<std::size_t>(nodes_));
    (*entry.memory)[static_cast<std::size_t>(vm.memory_node)] = kVmMemory;
    entry.memory_state = MemoryState{};
    entry.memory_state->scope = vm_scope(id.uuid[15]);
    entry.memory_state->read_in = sequence_;
    entry.memory_state->limits = limits_[entry.memory_state->scope];
    entry.memory_state->anonymous = kVmMemory;
    entry.memory_state->waits_some = memory_waits_;
    entry.cpu_waits = cpu_waits_;
    entry.cpus = vm.allowed;
    entry.memory_reads = reads_;
    entry.threads = std::ssize(vm.run_ns) + kOtherThreads;
    sample.vms.push_back(std::move(entry));
  }
  sample.swap_total = kGiB;
  if (!vms_.empty()) {
    sample.slices.push_back({"machine.slice", limits_["machine.slice"]});
  }
  return recorder_.pass(controller_,
                        balancer::SampleTaken{std::move(sample),
                                              1'700'000'000 + 2 * sequence_ + clock_set_s_, late_});
}

Effects HostStory::finish(const migration::Order& order, migration::ActionState state,
                          const std::string& detail) {
  migration::ActionEvent event;
  event.kind = migration::ActionEvent::Kind::kFinished;
  event.action = order.action;
  for (const migration::VmChange& change : order.changes) {
    event.vms.push_back(change.vm);
  }
  event.state = state;
  event.detail = detail;
  return recorder_.pass(controller_, balancer::ActionProgressed{std::move(event)});
}

void HostStory::carry_out(const Effects& effects) {
  for (const balancer::MemoryChange& change : effects.memory) {
    if (limits_problem_.empty() && change.kind != balancer::MemoryChange::Kind::kForget) {
      limits_[change.path] = change.limits;
    }
    (void)recorder_.pass(controller_, balancer::MemoryLimitsSet{change.path, limits_problem_});
  }
  for (const migration::Order& order : effects.orders) {
    for (const migration::VmChange& change : order.changes) {
      for (const migration::PinChange& made : change.pins) {
        if (made.thread == migration::PinChange::Thread::kVcpu) {
          std::vector<Pin>& pins = vms_.at(change.vm).description.vcpu_pins;
          std::erase_if(pins, [&](const Pin& p) { return p.number == made.number; });
          const auto after = std::find_if(pins.begin(), pins.end(),
                                          [&](const Pin& p) { return p.number > made.number; });
          if (!made.after.empty()) {
            pins.insert(after, {made.number, made.after});
          }
        }
      }
      Vm& vm = vms_.at(change.vm);
      if (!change.memory.quotas.empty()) {
        vm.memory_node = change.memory.quotas.front().node.value;
      }
      if (!change.memory.allowed_after.empty()) {
        set_memory_nodes(change.vm.uuid[15], change.memory.allowed_after);
      } else if (change.memory_mode == MemoryMode::kMask) {
        std::vector<NodeId> homes;
        for (const migration::NodeQuota& quota : change.memory.quotas) {
          homes.push_back(quota.node);
        }
        set_memory_nodes(change.vm.uuid[15], homes);
      }
    }
    (void)finish(order, migration::ActionState::kDone, "as ordered");
  }
  (void)report_domains();
}

std::int32_t HostStory::home(std::uint8_t number) const {
  const balancer::VmRecord* vm = controller_.ledger().find(vm_id(number));
  return vm == nullptr ? -2 : vm->clients.front().home.value;
}

}  // namespace vmnuma::tests
