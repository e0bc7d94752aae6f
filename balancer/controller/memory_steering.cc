// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/memory_steering.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace vmnuma::balancer {

namespace {

constexpr std::int64_t kUnderWay = std::numeric_limits<std::int64_t>::max();

std::optional<Bytes> smaller(const std::optional<Bytes>& a, const std::optional<Bytes>& b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

MemoryLimits with(MemoryLimits found, const MemoryProtection& wished) {
  found.min = std::max(found.min, wished.min);
  found.low = std::max(found.low, wished.low);
  found.high = smaller(found.high, wished.high);
  found.swap_max = smaller(found.swap_max, wished.swap_max);
  return found;
}

/// Combines limits setting by setting; `choose` gets that setting from each of the limits.
template <class Choose>
MemoryLimits combine(const MemoryOriginal& original, const MemoryLimits& now, Choose choose) {
  const auto pick = [&](auto setting) {
    return choose(
        original.found.*setting, now.*setting,
        now.*setting == original.ours.*setting || now.*setting == original.before.*setting);
  };
  return {pick(&MemoryLimits::min), pick(&MemoryLimits::low), pick(&MemoryLimits::high),
          pick(&MemoryLimits::max), pick(&MemoryLimits::swap_max)};
}

/// What was found, updated with later external changes.
MemoryLimits found_by_now(const MemoryOriginal& original, const MemoryLimits& now) {
  return combine(original, now, [](const auto& found, const auto& in_force, bool is_ours) {
    return is_ours ? found : in_force;
  });
}

}  // namespace

void MemorySteering::log_once(const VmId& vm, std::string notice, Steps& steps) {
  if (logged_[vm].insert(notice).second) {
    steps.notices.push_back(std::move(notice));
  }
}

bool MemorySteering::is_waiting(const std::string& path, std::int64_t read_in) const {
  const auto asked = asked_.find(path);
  return asked != asked_.end() && read_in <= asked->second.believed_after;
}

void MemorySteering::ask(const std::string& path, const MemoryLimits& limits, bool restores,
                         Steps& steps) {
  Asked& asked = asked_[path];
  asked.believed_after = kUnderWay;
  asked.carried_out = false;
  asked.restores = restores;
  steps.changes.push_back(
      {path, limits, restores ? MemoryChange::Kind::kRestore : MemoryChange::Kind::kSet});
}

void MemorySteering::forget_ended(const std::string& path, Steps& steps) {
  forget(path, steps);
  steps.changes.push_back({path, {}, MemoryChange::Kind::kForget});
}

void MemorySteering::forget(const std::string& path, Steps& steps) {
  originals_.erase(path);
  asked_.erase(path);
  steps.originals_changed = true;
}

std::map<std::string, MemorySteering::Target> MemorySteering::targets_of(
    const Sample& sample, const std::vector<MemoryWish>& wishes, Steps& steps) {
  std::map<std::string, Target> targets;
  if (sample.protection_inherited == false) {
    if (!wishes.empty()) {
      log_once(
          VmId{},
          "cgroup v2 is mounted without memory_recursiveprot, so memory protection would not reach "
          "QEMU and is not set",
          steps);
    }
    return targets;
  }
  for (const SliceMemory& slice : sample.slices) {
    targets[slice.path] = {{}, {}, {}, slice.limits, sample.sequence};
  }
  for (const MemoryWish& wish : wishes) {
    if (!wish.state.scope.ends_with(".scope")) {
      log_once(wish.vm,
               fmt::format("VM '{}' is in cgroup '{}', which is not a systemd scope, so its memory "
                           "is not protected",
                           wish.name, wish.state.scope),
               steps);
      continue;
    }
    for (const std::string& path : slices_above(wish.state.scope)) {
      const auto slice = targets.find(path);
      if (slice == targets.end()) {
        log_once(VmId{},
                 fmt::format("the memory limits of '{}' cannot be read, so VMs in it get no more "
                             "memory protection than it has itself",
                             path),
                 steps);
        continue;
      }
      slice->second.wished.min += wish.protection.min;
      slice->second.wished.low += wish.protection.low;
    }
    targets[wish.state.scope] = {wish.vm, wish.process, wish.protection, wish.state.limits,
                                 wish.state.read_in};
  }
  std::erase_if(targets,
                [](const auto& target) { return target.second.wished == MemoryProtection{}; });
  return targets;
}

void MemorySteering::reach(const std::string& path, const Target& target, Steps& steps) {
  if (is_waiting(path, target.read_in)) {
    return;
  }
  auto known = originals_.find(path);
  if (known != originals_.end() && known->second.process != target.process) {
    forget(path, steps);
    known = originals_.end();
  }
  MemoryOriginal original =
      known == originals_.end()
          ? MemoryOriginal{target.vm, target.process, target.now, target.now, target.now}
          : known->second;
  original.found = found_by_now(original, target.now);
  const MemoryLimits wanted = with(original.found, target.wished);
  if (target.now == wanted) {
    return;
  }
  Asked& asked = asked_[path];
  const bool by_others = asked.carried_out && !asked.restores && target.now != original.ours;
  if (by_others && asked.repairs == kMostRepairs) {
    log_once(target.vm,
             fmt::format(
                 "memory limits of '{}' were changed externally {} times, leaving them as they are",
                 unit_of(path), kMostRepairs + 1),
             steps);
    return;
  }
  asked.repairs += by_others ? 1 : 0;
  original.before = target.now;
  original.ours = wanted;
  if (known == originals_.end() || known->second != original) {
    originals_[path] = original;
    steps.originals_changed = true;
  }
  ask(path, wanted, /*restores=*/false, steps);
}

void MemorySteering::restore(const std::string& path, const Sample& sample, Steps& steps) {
  const MemoryOriginal& original = originals_.at(path);
  std::optional<MemoryLimits> now;
  std::int64_t read_in = sample.sequence;
  bool over = false;
  for (const VmSample& vm : sample.vms) {
    if (vm.id == original.vm && vm.memory_state) {
      over = vm.memory_state->scope != path || vm.process != original.process;
      now = vm.memory_state->limits;
      read_in = vm.memory_state->read_in;
    }
  }
  const bool is_slice = original.vm == VmId{};
  for (const SliceMemory& slice : sample.slices) {
    if (is_slice && slice.path == path) {
      now = slice.limits;
    }
  }
  if (over) {
    forget_ended(path, steps);
    return;
  }
  if (is_waiting(path, read_in) || (!now && !is_slice)) {
    return;  // already requested, or its VM cannot be read in this epoch
  }
  const MemoryLimits target = now ? found_by_now(original, *now) : original.found;
  const auto asked = asked_.find(path);
  const bool restores = asked != asked_.end() && asked->second.restores;
  const bool was_restored = restores && asked->second.carried_out;
  if (was_restored ? !now || *now == target : now && *now == target && !restores) {
    forget(path, steps);
    return;
  }
  ask(path, target, /*restores=*/true, steps);
}

MemorySteering::Steps MemorySteering::steer(const Sample& sample,
                                            const std::vector<MemoryWish>& wishes) {
  Steps steps;
  sequence_ = sample.sequence;
  const std::map<std::string, Target> targets = targets_of(sample, wishes, steps);
  for (const auto& [path, target] : targets) {
    reach(path, target, steps);
  }
  std::vector<std::string> unwanted;
  for (const auto& [path, original] : originals_) {
    if (!targets.contains(path)) {
      unwanted.push_back(path);
    }
  }
  for (const std::string& path : unwanted) {
    restore(path, sample, steps);
  }
  return steps;
}

MemorySteering::Steps MemorySteering::restore_all_limits() const {
  Steps steps;
  for (const auto& [path, original] : originals_) {
    steps.changes.push_back({path, original.found, MemoryChange::Kind::kRestore});
  }
  return steps;
}

MemorySteering::Steps MemorySteering::answered(const std::string& path,
                                               const std::string& problem) {
  Steps steps;
  const auto asked = asked_.find(path);
  if (asked == asked_.end()) {
    if (!problem.empty()) {  // its VM has ended
      steps.notices.push_back(
          fmt::format("settings of '{}', which has ended, may remain: {}", unit_of(path), problem));
    }
    return steps;
  }
  if (problem.empty()) {
    // The next sample may have begun before the answer came.
    asked->second.believed_after = sequence_ + 1;
    asked->second.carried_out = true;
    problem_.clear();
    return steps;
  }
  asked->second.believed_after = sequence_ + kRetryAfter;
  if (problem != problem_) {
    problem_ = problem;
    steps.notices.push_back(
        fmt::format("memory limits of '{}' are not set: {}; tried again in {} epochs",
                    unit_of(path), problem, kRetryAfter));
  }
  return steps;
}

std::int64_t MemorySteering::under_way() const {
  return std::ranges::count_if(
      asked_, [](const auto& entry) { return entry.second.believed_after == kUnderWay; });
}

MemorySteering::Steps MemorySteering::keep_only(const std::set<VmId>& running) {
  Steps steps;
  const auto is_over = [&](const auto& entry) {
    return entry.second.vm != VmId{} && !running.contains(entry.second.vm);
  };
  std::vector<std::string> ended;
  for (const auto& entry : originals_) {
    if (is_over(entry)) {
      ended.push_back(entry.first);
    }
  }
  for (const std::string& path : ended) {
    forget_ended(path, steps);
  }
  std::erase_if(logged_, [&](const auto& entry) {
    return entry.first != VmId{} && !running.contains(entry.first);
  });
  return steps;
}

}  // namespace vmnuma::balancer
