// SPDX-License-Identifier: Apache-2.0
/// What the hook does at each of libvirt's operations, and of Proxmox VE's phases.
///
/// Problem: only the hook knows which VM is about to start, and only the hook may change the XML of
/// an incoming VM; but libvirt waits for the hook, and if it fails, the VM does not start.
/// Approach: *prepare* announces the VM to the daemon. The daemon also decides whether a VM that
/// asks for admission control fits, and may make the start wait until there is room; the hook then
/// repeats the announcement. If the daemon does not answer, the hook decides from the daemon's last
/// record (balancer/controller/admission_state.h) and the host's files. *release* withdraws the
/// announcement. *migrate* and *restore* fit the XML to this host (balancer/host/fit_xml.h). For
/// all other operations (start, started, stopped, reconnect, attach, ...) there is nothing to do,
/// because the daemon learns of them from libvirt. In a hookscript of Proxmox VE, *pre-start* is
/// *prepare* and *post-stop* is *release*; the VM is read from its configuration
/// (balancer/qemu/pve_vm.h). At *post-start* there is nothing to do: the daemon has already seen
/// the VM itself, and a second announcement would promise its memory twice.
///
/// Properties:
///  - it always succeeds, unless a VM's own policy does not let it start and the daemon is
///    configured to refuse such starts (if it does not run, was so configured when it last ran);
///  - it writes to standard output only at migrate and restore, and then either the complete XML or
///    nothing, which means "unchanged" to libvirt;
///  - it stops waiting for the first answer after kHookLimit, or 2 s later if the VM's own policy
///    lets its start wait; it waits for room no longer than that answer specifies, nor than any VM
///    may wait (kLongestWaitForRoom_s), and then asks once more;
///  - if its caller is gone, it stops waiting and withdraws the announcement;
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
  /// These two are used to wait for room. `pause` returns early, with false, if the program that
  /// called the hook is gone.
  std::function<bool(std::chrono::milliseconds)> pause = {};
  std::function<std::chrono::steady_clock::time_point()> clock = {};
};

/// Exit codes. The script that libvirt runs returns failure only for a refusal.
inline constexpr int kHookDone = 0;  ///< any other result, which has been reported
inline constexpr int kHookRefused =
    10;  ///< the VM's policy does not let it start; this has been reported

[[nodiscard]] int run_hook(std::span<const std::string> arguments,
                           const HookSurroundings& surroundings);

}  // namespace vmnuma::tools
