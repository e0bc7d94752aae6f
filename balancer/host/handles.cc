// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/handles.h"

#include <libvirt/libvirt.h>

namespace vmnuma::balancer {

void ConnectionRelease::operator()(_virConnect* connection) const noexcept {
  (void)virConnectClose(connection);  // the number of remaining references is irrelevant
}

void DomainRelease::operator()(_virDomain* domain) const noexcept {
  (void)virDomainFree(domain);  // fails only for a null handle
}

}  // namespace vmnuma::balancer
