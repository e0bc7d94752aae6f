// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/session_places.h"

#include <gtest/gtest.h>

namespace vmnuma::tests {
namespace {

using balancer::find_place;
using balancer::kKeptForAdministrators;
using balancer::kMostOfOneUser;
using balancer::kMostSessions;
using balancer::Peer;
using balancer::Place;
using balancer::PlaceFound;

constexpr Peer kRoot{0, true};

constexpr Peer member(std::uint32_t number) {
  return {1000 + number, false};
}

/// Sessions 1, 2, ... in the order in which they came; each either waits for the daemon or has kept
/// it waiting since.
class Places {
 public:
  void add(std::size_t count, const Peer& peer, bool waits_for_daemon) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = static_cast<std::int64_t>(taken_.size()) + 1;
      taken_.push_back(
          {number, peer, waits_for_daemon ? std::nullopt : std::optional(number * 10)});
    }
  }
  [[nodiscard]] PlaceFound find(const Peer& peer) const { return find_place(taken_, peer); }

 private:
  std::vector<Place> taken_;
};

void expect_closes(const PlaceFound& found, std::int64_t session) {
  EXPECT_TRUE(found.admitted);
  EXPECT_EQ(found.closes, session);
}

TEST(SessionPlacesTest, NoSessionIsClosedWhileThereAreFreePlaces) {
  Places places;
  places.add(kMostOfOneUser - 1, member(1), /*waits_for_daemon=*/false);
  const PlaceFound found = places.find(member(1));
  EXPECT_TRUE(found.admitted);
  EXPECT_FALSE(found.closes);
}

TEST(SessionPlacesTest, AUserWithAllTheirPlacesTakesOneFromThemselves) {
  Places places;
  places.add(1, member(2), /*waits_for_daemon=*/false);  // longer idle, but another user's
  places.add(kMostOfOneUser, member(1), /*waits_for_daemon=*/false);
  expect_closes(places.find(member(1)), 2);
}

TEST(SessionPlacesTest, AUserWhoWaitsForAllTheirAnswersGetsNoOtherPlace) {
  Places places;
  places.add(1, member(2), /*waits_for_daemon=*/false);
  places.add(kMostOfOneUser, member(1), /*waits_for_daemon=*/true);
  EXPECT_FALSE(places.find(member(1)).admitted);
  EXPECT_TRUE(places.find(member(2)).admitted);
  EXPECT_TRUE(places.find(member(3)).admitted);
}

TEST(SessionPlacesTest, PlacesKeptForAdministratorsAreGivenToNoOtherUser) {
  Places places;
  for (std::uint32_t user = 1; user <= 14; ++user) {
    places.add(4, member(user), /*waits_for_daemon=*/true);
  }
  static_assert(14 * 4 == kMostSessions - kKeptForAdministrators);
  EXPECT_FALSE(places.find(member(99)).admitted);
  for (std::size_t i = 0; i < kKeptForAdministrators; ++i) {
    const PlaceFound found = places.find(kRoot);
    EXPECT_TRUE(found.admitted);
    EXPECT_FALSE(found.closes);
    places.add(1, kRoot, /*waits_for_daemon=*/true);
  }
  EXPECT_FALSE(places.find(kRoot).admitted);
}

TEST(SessionPlacesTest, AnAdministratorTakesTheLongestIdlePlaceOfAMember) {
  Places places;
  places.add(10, kRoot, /*waits_for_daemon=*/false);
  for (std::uint32_t user = 1; user <= 6; ++user) {
    places.add(9, member(user), user == 1);
  }
  expect_closes(places.find(kRoot), 20);  // the first of member 2, for those of member 1 wait
}

TEST(SessionPlacesTest, WhereMembersWaitAnAdministratorTakesTheirOwnIdlePlace) {
  Places places;
  for (std::uint32_t user = 1; user <= 14; ++user) {
    places.add(4, member(user), /*waits_for_daemon=*/true);
  }
  places.add(kKeptForAdministrators, kRoot, /*waits_for_daemon=*/false);
  expect_closes(places.find(kRoot), 57);
}

TEST(SessionPlacesTest, AMemberNeverTakesThePlaceOfAnAdministrator) {
  Places places;
  places.add(kMostSessions, kRoot, /*waits_for_daemon=*/false);
  EXPECT_FALSE(places.find(member(1)).admitted);
}

}  // namespace
}  // namespace vmnuma::tests
