// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/errors.h"

#include <cerrno>
#include <string>

#include <gtest/gtest.h>
#include <libvirt/virterror.h>

namespace vmnuma::balancer {
namespace {

Error map(int code, int domain, int int1 = 0) {
  std::string message = "said so";
  virError error{};
  error.code = code;
  error.domain = domain;
  error.int1 = int1;
  error.message = message.data();
  return to_error(error, "cannot do it");
}

TEST(LibvirtErrorsTest, MessageKeepsWhatLibvirtSaidAndItsNumber) {
  EXPECT_EQ(map(VIR_ERR_NO_DOMAIN, VIR_FROM_QEMU).message,
            "cannot do it: said so (libvirt error 42)");
}

TEST(LibvirtErrorsTest, AnErrorWithoutAMessageStillHasOne) {
  const virError error{.code = VIR_ERR_NO_DOMAIN};
  EXPECT_EQ(to_error(error, "cannot do it").message,
            "cannot do it: no reason given (libvirt error 42)");
}

TEST(LibvirtErrorsTest, AMissingDomainIsNotFound) {
  EXPECT_EQ(map(VIR_ERR_NO_DOMAIN, VIR_FROM_QEMU).code, ErrorCode::kNotFound);
}

TEST(LibvirtErrorsTest, WhateverTheConnectionItselfReportsIsUnavailable) {
  EXPECT_EQ(map(VIR_ERR_SYSTEM_ERROR, VIR_FROM_RPC, EPIPE).code, ErrorCode::kUnavailable);
  EXPECT_EQ(map(VIR_ERR_SYSTEM_ERROR, VIR_FROM_RPC, ENOENT).code, ErrorCode::kUnavailable);
  EXPECT_EQ(map(VIR_ERR_INTERNAL_ERROR, VIR_FROM_RPC).code, ErrorCode::kUnavailable);
  EXPECT_EQ(map(VIR_ERR_NO_CONNECT, VIR_FROM_NONE).code, ErrorCode::kUnavailable);
}

TEST(LibvirtErrorsTest, ASocketThatIsClosedToUsIsPermissionDenied) {
  EXPECT_EQ(map(VIR_ERR_SYSTEM_ERROR, VIR_FROM_RPC, EACCES).code, ErrorCode::kPermissionDenied);
}

TEST(LibvirtErrorsTest, RefusedRightsArePermissionDenied) {
  for (const int code : {VIR_ERR_AUTH_FAILED, VIR_ERR_AUTH_CANCELLED, VIR_ERR_AUTH_UNAVAILABLE,
                         VIR_ERR_ACCESS_DENIED, VIR_ERR_OPERATION_DENIED}) {
    EXPECT_EQ(map(code, VIR_FROM_ACCESS).code, ErrorCode::kPermissionDenied) << code;
  }
}

TEST(LibvirtErrorsTest, AStateThatForbidsItIsUnsupported) {
  EXPECT_EQ(map(VIR_ERR_OPERATION_INVALID, VIR_FROM_QEMU).code, ErrorCode::kUnsupported);
  EXPECT_EQ(map(VIR_ERR_NO_SUPPORT, VIR_FROM_NONE).code, ErrorCode::kUnsupported);
}

TEST(LibvirtErrorsTest, TheKernelsRefusalKeepsItsErrno) {
  const Error error = map(VIR_ERR_SYSTEM_ERROR, VIR_FROM_CGROUP, EINVAL);
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.errno_value, EINVAL);
  EXPECT_EQ(map(VIR_ERR_SYSTEM_ERROR, VIR_FROM_CGROUP, ENOSPC).code, ErrorCode::kNoSpace);
  EXPECT_EQ(map(VIR_ERR_SYSTEM_ERROR, VIR_FROM_CGROUP, EBUSY).code, ErrorCode::kBusy);
  EXPECT_EQ(map(VIR_ERR_SYSTEM_ERROR, VIR_FROM_CGROUP, ESRCH).code, ErrorCode::kVanished);
  EXPECT_EQ(map(VIR_ERR_SYSTEM_ERROR, VIR_FROM_CGROUP, EIO).code, ErrorCode::kIo);
}

TEST(LibvirtErrorsTest, ALockedDomainIsBusy) {
  EXPECT_EQ(map(VIR_ERR_OPERATION_TIMEOUT, VIR_FROM_QEMU).code, ErrorCode::kBusy);
}

TEST(LibvirtErrorsTest, AnythingElseIsIo) {
  EXPECT_EQ(map(VIR_ERR_INTERNAL_ERROR, VIR_FROM_QEMU).code, ErrorCode::kIo);
  EXPECT_EQ(map(9999, VIR_FROM_QEMU).code, ErrorCode::kIo);
}

}  // namespace
}  // namespace vmnuma::balancer
