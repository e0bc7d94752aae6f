# SPDX-License-Identifier: Apache-2.0
"""A definition suggested by `vmnuma advise` starts unchanged, and a Linux guest sees exactly what it says.

Nodes with their distances, CPUs and memory, sockets, cores, threads and third-level caches, of VMs of one to twelve
vCPUs on this machine, and on one whose CPUs would be the threads of cores; and what no node holds is said.
"""

import dataclasses
import json
import time

from lab import libvirt, linux, topology
from lab.process import expect, run as run_program

IN_SHORT_SET = False
LIMIT_S = 3600
SIDE_BY_SIDE = 2
LARGER_THAN_A_NODE_MIB = 2560
THREADED_HOST = "/run/lab-threaded-host.json"
OWN_CORES = ("--host", THREADED_HOST, "--policy", "cpu_binding=exclusive", "--policy", "cpu_policy=FullPCPUs",
             "--policy", "prefer_ht=true")


@dataclasses.dataclass(frozen=True)
class Shape:
    """A VM, and the expected advice: vCPUs in each node, sockets and threads."""

    vcpus: int
    nodes: tuple
    sockets: int
    threads: int = 1
    memory_mib: int = 512
    arguments: tuple = ()
    # QEMU shows threads to guests only on Intel processors, which this one claims to be, and on AMD processors with the
    # feature topoext, which its emulator lacks.
    model: str = "kvm64"

    @property
    def name(self):
        return f"{self.vcpus}-vcpus-{self.memory_mib}-mib-{self.threads}-threads-{len(self.nodes)}-nodes"


# Each wide VM runs together with a narrow one, so that no two with many vCPUs compete for the machine's two real CPUs.
# More than eight vCPUs are more than the host has.
SHAPES = (
    Shape(12, (3, 3, 3, 3), 4),
    Shape(1, (1,), 1, model=""),
    Shape(11, (3, 3, 3, 2), 11),
    Shape(2, (2,), 1, memory_mib=LARGER_THAN_A_NODE_MIB),
    Shape(10, (4, 2, 2, 2), 5, threads=2, arguments=OWN_CORES),
    Shape(2, (1, 1), 2, memory_mib=LARGER_THAN_A_NODE_MIB, arguments=("--policy", "consolidate=false")),
    Shape(8, (2, 2, 2, 2), 4),
    Shape(3, (2, 1), 3, model=""),
    Shape(7, (2, 2, 2, 1), 7),
    Shape(4, (2, 2), 2, model=""),
    Shape(5, (2, 2, 1), 5),
    Shape(4, (2, 2), 2, threads=2, arguments=OWN_CORES),
)


def advise(shape, *form):
    path = f"/run/lab-{shape.name}-plain.xml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(linux.definition(shape.name, shape.vcpus, shape.memory_mib, shape.model))
    return run_program("vmnuma", *form, "advise", "--xml", path, *shape.arguments)


def write_threaded_host():
    """This machine, as if the two CPUs of each node were the threads of one core."""
    host = json.loads(run_program("vmnuma", "export", "--format", "host"))
    for node in host["nodes"]:
        for cpu in node["cpus"]:
            cpu["core"] = node["cpus"][0]["core"]
    with open(THREADED_HOST, "w", encoding="utf-8") as file:
        json.dump(host, file)


def expect_as_meant(shape, promise):
    """Checks that the advice is as expected for these nodes, so that the guest is not compared with a mistake."""
    advised = (tuple(len(cpus) for cpus in promise.cpus), len(promise.sockets),
               max(len(core) for core in promise.cores))
    meant = (shape.nodes, shape.sockets, shape.threads)
    expect(advised == meant, f"'{shape.name}' is advised {advised} as nodes, sockets and threads, not {meant}")


def expect_said_too_large(shape):
    """No node holds what it is to have, in one piece or in the most that its vCPUs can be split into."""
    kinds = [warning["kind"] for warning in json.loads(advise(shape, "--json"))["warnings"]]
    expect("cell-too-large" in kinds, f"of '{shape.name}' it is not said that no node holds it: {kinds}")


def faults_of(shape, promise):
    """Returns what the guest does not see, and what its kernel complains about."""
    console = linux.console(shape.name)
    return topology.differences(promise, topology.seen(console)) + topology.complaints(console)


def run():
    linux.prepare()
    write_threaded_host()
    libvirt.be_asked()  # where VMs with placement='auto' start
    seconds = {}
    for first in range(0, len(SHAPES), SIDE_BY_SIDE):
        promises = {}
        begun = time.monotonic()
        for shape in SHAPES[first:first + SIDE_BY_SIDE]:
            xml = json.loads(advise(shape, "--json"))["xml"]
            promises[shape] = topology.promised(xml)
            expect_as_meant(shape, promises[shape])
            linux.start(shape.name, xml)
        for shape, promise in promises.items():
            faults = faults_of(shape, promise)
            expect(not faults, f"'{shape.name}': {faults}")
            seconds[shape.name] = round(time.monotonic() - begun)
    expect_said_too_large(Shape(1, (1,), 1, memory_mib=LARGER_THAN_A_NODE_MIB))
    expect_said_too_large(Shape(2, (1, 1), 2, memory_mib=4 * LARGER_THAN_A_NODE_MIB,
                                arguments=("--policy", "consolidate=false")))
    return {"seconds": seconds}
