// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/errors.h"

#include <cerrno>
#include <string>

#include <fmt/format.h>
#include <libvirt/virterror.h>

namespace vmnuma::balancer {
namespace {

ErrorCode code_of_errno(int errno_value) {
  switch (errno_value) {
    case EACCES:
    case EPERM:
      return ErrorCode::kPermissionDenied;
    case EINVAL:
    case ERANGE:
      return ErrorCode::kInvalidArgument;
    case ESRCH:
      return ErrorCode::kVanished;
    case EAGAIN:
    case EBUSY:
      return ErrorCode::kBusy;
    case ENOSPC:
    case ENOMEM:
      return ErrorCode::kNoSpace;
    default:
      return ErrorCode::kIo;
  }
}

ErrorCode code_of_driver_error(const virError& error) {
  switch (error.code) {
    case VIR_ERR_NO_DOMAIN:
    case VIR_ERR_NO_DOMAIN_METADATA:
    case VIR_ERR_DEVICE_MISSING:
      return ErrorCode::kNotFound;
    case VIR_ERR_NO_CONNECT:
    case VIR_ERR_INVALID_CONN:
    case VIR_ERR_RPC:
    case VIR_ERR_UNKNOWN_HOST:
      return ErrorCode::kUnavailable;
    case VIR_ERR_AUTH_FAILED:
    case VIR_ERR_AUTH_CANCELLED:
    case VIR_ERR_AUTH_UNAVAILABLE:
    case VIR_ERR_OPERATION_DENIED:
    case VIR_ERR_ACCESS_DENIED:
      return ErrorCode::kPermissionDenied;
    case VIR_ERR_NO_SUPPORT:
    case VIR_ERR_OPERATION_INVALID:
    case VIR_ERR_OPERATION_UNSUPPORTED:
    case VIR_ERR_CONFIG_UNSUPPORTED:
    case VIR_ERR_ARGUMENT_UNSUPPORTED:
      return ErrorCode::kUnsupported;
    case VIR_ERR_OPERATION_TIMEOUT:
    case VIR_ERR_RESOURCE_BUSY:
      return ErrorCode::kBusy;
    case VIR_ERR_INVALID_ARG:
    case VIR_ERR_XML_ERROR:
    case VIR_ERR_XML_DETAIL:
      return ErrorCode::kInvalidArgument;
    case VIR_ERR_SYSTEM_ERROR:
      return code_of_errno(error.int1);
    default:
      return ErrorCode::kIo;
  }
}

ErrorCode code_of(const virError& error) {
  const bool is_system_error = error.code == VIR_ERR_SYSTEM_ERROR;
  if (error.domain == VIR_FROM_RPC) {
    return is_system_error && code_of_errno(error.int1) == ErrorCode::kPermissionDenied
               ? ErrorCode::kPermissionDenied
               : ErrorCode::kUnavailable;
  }
  return code_of_driver_error(error);
}

}  // namespace

Error to_error(const virError& error, std::string_view what) {
  // libvirt puts the errno of a system error into int1 (virReportSystemErrorFull,
  // util/virerror.c, 9.0).
  return Error{
      code_of(error), error.code == VIR_ERR_SYSTEM_ERROR ? error.int1 : 0,
      fmt::format("{}: {} (libvirt error {})", what,
                  error.message != nullptr ? error.message : "no reason given", error.code)};
}

Error last_libvirt_error(std::string_view what) {
  const virErrorPtr error = virGetLastError();
  if (error == nullptr) {
    return Error{ErrorCode::kIo, 0, fmt::format("{}: libvirt gave no reason", what)};
  }
  return to_error(*error, what);
}

}  // namespace vmnuma::balancer
