// SPDX-License-Identifier: Apache-2.0
/// Maps the threads of a QEMU process to their roles.
///
/// Approach: QEMU names its threads if configured (-name ...,debug-threads=on; newer versions
/// always do): "CPU 0/KVM", "IO iothread0". The kernel keeps 15 characters of a name (comm,
/// proc(5)), so I/O threads with the same name prefix are distinguished by the order of their ids,
/// in which they were created. All other threads are the emulator: the main loop, workers, and,
/// since Linux 6.4, vhost's.
///
/// Properties: every thread has one role; a thread that ends meanwhile has none.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "placement/base/result.h"
#include "stats/files/directory.h"
#include "stats/linux/qemu_process.h"

namespace vmnuma::balancer::qemu {

struct IoThread {
  std::int32_t number = 0;  ///< from 1, in the order of the names
  std::int64_t tid = 0;
  bool operator==(const IoThread&) const = default;
};

struct Threads {
  std::vector<stats::VcpuThread> vcpus;  ///< by number
  std::vector<IoThread> io_threads;      ///< by number
  std::vector<std::int64_t> emulator;    ///< ascending
};

/// Reads the threads. `process` is /proc/PID, `io_thread_names` the ids of its iothread objects in
/// order. Errors: vanished, not-found (the process has ended), io.
[[nodiscard]] Result<Threads> read_threads(const files::Directory& process,
                                           const std::vector<std::string>& io_thread_names);

}  // namespace vmnuma::balancer::qemu
