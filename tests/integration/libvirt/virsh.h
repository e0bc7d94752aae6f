// SPDX-License-Identifier: Apache-2.0
/// Another client of the same libvirt: virsh, and the QEMU processes as the kernel sees them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "placement/model/ids.h"

namespace vmnuma::tests {

/// Runs a shell command and returns what it printed; a failure fails the test.
std::string shell(const std::string& command);
/// `virsh ARGUMENTS`, on the private libvirtd (see with-libvirtd).
std::string virsh(const std::string& arguments);
/// Ends or starts the private libvirtd; its guests go on.
void stop_libvirtd();
void start_libvirtd();
/// The private libvirtd's process, while it runs.
std::string libvirtd_pid();

/// A guest without an operating system: 32 MiB, two of four vCPUs plugged, I/O thread 1, and
/// `elements`.
std::string guest_xml(const std::string& name, const std::string& elements);
/// Starts it for as long as it runs (transient) and returns its id.
VmId start_guest(const std::string& name, const std::string& elements);
VmId id_of(const std::string& name);

/// The CPUs that the guest's thread called `thread` ("CPU 0/TCG", "IO iothread1",
/// "qemu-system-x86") may use.
std::vector<CpuId> allowed_cpus(const std::string& name, const std::string& thread);

/// The CPUs this process may use.
std::vector<CpuId> host_cpus();

}  // namespace vmnuma::tests
