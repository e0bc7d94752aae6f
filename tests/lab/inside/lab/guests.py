# SPDX-License-Identifier: Apache-2.0
"""Guests with the lab's own kernel, started through libvirt or by a script, seen through /proc and cgroups."""

import contextlib
import dataclasses
import os
import re
import struct
import types

from lab import domains, nodes, starters
from lab.process import Failure, expect, read, run, wait_until

_START_LIMIT_S = 180
_MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Guest:
    """One VM. `load` is how busy each vCPU is, in per cent of the time, or a tuple of that for each
    second; the last one stays. `cells`: equal guest NUMA cells, none if 0. `auto`: libvirt asks where
    to start it. `policy`: attributes of its metadata. `system`: what it is said to run, by libosinfo's
    id. `vcpus_at_start`: the others can be plugged later; all if 0. `cpuset`: where libvirt lets vCPUs run. `bridge`: where its network is,
    none if empty. `line`: the socket of a serial line on which it talks; `answers`: the other end
    makes it. `starter`: the module that starts it."""

    name: str
    load: int | tuple = 100
    memory_mib: int = 64
    vcpus: int = 2
    kind: str = "qemu"
    cells: int = 0
    auto: bool = False
    policy: str = ""
    system: str = ""
    vcpus_at_start: int = 0
    cpuset: str = ""
    bridge: str = ""
    line: str = ""
    answers: bool = False
    starter: types.ModuleType = dataclasses.field(default_factory=starters.next_one, compare=False)

    def virsh(self, command, *arguments, **how):
        return domains.virsh(self, command, *arguments, **how)

    def destroy(self):
        self.starter.destroy(self)

    def suspend(self):
        self.starter.suspend(self)

    def resume(self):
        self.starter.resume(self)

    def is_running(self):
        return self.starter.is_running(self)

    def pid(self):
        return self.starter.pid(self)

    def pinned_cpus(self):
        """For each vCPU the CPUs to which it is pinned, according to its starter."""
        return self.starter.pinned_cpus(self)

    def scope(self):
        """Its cgroup, from the one in which libvirt has put the process."""
        inside = read(f"/proc/{self.pid()}/cgroup").strip().split("::")[1]
        scope = re.match(r".*?\.scope", inside)
        expect(scope, f"the process of '{self.name}' is in '{inside}', not in a scope")
        return "/sys/fs/cgroup" + scope.group()

    def vcpu_threads(self):
        """The thread of each vCPU, found by the names that QEMU gives its threads."""
        process = f"/proc/{self.pid()}/task"
        names = {int(thread): read(f"{process}/{thread}/comm") for thread in os.listdir(process)}
        vcpus = {int(match[1]): thread for thread, name in names.items() if (match := re.match(r"CPU (\d+)/", name))}
        return [vcpus[number] for number in sorted(vcpus)]

    def allowed_cpus(self):
        """For each vCPU the CPUs that the kernel lets it run on."""
        return [nodes.allowed_cpus(self.pid(), thread) for thread in self.vcpu_threads()]

    def allowed_cpus_of_all(self):
        """The same of all its threads, whatever they do."""
        return [nodes.allowed_cpus(self.pid(), int(thread)) for thread in os.listdir(f"/proc/{self.pid()}/task")]

    def vcpu_times_ns(self):
        """For each vCPU (run, waited) since it was started."""
        return [tuple(map(int, read(f"/proc/{self.pid()}/task/{thread}/schedstat").split()[:2]))
                for thread in self.vcpu_threads()]

    def vcpu_seconds(self):
        """CPU time of its vCPUs since it was started."""
        return sum(run for run, _ in self.vcpu_times_ns()) / 1e9

    def vcpu_nodes(self):
        """For each vCPU the node of the CPU on which it runs or last ran (proc(5), stat, field 39)."""
        lines = [read(f"/proc/{self.pid()}/task/{thread}/stat") for thread in self.vcpu_threads()]
        cpus = [int(line.rpartition(")")[2].split()[36]) for line in lines]
        return [nodes.nodes_of([cpu]).pop() for cpu in cpus]

    def memory(self):
        """Bytes of its private memory on each node (anon of memory.numa_stat, kernel 6.1)."""
        line = next(line for line in read(self.scope() + "/memory.numa_stat").splitlines()
                    if line.startswith("anon "))
        return {int(node): int(size) for node, size in re.findall(r"N(\d+)=(\d+)", line)}

    def memory_share(self, node):
        """Share of its private memory that is on the node, 0 to 1."""
        memory = self.memory()
        return memory[node] / max(1, sum(memory.values()))

    def mappings_of(self, size):
        """First addresses of its mappings of exactly that size."""
        starts = []
        for line in read(f"/proc/{self.pid()}/maps").splitlines():
            start, end = (int(address, 16) for address in line.split()[0].split("-"))
            if end - start == size:
                starts.append(start)
        return starts

    def program(self, start):
        """The bytes at 1 MiB of the guest's memory, if this mapping is its beginning."""
        with open(f"/proc/{self.pid()}/mem", "rb", buffering=0) as memory:
            memory.seek(start + _MIB)
            return memory.read(4096)

    def report(self):
        """(rounds, damaged pages) as its program counts them (busy.c, struct Report)."""
        for start in self.mappings_of(self.memory_mib * _MIB):
            _, found, numbers = self.program(start).partition(b"vmnuma:\0")
            if found:
                return struct.unpack("<II", numbers[:8])
        raise Failure(f"the report of '{self.name}' was not found")

    def cell_mappings(self):
        """First addresses of its cells' memory, the cell with the guest's program first."""
        size = self.memory_mib // self.cells * _MIB
        starts = self.mappings_of(size)
        expect(len(starts) == self.cells, f"{len(starts)} mappings of {size} bytes")
        return sorted(starts, key=lambda start: b"vmnuma:" not in self.program(start))

    def numa_maps(self, starts):
        """The lines of numa_maps about the mappings that start there."""
        lines = read(f"/proc/{self.pid()}/numa_maps").splitlines()
        return [line for line in lines if int(line.split()[0], 16) in starts]

    def mapping_share(self, start, node):
        """Share of the mapping's pages that is on the node, 0 to 1, according to numa_maps."""
        line, = self.numa_maps([start])
        pages = {int(node): int(count) for node, count in re.findall(r" N(\d+)=(\d+)", line)}
        return pages.get(node, 0) / max(1, sum(pages.values()))

    def pinned_nodes(self):
        """For each vCPU the one node that it is pinned to, or None."""
        of_pins = [nodes.nodes_of(pins) for pins in self.pinned_cpus()]
        return [pins.pop() if len(pins) == 1 else None for pins in of_pins]

    def is_pinned_around(self, home):
        """True if all its vCPUs are pinned to that node, alone or with a second one."""
        pins = self.pinned_cpus()
        of_pins = nodes.nodes_of(set().union(*pins))
        return len(pins) == self.vcpus and home in of_pins and len(of_pins) <= 2

    def pinned_node(self):
        """The one node that all vCPUs are pinned to, or None."""
        pins = self.pinned_cpus()
        of_pins = nodes.nodes_of(set().union(*pins))
        return of_pins.pop() if len(pins) == self.vcpus and len(of_pins) == 1 else None


