// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/// Whose a vhost thread is, told by its name.
///
/// Up to Linux 6.3 such a thread is a kernel thread "vhost-PID" (Linux 6.1, drivers/vhost/vhost.c,
/// vhost_dev_set_owner); PID is the thread that made the device its own: QEMU's main thread, whose
/// number is that of the process. From 6.4 on it is a thread of the QEMU process.
///
/// In C, because the BPF program has it, too: no loop is left of it, and every byte is read at a
/// fixed place, as the verifier wants it.
#pragma once

#define VMNUMA_THREAD_NAME_BYTES 16  // with the NUL: TASK_COMM_LEN, Linux 6.1, linux/sched.h

/// The PID of "vhost-PID", 0 for every other name. `name` has VMNUMA_THREAD_NAME_BYTES bytes and
/// ends at its first NUL.
static inline __attribute__((always_inline)) int vmnuma_pid_of_vhost(const char* name) {
  if (name[0] != 'v' || name[1] != 'h' || name[2] != 'o' || name[3] != 's' || name[4] != 't' ||
      name[5] != '-') {
    return 0;
  }
  int pid = 0;
#pragma GCC unroll 16
  for (int i = 6; i < VMNUMA_THREAD_NAME_BYTES; ++i) {
    const char c = name[i];
    if (c == '\0') {
      break;
    }
    // No pid has more than 7 digits (PID_MAX_LIMIT, Linux 6.1, linux/threads.h).
    if (c < '0' || c > '9' || i > 12) {
      return 0;
    }
    pid = pid * 10 + (c - '0');
  }
  return pid;
}
