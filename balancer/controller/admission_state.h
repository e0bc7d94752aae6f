// SPDX-License-Identifier: Apache-2.0
/// The state that decides on starts while the daemon is not running, as JSON for a small file.
///
/// Problem: libvirt may start VMs while the daemon is stopped or restarting, and their policies
/// still hold; but only the daemon knows whether starts are refused at all, what other VMs were
/// promised and which cores are taken. Approach: the daemon writes this down whenever it changes.
/// The hook uses the file while it is fresh, and a starting daemon reads from it what was promised
/// to VMs that are about to start. kept_fields.h lists the fields. Unknown ones are ignored, so
/// that a newer daemon may add some.
///
/// Properties:
///  - what is written is read back the same; of the description of a VM that is about to start, its
///    UUID, size, page size and memory class;
///  - a file that is damaged, of another version or too large is an error, and none of it is used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/core/reservations.h"
#include "balancer/core/starting_vms.h"
#include "placement/base/result.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"

namespace vmnuma::balancer {

/// The file's name in the state directory.
inline constexpr std::string_view kAdmissionFile = "admission";
/// Several times the size needed for the largest number of VMs that may be starting.
inline constexpr std::size_t kMostAdmissionBytes = std::size_t{4} << 20U;
/// The file is written at least this often, and counts as fresh for this long.
inline constexpr std::int64_t kAdmissionWrittenEvery_s = 60;
inline constexpr std::int64_t kAdmissionFreshFor_s = 180;

struct AdmissionState {
  struct Pool {
    Bytes page_size;
    Bytes promised;  ///< to VMs that do not have it yet
    bool operator==(const Pool&) const = default;
  };
  struct Node {
    NodeId id;
    std::int32_t cpus = 0;        ///< that VMs may use
    std::int32_t free_cores = 0;  ///< that one VM could still get for its own use
    std::int32_t cores = 0;       ///< that one VM could get if no other VM had any
    Bytes reserve;                ///< ordinary memory that must stay free
    Bytes promised;               ///< ordinary memory, to VMs that do not have it yet
    std::vector<Pool> pools;      ///< by page size; only those with promises
    bool operator==(const Node&) const = default;
  };
  bool enforces = false;  ///< the mode is active and admission enforce
  std::vector<Node> nodes;
  std::vector<StartingVm> expected;  ///< VMs that were told where to start, oldest first
  /// What `reserve` and Pool::promised include for VMs that do not exist yet.
  std::vector<Reservation> reservations;
  bool operator==(const AdmissionState&) const = default;
};

/// When a state was written, and in which boot of the host.
struct AdmissionStamp {
  std::int64_t written_unix_s = 0;
  std::string boot_id;
  bool operator==(const AdmissionStamp&) const = default;
};

struct StampedAdmission {
  AdmissionState state;
  AdmissionStamp stamp;

  /// True if the amounts are still valid: written in this boot, recently and not in the future.
  [[nodiscard]] bool is_fresh(const AdmissionStamp& now) const;
};

[[nodiscard]] std::string to_text(const AdmissionState& state, const AdmissionStamp& stamp);
/// Parses what was written. Error: corrupt, naming the field.
[[nodiscard]] Result<StampedAdmission> parse_admission(std::string_view text);

}  // namespace vmnuma::balancer
