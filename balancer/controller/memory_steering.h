// SPDX-License-Identifier: Apache-2.0
/// What to set in the memory controllers of VMs and of their slices, and how to undo it.
///
/// Problem: protections (placement/memory_qos.h) must hold for VMs that come and go, together with
/// what an administrator has set or sets later, and across restarts of the daemon; and when a VM is
/// released nothing of ours may remain. Approach: every epoch compares what is in force with what
/// should be and requests the difference, so nothing depends on an answer having arrived. The
/// limits found before the first change are kept for each cgroup, and are stored before a change is
/// carried out. A protection is effective for a VM only to the extent that the slices above it have
/// it themselves, so every slice gets the sum of its VMs' protections.
/// Terms: *path* - of a cgroup below the mount of cgroup v2; *found* - its limits before the first
/// change; *ours* - the limits last requested; *reading* - from one epoch's sample. A reading that
/// may be older than an answer is ignored.
/// Properties:
///  1. No wish, no change: cgroups of VMs without a class are never touched.
///  2. Protections are the maximum of found and wished, limits the minimum; the hard limit stays as
///     found. (systemd writes all of a unit's settings when one is changed, so a change always
///     lists all of them.)
///  3. An external change becomes the new found value. If it is made again and again, it is
///     accepted after kMostRepairs repairs.
///  4. Settings no longer wished for go back to found, one by one, and settings that are no longer
///     ours stay. Nothing of ours is kept for a unit that is as it was found, or has ended.
///  5. A failure is reported once, and retried after kRetryAfter epochs. What was reported of a VM
///     is forgotten when it ends.
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

/// What is stored for a cgroup with changed limits.
struct MemoryOriginal {
  VmId vm;              ///< zeros: it is a slice
  VmProcess process;    ///< `found` is valid only for this process of the VM
  MemoryLimits found;   ///< before the first change
  MemoryLimits before;  ///< before the last change
  MemoryLimits ours;    ///< by the last change
  bool operator==(const MemoryOriginal&) const = default;
};
/// By path.
using MemoryOriginals = std::map<std::string, MemoryOriginal>;
/// Units with changed memory limits, by name, and whether systemd kept such settings for them
/// before.
using TouchedUnits = std::map<std::string, bool>;

/// Limits to set for a systemd unit.
struct MemoryChange {
  /// kRestore: set to what was found, so nothing of ours need be kept. kForget: the unit has ended,
  /// so nothing is set, and nothing of ours is kept.
  enum class Kind { kSet, kRestore, kForget };
  std::string path;  ///< of its cgroup; the unit's name is the last part
  MemoryLimits limits;
  Kind kind = Kind::kSet;
  bool operator==(const MemoryChange&) const = default;
};

/// What should be in force for a VM that has a class.
struct MemoryWish {
  VmId vm;
  std::string name;  ///< for messages
  VmProcess process;
  MemoryState state;
  MemoryProtection protection;
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
  /// The changes required by one epoch's readings.
  [[nodiscard]] Steps steer(const Sample& sample, const std::vector<MemoryWish>& wishes);
  /// Returns the changes that restore everything at once, when the daemon stops.
  [[nodiscard]] Steps restore_all_limits() const;
  /// Takes the result of a change; if `problem` is empty, it was carried out.
  [[nodiscard]] Steps answered(const std::string& path, const std::string& problem);
  /// Forgets VMs that have ended. They need no restoration, but what systemd keeps of them must be
  /// removed.
  [[nodiscard]] Steps keep_only(const std::set<VmId>& running);

  [[nodiscard]] const MemoryOriginals& originals() const { return originals_; }
  /// The number of changes that have not been answered yet.
  [[nodiscard]] std::int64_t under_way() const;

 private:
  /// One cgroup in one epoch.
  struct Target {
    VmId vm;
    VmProcess process;
    MemoryProtection wished;
    MemoryLimits now;
    std::int64_t read_in = 0;
  };
  struct Asked {
    std::int64_t believed_after = 0;  ///< trust only later readings; the largest: no answer yet
    bool carried_out = false;
    bool restores = false;
    std::int32_t repairs = 0;
  };
  [[nodiscard]] std::map<std::string, Target> targets_of(const Sample& sample,
                                                         const std::vector<MemoryWish>& wishes,
                                                         Steps& steps);
  [[nodiscard]] bool is_waiting(const std::string& path, std::int64_t read_in) const;
  /// `vm`: which it is about; zeros: a slice or the host.
  void log_once(const VmId& vm, std::string notice, Steps& steps);
  void reach(const std::string& path, const Target& target, Steps& steps);
  void restore(const std::string& path, const Sample& sample, Steps& steps);
  void forget(const std::string& path, Steps& steps);
  void forget_ended(const std::string& path, Steps& steps);
  void ask(const std::string& path, const MemoryLimits& limits, bool restores, Steps& steps);

  MemoryOriginals originals_;
  /// The state of each cgroup's last change, by path.
  std::map<std::string, Asked> asked_;
  std::map<VmId, std::set<std::string>> logged_;
  std::string problem_;
  std::int64_t sequence_ = 0;
};

}  // namespace vmnuma::balancer
