// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TaskBoard::BusyPlace libvirt_at(std::string doing) {
  return {.name = "libvirt",
          .allowed = std::chrono::seconds(10),
          .task = {.doing = std::move(doing), .since = {}}};
}

TEST(SourcesTest, WhatHangsGoesBeforeWhatWasAnsweredAndIsForgottenOnceItIsOver) {
  Sources sources;
  EXPECT_THAT(sources.problem_of("libvirt"), IsEmpty());
  sources.answered("libvirt", "cannot connect");
  EXPECT_EQ(sources.problem_of("libvirt"), "cannot connect");
  EXPECT_THAT(sources.look({libvirt_at("asking")}), ElementsAre("libvirt"));
  EXPECT_THAT(sources.problem_of("libvirt"), HasSubstr("asking takes longer than 10 s"));
  EXPECT_THAT(sources.look({}), ElementsAre("libvirt"));
  EXPECT_EQ(sources.problem_of("libvirt"), "cannot connect");
}

TEST(SourcesTest, AHangIsToldOnceAsItWasSeenFirst) {
  Sources sources;
  EXPECT_THAT(sources.look({libvirt_at("asking")}), ElementsAre("libvirt"));
  EXPECT_THAT(sources.look({libvirt_at("writing a policy")}), IsEmpty());
  EXPECT_THAT(sources.problem_of("libvirt"), HasSubstr("asking"));
}

TEST(SourcesTest, OneSourceSaysNothingOfAnother) {
  Sources sources;
  sources.answered("history", "disk full");
  EXPECT_THAT(sources.look({libvirt_at("asking")}), ElementsAre("libvirt"));
  EXPECT_EQ(sources.problem_of("history"), "disk full");
}

}  // namespace
}  // namespace vmnuma::balancer
