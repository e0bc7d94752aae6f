// SPDX-License-Identifier: Apache-2.0
#include "balancer/inventory/dirty_domains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr VmId kA{{1}};
constexpr VmId kB{{2}};

TEST(DirtyDomainsTest, TakeHandsOverAllMarksOnce) {
  DirtyDomains dirty([] {});
  dirty.mark(kB);
  dirty.mark(kA);
  dirty.mark(kB);

  const DirtyDomains::Marks marks = dirty.take();

  EXPECT_FALSE(marks.all);
  EXPECT_THAT(marks.domains, ElementsAre(kA, kB));
  EXPECT_THAT(dirty.take().domains, IsEmpty());
}

TEST(DirtyDomainsTest, MarkAllIsRememberedTogetherWithSingleMarks) {
  DirtyDomains dirty([] {});
  dirty.mark_all();
  dirty.mark(kA);
  const DirtyDomains::Marks marks = dirty.take();
  EXPECT_TRUE(marks.all);
  EXPECT_THAT(marks.domains, ElementsAre(kA));
  EXPECT_FALSE(dirty.take().all);
}

TEST(DirtyDomainsTest, AnnouncesABatchOnce) {
  int calls = 0;
  DirtyDomains dirty([&] { ++calls; });
  dirty.mark(kA);
  dirty.mark(kB);
  dirty.mark_all();
  EXPECT_EQ(calls, 1);

  (void)dirty.take();
  EXPECT_EQ(calls, 1);
  dirty.mark(kA);
  EXPECT_EQ(calls, 2);
}

TEST(DirtyDomainsTest, MarksPutBackAreTakenAgainWithoutAnAnnouncement) {
  int calls = 0;
  DirtyDomains dirty([&] { ++calls; });
  dirty.put_back({.all = true, .domains = {kA}});
  EXPECT_EQ(calls, 0);
  const DirtyDomains::Marks marks = dirty.take();
  EXPECT_TRUE(marks.all);
  EXPECT_THAT(marks.domains, ElementsAre(kA));
}

TEST(DirtyDomainsTest, ANewMarkIsAnnouncedAlthoughOthersWerePutBack) {
  int calls = 0;
  DirtyDomains dirty([&] { ++calls; });
  dirty.put_back({.all = false, .domains = {kA}});
  dirty.mark(kB);
  EXPECT_EQ(calls, 1);
}

TEST(DirtyDomainsTest, TheCallbackMayMarkAgain) {
  DirtyDomains* self = nullptr;
  int calls = 0;
  DirtyDomains dirty([&] {
    ++calls;
    self->mark(kB);
  });
  self = &dirty;
  dirty.mark(kA);
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(dirty.take().domains, ElementsAre(kA, kB));
}

TEST(DirtyDomainsTest, IsSilentOnceMuted) {
  int calls = 0;
  DirtyDomains dirty([&] { ++calls; });
  dirty.mute();
  dirty.mark(kA);
  dirty.mark_all();
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace vmnuma::balancer
