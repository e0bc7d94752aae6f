// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/qemu_control.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "balancer/qemu/host_facts.h"
#include "balancer/qemu/pins.h"
#include "balancer/qemu/threads.h"
#include "migration/cpus_to_pin.h"
#include "placement/model/text.h"
#include "stats/files/read_parsed.h"
#include "stats/linux/qemu_process.h"

namespace vmnuma::balancer::qemu {

using migration::DomainRun;

/// Finds the VM, if it is still the intended run.
Result<KnownVm> QemuControl::find(const DomainRun& run) const {
  auto known = known_.find(run.vm);
  if (!known) {
    callbacks_.look();
    known = known_.find(run.vm);
  }
  if (!known || !known->descriptor->runs()) {
    return failure(ErrorCode::kNotFound, "it does not run");
  }
  if (run.domain_id >= 0 && run.domain_id != known->process.pid) {
    return failure(ErrorCode::kVanished,
                   fmt::format("it was started anew: its process is {}, not {}", known->process.pid,
                               run.domain_id));
  }
  return *std::move(known);
}

Result<void> QemuControl::pin(const DomainRun& run, migration::ThreadId thread,
                              const std::vector<CpuId>& cpus) {
  const std::string what = fmt::format("cannot pin {} of VM {} to CPUs {}", thread_text(thread),
                                       to_text(run.vm), to_list(cpus));
  const auto online = read_online_cpus(root_);
  if (!online) {
    return failure(online.error(), what);
  }
  // All CPUs that the kernel has a number for.
  const auto wanted = files::read_parsed(root_, "sys/devices/system/cpu/possible", parse_cpu_list)
                          .and_then([&](const std::vector<CpuId>& possible) {
                            const auto exists = [&](CpuId cpu) {
                              return std::ranges::binary_search(possible, cpu);
                            };
                            return migration::cpus_to_pin(cpus, exists, *online);
                          });
  if (!wanted) {
    return failure(wanted.error(), what);
  }
  const auto vm = find(run);
  if (!vm) {
    return failure(vm.error(), what);
  }
  const auto process = stats::open_qemu_process(root_, vm->process);
  const auto threads = process.and_then([&](const stats::QemuProcess& opened) {
    return read_threads(opened.directory, vm->io_thread_names);
  });
  if (!threads) {
    return failure(ErrorCode::kNotFound, what + ": " + threads.error().message);
  }
  const std::vector<std::int64_t> tids = tids_of(*threads, thread);
  if (tids.empty()) {
    return failure(ErrorCode::kNotFound,
                   fmt::format("{}: there is no {}", what, thread_text(thread)));
  }
  auto pinned = pin_threads(tids, wanted->mask);
  if (!vm->descriptor->runs()) {
    return failure(ErrorCode::kNotFound, what + ": it has ended");
  }
  if (pinned) {
    known_.record_pin(run.vm, vm->process, thread,
                      wanted->effective == *online ? std::vector<CpuId>{} : wanted->effective);
  }
  callbacks_.on_change(run.vm);
  return pinned ? Result<void>() : failure(std::move(pinned).error(), what);
}

Result<void> QemuControl::change_memory_nodes(const DomainRun& run,
                                              const std::vector<NodeId>& nodes,
                                              migration::MemoryNodes /*change*/) {
  const std::string what =
      fmt::format("cannot set the memory nodes of VM {} to {}", to_text(run.vm), to_list(nodes));
  if (nodes.empty()) {
    return failure(ErrorCode::kInvalidArgument, what + ": the node set is empty");
  }
  if (const auto vm = find(run); !vm) {
    return failure(vm.error(), what);
  }
  return failure(
      ErrorCode::kUnsupported,
      what +
          ": memory mode mask is for VMs that libvirt manages; the program that started this "
          "one owns its cgroup");
}

Result<void> QemuControl::set_policy(const VmId& vm, const std::vector<PolicySetting>& settings,
                                     bool persistent) {
  const std::string what = fmt::format("cannot set the policy of VM {}", to_text(vm));
  const auto known = find({vm});
  if (!known) {
    return failure(known.error(), what);
  }
  if (persistent) {
    return failure(ErrorCode::kUnsupported,
                   what +
                       " for its next starts: it has no definition that is libvirt's; write it "
                       "into vmnuma.toml as [vm.\"NAME\"]");
  }
  known_.set_policy(vm, known->process, settings);
  callbacks_.on_change(vm);
  return {};
}

}  // namespace vmnuma::balancer::qemu
