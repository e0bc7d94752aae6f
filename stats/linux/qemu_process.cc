// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/qemu_process.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "stats/files/read_parsed.h"
#include "stats/formats/cgroup_formats.h"
#include "stats/formats/fields.h"
#include "stats/formats/proc_formats.h"

namespace vmnuma::stats {
namespace {

tl::unexpected<Error> ended(const files::Directory& process) {
  return failure(ErrorCode::kVanished, "the process of '" + process.path() + "' has ended");
}

Result<std::uint64_t> start_time_of(const files::Directory& process) {
  const auto stat = read_parsed(process, "stat", parse_process_stat);
  if (!stat) {  // files of a process that ended do not exist (ENOENT) or return ESRCH
    return stat.error().is_gone() ? ended(process) : tl::unexpected(stat.error());
  }
  if (stat->has_ended()) {
    return ended(process);
  }
  return stat->start_time_ticks;
}

bool is_named_after(std::int32_t vcpu, std::int64_t tid, const files::Directory& tasks) {
  const auto comm = tasks.read(std::to_string(tid) + "/comm");
  return comm && vcpu_of_thread_name(*comm) == vcpu;
}

}  // namespace

Result<QemuProcess> find_qemu_process(const files::Directory& root, const std::string& vm_name,
                                      const VmId& id) {
  if (vm_name.empty() || vm_name.find_first_of(std::string_view("/\0", 2)) != std::string::npos) {
    return failure(ErrorCode::kInvalidArgument,
                   "'" + vm_name + "' cannot be the name of a pid file");
  }
  const std::string pid_file = "run/libvirt/qemu/" + vm_name + ".pid";
  VMNUMA_ASSIGN_OR_RETURN(const auto pid, read_parsed(root, pid_file, parse_pid_file));
  auto directory = root.directory("proc/" + std::to_string(pid));
  if (!directory) {
    return directory.error().is_gone()
               ? failure(ErrorCode::kVanished, "process " + std::to_string(pid) + " named by '" +
                                                   pid_file + "' has ended")
               : tl::unexpected(directory.error());
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto start_time, start_time_of(*directory));
  const auto cmdline = directory->read("cmdline");
  if (!cmdline) {
    return cmdline.error().is_gone() ? ended(*directory) : tl::unexpected(cmdline.error());
  }
  if (!is_command_line_of(id, *cmdline)) {
    return failure(ErrorCode::kCorrupt, "process " + std::to_string(pid) + " named by '" +
                                            pid_file + "' is not the QEMU of this VM");
  }
  return QemuProcess{std::move(*directory), {pid, start_time}};
}

Result<QemuProcess> open_qemu_process(const files::Directory& root, const VmProcess& known) {
  auto directory = root.directory("proc/" + std::to_string(known.pid));
  if (!directory) {
    return directory.error().is_gone()
               ? failure(ErrorCode::kVanished,
                         "process " + std::to_string(known.pid) + " has ended")
               : tl::unexpected(directory.error());
  }
  QemuProcess process{std::move(*directory), known};
  VMNUMA_RETURN_IF_ERROR(check_alive(process));
  return process;
}

bool is_alone_in(const files::Directory& cgroup, const files::Directory& root, std::int64_t pid) {
  constexpr std::array<std::string_view, 3> kHelpers{"swtpm", "virtiofsd", "passt"};
  const auto processes = read_parsed(cgroup, "cgroup.procs", parse_cgroup_threads);
  if (!processes) {
    return false;
  }
  return std::all_of(processes->begin(), processes->end(), [&](const std::int64_t other) {
    if (other == pid) {
      return true;
    }
    const std::string directory = "proc/" + std::to_string(other);
    const auto comm = root.read(directory + "/comm");
    const auto cmdline = root.read(directory + "/cmdline");
    if (!comm || !cmdline) {
      return !comm && comm.error().is_gone();
    }
    return cmdline->empty() ||
           std::any_of(kHelpers.begin(), kHelpers.end(),
                       [&](const std::string_view helper) { return comm->starts_with(helper); });
  });
}

Result<void> check_alive(const QemuProcess& process) {
  VMNUMA_ASSIGN_OR_RETURN(const auto start_time, start_time_of(process.directory));
  if (start_time != process.identity.start_time_ticks) {
    return ended(process.directory);
  }
  return {};
}

Result<std::vector<VcpuThread>> vcpu_threads_by_cgroup(const files::Directory& thread_group,
                                                       const files::Directory& tasks) {
  VMNUMA_ASSIGN_OR_RETURN(const auto names, thread_group.names());
  std::vector<VcpuThread> threads;
  for (const std::string& name : names) {
    const auto vcpu = vcpu_of_cgroup_name(name);
    if (!vcpu) {
      continue;
    }
    auto tids = read_parsed(thread_group, name + "/cgroup.threads", parse_cgroup_threads);
    if (!tids) {
      if (tids.error().is_gone()) {
        continue;
      }
      return tl::unexpected(tids.error());
    }
    if (tids->size() > 1) {
      std::erase_if(*tids,
                    [&](const std::int64_t tid) { return !is_named_after(*vcpu, tid, tasks); });
    }
    if (tids->size() == 1) {
      threads.push_back({*vcpu, tids->front()});
    }
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}

Result<std::vector<VcpuThread>> vcpu_threads_by_name(const files::Directory& tasks) {
  VMNUMA_ASSIGN_OR_RETURN(const auto names, tasks.names());
  std::vector<VcpuThread> threads;
  for (const std::string& name : names) {
    const auto tid = to_number<std::int64_t>(name);
    const auto comm = tasks.read(name + "/comm");
    if (!comm) {
      if (comm.error().is_gone()) {
        continue;
      }
      return tl::unexpected(comm.error());
    }
    const auto vcpu = vcpu_of_thread_name(*comm);
    if (tid && vcpu) {
      threads.push_back({*vcpu, *tid});
    }
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}

}  // namespace vmnuma::stats
