// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/keys.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "balancer/config/device_pools.h"
#include "balancer/config/reserved_memory.h"
#include "balancer/policy/value_text.h"

namespace vmnuma::balancer {

namespace {

/// sun_path of sockaddr_un (unix(7)) has 108 bytes including the final zero.
constexpr std::size_t kLongestSocketPath = 107;

Result<void> set_path(std::string& target, std::string_view text) {
  if (text.empty() || text.front() != '/') {
    return refuse("is " + in_quotes(text) + ", but must be a path that begins with '/'");
  }
  return set_text(target, text);
}

Result<void> set_uri(Config& config, std::string_view text) {
  if (text.empty()) {
    return refuse("is empty, but must be a libvirt URI such as 'qemu:///system'");
  }
  return set_text(config.uri, text);
}

Result<void> set_socket_path(Config& config, std::string_view text) {
  if (text.size() > kLongestSocketPath) {
    return refuse("is " + std::to_string(text.size()) +
                  " bytes long, but the path of a socket has at most " +
                  std::to_string(kLongestSocketPath));
  }
  return set_path(config.socket_path, text);
}

constexpr std::array kModes{Mode::kObserve, Mode::kDryRun, Mode::kActive};
constexpr std::array kStrategies{
    PlacementStrategy::kLeastLostTime, PlacementStrategy::kMostAllocated,
    PlacementStrategy::kLeastAllocated, PlacementStrategy::kDistributeEvenly};
constexpr std::array kLogLevels{Severity::kError, Severity::kWarning, Severity::kInfo,
                                Severity::kDebug};
constexpr KeyInfo<Config> kTop[] = {
    choice_key<&Config::hypervisor>(
        "hypervisor",
        "Which VMs are balanced: with libvirt its own; with qemu those of QEMU processes that no "
        "libvirt manages, such as those of Proxmox VE, Incus, Kata and scripts; with auto both"),
    {"uri", KeyKind::kText, "a libvirt URI",
     "The libvirt whose VMs are balanced; qemu:///system is libvirtd or virtqemud, whichever runs",
     set_uri, [](const Config& config) { return config.uri; }},
    choice_key<&Config::mode, kModes>(
        "mode", "observe, dry-run or active",
        "observe only watches, dry-run also plans and shows its plans, active carries them out"),
    choice_key<&Config::admission>(
        "admission",
        "What happens to a VM whose topology_policy or cpu_binding cannot be met when it starts: "
        "enforce refuses the start in mode active; advise lets the VM start and logs why it would "
        "have been refused. In modes observe and dry-run it is always advise"),
    {"reserved_memory", KeyKind::kText, "as the kubelet's, or empty",
     "Memory that is kept for the system on each node, by page size, such as "
     "0:memory=2Gi,hugepages-2Mi=64Mi;1:memory=1Gi; of ordinary memory at least "
     "Numa.NodeReservePct is kept",
     [](Config& config, std::string_view text) {
       return set_reserved_memory(config.reserved_memory, text);
     },
     [](const Config& config) { return reserved_memory_text(config.reserved_memory); }},
    {"device_pool", KeyKind::kText, "pools of PCI devices, or empty",
     "Pools of interchangeable PCI devices, each with a name, such as "
     "gpu=0000:3b:00.0,0000:86:00.0;vf=0000:3b:10.0; vmnuma advise gives a VM whose policy names a "
     "pool the device that fits best",
     [](Config& config, std::string_view text) {
       return set_device_pools(config.device_pools, text);
     },
     [](const Config& config) { return device_pools_text(config.device_pools); }},
    choice_key<&Config::on_stop>(
        "on_stop",
        "What happens to the VMs when the daemon stops: leave keeps their placement, restore gives "
        "them back the pins and limits that they had before"),
    choice_key<&Config::foreign_pins>(
        "foreign_pins",
        "What happens to a VM that another program pins elsewhere: respect accepts the pins, as "
        "its new home if they are one whole node, and otherwise leaves the VM alone; repair pins "
        "it to its home again, at most three times until an hour passes without such a change"),
    choice_key<&Config::strategy, kStrategies>(
        "strategy", "least-lost-time, MostAllocated, LeastAllocated or DistributeEvenly",
        "Which of the nodes with room a VM starts on, unless its policy has a strategy of its own"),
    choice_key<&Config::distances>(
        "distances",
        "Where the distances between nodes and the cost of remote memory come from: measured uses "
        "latencies that were measured on this host, if there are any; firmware uses ACPI's SLIT "
        "and the default of Numa.MemStallPct"),
    choice_key<&Config::preset>("preset",
                                "Defaults of the options: vmnuma's own, or with esxi those with "
                                "which it decides as ESXi is documented to: no VM spills, every "
                                "shortage is expected to last, and memory moves at ESXi's rate"),
    switch_key<&Config::metadata_wins>("metadata_wins",
                                       "With true, a policy in the domain's own metadata overrides "
                                       "this file; with false, it is ignored"),
    {"socket_path", KeyKind::kText, "a path", "The control socket", set_socket_path,
     [](const Config& config) { return config.socket_path; }},
    text_key<&Config::socket_group>(
        "socket_group", "a group, or empty for the daemon's own",
        "The group whose members may connect to the control socket and read; changes are for root"),
    {"state_dir", KeyKind::kText, "a path",
     "Directory of the history and of options set with --persist",
     [](Config& config, std::string_view text) { return set_path(config.state_dir, text); },
     [](const Config& config) { return config.state_dir; }},
    choice_key<&Config::log_level, kLogLevels>("log_level", "error, warning, info or debug",
                                               "Lowest level that is logged"),
};

constexpr KeyInfo<HistoryLimits> kHistory[] = {
    number_key<&HistoryLimits::max_mib, 1, 1048576>("max_mib", "1 to 1048576",
                                                    "Largest size of the database, in MiB"),
    number_key<&HistoryLimits::moves_days, 1, 36500>("moves_days", "1 to 36500",
                                                     "How long moves are kept, in days"),
    number_key<&HistoryLimits::epoch_samples_minutes, 1, 10080>(
        "epoch_samples_minutes", "1 to 10080",
        "How long the figures of every epoch are kept, in minutes"),
    number_key<&HistoryLimits::minute_samples_days, 1, 3650>(
        "minute_samples_days", "1 to 3650", "How long averages over a minute are kept, in days"),
    number_key<&HistoryLimits::hour_samples_days, 1, 36500>(
        "hour_samples_days", "1 to 36500", "How long averages over an hour are kept, in days"),
};

}  // namespace

std::string hypervisor_text(const Config& config) {
  switch (config.hypervisor) {
    case HypervisorKind::kLibvirt:
      return config.uri;
    case HypervisorKind::kQemu:
      return std::string(kQemuProcesses);
    case HypervisorKind::kAuto:
      return config.uri + " and " + std::string(kQemuProcesses);
  }
  return {};
}

std::span<const KeyInfo<Config>> top_keys() {
  return kTop;
}

std::string hint_of_top_key(std::string_view name) {
  return find_key(top_keys(), name) != nullptr
             ? fmt::format("; '{}' must be above the first [table] of the file", name)
             : "";
}

std::span<const KeyInfo<HistoryLimits>> history_keys() {
  return kHistory;
}

}  // namespace vmnuma::balancer
