// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/outside_xml.h"

#include <algorithm>
#include <memory>

#include <libvirt/libvirt.h>

#include "balancer/host/cpu_map.h"
#include "balancer/host/errors.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

Result<HostCpus> host_cpus(const Connection& connection) {
  unsigned char* raw = nullptr;
  const int count = virNodeGetCPUMap(connection.get(), &raw, /*online=*/nullptr, /*flags=*/0);
  const std::unique_ptr<unsigned char, FreeMemory> online(raw);
  if (count < 0) {
    return tl::unexpected<Error>(last_libvirt_error("cannot read the host's CPUs"));
  }
  const auto cpus = static_cast<std::size_t>(count);
  return HostCpus{cpus_in(CpuMap(online.get(), online.get() + (cpus + 7) / 8)), cpus};
}

std::vector<CpuId> advised_cpus(const Connection& connection, virDomain* domain) {
  const Result<HostCpus> host = host_cpus(connection);
  if (!host) {
    return {};
  }
  CpuMap map = map_of({}, host->count);
  if (virDomainGetEmulatorPinInfo(domain, map.data(), static_cast<int>(map.size()),
                                  /*flags=*/0) != 1) {
    return {};
  }
  std::vector<CpuId> cpus = cpus_in(map);
  return std::ranges::includes(cpus, host->online) ? std::vector<CpuId>{} : cpus;
}

std::vector<NodeId> allowed_memory_nodes(virDomain* domain) {
  int count = 0;
  if (virDomainGetNumaParameters(domain, nullptr, &count, /*flags=*/0) != 0 || count <= 0) {
    return {};
  }
  std::vector<virTypedParameter> parameters(static_cast<std::size_t>(count));
  if (virDomainGetNumaParameters(domain, parameters.data(), &count, /*flags=*/0) != 0) {
    return {};
  }
  std::vector<NodeId> nodes;
  const char* text = nullptr;
  if (virTypedParamsGetString(parameters.data(), count, VIR_DOMAIN_NUMA_NODESET, &text) == 1) {
    nodes = parse_node_list(text).value_or(std::vector<NodeId>{});
  }
  virTypedParamsClear(parameters.data(), count);
  return nodes;
}

}  // namespace vmnuma::balancer
