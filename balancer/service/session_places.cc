// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/session_places.h"

#include <algorithm>

namespace vmnuma::balancer {

namespace {

template <class Condition>
std::size_t count_of(const std::vector<Place>& taken, const Condition& condition) {
  return static_cast<std::size_t>(std::ranges::count_if(taken, condition));
}

/// Closes, of the sessions that meet the condition, the one that has kept the daemon waiting
/// longest.
template <class Condition>
PlaceFound in_place_of(const std::vector<Place>& taken, const Condition& condition) {
  const Place* longest = nullptr;
  for (const Place& place : taken) {
    if (place.waiting_since && condition(place) &&
        (longest == nullptr || *place.waiting_since < *longest->waiting_since)) {
      longest = &place;
    }
  }
  return longest == nullptr ? PlaceFound{} : PlaceFound{true, longest->session};
}

}  // namespace

PlaceFound find_place(const std::vector<Place>& taken, const Peer& peer) {
  const auto is_of_same_user = [&](const Place& place) { return place.peer.uid == peer.uid; };
  const auto is_administrator = [](const Place& place) { return place.peer.is_administrator; };
  const auto is_ordinary = [](const Place& place) { return !place.peer.is_administrator; };

  if (peer.is_administrator) {
    if (taken.size() < kMostSessions) {
      return {true, {}};
    }
    const PlaceFound found = in_place_of(taken, is_ordinary);
    return found.admitted ? found : in_place_of(taken, is_administrator);
  }
  if (count_of(taken, is_of_same_user) >= kMostOfOneUser) {
    return in_place_of(taken, is_of_same_user);
  }
  if (taken.size() >= kMostSessions ||
      count_of(taken, is_ordinary) >= kMostSessions - kKeptForAdministrators) {
    return in_place_of(taken, is_ordinary);
  }
  return {true, {}};
}

}  // namespace vmnuma::balancer
