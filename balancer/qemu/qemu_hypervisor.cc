// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/qemu_hypervisor.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "balancer/qemu/description_parts.h"
#include "balancer/qemu/host_facts.h"
#include "balancer/qemu/pins.h"
#include "balancer/qemu/pve_config.h"
#include "placement/model/device_names.h"
#include "stats/formats/proc_formats.h"
#include "stats/linux/qemu_process.h"

namespace vmnuma::balancer::qemu {
namespace {

/// A process younger than this may have no vCPU threads yet because it is busy with its memory
/// (prealloc).
constexpr std::int64_t kStarting_s = 3600;
/// The number of remembered notices. When it is reached all are forgotten, so that no new notice is
/// suppressed.
constexpr std::size_t kMostSaid = 200;

/// The directory for watching cgroups, relative to the root.
std::string cgroups_below(const files::Directory& root) {
  if (root.file("sys/fs/cgroup/cgroup.controllers")) {
    return "sys/fs/cgroup";
  }
  return root.directory("sys/fs/cgroup/unified") ? "sys/fs/cgroup/unified"
                                                 : "sys/fs/cgroup/systemd";
}

/// As in /proc/PID/cgroup, "/qemu.slice/100.scope"; empty: unknown. It may change while the VM
/// runs.
std::string cgroup_of(const files::Directory& process) {
  return process.read("cgroup")
      .map([](const std::string& text) { return stats::parse_process_cgroup(text).value_or(""); })
      .value_or("");
}

std::string process_text(const FoundProcess& found) {
  return fmt::format("QEMU process {}", found.process.pid);
}

}  // namespace

Result<std::unique_ptr<Hypervisor>> QemuHypervisor::open(QemuOptions options,
                                                         std::function<void()> on_dirty) {
  VMNUMA_ASSIGN_OR_RETURN(auto root, files::Directory::open(options.root));
  return std::unique_ptr<Hypervisor>(
      new QemuHypervisor(std::move(root), std::move(options), std::move(on_dirty)));
}

QemuHypervisor::QemuHypervisor(files::Directory root, QemuOptions options,
                               std::function<void()> on_dirty)
    : options_(std::move(options)),
      root_(std::move(root)),
      dirty_(std::make_shared<DirtyDomains>(std::move(on_dirty))),
      control_(root_, known_,
               {.on_change = [this](const VmId& vm) { mark_dirty(vm); },
                .look = [this] { look_once(); }}),
      table_(root_) {}

QemuHypervisor::~QemuHypervisor() {
  dirty_->mute();
  watch_.reset();
}

std::vector<std::string> QemuHypervisor::take_notices() {
  const std::lock_guard lock(notices_mutex_);
  return std::exchange(notices_, {});
}

void QemuHypervisor::notice(std::string text) {
  if (logged_.size() >= kMostSaid) {
    logged_.clear();
  }
  if (logged_.insert(text).second) {
    const std::lock_guard lock(notices_mutex_);
    notices_.push_back(std::move(text));
  }
}

Result<std::vector<VmDescription>> QemuHypervisor::refresh() {
  const std::lock_guard lock(mutex_);
  VMNUMA_RETURN_IF_ERROR(ensure_watching());
  const DirtyDomains::Marks marks = dirty_->take();
  const bool thorough = thorough_.exchange(false);
  const bool cpuset_written = cpuset_written_.exchange(false);
  forget_ended();
  read_known_again(marks.domains, cpuset_written);
  if (marks.all) {
    if (auto looked = look(thorough ? HowThorough::kThorough : HowThorough::kQuick); !looked) {
      thorough_ = thorough_ || thorough;
      dirty_->put_back(marks);
      return failure(ErrorCode::kUnavailable, looked.error().message);
    }
  }
  std::vector<VmDescription> running;
  running.reserve(vms_.size());
  for (const auto& [id, entry] : vms_) {
    running.push_back(entry.described.description);
  }
  return running;
}

void QemuHypervisor::look_once() {
  bool has_looked = false;
  {
    const std::lock_guard lock(mutex_);
    has_looked = watch_ != nullptr;
  }
  if (!has_looked) {
    (void)refresh();  // problems are reported to the next caller
  }
}

Result<void> QemuHypervisor::ensure_watching() {
  if (watch_ != nullptr) {
    return {};
  }
  const std::string path =
      options_.cgroups.empty() ? options_.root + "/" + cgroups_below(root_) : options_.cgroups;
  auto cgroups = files::Directory::open(path);
  if (!cgroups) {
    return failure(ErrorCode::kUnavailable, cgroups.error().message);
  }
  auto watch = ChangeWatch::start({.cgroups = path,
                                   .program_dirs = options_.program_dirs,
                                   .on_cgroup = [this] { dirty_->mark_all(); },
                                   .on_program =
                                       [this] {
                                         thorough_ = true;
                                         dirty_->mark_all();
                                       },
                                   .on_end = [this] { dirty_->mark(VmId{}); },
                                   .on_cpuset =
                                       [this] {
                                         cpuset_written_ = true;
                                         dirty_->mark(VmId{});
                                       }});
  if (!watch) {
    return failure(ErrorCode::kUnavailable, watch.error().message);
  }
  cgroups_ = std::move(*cgroups);
  watch_ = std::move(*watch);
  dirty_->put_back({.all = true, .domains = {}});
  return {};
}

void QemuHypervisor::forget_ended() {
  for (auto entry = vms_.begin(); entry != vms_.end();) {
    if (entry->second.descriptor->runs()) {
      ++entry;
      continue;
    }
    watch_->forget(*entry->second.descriptor);
    known_.forget(entry->first);
    entry = vms_.erase(entry);
  }
}

Result<void> QemuHypervisor::look(HowThorough how) {
  std::set<std::int64_t> pids;
  for (const auto& [id, entry] : vms_) {
    pids.insert(entry.pid());
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto found, table_.look(how, pids));
  if (const std::string lack = watch_->lack(); !lack.empty()) {
    notice(fmt::format("{}; VMs that start there may be noticed late", lack));
  }
  if (found.empty()) {
    return {};
  }
  const HostFacts facts = read_host_facts(root_);
  for (const FoundProcess& process : found) {
    consider(process, facts);
  }
  return {};
}

/// Adds the process if it is a VM by now.
void QemuHypervisor::consider(const FoundProcess& found, const HostFacts& facts) {
  if (options_.is_foreign && options_.is_foreign(found)) {
    return;
  }
  auto described = describe_process(found, facts);
  if (!described) {
    return;
  }
  const auto directory = root_.directory(fmt::format("proc/{}", found.process.pid));
  const auto threads = directory.and_then([&](const files::Directory& process) {
    return read_threads(process, described->io_thread_names);
  });
  if (!threads) {
    return;  // it has ended, which the next look will detect, too
  }
  const std::size_t vcpus = described->description.vcpus.size();
  if (threads->vcpus.empty()) {
    wait_for(found, *threads, vcpus);
    return;
  }
  if (threads->vcpus.size() < vcpus && found.age_s < ProcessTable::kYoung_s) {
    watch_->look_again();  // QEMU creates them one by one
    return;
  }
  add(found, std::move(*described), *threads);
}

/// Describes the process; nothing if it is not one of ours, which is remembered.
std::optional<DescribedVm> QemuHypervisor::describe_process(const FoundProcess& found,
                                                            const HostFacts& facts) {
  CommandLine line = parse_command_line(found.cmdline);
  const std::vector<std::string> files = line.config_files;
  for (const std::string& file : files) {
    const auto text = file.starts_with('/')
                          ? root_.read(std::string_view(file).substr(1))
                          : failure(ErrorCode::kNotFound, "its path is not absolute");
    if (!text) {
      table_.ignore(found.process.pid);
      notice(fmt::format("{} has options in '{}', which cannot be read: {}; it is left alone",
                         process_text(found), file, text.error().message));
      return std::nullopt;
    }
    add_config_file(*text, file, line);
  }
  DescribedVm vm = describe(line, facts);
  if (vm.is_of_libvirt) {
    table_.ignore(found.process.pid);
    return std::nullopt;
  }
  return vm;
}

/// Handles a process without named vCPU threads.
void QemuHypervisor::wait_for(const FoundProcess& found, const Threads& threads,
                              std::size_t vcpus) {
  const bool has_threads = threads.emulator.size() > vcpus;
  if (found.age_s < (has_threads ? ProcessTable::kYoung_s : kStarting_s)) {
    watch_->look_again();
    return;
  }
  table_.ignore(found.process.pid);
  notice(
      fmt::format("{} has no threads with names of vCPUs, so it is left alone; QEMU names them if "
                  "it is started with -name NAME,debug-threads=on",
                  process_text(found)));
}

void QemuHypervisor::add(const FoundProcess& found, DescribedVm described, const Threads& threads) {
  auto descriptor = migration::ProcessDescriptor::open(found.process.pid);
  const auto process = stats::open_qemu_process(root_, found.process);
  if (!descriptor || !process) {
    return;  // it has ended
  }
  const auto online = read_online_cpus(root_);
  if (!online) {
    notice(online.error().message);
    return;
  }
  name(found, described);
  VmDescription& vm = described.description;
  vm.domain_id = static_cast<std::int32_t>(found.process.pid);
  vm.process = found.process;
  vm.memory_nodes_fixed = true;
  for (HostInterface& interface : vm.host_interfaces) {
    if (std::string bridge = bridge_of(root_, interface.name); !bridge.empty()) {
      interface.name = std::move(bridge);
    }
  }
  read_pins(threads, found.process.pid, *online, vm);
  KnownVm known{
      .process = found.process,
      .descriptor = std::make_shared<migration::ProcessDescriptor>(std::move(*descriptor)),
      .io_thread_names = described.io_thread_names};
  add_pve_policy(root_, cgroup_of(process->directory), described);
  known.policy = vm.own_policy;
  if (const auto watched = watch_->watch(*known.descriptor); !watched) {
    notice(
        fmt::format("VM '{}': {}; its end may be noticed late", vm.name, watched.error().message));
  }
  for (const std::string& text : described.notes) {
    notice(fmt::format("VM '{}': {}", vm.name, text));
  }
  const VmId id = vm.id;
  vms_.insert_or_assign(id, Entry{std::move(described), known.descriptor, threads});
  known_.add(id, std::move(known));
}

/// Gives the VM an id and a name that no other VM has.
void QemuHypervisor::name(const FoundProcess& found, DescribedVm& vm) const {
  const std::string of_process =
      fmt::format("qemu-{}-{}", found.process.pid, found.process.start_time_ticks);
  std::string& text = vm.description.name;
  if (text.empty()) {
    text = fmt::format("qemu-{}", found.process.pid);
    vm.description.id = vm.uuid.value_or(id_from(of_process));
  } else {
    vm.description.id = id_of(vm);
  }
  if (vms_.contains(vm.description.id)) {
    note(vm, "another VM has the same UUID, so this one is known here by a generated one");
    vm.description.id = id_from(of_process);
  }
  const bool is_taken = std::ranges::any_of(
      vms_, [&](const auto& entry) { return entry.second.described.description.name == text; });
  if (is_taken) {
    const std::string before = std::exchange(text, fmt::format("{}-{}", text, found.process.pid));
    note(vm,
         fmt::format("another VM has the name '{}', too, so this one has its process ID appended",
                     before));
  }
}

/// Reads the pins of known VMs again. Nothing announces that others pin a thread, so all pins are
/// read every time: one system call for each. The threads themselves are read only where they may
/// have changed.
void QemuHypervisor::read_known_again(const std::set<VmId>& marked, bool cpuset_written) {
  const auto online = read_online_cpus(root_);
  if (!online) {
    return;
  }
  for (auto& [id, entry] : vms_) {
    if (cpuset_written || marked.contains(id)) {
      read_again(id, entry, *online, cpuset_written ? WithReset::kRestored : WithReset::kLeft);
    } else {
      read_pins(entry.threads, entry.pid(), *online, entry.described.description);
    }
  }
}

void QemuHypervisor::read_again(const VmId& id, Entry& entry, const std::vector<CpuId>& online,
                                WithReset reset) {
  const auto known = known_.find(id);
  if (!known) {
    return;
  }
  VmDescription& vm = entry.described.description;
  const auto process = stats::open_qemu_process(root_, known->process);
  if (!process) {
    return;  // it has ended, which is reported separately
  }
  auto threads = read_threads(process->directory, known->io_thread_names);
  if (!threads || threads->vcpus.empty()) {
    return;
  }
  entry.threads = std::move(*threads);
  if (reset == WithReset::kRestored &&
      restore_pins(*known, entry.threads,
                   cpus_of_cgroup(*cgroups_, cgroup_of(process->directory), online)) > 0) {
    notice(fmt::format("pins of VM '{}' were reset when a cpuset was written, it is pinned again",
                       vm.name));
  }
  read_pins(entry.threads, known->process.pid, online, vm);
  vm.own_policy = known->policy;
}

}  // namespace vmnuma::balancer::qemu
