// SPDX-License-Identifier: Apache-2.0
/// Decides who gets a place at the control socket, and who has to give up theirs.
///
/// Problem: places are few, so that clients cannot make the daemon grow, and any member of a group
/// may take one. A user with many places must not lock out the others, least of all root. Approach:
/// no user has more than kMostOfOneUser, and kKeptForAdministrators are reserved for
/// administrators. If no place is left for a newcomer, the session that has kept the daemon waiting
/// longest is closed. Terms: *administrator* - root, and the daemon's own user.
/// Properties:
///  1. There are never more than kMostSessions.
///  2. A session that waits for the daemon's answer is not closed for another one.
///  3. Whatever others do, administrators find a place unless they are waiting for as many answers
///     as there are places kept for them.
///  4. A user whose places are all in use can only displace their own sessions.
///  5. Only an administrator can displace an administrator's session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace vmnuma::balancer {

inline constexpr std::size_t kMostSessions = 64;
inline constexpr std::size_t kMostOfOneUser = 16;
inline constexpr std::size_t kKeptForAdministrators = 8;

/// The user at the other end of a session.
struct Peer {
  std::uint32_t uid = 0;
  bool is_administrator = false;
  bool operator==(const Peer&) const = default;
};

/// An occupied place.
struct Place {
  std::int64_t session = 0;
  Peer peer;
  /// The time since which the client has kept the daemon waiting, in the daemon's count of turns;
  /// nothing while the client waits for the daemon.
  std::optional<std::int64_t> waiting_since;
};

struct PlaceFound {
  bool admitted = false;
  std::optional<std::int64_t> closes;  ///< the session that must be closed first
};

/// Finds a place for one more session of `peer`.
[[nodiscard]] PlaceFound find_place(const std::vector<Place>& taken, const Peer& peer);

}  // namespace vmnuma::balancer
