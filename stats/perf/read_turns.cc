// SPDX-License-Identifier: Apache-2.0
#include "stats/perf/read_turns.h"

#include <algorithm>
#include <utility>

#include "placement/base/sorted.h"

namespace vmnuma::stats {

namespace {

std::size_t threads_of(const VmSample& vm) {
  return std::min(vm.vcpus.size(), kMostThreads);
}

/// Returns the sum of the counters; nothing if none of them can be read.
std::optional<MemoryReads> sum_of(const std::vector<std::unique_ptr<ThreadCounter>>& threads) {
  constexpr std::int64_t kNanoseconds = 1000;
  ThreadCount sum;
  bool is_any_read = false;
  for (const std::unique_ptr<ThreadCounter>& thread : threads) {
    if (const Result<ThreadCount> count = thread->read()) {
      sum.reads += count->reads;
      sum.counted_ns += count->counted_ns;
      sum.ran_ns += count->ran_ns;
      sum.cycles += count->cycles;
      sum.stalled_cycles += count->stalled_cycles;
      is_any_read = true;
    }
  }
  if (!is_any_read) {
    return std::nullopt;
  }
  return MemoryReads{.count = sum.reads,
                     .counted = CpuTime{sum.counted_ns / kNanoseconds},
                     .ran = CpuTime{sum.ran_ns / kNanoseconds},
                     .cycles = sum.cycles,
                     .stalled_cycles = sum.stalled_cycles};
}

}  // namespace

void ReadTurns::take_turns(Sample& sample) {
  if (counters_ == nullptr) {
    return;
  }
  std::erase_if(counted_, [&sample](const auto& entry) {
    const VmSample* vm = find_sorted(sample.vms, entry.first, &VmSample::id);
    return vm == nullptr || vm->process != entry.second.process;
  });
  if (!counted_.empty() && sample.taken_at - turn_began_ >= kTurn) {
    end_turn(sample);
  }
  if (counted_.empty()) {
    begin_turn(sample);
  }
}

void ReadTurns::end_turn(Sample& sample) {
  for (VmSample& vm : sample.vms) {
    if (const auto counted = counted_.find(vm.id); counted != counted_.end()) {
      vm.memory_reads = sum_of(counted->second.threads);
    }
  }
  counted_.clear();
}

void ReadTurns::begin_turn(const Sample& sample) {
  if (!last_) {
    if (round_began_ && sample.taken_at - *round_began_ < kRound) {
      return;
    }
    round_began_ = sample.taken_at;
  }
  auto next = std::find_if(sample.vms.begin(), sample.vms.end(),
                           [this](const VmSample& vm) { return !last_ || *last_ < vm.id; });
  for (std::size_t threads = 0;
       next != sample.vms.end() && threads + threads_of(*next) <= kMostThreads; ++next) {
    threads += threads_of(*next);
    last_ = next->id;
    if (auto counters = count(*next); !counters.empty()) {
      counted_.emplace(next->id, Counted{next->process, std::move(counters)});
    }
  }
  if (next == sample.vms.end()) {
    last_.reset();
  }
  turn_began_ = sample.taken_at;
}

/// Starts counters for a VM's threads; none if one of its threads cannot be counted.
std::vector<std::unique_ptr<ThreadCounter>> ReadTurns::count(const VmSample& vm) {
  std::vector<std::unique_ptr<ThreadCounter>> counters;
  const std::size_t count = threads_of(vm);
  for (std::size_t i = 0; i < count; ++i) {
    auto counter = counters_->count(vm.vcpus[i * vm.vcpus.size() / count].tid);
    if (!counter) {
      return {};
    }
    counters.push_back(std::move(*counter));
  }
  return counters;
}

}  // namespace vmnuma::stats
