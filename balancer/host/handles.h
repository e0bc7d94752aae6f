// SPDX-License-Identifier: Apache-2.0
/// libvirt's C handles as move-only C++ types, without libvirt's headers.
///
/// Problem: every libvirt object is reference-counted by hand, and a forgotten release keeps a
/// connection open permanently. Approach: owning types, declared with libvirt's own struct
/// tags, so that only .cc files of this folder include libvirt. Properties: each handle is released
/// exactly once, on any path out of a scope.
#pragma once

#include <cstdlib>
#include <memory>

// The struct tags from libvirt's public headers (libvirt-host.h, libvirt-domain.h, 9.0).
// NOLINTBEGIN(bugprone-reserved-identifier)
struct _virConnect;
struct _virDomain;
// NOLINTEND(bugprone-reserved-identifier)

namespace vmnuma::balancer {

struct ConnectionRelease {
  void operator()(_virConnect* connection) const noexcept;
};
/// One reference to a connection; the last one closes it.
using ConnectionHandle = std::unique_ptr<_virConnect, ConnectionRelease>;

struct DomainRelease {
  void operator()(_virDomain* domain) const noexcept;
};
/// One reference to a domain object. The domain behind it may end at any time.
using DomainHandle = std::unique_ptr<_virDomain, DomainRelease>;

/// Memory that libvirt allocated for us.
struct FreeMemory {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
using LibvirtText = std::unique_ptr<char, FreeMemory>;

}  // namespace vmnuma::balancer
