// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/// Derives from a vhost thread's name the process to which it belongs.
///
/// Up to Linux 6.3 such a thread is a kernel thread "vhost-PID" (Linux 6.1, drivers/vhost/vhost.c,
/// vhost_dev_set_owner); PID is the thread that took ownership of the device: QEMU's main thread,
/// so it is also the pid of the process. From 6.4 on the vhost thread belongs to the QEMU process.
///
/// Written in C, because the BPF program uses it, too: the loop is unrolled and every byte is read
/// at a fixed offset, as the verifier requires.
#pragma once

#define VMNUMA_THREAD_NAME_BYTES 16  // with the NUL: TASK_COMM_LEN, Linux 6.1, linux/sched.h

/// Returns the PID of "vhost-PID", or 0 for any other name. `name` has VMNUMA_THREAD_NAME_BYTES
/// bytes and ends at its first NUL.
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
