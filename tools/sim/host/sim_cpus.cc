// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_cpus.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "placement/capacity.h"
#include "placement/fair_share.h"

namespace vmnuma::tools {

NodeShares share_node(std::int32_t cores, std::int32_t cpus, CpuTime length, CpuTime others,
                      const std::vector<ThreadDemand>& threads) {
  const Supply supply{length * cores, length * cpus, CpuTime{}, kSimSmtGainPct};
  NodeShares shares;
  shares.others = std::min(others, supply.threads);
  std::vector<Claim> claims;
  claims.reserve(threads.size());
  for (const ThreadDemand& thread : threads) {
    claims.push_back({thread.weight, CpuTime{}, std::min(thread.wants, length)});
  }
  shares.ran = fair_shares(supply.threads - shares.others, claims);
  shares.ran.resize(threads.size());
  shares.busy = shares.others + sum_of(shares.ran);
  shares.served = service(supply, shares.busy);
  return shares;
}

CpuTime queueing(std::int32_t cpus, CpuTime length, const std::vector<CpuTime>& wants) {
  // Probabilities as 2^30ths. Of the `free` CPUs that full threads leave, k are used with
  // probability used[k]; the mean waiting is the mean idle time beyond free - sum.
  constexpr std::int64_t kOne = std::int64_t{1} << 30U;
  std::int64_t free = cpus;
  std::vector<std::int64_t> some;
  std::int64_t sum = 0;
  for (const CpuTime wanted : wants) {
    if (wanted >= length) {
      --free;
    } else if (wanted > CpuTime{}) {
      some.push_back(wanted.value * kOne / length.value);
      sum += some.back();
    }
  }
  if (free <= 0 || static_cast<std::int64_t>(some.size()) <= free) {
    return CpuTime{};
  }
  std::vector<std::int64_t> used(static_cast<std::size_t>(free));
  used[0] = kOne;
  for (const std::int64_t chance : some) {
    for (std::size_t k = used.size() - 1; k > 0; --k) {
      used[k] = (used[k] * (kOne - chance) + used[k - 1] * chance) / kOne;
    }
    used[0] = used[0] * (kOne - chance) / kOne;
  }
  std::int64_t idle = 0;
  for (std::size_t k = 0; k < used.size(); ++k) {
    idle += (free - static_cast<std::int64_t>(k)) * used[k];
  }
  const std::int64_t waiting = idle - std::max<std::int64_t>(free * kOne - sum, 0);
  return CpuTime{std::max<std::int64_t>(waiting, 0) / 1024 * length.value / (kOne / 1024)};
}

namespace {

constexpr std::int64_t kSlices = 50;

/// The time of each CPU and core that has been given out.
class CpuSlices {
 public:
  CpuSlices(const std::vector<std::int32_t>& cores, CpuTime length)
      : cores_(cores), length_(length), used_(cores.size()) {}

  /// Returns the least used of these CPUs that has time left; nothing if there is none.
  [[nodiscard]] std::optional<std::size_t> emptiest(const std::vector<std::size_t>& cpus) const {
    std::optional<std::size_t> best;
    for (const std::size_t cpu : cpus) {
      if (used_[cpu] < length_ && (!best || rank(cpu) < rank(*best))) {
        best = cpu;
      }
    }
    return best;
  }
  CpuTime take(std::size_t cpu, CpuTime wanted) {
    const CpuTime taken = std::min(wanted, length_ - used_[cpu]);
    used_[cpu] += taken;
    of_core_[cores_[cpu]] += taken;
    return taken;
  }
  /// Returns the core time that `time` on a CPU was worth; valid once all time is given out.
  [[nodiscard]] CpuTime served(std::size_t cpu, CpuTime time) const {
    const auto threads = std::count(cores_.begin(), cores_.end(), cores_[cpu]);
    const Supply core{length_, length_ * threads, CpuTime{}, kSimSmtGainPct};
    const CpuTime busy = of_core_.at(cores_[cpu]);
    return scaled(time, service(core, busy).value, busy.value);
  }

 private:
  [[nodiscard]] std::tuple<CpuTime, CpuTime, std::size_t> rank(std::size_t cpu) const {
    const auto core = of_core_.find(cores_[cpu]);
    return {core == of_core_.end() ? CpuTime{} : core->second, used_[cpu], cpu};
  }

  const std::vector<std::int32_t>& cores_;
  CpuTime length_;
  std::vector<CpuTime> used_;
  std::map<std::int32_t, CpuTime> of_core_;
};

}  // namespace

NodeShares share_cpus(const std::vector<std::int32_t>& cores, CpuTime length, CpuTime others,
                      const std::vector<ThreadDemand>& threads) {
  struct Slice {
    std::size_t thread;
    std::size_t cpu;
    CpuTime time;
  };
  CpuSlices cpus(cores, length);
  NodeShares shares;
  shares.ran.resize(threads.size());
  shares.served_of.resize(threads.size());
  shares.on_cpu.assign(threads.size(), std::vector<CpuTime>(cores.size()));
  const CpuTime slice = std::max(length / kSlices, CpuTime{1});
  std::vector<std::size_t> all(cores.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<Slice> given;
  while (shares.others < others) {
    const auto cpu = cpus.emptiest(all);
    if (!cpu) {
      break;
    }
    const CpuTime taken = cpus.take(*cpu, std::min(slice, others - shares.others));
    shares.others += taken;
    given.push_back({threads.size(), *cpu, taken});
  }
  std::vector<bool> is_done(threads.size());
  const auto comes_first = [&](std::size_t a, std::size_t b) {
    // ran / weight, least first
    return shares.ran[a].value * threads[b].weight < shares.ran[b].value * threads[a].weight;
  };
  while (true) {
    std::optional<std::size_t> next;
    for (std::size_t thread = 0; thread < threads.size(); ++thread) {
      if (!is_done[thread] && (!next || comes_first(thread, *next))) {
        next = thread;
      }
    }
    if (!next) {
      break;
    }
    const CpuTime wants = std::min(threads[*next].wants, length) - shares.ran[*next];
    const std::vector<std::size_t>& its_cpus = threads[*next].cpus;
    const auto cpu =
        wants > CpuTime{} ? cpus.emptiest(its_cpus.empty() ? all : its_cpus) : std::nullopt;
    if (!cpu) {
      is_done[*next] = true;
      continue;
    }
    const CpuTime taken = cpus.take(*cpu, std::min(slice, wants));
    shares.ran[*next] += taken;
    given.push_back({*next, *cpu, taken});
  }
  for (const Slice& one : given) {
    const CpuTime served = cpus.served(one.cpu, one.time);
    shares.busy += one.time;
    shares.served += served;
    if (one.thread < threads.size()) {
      shares.served_of[one.thread] += served;
      shares.on_cpu[one.thread][one.cpu] += one.time;
    }
  }
  return shares;
}

}  // namespace vmnuma::tools
