// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/libvirt_control.h"

#include <algorithm>
#include <cerrno>
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
#include "balancer/host/outside_xml.h"
#include "migration/cpus_to_pin.h"
#include "placement/base/sorted.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {
namespace {

using migration::DomainRun;
using migration::MemoryNodes;
using migration::ThreadId;

/// A list of named values.
struct TypedParameters {
  TypedParameters() = default;
  TypedParameters(const TypedParameters&) = delete;
  TypedParameters& operator=(const TypedParameters&) = delete;
  ~TypedParameters() { virTypedParamsFree(data, size); }
  virTypedParameterPtr data = nullptr;
  int size = 0;
  int capacity = 0;
};

Result<DomainHandle> find(const Connection& connection, const VmId& vm) {
  DomainHandle domain(virDomainLookupByUUID(connection.get(), vm.uuid.data()));
  if (!domain) {
    return tl::unexpected<Error>(last_libvirt_error(fmt::format("no VM {}", to_text(vm))));
  }
  return domain;
}

/// libvirt's id of the running domain at the time of its look-up; negative if it does not run.
std::int32_t id_of(const DomainHandle& domain) {
  return static_cast<std::int32_t>(virDomainGetID(domain.get()));
}

/// Finds the running domain, if it is still the intended run.
Result<DomainHandle> find(const Connection& connection, const DomainRun& run) {
  auto domain = find(connection, run.vm);
  if (!domain || run.domain_id < 0) {
    return domain;
  }
  const std::int32_t id = id_of(*domain);
  if (id < 0) {
    return failure(ErrorCode::kNotFound, fmt::format("VM {} does not run", to_text(run.vm)));
  }
  if (id != run.domain_id) {
    return failure(
        ErrorCode::kVanished,
        fmt::format("it was started anew: its domain id is {}, not {}", id, run.domain_id));
  }
  return domain;
}

/// Checks after a change that it was the intended run that was changed.
Result<void> check_still_there(const Connection& connection, const DomainRun& run,
                               const std::string& what) {
  const auto domain = find(connection, run);
  if (!domain && domain.error().code == ErrorCode::kVanished) {
    return failure(ErrorCode::kVanished,
                   fmt::format("{}: {}; that was during the call, so the new run may have been "
                               "changed",
                               what, domain.error().message));
  }
  return {};  // if it has ended, the next call detects that
}

/// The error of the call on `domain` that just failed.
Error refusal(const DomainHandle& domain, const std::string& what) {
  Error error = last_libvirt_error(what);
  // libvirt uses one error number for "not running" and for "never possible in this state".
  if (error.code == ErrorCode::kUnsupported && virDomainIsActive(domain.get()) == 0) {
    error.code = ErrorCode::kNotFound;
  }
  return error;
}

/// Has libvirt pin the thread; negative if that failed.
int call_pin(virDomainPtr domain, ThreadId thread, CpuMap& map, unsigned int flags) {
  const auto number = static_cast<unsigned int>(thread.number);
  const auto length = static_cast<int>(map.size());
  switch (thread.kind) {
    case ThreadId::Kind::kVcpu:
      return virDomainPinVcpuFlags(domain, number, map.data(), length, flags);
    case ThreadId::Kind::kEmulator:
      return virDomainPinEmulator(domain, map.data(), length, flags);
    case ThreadId::Kind::kIoThread:
      return virDomainPinIOThread(domain, number, map.data(), length, flags);
  }
  return -1;
}

/// Looks the domain up, and pins the thread with this map, which is valid.
Result<void> pin_once(const Connection& connection, const DomainRun& run, ThreadId thread,
                      const std::string& what, CpuMap map) {
  const auto domain = find(connection, run);
  if (!domain) {
    return failure(domain.error(), what);
  }
  if (call_pin(domain->get(), thread, map, connection.change_flags()) == 0) {
    return check_still_there(connection, run, what);
  }
  Error error = refusal(*domain, what);
  // The set is valid, so what libvirt calls an invalid argument is the thread's number.
  if (error.code == ErrorCode::kInvalidArgument && error.errno_value == 0) {
    error.code = ErrorCode::kNotFound;
  }
  return tl::unexpected<Error>(std::move(error));
}

/// Describes the running VM. Refuses VMs whose memory libvirt bound at their start. libvirt 9.0
/// itself overlooks those with <memnode> alone.
Result<VmDescription> describe_with_free_memory(const DomainHandle& domain) {
  const LibvirtText xml(virDomainGetXMLDesc(domain.get(), /*flags=*/0));
  if (!xml) {
    return tl::unexpected<Error>(refusal(domain, "cannot read its definition"));
  }
  auto vm = parse_domain_xml(xml.get(), /*default_huge_page_size=*/{});
  if (vm && vm->numatune != NumatuneMode::kNone && vm->numatune != NumatuneMode::kRestrictive) {
    return failure(
        ErrorCode::kUnsupported,
        fmt::format("'{}' was started with a <numatune> that binds its memory permanently",
                    vm->name));
  }
  return vm;
}

/// The union of `nodes` and those that the VM's memory may use now; none if it may use all.
Result<std::vector<NodeId>> widened(std::vector<NodeId> nodes, const DomainHandle& domain,
                                    const VmDescription& vm) {
  if (vm.numatune == NumatuneMode::kNone) {
    return {};
  }
  const auto now =
      vm.numatune_nodes.empty() ? allowed_memory_nodes(domain.get()) : vm.numatune_nodes;
  if (now.empty()) {
    return failure(ErrorCode::kUnsupported,
                   fmt::format("libvirt does not say which nodes '{}' may use now", vm.name));
  }
  nodes.insert(nodes.end(), now.begin(), now.end());
  return sorted_unique(std::move(nodes));
}

/// True if the job is a backup. libvirt lets changes through while a backup runs, which may take
/// hours (qemuBackupBegin(), qemu/qemu_backup.c, 9.0).
bool is_backup(const DomainHandle& domain) {
  int type = VIR_DOMAIN_JOB_NONE;
  TypedParameters parameters;
  if (virDomainGetJobStats(domain.get(), &type, &parameters.data, &parameters.size, /*flags=*/0) !=
      0) {
    return false;
  }
  int operation = VIR_DOMAIN_JOB_OPERATION_UNKNOWN;
  (void)virTypedParamsGetInt(parameters.data, parameters.size, VIR_DOMAIN_JOB_OPERATION,
                             &operation);
  return operation == VIR_DOMAIN_JOB_OPERATION_BACKUP;
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

Result<void> LibvirtControl::pin(const DomainRun& run, ThreadId thread,
                                 const std::vector<CpuId>& cpus) {
  if (thread.number < 0) {
    return failure(ErrorCode::kNotFound,
                   fmt::format("VM {} has no {}", to_text(run.vm), thread_text(thread)));
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto connection, connected());
  const std::string what = fmt::format("cannot pin {} of VM {} to CPUs {}", thread_text(thread),
                                       to_text(run.vm), to_list(cpus));
  const auto host = host_cpus(*connection);
  const auto wanted = host.and_then([&](const HostCpus& found) {
    const auto exists = [&](CpuId cpu) {
      return cpu.value >= 0 && static_cast<std::size_t>(cpu.value) < found.count;
    };
    return migration::cpus_to_pin(cpus, exists, found.online);
  });
  if (!wanted) {
    return failure(wanted.error(), what);
  }
  auto pinned = pin_once(*connection, run, thread, what, map_of(wanted->mask, host->count));
  // A cpuset of cgroup v1 takes no offline CPU (update_cpumask(), kernel/cgroup/cpuset.c, 6.1).
  if (!pinned && pinned.error().errno_value == EINVAL && wanted->effective != wanted->mask) {
    pinned = pin_once(*connection, run, thread, what, map_of(wanted->effective, host->count));
  }
  return pinned;
}

Result<void> LibvirtControl::change_memory_nodes(const DomainRun& run,
                                                 const std::vector<NodeId>& nodes,
                                                 MemoryNodes change) {
  const std::string what = fmt::format(
      "cannot {} the memory nodes of VM {} {} {}", change == MemoryNodes::kWiden ? "widen" : "set",
      to_text(run.vm), change == MemoryNodes::kWiden ? "by" : "to", to_list(nodes));
  if (nodes.empty()) {
    return failure(ErrorCode::kInvalidArgument, what + ": the node set is empty");
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto connection, connected());
  auto wanted = find(*connection, run).and_then([&](const DomainHandle& domain) {
    return describe_with_free_memory(domain).and_then([&](const VmDescription& vm) {
      return change == MemoryNodes::kWiden ? widened(nodes, domain, vm)
                                           : Result<std::vector<NodeId>>(nodes);
    });
  });
  if (!wanted) {
    return failure(std::move(wanted).error(), what);
  }
  if (wanted->empty()) {
    return {};
  }
  TypedParameters parameters;
  auto& [data, size, capacity] = parameters;
  if (virTypedParamsAddInt(&data, &size, &capacity, VIR_DOMAIN_NUMA_MODE,
                           VIR_DOMAIN_NUMATUNE_MEM_RESTRICTIVE) != 0 ||
      virTypedParamsAddString(&data, &size, &capacity, VIR_DOMAIN_NUMA_NODESET,
                              to_list(*wanted).c_str()) != 0) {
    return tl::unexpected<Error>(last_libvirt_error(what));
  }
  // Looked up again, because reading its definition has taken a while.
  const auto domain = find(*connection, run);
  if (!domain) {
    return failure(domain.error(), what);
  }
  if (virDomainSetNumaParameters(domain->get(), data, size, connection->change_flags()) == 0) {
    return check_still_there(*connection, run, what);
  }
  // Numatune was validated above, so an unsupported configuration means that a node does not exist
  // (virNumaNodesetIsAvailable, util/virnuma.c, 9.0).
  const bool no_such_node = virGetLastErrorCode() == VIR_ERR_CONFIG_UNSUPPORTED;
  Error error = refusal(*domain, what);
  if (no_such_node) {
    error.code = ErrorCode::kInvalidArgument;
  }
  return tl::unexpected<Error>(std::move(error));
}

Result<void> LibvirtControl::check_free(const DomainRun& run) {
  const auto connection = connected();
  const auto domain = connection.and_then(
      [&](const std::shared_ptr<Connection>& open) { return find(*open, run); });
  if (!domain) {
    return {};  // the change itself will report that
  }
  virDomainJobInfo job{};
  const bool answers = virDomainGetJobInfo(domain->get(), &job) == 0;
  // While a VM arrives from another host, libvirt does not answer such a query either
  // (qemuMigrationJobStart(), qemu/qemu_migration.c, 9.0).
  const bool has_job = answers ? job.type != VIR_DOMAIN_JOB_NONE && !is_backup(*domain)
                               : last_libvirt_error("").code == ErrorCode::kBusy;
  return has_job ? failure(ErrorCode::kBusy, "a libvirt job is under way") : Result<void>();
}

Result<void> LibvirtControl::set_policy(const VmId& vm, const std::vector<PolicySetting>& settings,
                                        bool persistent) {
  const std::string what =
      fmt::format("cannot write the policy of VM {} into its metadata", to_text(vm));
  VMNUMA_ASSIGN_OR_RETURN(const auto connection, connected());
  const auto domain = find(*connection, vm);
  if (!domain) {
    return failure(domain.error(), what);
  }
  // Otherwise the definition of a VM that does not run would be changed, although it must not be.
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
