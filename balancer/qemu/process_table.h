// SPDX-License-Identifier: Apache-2.0
/// The QEMU processes of a host.
///
/// Problem: a process becomes QEMU when it executes QEMU, which may be a while after it entered the
/// VM's cgroup, and nothing announces that moment; but reading the command lines of thousands of
/// processes at every look is expensive. Approach: a process that is not QEMU and is older than
/// `kYoung_s` is not read again; it is identified by its inode in /proc, which no later process
/// with its number has. A thorough look reads all again, for shells that become QEMU late.
///
/// Properties:
///  - each look returns every QEMU process except those that the caller already knows;
///  - a reused number is read again;
///  - a process that ends meanwhile is left out.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/ids.h"
#include "stats/files/directory.h"

namespace vmnuma::balancer::qemu {

struct FoundProcess {
  VmProcess process;
  std::string cmdline;     ///< as in /proc/PID/cmdline
  std::int64_t age_s = 0;  ///< since it was started or forked
};

enum class HowThorough { kQuick, kThorough };

/// One thread at a time.
class ProcessTable {
 public:
  /// How long after its start a process may still become QEMU.
  static constexpr std::int64_t kYoung_s = 60;

  /// `root` is the host's root directory and must outlive this object.
  explicit ProcessTable(const files::Directory& root) : root_(root) {}

  /// Returns the QEMU processes, ascending by number. `known` are numbers of processes that the
  /// caller watches and which therefore have not been reused. Errors: those of listing /proc.
  [[nodiscard]] Result<std::vector<FoundProcess>> look(HowThorough how,
                                                       const std::set<std::int64_t>& known);

  /// Leaves this process out from now on: it is QEMU but not one of our VMs.
  void ignore(std::int64_t pid);

 private:
  const files::Directory& root_;
  struct PassedOver {
    std::uint64_t inode = 0;
    bool is_qemu = false;  ///< ignored; otherwise no longer young
  };
  std::map<std::int64_t, PassedOver> passed_over_;  ///< by number
};

}  // namespace vmnuma::balancer::qemu
