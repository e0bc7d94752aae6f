# SPDX-License-Identifier: Apache-2.0
"""The machine's NUMA nodes."""

import contextlib
import os

from lab.process import read


def numbers(text):
    """The numbers of a kernel list such as "0-1,4"."""
    found = set()
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            found.update(range(int(first), int(last or first) + 1))
    return found


def all_nodes():
    return sorted(numbers(read("/sys/devices/system/node/online")))


def cpus_of(node):
    return numbers(read(f"/sys/devices/system/node/node{node}/cpulist"))


def nodes_of(cpus):
    """The nodes that have any of these CPUs."""
    return {node for node in all_nodes() if cpus_of(node) & set(cpus)}


def allowed_cpus(process, thread):
    """The CPUs that the kernel lets the thread run on."""
    line = next(line for line in read(f"/proc/{process}/task/{thread}/status").splitlines()
                if line.startswith("Cpus_allowed_list:"))
    return numbers(line.split(":")[1])


@contextlib.contextmanager
def offline(node):
    """Takes all CPUs of the node offline within the context. Not for node 0, which has a CPU that cannot go offline."""
    cpus = sorted(cpus_of(node))
    try:
        for cpu in cpus:
            _switch(cpu, on=False)
        yield
    finally:
        for cpu in cpus:
            _switch(cpu, on=True)


def _switch(cpu, on):
    with open(f"/sys/devices/system/cpu/cpu{cpu}/online", "w", encoding="ascii") as file:
        file.write("1" if on else "0")


def idle_seconds():
    """How long all CPUs together have been idle since boot. Busy time cannot be used: it is counted by ticks, of which
    an emulated machine loses many."""
    times = [int(ticks) for ticks in read("/proc/stat").splitlines()[0].split()[1:]]
    return (times[3] + times[4]) / os.sysconf("SC_CLK_TCK")  # plus waiting for disks


def adapters():
    """The node of each network adapter, by name. A virtio device's is that of its PCI device."""
    found = {}
    for name in os.listdir("/sys/class/net"):
        device = os.path.realpath(f"/sys/class/net/{name}/device")
        for place in (device, os.path.dirname(device)):
            if os.path.exists(f"{place}/numa_node"):
                found[name] = int(read(f"{place}/numa_node"))
                break
    return found


def kernel_balancing():
    """The value of the sysctl kernel.numa_balancing; 0 = off."""
    return int(read("/proc/sys/kernel/numa_balancing"))


def set_kernel_balancing(on):
    """The kernel's own NUMA balancing, which moves pages to where they are used."""
    with open("/proc/sys/kernel/numa_balancing", "w", encoding="ascii") as file:
        file.write("1" if on else "0")
