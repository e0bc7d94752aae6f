// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/busy_host.h"

#include <algorithm>
#include <string>

namespace vmnuma::tests {

namespace {

constexpr std::int32_t kCores = 32;
constexpr std::int64_t kEpochUs = 2'000'000;

Topology topology_of(std::int32_t nodes) {
  Topology topology;
  for (std::int32_t n = 0; n < nodes; ++n) {
    Node node;
    node.id = NodeId{n};
    node.memory = kGiB * 1024;
    for (std::int32_t cpu = 0; cpu < 2 * kCores; ++cpu) {
      node.cpus.push_back({CpuId{n * 2 * kCores + cpu}, n * 2 * kCores + cpu / 2, n});
    }
    topology.nodes.push_back(std::move(node));
    for (std::int32_t m = 0; m < nodes; ++m) {
      topology.distances.push_back(n == m ? 10 : 21);
    }
  }
  return topology;
}

/// The same numbers in every run.
class Numbers {
 public:
  std::int64_t below(std::int64_t end) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state_ >> 33U) % static_cast<std::uint64_t>(end));
  }

 private:
  std::uint64_t state_ = 42;
};

}  // namespace

BusyHost::BusyHost(std::int32_t nodes, std::int32_t clients, HostLoad load)
    : nodes_(nodes), ledger_(topology_of(nodes), Options{}) {
  Numbers numbers;
  std::vector<std::int64_t> vcpus_on(static_cast<std::size_t>(nodes));
  for (std::int32_t i = 0; i < clients; ++i) {
    VmDescription vm;
    vm.id.uuid[14] = static_cast<std::uint8_t>(i / 256);
    vm.id.uuid[15] = static_cast<std::uint8_t>(i % 256);
    vm.name = "vm" + std::to_string(i);
    const std::int64_t vcpus = 2 + numbers.below(7);
    for (std::int32_t vcpu = 0; vcpu < vcpus; ++vcpu) {
      vm.vcpus.push_back(vcpu);
      vm.vcpu_pins.push_back({vcpu, {CpuId{(i % nodes) * 2 * kCores}}});
    }
    vm.memory = kGiB * 8;
    vcpus_on[static_cast<std::size_t>(i % nodes)] += vcpus;
    vms_.push_back(std::move(vm));
  }
  for (std::int32_t i = 0; i < clients; ++i) {
    // What all vCPUs of a node want together, in per cent of its cores.
    const std::int64_t wanted = load == HostLoad::kOverloaded                              ? 150
                                : load == HostLoad::kImbalanced && (i % nodes) * 4 < nodes ? 160
                                                                                           : 50;
    const std::int64_t busy =
        kCores * kEpochUs * wanted / 100 / vcpus_on[static_cast<std::size_t>(i % nodes)];
    busy_us_.push_back(std::min(busy * (70 + numbers.below(61)) / 100, kEpochUs));
  }
  ledger_.set_domains(vms_);
  for (std::int32_t i = 0; i < clients; ++i) {
    ledger_.adopt_home({vms_[static_cast<std::size_t>(i)].id, 0}, NodeId{i % nodes});
  }
  for (int epoch = 0; epoch < 30; ++epoch) {
    snapshot_ = ledger_.advance(next_sample());
  }
}

balancer::Supposition most_new_vms(std::int32_t of_clients) {
  balancer::Supposition supposition;
  const auto count = static_cast<std::int32_t>(balancer::kMostNewClients) / of_clients;
  for (std::int32_t i = 0; i < count; ++i) {
    balancer::NewVm vm;
    vm.description.id.uuid.fill(0xff);
    vm.description.id.uuid[15] = static_cast<std::uint8_t>(i % 256);
    vm.description.id.uuid[14] = static_cast<std::uint8_t>(i / 256);
    vm.description.name = "new" + std::to_string(i);
    for (std::int32_t vcpu = 0; vcpu < of_clients * kCores; ++vcpu) {
      vm.description.vcpus.push_back(vcpu);
    }
    vm.description.memory = kGiB * 8;
    vm.load = Permille{500};
    supposition.added.push_back(std::move(vm));
  }
  return supposition;
}

Sample BusyHost::next_sample() {
  ++sequence_;
  Sample sample;
  sample.sequence = sequence_;
  sample.taken_at = {sequence_ * kEpochUs};
  for (std::int32_t n = 0; n < nodes_; ++n) {
    sample.nodes.push_back({NodeId{n}, kGiB * 256, kGiB * 1024});
    for (std::int32_t cpu = 0; cpu < 2 * kCores; ++cpu) {
      sample.cpus.push_back({CpuId{n * 2 * kCores + cpu}, sequence_ * kEpochUs / 2});
    }
  }
  for (std::size_t i = 0; i < vms_.size(); ++i) {
    VmSample vm;
    vm.id = vms_[i].id;
    vm.process = {static_cast<std::int64_t>(1000 + i), 1};
    for (const std::int32_t vcpu : vms_[i].vcpus) {
      vm.vcpus.push_back({vcpu, static_cast<std::int64_t>(10000 + i * 10) + vcpu,
                          sequence_ * busy_us_[i] * 900, sequence_ * busy_us_[i] * 100});
    }
    vm.memory.emplace(static_cast<std::size_t>(nodes_));
    (*vm.memory)[i % static_cast<std::size_t>(nodes_)] = kGiB * 8;
    sample.vms.push_back(std::move(vm));
  }
  return sample;
}

}  // namespace vmnuma::tests
