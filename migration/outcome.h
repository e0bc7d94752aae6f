// SPDX-License-Identifier: Apache-2.0
/// What happened to a VM's memory, as reported by the kernel.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "placement/base/names.h"
#include "placement/model/amounts.h"

namespace vmnuma::migration {

/// Why a page that should have moved did not.
enum class Leftover {
  kBusy,    ///< in use by the kernel at each of several tries
  kPinned,  ///< could not be moved at any of several tries: held by a device, or never out of use
  kShared,  ///< mapped by other processes as well, for example merged with another VM's page
  kNoRoom,  ///< the target has no memory above its reserve, or its huge page pool is empty
  kNotAllowed,  ///< the VM's cpuset does not allow the target
  kNoNode,      ///< the target does not exist or has no memory
  kPolicy,      ///< the mapping has an explicit memory policy
  kUnseen,      ///< not present when queried: it arrived, or was hidden, in the meantime
};
[[nodiscard]] constexpr auto names(Leftover) {
  return names_in_order<Leftover>("busy", "pinned", "shared", "no-room", "not-allowed", "no-node",
                                  "policy", "unseen");
}
inline constexpr std::size_t kLeftoverCount = kValuesOf<Leftover>.size();

struct Outcome {
  Bytes moved;
  Bytes already_home;  ///< found where it belongs
  Bytes absent;        ///< given back by the guest between survey and move
  std::array<Bytes, kLeftoverCount> left_by_reason{};  ///< indexed by Leftover
  Bytes left;                    ///< elsewhere at the end, whether or not the reason is known
  std::int64_t calls = 0;        ///< page migration calls
  std::int64_t stalls = 0;       ///< of these, those that took longer than the target
  std::int64_t long_stalls = 0;  ///< of these, those that took longer than twice the target
  Microseconds longest;          ///< of the calls
  bool operator==(const Outcome&) const = default;

  [[nodiscard]] Bytes& left_because(Leftover reason) {
    return left_by_reason[static_cast<std::size_t>(reason)];
  }
  [[nodiscard]] Bytes left_because(Leftover reason) const {
    return left_by_reason[static_cast<std::size_t>(reason)];
  }
  /// Everything that could not be moved, whatever the reason.
  [[nodiscard]] Bytes unmovable() const;
  Outcome& operator+=(const Outcome& other);
};

/// "moved 1.9 GiB, left 12.0 MiB (8.0 MiB shared, 4.0 MiB pinned); 396 calls, the longest 6.2 ms, 1
/// above twice the target".
[[nodiscard]] std::string describe(const Outcome& outcome);

/// "1.9 GiB"; whole numbers below 1 KiB.
[[nodiscard]] std::string to_text(Bytes bytes);

}  // namespace vmnuma::migration
