// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/connection.h"

#include <csignal>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "balancer/host/event_loop.h"
#include "balancer/host/handles.h"

namespace vmnuma::balancer {
namespace {

using testing::HasSubstr;

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() : loop_(std::move(*EventLoop::start())) {}

  Error error_of(const std::string& uri) {
    auto connection = Connection::open(*loop_, uri, Access::kReadOnly, /*on_closed=*/[] {});
    EXPECT_FALSE(connection.has_value()) << uri;
    return connection ? Error{} : std::move(connection).error();
  }

  std::unique_ptr<EventLoop> loop_;
};

TEST_F(ConnectionTest, OpensTheTestDriverWhichTakesNoLiveFlag) {
  const auto connection =
      Connection::open(*loop_, "test:///default", Access::kReadOnly, /*on_closed=*/[] {});
  ASSERT_TRUE(connection.has_value()) << connection.error().message;
  EXPECT_TRUE((*connection)->is_open());
  EXPECT_EQ((*connection)->change_flags(), unsigned{VIR_DOMAIN_AFFECT_CURRENT});
}

TEST_F(ConnectionTest, WhatOnlyLooksCannotChangeADomain) {
  const auto connection = Connection::open(*loop_, "test:///default", Access::kReadOnly,
                                           /*on_closed=*/[] {});
  ASSERT_TRUE(connection.has_value());
  const DomainHandle domain(virDomainLookupByName((*connection)->get(), "test"));
  ASSERT_TRUE(domain);
  unsigned char cpu_0 = 1;
  EXPECT_EQ(virDomainPinVcpuFlags(domain.get(), 0, &cpu_0, 1, (*connection)->change_flags()), -1);
  EXPECT_EQ(virGetLastErrorCode(), VIR_ERR_OPERATION_DENIED);
}

TEST_F(ConnectionTest, RefusesASessionAndSaysWhatToUse) {
  for (const char* uri : {"qemu:///session", "qemu+unix:///session", "qemu:///session?socket=/x"}) {
    const Error error = error_of(uri);
    EXPECT_EQ(error.code, ErrorCode::kUnsupported) << uri;
    EXPECT_THAT(error.message, HasSubstr("qemu:///system")) << uri;
  }
}

TEST_F(ConnectionTest, RefusesAnotherHost) {
  const Error error = error_of("qemu+ssh://elsewhere/system");
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_THAT(error.message, HasSubstr("own libvirt"));
}

TEST_F(ConnectionTest, RefusesAnotherHypervisor) {
  EXPECT_EQ(error_of("lxc:///system").code, ErrorCode::kUnsupported);
}

TEST_F(ConnectionTest, RefusesWhatIsNotAUri) {
  EXPECT_EQ(error_of("").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of("qemu").code, ErrorCode::kInvalidArgument);
}

TEST_F(ConnectionTest, ADaemonThatDoesNotRunIsUnavailable) {
  for (const std::string uri :
       {"qemu:///system?socket=/nonexistent/libvirt-sock",
        "qemu+unix:///system?mode=direct&socket=/nonexistent/virtqemud-sock"}) {
    const Error error = error_of(uri);
    EXPECT_EQ(error.code, ErrorCode::kUnavailable) << error.message;
    EXPECT_THAT(error.message, HasSubstr("'" + uri + "'"));
  }
}

TEST_F(ConnectionTest, NothingIsPrintedOnAFailure) {
  testing::internal::CaptureStderr();
  (void)error_of("qemu:///system?socket=/nonexistent/libvirt-sock");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(EventLoopTest, StartsAgainAfterItEnded) {
  for (int i = 0; i < 3; ++i) {
    const auto loop = EventLoop::start();
    ASSERT_TRUE(loop.has_value()) << loop.error().message;
    EXPECT_TRUE(Connection::open(**loop, "test:///default", Access::kReadOnly, /*on_closed=*/[] {
                }).has_value());
  }
}

TEST(EventLoopTest, LeavesTheSignalMaskOfItsCreatorAlone) {
  sigset_t before;
  sigset_t after;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
  const auto loop = EventLoop::start();
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &after), 0);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) {
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  }
}

}  // namespace
}  // namespace vmnuma::balancer
