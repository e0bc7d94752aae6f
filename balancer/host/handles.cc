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

TypedParameters::~TypedParameters() {
  virTypedParamsFree(data_, size_);
}

bool TypedParameters::add_int(const char* name, int value) {
  return virTypedParamsAddInt(&data_, &size_, &capacity_, name, value) == 0;
}

bool TypedParameters::add_string(const char* name, const std::string& value) {
  return virTypedParamsAddString(&data_, &size_, &capacity_, name, value.c_str()) == 0;
}

}  // namespace vmnuma::balancer
