// SPDX-License-Identifier: Apache-2.0
/// numad 20150602, according to its manual and known behaviour.
///
/// It takes readings every 15 s, or 5 s after it has moved a process, and moves at most one process
/// at a time. Candidates are processes that use more than 300 MB and half a CPU; a process needs
/// the most that it used in the last 8 readings. Processes that were never bound come first, those
/// with the largest product of CPU time and memory before others, then those that were not
/// evaluated for longest; after an evaluation a process is left alone for 300 s. A node's score is
/// (10 x needed + 4 x spare memory) x (6 x needed + spare CPU); a second thread of a core counts as
/// a fifth of a CPU, the target utilization of a node is 85 %, and what the process already uses on
/// a node is credited to it, times 17/16 if it is not bound and 5/4 if it is. Nodes are added, each
/// score divided by the square of the distance to the first, until the need is met. All threads are
/// bound to them by one write to the cpuset, bypassing libvirt, and all memory is moved there as
/// fast as the kernel can; until that is done numad does nothing else. VMs begin unplaced
/// (policy.h). Left out: its effects on khugepaged, its assumption that all nodes of a host are
/// equal, and the restriction that its CPU limit only works if QEMU is called qemu-kvm.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>

#include "tools/sim/policies/policy.h"

namespace vmnuma::tools {

namespace {

constexpr std::int64_t kIdleMs = 15'000;
constexpr std::int64_t kAfterMoveMs = 5'000;
constexpr std::int64_t kRestMs = 300'000;
constexpr std::size_t kLooks = 8;
constexpr std::int64_t kLeastMiB = 300;
constexpr std::int64_t kLeastCpuPct = 50;
constexpr std::int64_t kSecondThreadPct = 20;
constexpr std::int64_t kTargetPct = 85;

std::int64_t mib(Bytes bytes) {
  return bytes.value >> 20U;
}

struct NodeSpace {
  NodeIndex node = 0;
  std::int64_t cpu_pct = 0;  ///< free, of one CPU
  std::int64_t mib = 0;      ///< free
};

std::int64_t score(const NodeSpace& space, std::int64_t cpu_pct, std::int64_t need_mib) {
  const std::int64_t memory =
      10 * std::min(space.mib, need_mib) + 4 * std::max<std::int64_t>(space.mib - need_mib, 0);
  const std::int64_t cpu =
      6 * std::min(space.cpu_pct, cpu_pct) + std::max<std::int64_t>(space.cpu_pct - cpu_pct, 0);
  return std::max<std::int64_t>(memory, 0) * std::max<std::int64_t>(cpu, 0);
}

/// Returns what each node has free for this VM, which is credited with its own use.
std::vector<NodeSpace> spaces_for(const PolicyHost& host, const PolicyVm& vm, bool bound,
                                  std::int64_t used_pct) {
  const std::int64_t epoch = std::max<std::int64_t>(host.epoch_length().value, 1);
  const std::int64_t credit = bound ? 20 : 17;  // sixteenths
  std::vector<NodeSpace> spaces;
  for (const NodeIndex index : host.topology().homes()) {
    const Node& node = host.topology().nodes[index];
    const std::int64_t cpus =
        node.core_count() * 100 + (node.cpu_count() - node.core_count()) * kSecondThreadPct;
    const std::int64_t own = used_pct * vm.vcpus_on[index] / std::max(vm.vcpus, 1) * credit / 16;
    spaces.push_back({index, cpus * kTargetPct / 100 - host.busy(index).value * 100 / epoch + own,
                      mib(host.free(index)) + mib(vm.memory[index]) * credit / 16});
  }
  return spaces;
}

class NumadPolicy final : public Policy {
 public:
  void epoch(PolicyHost& host) override {
    now_ms_ += host.epoch_length().value / 1000;
    for (PolicyVm& vm : host.vms()) {
      if (vm.age == 0) {
        processes_[vm.id] = {};
        host.start_unplaced(vm);
      }
    }
    if (now_ms_ >= next_look_ms_ && !host.has_work()) {
      look(host);
    }
  }

 private:
  struct Process {
    std::deque<std::int64_t> cpu_pct;  ///< in the last readings
    bool bound = false;
    std::int64_t evaluated_ms = -1;  ///< -1: never
  };

  bool consider(PolicyHost& host, PolicyVm& vm, Process& process) const {
    const std::int64_t cpu = std::ranges::max(process.cpu_pct);
    const std::int64_t memory = mib(vm.resident());
    process.evaluated_ms = now_ms_;
    std::vector<NodeSpace> spaces = spaces_for(host, vm, process.bound, process.cpu_pct.back());
    std::vector<NodeIndex> chosen;
    std::int64_t cpu_left = cpu;
    std::int64_t memory_left = memory;
    while (!spaces.empty() && (cpu_left > 0 || memory_left > 0)) {
      const auto worth = [&](const NodeSpace& space) {
        const std::int64_t distance =
            chosen.empty() ? 10 : host.topology().distance(chosen.front(), space.node);
        return score(space, cpu, memory) / (distance * distance);
      };
      const auto best = std::ranges::max_element(spaces, {}, worth);
      chosen.push_back(best->node);
      cpu_left -= std::max<std::int64_t>(best->cpu_pct, 0);
      memory_left -= std::max<std::int64_t>(best->mib, 0);
      spaces.erase(best);
    }
    std::sort(chosen.begin(), chosen.end());
    if (chosen.empty() || chosen == vm.on) {
      return false;
    }
    process.bound = true;
    host.bind(vm, chosen);
    if (vm.memory_moves) {
      host.move_memory(vm, chosen, vm.resident());
    }
    return true;
  }

  void look(PolicyHost& host) {
    const std::int64_t epoch = std::max<std::int64_t>(host.epoch_length().value, 1);
    std::vector<PolicyVm*> candidates;
    for (PolicyVm& vm : host.vms()) {
      Process& process = processes_[vm.id];
      process.cpu_pct.push_back(vm.used.value * 100 / epoch);
      if (process.cpu_pct.size() > kLooks) {
        process.cpu_pct.pop_front();
      }
      const std::int64_t most = std::ranges::max(process.cpu_pct);
      const bool rests = process.evaluated_ms >= 0 && now_ms_ - process.evaluated_ms < kRestMs;
      if (mib(vm.resident()) > kLeastMiB && most > kLeastCpuPct && !rests) {
        candidates.push_back(&vm);
      }
    }
    const auto weight = [&](const PolicyVm* vm) {
      return processes_.at(vm->id).cpu_pct.back() * mib(vm->resident());
    };
    std::stable_sort(
        candidates.begin(), candidates.end(), [&](const PolicyVm* a, const PolicyVm* b) {
          const Process& first = processes_.at(a->id);
          const Process& second = processes_.at(b->id);
          if (first.bound != second.bound) {
            return !first.bound;
          }
          return first.bound ? first.evaluated_ms < second.evaluated_ms : weight(a) > weight(b);
        });
    next_look_ms_ = now_ms_ + kIdleMs;
    for (PolicyVm* vm : candidates) {
      if (consider(host, *vm, processes_.at(vm->id))) {
        next_look_ms_ = now_ms_ + kAfterMoveMs;
        return;
      }
    }
  }

  std::int64_t now_ms_ = 0;
  std::int64_t next_look_ms_ = kIdleMs;
  std::map<VmId, Process> processes_;
};

}  // namespace

std::unique_ptr<Policy> make_numad_policy() {
  return std::make_unique<NumadPolicy>();
}

}  // namespace vmnuma::tools
