// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/// Counts in the kernel how often threads of two VMs wake each other.
///
/// Problem: a busy host has hundreds of thousands of wake-ups per second; reporting each to user
/// space would cost more than it is worth. Approach: a program at the tracepoint sched_waking,
/// which runs on the waker's CPU while `current` is the waker (Linux 6.1, kernel/sched/core.c,
/// try_to_wake_up), adds one to the pair's entry in a map that user space reads periodically.
///
/// Terms: a VM is the pid of its QEMU process. Its threads are those of the process and the vhost
/// threads that handle its network traffic.
///
/// Properties:
///  - only pairs of different VMs from `vms` are counted, no matter which of them woke the other;
///  - memory is bounded, and pairs beyond the bound are not counted;
///  - wake-ups in an interrupt, hard or soft, are not counted, because `current` is then the
///    interrupted task; so packets that pass between VMs through a soft interrupt (macvtap) are not
///    seen, while those over a bridge are.
///
/// Compiled with PREEMPT_COUNT_IN_PCPU_HOT, the program is for kernels from 6.2 to 6.14. With
/// COUNT_IN_INTERRUPTS it also counts in interrupts, for kernels that do not let programs detect
/// them.
///
/// The licence names the GPL because the kernel offers some helpers only to such programs.
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "tools/wakeups/vhost_name.h"

char LICENSE[] SEC("license") = "GPL";

#define MOST_VMS 4096
#define MOST_PAIRS 65536

// The parts of the kernel's types that are used; libbpf adapts the offsets to the running kernel
// (CO-RE).
struct task_struct {
  int tgid;
  unsigned int flags;
  char comm[VMNUMA_THREAD_NAME_BYTES];
} __attribute__((preserve_access_index));
#define PF_KTHREAD 0x00200000  // Linux 6.1, linux/sched.h

#ifndef COUNT_IN_INTERRUPTS
// x86: the CPU's preempt_count (Linux 6.1 and from 6.15 on, arch/x86/kernel/cpu/common.c; from 6.2
// to 6.14 in pcpu_hot, arch/x86/include/asm/current.h). Programs access it by name, so the kernel
// must have data symbols (CONFIG_KALLSYMS_ALL, as Debian's). The symbol is not weak, because libbpf
// 1.1 needs CAP_SYS_ADMIN to look up a missing weak one.
#ifdef PREEMPT_COUNT_IN_PCPU_HOT
struct pcpu_hot {
  int preempt_count;
} __attribute__((preserve_access_index));
extern const struct pcpu_hot pcpu_hot __ksym;
#else
extern const int __preempt_count __ksym;
#endif
// Bits of preempt_count (Linux 6.1, linux/preempt.h): 8 = serving a soft interrupt, 16..19 = hard
// interrupts, 20..23 = NMIs. Bits 9..15 mean that the waker itself has disabled soft interrupts.
#define IN_INTERRUPT 0x00ff0100
#endif

// The VMs' pids, filled in by user space.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, MOST_VMS);
  __type(key, __u32);
  __type(value, __u8);
} vms SEC(".maps");

struct pair {
  __u32 a;  // < b
  __u32 b;
};
// The counts, read by user space. All CPUs share one entry per pair: per-CPU entries would take 8
// bytes times pairs times CPUs, in the kernel and again in every reading.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, MOST_PAIRS);
  __type(key, struct pair);
  __type(value, __u64);
} pairs SEC(".maps");

static __always_inline _Bool in_interrupt(void) {
#ifdef COUNT_IN_INTERRUPTS
  return 0;
#elif defined(PREEMPT_COUNT_IN_PCPU_HOT)
  const struct pcpu_hot* here = bpf_this_cpu_ptr(&pcpu_hot);
  return (here->preempt_count & IN_INTERRUPT) != 0;
#else
  return (*(const int*)bpf_this_cpu_ptr(&__preempt_count) & IN_INTERRUPT) != 0;
#endif
}

/// Returns the VM to which a thread belongs, 0 if none.
static __always_inline __u32 vm_of(const struct task_struct* task) {
  const __u32 pid = task->flags & PF_KTHREAD ? vmnuma_pid_of_vhost(task->comm) : task->tgid;
  return pid != 0 && bpf_map_lookup_elem(&vms, &pid) ? pid : 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(count_wakeup, struct task_struct* wakee) {
  if (in_interrupt()) {
    return 0;
  }
  const __u32 woken = vm_of(wakee);
  if (woken == 0) {
    return 0;
  }
  const __u32 waking = vm_of(bpf_get_current_task_btf());
  if (waking == 0 || waking == woken) {
    return 0;
  }
  const struct pair pair = {waking < woken ? waking : woken, waking < woken ? woken : waking};
  __u64* count = bpf_map_lookup_elem(&pairs, &pair);
  if (!count) {
    // Another CPU may have been faster, or the map may be full: the lookup below shows which.
    const __u64 none = 0;
    bpf_map_update_elem(&pairs, &pair, &none, BPF_NOEXIST);
    count = bpf_map_lookup_elem(&pairs, &pair);
  }
  if (count) {
    __sync_fetch_and_add(count, 1);
  }
  return 0;
}
