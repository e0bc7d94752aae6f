// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/libvirt_control.h"

#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "balancer/host/cpu_map.h"
#include "balancer/host/domain_policy.h"
#include "balancer/host/domain_xml.h"
#include "balancer/host/errors.h"
#include "balancer/host/handles.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {
namespace {

using migration::DomainRun;
using placement::CpuId;
using placement::NodeId;
using placement::NumatuneMode;
using placement::VmId;

struct FreeBytes {
  void operator()(void* bytes) const noexcept { std::free(bytes); }
};

/// `cpus` as a map of the host's size, which is queried each time: CPUs come and go.
Result<CpuMap> cpu_map(const Connection& connection, const std::vector<CpuId>& cpus) {
  unsigned char* raw = nullptr;
  const int count = virNodeGetCPUMap(connection.get(), &raw, /*online=*/nullptr, /*flags=*/0);
  const std::unique_ptr<unsigned char, FreeBytes> online(raw);
  if (count < 0) {
    return tl::unexpected<Error>(last_libvirt_error("cannot read the host's CPUs"));
  }
  const std::size_t bytes = (static_cast<std::size_t>(count) + 7) / 8;
  return make_cpu_map(cpus, CpuMap(online.get(), online.get() + bytes));
}

Result<DomainHandle> find(const Connection& connection, const VmId& vm) {
  DomainHandle domain(virDomainLookupByUUID(connection.get(), vm.uuid.data()));
  if (!domain) {
    return tl::unexpected<Error>(
        last_libvirt_error(fmt::format("no VM {}", placement::to_text(vm))));
  }
  return domain;
}

/// libvirt's id of the running domain at the time of its look-up; negative: it does not run.
std::int32_t id_of(const DomainHandle& domain) {
  return static_cast<std::int32_t>(virDomainGetID(domain.get()));
}

/// The running domain if it is still the intended run.
Result<DomainHandle> find(const Connection& connection, const DomainRun& run) {
  auto domain = find(connection, run.vm);
  if (!domain || run.domain_id < 0) {
    return domain;
  }
  const std::int32_t id = id_of(*domain);
  if (id < 0) {
    return failure(ErrorCode::kNotFound,
                   fmt::format("VM {} does not run", placement::to_text(run.vm)));
  }
  if (id != run.domain_id) {
    return failure(
        ErrorCode::kVanished,
        fmt::format("it was started anew: its domain id is {}, not {}", id, run.domain_id));
  }
  return domain;
}

/// After a change: checks that the intended run was changed.
Result<void> check_still_there(const Connection& connection, const DomainRun& run,
                               const std::string& what) {
  const auto domain = find(connection, run);
  if (!domain && domain.error().code == ErrorCode::kVanished) {
    return failure(ErrorCode::kVanished,
                   fmt::format("{}: {}; that was during the call, so the new run may have been "
                               "changed",
                               what, domain.error().message));
  }
  return {};  // an end is detected by the next call
}

/// The error of the call on `domain` that just failed.
Error refusal(const DomainHandle& domain, const std::string& what) {
  Error error = last_libvirt_error(what);
  // libvirt has one number for "not running" and for "never possible in this state".
  if (error.code == ErrorCode::kUnsupported && virDomainIsActive(domain.get()) == 0) {
    error.code = ErrorCode::kNotFound;
  }
  return error;
}

/// Looks the domain up, makes the map, and lets `call` pin with it.
Result<void> pin(const Connection& connection, const DomainRun& run, const std::string& thread,
                 const std::vector<CpuId>& cpus,
                 const std::function<int(virDomainPtr, CpuMap&)>& call) {
  const std::string what = fmt::format("cannot pin {} of VM {} to CPUs {}", thread,
                                       placement::to_text(run.vm), placement::to_list(cpus));
  auto map = cpu_map(connection, cpus);
  if (!map) {
    return failure(std::move(map).error(), what);
  }
  const auto domain = find(connection, run);
  if (!domain) {
    return failure(domain.error(), what);
  }
  if (call(domain->get(), *map) == 0) {
    return check_still_there(connection, run, what);
  }
  Error error = refusal(*domain, what);
  // The set was validated above, so an invalid argument in libvirt's terms is the thread's number.
  if (error.code == ErrorCode::kInvalidArgument && error.errno_value == 0) {
    error.code = ErrorCode::kNotFound;
  }
  return tl::unexpected<Error>(std::move(error));
}

Result<void> no_such_thread(const VmId& vm, const std::string& thread) {
  return failure(ErrorCode::kNotFound,
                 fmt::format("VM {} has no {}", placement::to_text(vm), thread));
}

int length_of(const CpuMap& map) {
  return static_cast<int>(map.size());
}

/// Refuses VMs with memory that libvirt bound at their start. libvirt 9.0 itself overlooks those
/// with <memnode> alone.
Result<void> check_memory_is_free(const DomainHandle& domain) {
  const std::unique_ptr<char, FreeBytes> xml(virDomainGetXMLDesc(domain.get(), /*flags=*/0));
  if (!xml) {
    return tl::unexpected<Error>(refusal(domain, "cannot read its definition"));
  }
  const auto vm = parse_domain_xml(xml.get(), /*default_huge_page_size=*/{});
  if (!vm) {
    return tl::unexpected<Error>(vm.error());
  }
  if (vm->numatune != NumatuneMode::kNone && vm->numatune != NumatuneMode::kRestrictive) {
    return failure(
        ErrorCode::kUnsupported,
        fmt::format("'{}' was started with a <numatune> that binds its memory for good", vm->name));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<Connection>> LibvirtControl::connected() {
  const std::lock_guard lock(mutex_);
  if (connection_ == nullptr || !connection_->is_open()) {
    connection_.reset();
    auto connection = Connection::open(loop_, uri_, Access::kReadWrite, /*on_closed=*/[] {});
    if (!connection) {
      return connection;
    }
    connection_ = std::move(*connection);
  }
  return connection_;
}

Result<void> LibvirtControl::pin_vcpu(const DomainRun& run, std::int32_t vcpu,
                                      const std::vector<CpuId>& cpus) {
  const std::string thread = fmt::format("vCPU {}", vcpu);
  if (vcpu < 0) {
    return no_such_thread(run.vm, thread);
  }
  const auto connection = connected();
  if (!connection) {
    return tl::unexpected<Error>(connection.error());
  }
  return pin(**connection, run, thread, cpus, [&](virDomainPtr domain, CpuMap& map) {
    return virDomainPinVcpuFlags(domain, static_cast<unsigned int>(vcpu), map.data(),
                                 length_of(map), (*connection)->change_flags());
  });
}

Result<void> LibvirtControl::pin_emulator(const DomainRun& run, const std::vector<CpuId>& cpus) {
  const auto connection = connected();
  if (!connection) {
    return tl::unexpected<Error>(connection.error());
  }
  return pin(**connection, run, "the emulator", cpus, [&](virDomainPtr domain, CpuMap& map) {
    return virDomainPinEmulator(domain, map.data(), length_of(map), (*connection)->change_flags());
  });
}

Result<void> LibvirtControl::pin_io_thread(const DomainRun& run, std::int32_t io_thread,
                                           const std::vector<CpuId>& cpus) {
  const std::string thread = fmt::format("I/O thread {}", io_thread);
  if (io_thread < 0) {
    return no_such_thread(run.vm, thread);
  }
  const auto connection = connected();
  if (!connection) {
    return tl::unexpected<Error>(connection.error());
  }
  return pin(**connection, run, thread, cpus, [&](virDomainPtr domain, CpuMap& map) {
    return virDomainPinIOThread(domain, static_cast<unsigned int>(io_thread), map.data(),
                                length_of(map), (*connection)->change_flags());
  });
}

Result<void> LibvirtControl::set_memory_nodes(const DomainRun& run,
                                              const std::vector<NodeId>& nodes) {
  const std::string what = fmt::format("cannot set the memory nodes of VM {} to {}",
                                       placement::to_text(run.vm), placement::to_list(nodes));
  if (nodes.empty()) {
    return failure(ErrorCode::kInvalidArgument, what + ": the node set is empty");
  }
  const auto connection = connected();
  if (!connection) {
    return tl::unexpected<Error>(connection.error());
  }
  TypedParameters parameters;
  if (!parameters.add_int(VIR_DOMAIN_NUMA_MODE, VIR_DOMAIN_NUMATUNE_MEM_RESTRICTIVE) ||
      !parameters.add_string(VIR_DOMAIN_NUMA_NODESET, placement::to_list(nodes))) {
    return tl::unexpected<Error>(last_libvirt_error(what));
  }
  if (auto free = find(**connection, run).and_then(check_memory_is_free); !free) {
    return failure(std::move(free).error(), what);
  }
  // Again, because reading its definition has taken a while.
  const auto domain = find(**connection, run);
  if (!domain) {
    return failure(domain.error(), what);
  }
  if (virDomainSetNumaParameters(domain->get(), parameters.data(), parameters.size(),
                                 (*connection)->change_flags()) == 0) {
    return check_still_there(**connection, run, what);
  }
  // Numatune was validated above, so the unsupported configuration is a node that does not exist
  // (virNumaNodesetIsAvailable, util/virnuma.c, 9.0).
  const bool no_such_node = virGetLastErrorCode() == VIR_ERR_CONFIG_UNSUPPORTED;
  Error error = refusal(*domain, what);
  if (no_such_node) {
    error.code = ErrorCode::kInvalidArgument;
  }
  return tl::unexpected<Error>(std::move(error));
}

Result<void> LibvirtControl::set_policy(const VmId& vm,
                                        const std::vector<placement::PolicySetting>& settings,
                                        bool persistent) {
  const std::string what =
      fmt::format("cannot write the policy of VM {} into its metadata", placement::to_text(vm));
  const auto connection = connected();
  if (!connection) {
    return tl::unexpected<Error>(connection.error());
  }
  const auto domain = find(**connection, vm);
  if (!domain) {
    return failure(domain.error(), what);
  }
  // Otherwise a definition that does not run would be changed, although it was to be left alone.
  if (virDomainIsActive(domain->get()) == 0) {
    return failure(ErrorCode::kNotFound, what + ": it does not run");
  }
  if (persistent && virDomainIsPersistent(domain->get()) == 0) {
    return failure(ErrorCode::kUnsupported,
                   what + ": it is transient, so there is no definition to keep the policy");
  }
  const std::string element = policy_element(settings);
  unsigned int flags = VIR_DOMAIN_AFFECT_LIVE;
  if (persistent) {
    flags |= VIR_DOMAIN_AFFECT_CONFIG;
  }
  // Removal needs no text; libvirt accepts it even if there is nothing to remove.
  if (virDomainSetMetadata(domain->get(), VIR_DOMAIN_METADATA_ELEMENT,
                           settings.empty() ? nullptr : element.c_str(), kPolicyPrefix,
                           kPolicyNamespace, flags) == 0) {
    return {};
  }
  return tl::unexpected<Error>(refusal(*domain, what));
}

}  // namespace vmnuma::balancer
