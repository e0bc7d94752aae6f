// SPDX-License-Identifier: Apache-2.0
/// What the memory controllers of VMs and of their slices are to be told, and the way back.
///
/// Problem: protections (placement/memory_qos.h) are to hold for VMs that come and go, beside what
/// an administrator has set there and what he sets later, across restarts of the daemon; and when a
/// VM is released nothing of ours is to be left. Approach: every epoch compares what is in force
/// with what should be and asks for the difference, so that nothing depends on an answer having
/// come. What was found before the first change is kept for each cgroup; who carries out a change
/// stores that first. A protection reaches a VM only as far as the slices above it have it
/// themselves, so every slice gets the sum of what its VMs have.
/// Terms: *path* - of a cgroup below the mount of cgroup v2; *found* - its limits before the first
/// change; *ours* - what it was last asked to be; *reading* - of one epoch's sample. A reading that
/// may be older than an answer is not looked at.
/// Properties:
///  1. No wish, no change: cgroups of VMs without a class are never touched.
///  2. Protections are the larger of what was found and what is wished for, limits the smaller; the
///     hard limit stays as it was found. (systemd writes all of a unit's settings when one is
///     changed, so a change always names them all.)
///  3. What somebody else changes meanwhile becomes what was found. Whoever does so again and
///     again has his way after kMostRepairs times.
///  4. What nobody wishes for any more goes back to what was found, setting by setting, and
///     settings that are not ours any more stay. Nothing of ours is kept for a unit that is as it
///     was found, or has ended.
///  5. A failure is said once, and tried again after kRetryAfter epochs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "placement/memory_qos.h"
#include "placement/model/memory_state.h"
#include "placement/model/sample.h"

namespace vmnuma::balancer {

/// What is kept of a cgroup whose limits were changed.
struct MemoryOriginal {
  placement::VmId vm;              ///< zeros: it is a slice
  placement::VmProcess process;    ///< what was found counts for this life of the VM only
  placement::MemoryLimits found;   ///< before the first change
  placement::MemoryLimits before;  ///< before the last change
  placement::MemoryLimits ours;    ///< by the last change
  bool operator==(const MemoryOriginal&) const = default;
};
/// By path.
using MemoryOriginals = std::map<std::string, MemoryOriginal>;

/// A unit of systemd is to have these limits.
struct MemoryChange {
  /// kRestore: as it was found, so that nothing of ours need be kept; kForget: the unit has ended,
  /// nothing is set, and nothing of ours is kept.
  enum class Kind { kSet, kRestore, kForget };
  std::string path;  ///< of its cgroup; the unit's name is the last part
  placement::MemoryLimits limits;
  Kind kind = Kind::kSet;
  bool operator==(const MemoryChange&) const = default;
};

/// A VM that has a class.
struct MemoryWish {
  placement::VmId vm;
  std::string name;  ///< for messages
  placement::VmProcess process;
  placement::MemoryState state;
  placement::MemoryProtection protection;
};

class MemorySteering {
 public:
  static constexpr std::int64_t kRetryAfter = 30;  ///< epochs
  static constexpr std::int32_t kMostRepairs = 3;

  explicit MemorySteering(MemoryOriginals originals) : originals_(std::move(originals)) {}

  struct Steps {
    std::vector<MemoryChange> changes;
    std::vector<std::string> notices;
    bool originals_changed = false;  ///< to be stored before `changes` are carried out
  };
  /// What one epoch's readings ask for.
  [[nodiscard]] Steps steer(const placement::Sample& sample, const std::vector<MemoryWish>& wishes);
  /// Everything back at once, for the end of the daemon.
  [[nodiscard]] Steps give_all_back() const;
  /// What became of a change; no `problem`: it was carried out.
  [[nodiscard]] Steps answered(const std::string& path, const std::string& problem);
  /// VMs that have ended need no way back, but what systemd keeps of them is to go.
  [[nodiscard]] Steps keep_only(const std::set<placement::VmId>& running);

  [[nodiscard]] const MemoryOriginals& originals() const { return originals_; }
  /// Changes without an answer yet.
  [[nodiscard]] std::int64_t under_way() const;

 private:
  /// One cgroup in one epoch.
  struct Target {
    placement::VmId vm;
    placement::VmProcess process;
    placement::MemoryProtection wished;
    placement::MemoryLimits now;
    std::int64_t read_in = 0;
  };
  struct Asked {
    std::int64_t believed_after = 0;  ///< readings after this sequence; the largest: no answer yet
    bool carried_out = false;
    bool restores = false;
    std::int32_t repairs = 0;
  };
  [[nodiscard]] std::map<std::string, Target> targets_of(const placement::Sample& sample,
                                                         const std::vector<MemoryWish>& wishes,
                                                         Steps& steps);
  [[nodiscard]] bool is_waiting(const std::string& path, std::int64_t read_in) const;
  void say_once(std::string notice, Steps& steps);
  void reach(const std::string& path, const Target& target, Steps& steps);
  void restore(const std::string& path, const placement::Sample& sample, Steps& steps);
  void forget(const std::string& path, Steps& steps);
  void forget_ended(const std::string& path, Steps& steps);
  void ask(const std::string& path, const placement::MemoryLimits& limits, bool restores,
           Steps& steps);

  MemoryOriginals originals_;
  /// By path: how the last change of it fares.
  std::map<std::string, Asked> asked_;
  std::set<std::string> said_;
  std::string problem_;
  std::int64_t sequence_ = 0;
};

}  // namespace vmnuma::balancer
