// SPDX-License-Identifier: Apache-2.0
/// What the hook does at each of libvirt's operations, and of Proxmox VE's phases.
///
/// Problem: only the hook knows which VM is about to ask where to start, and only it may change the
/// XML of an arriving one; but libvirt waits for it, and every failure of it costs a VM. Approach:
/// *prepare* announces the VM to the daemon, which also judges whether a VM that asks for admission
/// control fits, and may let the start wait until there is room for it: then the VM is announced
/// again and again; if the daemon does not answer, the hook judges from the daemon's last record
/// (balancer/controller/admission_state.h) and the host's files. *release* withdraws it; *migrate*
/// and *restore* fit the XML to this host (balancer/host/fit_xml.h); for all others (start,
/// started, stopped, reconnect, attach, ...) there is nothing to do, because the daemon learns of
/// them from libvirt. In a hookscript of Proxmox VE *pre-start* is *prepare* and *post-stop* is
/// *release*; the VM is the one of its configuration (balancer/qemu/pve_vm.h). At *post-start* the
/// daemon has seen the VM itself, and a second announcement would promise its memory twice.
///
/// Properties:
///  - it always succeeds, unless a VM's own policy does not let it start and the daemon, as it runs
///    or last ran, was to refuse such starts;
///  - it writes to standard output only at migrate and restore, and there a whole XML or nothing,
///    which libvirt takes for "unchanged";
///  - it gives up waiting for its first answer after kHookLimit, or 2 s later for a VM whose own
///    policy lets its start wait, and does not wait for room longer than that answer says, nor than
///    any VM may (kLongestWaitForRoom_s); then it asks once more;
///  - it does not wait for a caller that is gone, and then withdraws what it has announced;
///  - it calls neither libvirt nor Proxmox VE.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>

namespace vmnuma::tools {

/// For reading the XML and asking the daemon, together.
inline constexpr std::chrono::milliseconds kHookLimit{100};

struct HookSurroundings {
  int in = 0;  ///< descriptor of standard input
  std::ostream& out;
  std::string root = "/";                          ///< of the host's files
  std::function<void(const std::string&)> report;  ///< takes a sentence for the system's log
  std::chrono::milliseconds limit = kHookLimit;
  std::int64_t now_unix_s = 0;  ///< time of the run
  /// These two are for waiting until there is room. `pause` is cut short, and returns false, when
  /// the program that called the hook is gone.
  std::function<bool(std::chrono::milliseconds)> pause = {};
  std::function<std::chrono::steady_clock::time_point()> clock = {};
};

/// Exit codes. The script that libvirt runs passes on only a refusal.
inline constexpr int kHookDone = 0;      ///< the result, whatever it is, has been reported
inline constexpr int kHookRefused = 10;  ///< the VM's policy does not let it start, as was reported

[[nodiscard]] int run_hook(std::span<const std::string> arguments,
                           const HookSurroundings& surroundings);

}  // namespace vmnuma::tools