def times_ns(guests):
    """(run, waited) of all their vCPUs since they were started."""
    return tuple(sum(column) for column in zip(*(times for guest in guests for times in guest.vcpu_times_ns())))


def create(guests):
    """Starts guests side by side; returns once they run."""
    for starter in {guest.starter for guest in guests}:
        starter.create([guest for guest in guests if guest.starter is starter])


def start(guests):
    """Starts guests side by side and waits until all memory of each has been touched."""
    create(guests)
    for guest in guests:
        wait_until(f"'{guest.name}' has touched its memory",
                   lambda guest=guest: sum(guest.memory().values()) >= guest.memory_mib * _MIB,
                   _START_LIMIT_S)


def destroy_all():
    for starter in starters.ALL:
        starter.destroy_all()


@contextlib.contextmanager
def memory_forced(guests, node):
    """Moves all private memory of the guests to one node; it cannot wander off within the context.

    The guests stand still while they are moved, because every page of a running one costs
    interrupts to its emulated CPUs, and they have no pins afterwards. Without CAP_SYS_NICE
    migratepages(8) leaves pages of shared libraries alone, which would have to be unmapped from
    every process of the machine.
    """
    nodes.set_kernel_balancing(False)
    for guest in guests:
        guest.suspend()
    everywhere = ",".join(str(other) for other in nodes.all_nodes())
    for guest in guests:
        move_plainly(guest, everywhere, node)
    for guest in guests:
        guest.resume()
    for guest in guests:
        share = guest.memory_share(node)
        expect(share >= 0.95, f"only {share:.0%} of '{guest.name}' is on node {node}")
    try:
        yield
    finally:
        nodes.set_kernel_balancing(True)


def move_plainly(guest, from_nodes, to_node):
    """Runs migratepages(8) once for the whole guest, for pages that only it uses."""
    run("setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice",
        "migratepages", guest.pid(), from_nodes, to_node, limit_s=300)
