// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/policies/policy_host.h"

#include <algorithm>
#include <span>
#include <utility>

namespace vmnuma::tools {

namespace {

constexpr std::size_t kPagesPerCall = 64;

}  // namespace

std::vector<CpuId> PolicyHost::cpus_of(const std::vector<NodeIndex>& nodes) const {
  std::vector<CpuId> cpus;
  for (NodeIndex node = 0; node < topology().nodes.size(); ++node) {
    if (nodes.empty() || std::ranges::find(nodes, node) != nodes.end()) {
      for (const Cpu& cpu : topology().nodes[node].cpus) {
        cpus.push_back(cpu.id);
      }
    }
  }
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

void PolicyHost::read(Sample sample) {
  ++epoch_;
  asked_at_ = sample.taken_at;
  const std::size_t nodes = topology().nodes.size();
  length_ = last_ ? CpuTime{(sample.taken_at - last_->taken_at).value} : CpuTime{};
  free_.assign(nodes, Bytes{});
  busy_.assign(nodes, CpuTime{});
  for (NodeIndex node = 0; node < nodes; ++node) {
    if (const auto* row = find_sorted(sample.nodes, topology().nodes[node].id, &NodeSample::id)) {
      free_[node] = row->free;
    }
    for (const Cpu& cpu : topology().nodes[node].cpus) {
      const auto* now = find_sorted(sample.cpus, cpu.id, &CpuSample::id);
      const auto* then = last_ ? find_sorted(last_->cpus, cpu.id, &CpuSample::id) : nullptr;
      busy_[node] +=
          now != nullptr && then != nullptr ? CpuTime{now->busy_us - then->busy_us} : CpuTime{};
    }
  }
  std::vector<PolicyVm> vms;
  for (const VmSample& row : sample.vms) {
    const VmDescription& description = host_.description(row.id);
    PolicyVm vm;
    const auto* before = this->vm(row.id);
    if (before != nullptr) {
      vm = *before;
      ++vm.age;
    }
    vm.id = row.id;
    vm.process = row.process;
    vm.vcpus = static_cast<std::int32_t>(row.vcpus.size());
    vm.size = description.memory;
    vm.memory = row.memory.value_or(std::vector<Bytes>(nodes));
    vm.memory_moves = description.numatune == NumatuneMode::kNone ||
                      description.numatune == NumatuneMode::kRestrictive;
    vm.vcpus_on = host_.vcpus_on(row.id);
    for (const vmnuma::Pin& pin : description.vcpu_pins) {
      for (NodeIndex node = 0; before == nullptr && node < nodes; ++node) {
        const bool is_new = std::ranges::find(vm.found_on, node) == vm.found_on.end();
        if (is_new && pin.cpus == cpus_of({node})) {
          vm.found_on.push_back(node);
        }
      }
    }
    vm.used = vm.ready = CpuTime{};
    const auto* then = last_ ? find_sorted(last_->vms, row.id, &VmSample::id) : nullptr;
    for (std::size_t i = 0; then != nullptr && i < row.vcpus.size(); ++i) {
      vm.used += CpuTime{(row.vcpus[i].run_ns - then->vcpus[i].run_ns) / 1000};
      vm.ready += CpuTime{(row.vcpus[i].wait_ns - then->vcpus[i].wait_ns) / 1000};
    }
    vms.push_back(std::move(vm));
  }
  vms_ = std::move(vms);
  last_ = std::move(sample);
}

void PolicyHost::start_unplaced(PolicyVm& vm) {
  if (!vm.found_on.empty()) {
    start_pinned(vm, {});
  }
}

void PolicyHost::start_pinned(PolicyVm& vm, const std::vector<NodeIndex>& nodes) {
  const Microseconds now = clock_;
  (void)host_.kernel().bind(vm.id, cpus_of(nodes));  // what cannot be pinned stays where it is
  clock_ = now;
  vm.on = nodes;
}

void PolicyHost::start_pinned(PolicyVm& vm, std::int32_t first, std::int32_t count,
                              NodeIndex node) {
  const Microseconds now = clock_;
  for (std::int32_t vcpu = first; vcpu < first + count; ++vcpu) {
    (void)host_.libvirt().pin({vm.id}, {migration::ThreadId::Kind::kVcpu, vcpu},
                              cpus_of({node}));  // as above
  }
  clock_ = now;
  vm.on.push_back(node);
}

void PolicyHost::pin_vcpus(PolicyVm& vm, std::int32_t first, std::int32_t count, NodeIndex node) {
  for (std::int32_t vcpu = first; vcpu < first + count; ++vcpu) {
    std::erase_if(changes_, [&](const Change& change) {
      const auto* older = std::get_if<Pin>(&change);
      return older != nullptr && older->vm == vm.id && older->vcpu == vcpu;
    });
    changes_.emplace_back(Pin{vm.id, vcpu, cpus_of({node})});
  }
  if (std::ranges::find(vm.on, node) == vm.on.end()) {
    vm.on.push_back(node);
  }
}

void PolicyHost::bind(PolicyVm& vm, const std::vector<NodeIndex>& nodes) {
  changes_.emplace_back(Bind{vm.id, cpus_of(nodes)});
  vm.on = nodes;
}

void PolicyHost::move_memory(const PolicyVm& vm, const std::vector<NodeIndex>& nodes, Bytes most) {
  std::erase_if(changes_, [&](const Change& change) {
    const auto* older = std::get_if<Move>(&change);
    return older != nullptr && older->vm == vm.id;
  });
  changes_.emplace_back(Move{vm.id, nodes, most, std::nullopt});
}

void PolicyHost::work(Microseconds until) {
  while (!changes_.empty() && std::max(asked_at_, free_at_) < until) {
    clock_ = std::max(asked_at_, free_at_);
    const bool done = std::visit([this](auto& change) { return step(change); }, changes_.front());
    free_at_ = clock_;
    if (done) {
      changes_.pop_front();
    }
  }
}

bool PolicyHost::step(const Pin& pin) {
  (void)host_.libvirt().pin({pin.vm}, {migration::ThreadId::Kind::kVcpu, pin.vcpu},
                            pin.cpus);  // what cannot be pinned stays where it is
  return true;
}

bool PolicyHost::step(const Bind& bind) {
  (void)host_.kernel().bind(bind.vm, bind.cpus);  // as above
  return true;
}

std::vector<std::uint64_t> PolicyHost::far_pages(const Move& move) {
  std::vector<std::uint64_t> far;
  const PolicyVm* moved = vm(move.vm);
  if (moved == nullptr) {
    return far;
  }
  const auto ranges = host_.kernel().find_ranges(moved->process);
  for (const migration::MemoryRange& range :
       ranges.value_or(std::vector<migration::MemoryRange>{})) {
    std::vector<std::uint64_t> addresses;
    for (std::int64_t at = 0; at < range.length.value; at += kSimPage.value) {
      addresses.push_back(range.start + static_cast<std::uint64_t>(at));
    }
    const auto places = host_.kernel()
                            .query(moved->process, addresses)
                            .value_or(std::vector<int>(addresses.size(), -1));
    for (std::size_t i = 0; i < places.size(); ++i) {
      const bool is_far = places[i] >= 0 && std::ranges::none_of(move.nodes, [&](NodeIndex node) {
                            return topology().nodes[node].id.value == places[i];
                          });
      if (is_far && static_cast<std::int64_t>(far.size()) < move.most.value / kSimPage.value) {
        far.push_back(addresses[i]);
      }
    }
  }
  return far;
}

bool PolicyHost::step(Move& move) {
  if (!move.addresses) {
    move.addresses = far_pages(move);
    return move.addresses->empty();
  }
  const PolicyVm* moved = vm(move.vm);
  if (moved == nullptr) {
    return true;
  }
  const std::size_t end = std::min(move.next + kPagesPerCall, move.addresses->size());
  const std::span<const std::uint64_t> chunk(move.addresses->data() + move.next, end - move.next);
  const NodeIndex to = move.nodes[move.turn++ % move.nodes.size()];
  // A page that cannot be moved stays where it is; no policy retries.
  (void)host_.kernel().move(moved->process, chunk, topology().nodes[to].id,
                            migration::SharedPages::kLeave);
  move.next = end;
  return end == move.addresses->size();
}

}  // namespace vmnuma::tools
