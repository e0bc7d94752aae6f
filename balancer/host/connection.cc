// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/connection.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <libvirt/libvirt.h>

#include "balancer/host/errors.h"

namespace vmnuma::balancer {
namespace {

/// Seconds between keepalive messages, and how many may remain unanswered.
constexpr int kKeepaliveInterval = 5;
constexpr unsigned int kKeepaliveCount = 3;

/// Checks that `uri` may be used; the error is the reason if not.
Result<void> check_uri(std::string_view uri) {
  const std::size_t scheme_end = uri.find("://");
  if (scheme_end == std::string_view::npos) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("'{}' is not a libvirt URI like qemu:///system", uri));
  }
  const std::string_view driver = uri.substr(0, uri.find_first_of("+:"));
  if (driver != "qemu" && driver != "test") {
    return failure(ErrorCode::kUnsupported,
                   fmt::format("libvirt URI '{}': only the qemu driver is supported", uri));
  }
  const std::string_view location = uri.substr(scheme_end + 3);
  if (!location.starts_with('/')) {
    return failure(ErrorCode::kUnsupported,
                   fmt::format("libvirt URI '{}': only this host's own libvirt can be used, a "
                               "remote host's VMs cannot be measured here",
                               uri));
  }
  if (location.substr(0, location.find('?')) == "/session") {
    return failure(ErrorCode::kUnsupported,
                   fmt::format("libvirt URI '{}': session VMs have no cgroups of their own to "
                               "place; use qemu:///system",
                               uri));
  }
  return {};
}

void run_on_closed(virConnectPtr, int /*reason*/, void* opaque) {
  (*static_cast<std::function<void()>*>(opaque))();
}

void free_on_closed(void* opaque) {
  delete static_cast<std::function<void()>*>(opaque);
}

}  // namespace

Result<std::shared_ptr<Connection>> Connection::open(EventLoop& /*loop*/, const std::string& uri,
                                                     Access access,
                                                     std::function<void()> on_closed) {
  VMNUMA_RETURN_IF_ERROR(check_uri(uri));
  ConnectionHandle handle(access == Access::kReadOnly ? virConnectOpenReadOnly(uri.c_str())
                                                      : virConnectOpen(uri.c_str()));
  if (!handle) {
    return tl::unexpected<Error>(last_libvirt_error(fmt::format("cannot connect to '{}'", uri)));
  }
  // The constructor is private, so make_shared cannot be used.
  std::shared_ptr<Connection> connection(new Connection(std::move(handle)));
  virConnectPtr raw = connection->get();

  const char* driver = virConnectGetType(raw);
  if (driver != nullptr && std::string_view(driver) == "TEST") {
    // The test driver runs in this process: there is no other side that could disappear.
    connection->change_flags_ = VIR_DOMAIN_AFFECT_CURRENT;
    return connection;
  }
  connection->change_flags_ = VIR_DOMAIN_AFFECT_LIVE;

  auto* opaque = new std::function<void()>(std::move(on_closed));
  if (virConnectRegisterCloseCallback(raw, run_on_closed, opaque, free_on_closed) < 0) {
    free_on_closed(opaque);
    return tl::unexpected<Error>(
        last_libvirt_error(fmt::format("cannot watch the connection to '{}'", uri)));
  }
  connection->listens_for_close_ = true;
  if (virConnectSetKeepAlive(raw, kKeepaliveInterval, kKeepaliveCount) < 0) {
    return tl::unexpected<Error>(
        last_libvirt_error(fmt::format("cannot keep the connection to '{}' alive", uri)));
  }
  return connection;
}

Connection::~Connection() {
  if (listens_for_close_) {
    // The registration holds a reference of its own: without this the connection would never close.
    (void)virConnectUnregisterCloseCallback(get(), run_on_closed);
  }
}

bool Connection::is_open() const {
  return virConnectIsAlive(get()) == 1;
}

}  // namespace vmnuma::balancer
