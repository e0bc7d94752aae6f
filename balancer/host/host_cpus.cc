// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/host_cpus.h"

#include <cstddef>
#include <cstdlib>
#include <memory>

#include <libvirt/libvirt.h>

#include "balancer/host/errors.h"

namespace vmnuma::balancer {

namespace {

struct FreeMap {
  void operator()(void* bytes) const noexcept { std::free(bytes); }
};

}  // namespace

Result<HostCpus> host_cpus(const Connection& connection) {
  unsigned char* raw = nullptr;
  const int count = virNodeGetCPUMap(connection.get(), &raw, /*online=*/nullptr, /*flags=*/0);
  const std::unique_ptr<unsigned char, FreeMap> online(raw);
  if (count < 0) {
    return tl::unexpected<Error>(last_libvirt_error("cannot read the host's CPUs"));
  }
  const auto cpus = static_cast<std::size_t>(count);
  return HostCpus{CpuMap(online.get(), online.get() + (cpus + 7) / 8), cpus};
}

std::vector<CpuId> advised_cpus(const Connection& connection, virDomain* domain) {
  const Result<HostCpus> host = host_cpus(connection);
  if (!host) {
    return {};
  }
  CpuMap map(host->online.size());
  if (virDomainGetEmulatorPinInfo(domain, map.data(), static_cast<int>(map.size()),
                                  /*flags=*/0) != 1 ||
      online_part(map, host->online) == host->online) {
    return {};
  }
  return cpus_in(map);
}

}  // namespace vmnuma::balancer
