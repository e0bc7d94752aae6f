// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/domain_events.h"

#include <array>
#include <utility>

#include <libvirt/libvirt.h>

#include "balancer/host/errors.h"

namespace vmnuma::balancer {
namespace {

using SharedMarks = std::shared_ptr<DirtyDomains>;

void mark(virDomainPtr domain, void* opaque) {
  VmId id;
  if (virDomainGetUUID(domain, id.uuid.data()) == 0) {
    (*static_cast<SharedMarks*>(opaque))->mark(id);
  } else {
    (*static_cast<SharedMarks*>(opaque))->mark_all();  // the event's domain is unknown
  }
}

void free_marks(void* opaque) {
  delete static_cast<SharedMarks*>(opaque);
}

int on_lifecycle(virConnectPtr, virDomainPtr domain, int, int, void* opaque) {
  mark(domain, opaque);
  return 0;
}
void on_tunable(virConnectPtr, virDomainPtr domain, virTypedParameterPtr, int, void* opaque) {
  mark(domain, opaque);
}
void on_metadata(virConnectPtr, virDomainPtr domain, int, const char*, void* opaque) {
  mark(domain, opaque);
}
void on_balloon(virConnectPtr, virDomainPtr domain, unsigned long long, void* opaque) {
  mark(domain, opaque);
}
void on_memory_size(virConnectPtr, virDomainPtr domain, const char*, unsigned long long,
                    void* opaque) {
  mark(domain, opaque);
}
void on_device(virConnectPtr, virDomainPtr domain, const char*, void* opaque) {
  mark(domain, opaque);
}

struct Subscription {
  int event;
  virConnectDomainEventGenericCallback callback;
};

/// A callback to register. libvirt's only registration function takes every callback as a generic
/// one and casts it back.
template <class Callback>
Subscription subscription(int event, Callback callback) {
  return {event, reinterpret_cast<virConnectDomainEventGenericCallback>(
                     reinterpret_cast<void (*)()>(callback))};
}

}  // namespace

Result<std::unique_ptr<DomainEvents>> DomainEvents::subscribe(
    std::shared_ptr<Connection> connection, const std::shared_ptr<DirtyDomains>& dirty) {
  const std::array wanted = {
      subscription(VIR_DOMAIN_EVENT_ID_LIFECYCLE, on_lifecycle),
      subscription(VIR_DOMAIN_EVENT_ID_TUNABLE, on_tunable),
      subscription(VIR_DOMAIN_EVENT_ID_METADATA_CHANGE, on_metadata),
      subscription(VIR_DOMAIN_EVENT_ID_BALLOON_CHANGE, on_balloon),
      subscription(VIR_DOMAIN_EVENT_ID_MEMORY_DEVICE_SIZE_CHANGE, on_memory_size),
      subscription(VIR_DOMAIN_EVENT_ID_DEVICE_ADDED, on_device),
      subscription(VIR_DOMAIN_EVENT_ID_DEVICE_REMOVED, on_device),
  };
  std::unique_ptr<DomainEvents> events(new DomainEvents(std::move(connection)));
  for (const Subscription& one : wanted) {
    auto* opaque = new SharedMarks(dirty);
    const int registration = virConnectDomainEventRegisterAny(
        events->connection_->get(), /*dom=*/nullptr, one.event, one.callback, opaque, free_marks);
    if (registration < 0) {
      free_marks(opaque);
      return tl::unexpected<Error>(last_libvirt_error("cannot subscribe to domain events"));
    }
    events->registrations_.push_back(registration);
  }
  return events;
}

DomainEvents::~DomainEvents() {
  for (const int registration : registrations_) {
    // On a dead connection the server cannot be notified, but the callback is removed anyway.
    (void)virConnectDomainEventDeregisterAny(connection_->get(), registration);
  }
}

}  // namespace vmnuma::balancer
