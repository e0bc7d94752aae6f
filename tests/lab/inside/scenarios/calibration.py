# SPDX-License-Identifier: Apache-2.0
"""In the simulator, floating, pinned and crowded VMs wait for CPUs as long as on a real kernel.

The same VMs run here, without the daemon, and in the simulator: floating, pinned, crowded on one node, and with the
kernel's NUMA balancing after their memory was moved away from them. What everything else used of the CPUs here is load of
others there, wherever CPUs are idle. Compared are the share of its time that a vCPU that could run waits
(/proc/PID/task/TID/schedstat) and the share of memory on the node of the vCPU that uses it, both over the same time.
Each is within a fifth of the other, or within two points where both are small.

The nearness of floating VMs is reported but not compared: with all CPUs busy their vCPUs come to run anywhere here, while the
simulator's stay where they are as long as no CPU is idle; and on emulated CPUs memory is used, and follows by the
kernel's balancing, at a tenth of a real machine's pace. Both make the simulator flatter hosts that are left alone, and the
kernel's balancing.
"""

import contextlib
import dataclasses
import json
import os
import time

from lab import guests, nodes
from lab.process import expect, run as run_program

IN_SHORT_SET = False
LIMIT_S = 1800
EPOCH_S = 2
WATCHED_EPOCHS = 30
SETTLE_S = 10
MOST_APART = 0.2
MOST_POINTS_APART = 2
VCPUS = 2
MEMORY_MIB = 64


@dataclasses.dataclass(frozen=True)
class Case:
    """Equal VMs. `pins`: the node of each, none if empty. `misplaced`: all memory is on node 0 at first, and the
    kernel's NUMA balancing is on."""

    name: str
    vms: int
    load: int
    pins: tuple = ()
    misplaced: bool = False


CASES = (
    Case("floating", vms=4, load=100),
    Case("floating, half busy", vms=4, load=50),
    Case("pinned", vms=4, load=100, pins=(0, 1, 2, 3)),
    Case("crowded", vms=4, load=100, pins=(0, 0, 0, 1)),
    Case("misplaced", vms=3, load=100, misplaced=True),
)


def vms_of(case):
    cpus = [",".join(map(str, sorted(nodes.cpus_of(node)))) for node in case.pins] or [""] * case.vms
    return [guests.Guest(f"same{number}", load=case.load, memory_mib=MEMORY_MIB, vcpus=VCPUS, cpuset=cpuset)
            for number, cpuset in enumerate(cpus)]


def near(vms):
    """The share of memory that is on the node of the vCPU that uses it, every vCPU using all of its VM's alike."""
    shares = [vm.memory_share(node) for vm in vms for node in vm.vcpu_nodes()]
    return sum(shares) / len(shares)


def seen_here(case):
    vms = vms_of(case)
    guests.start(vms)
    with contextlib.ExitStack() as held:
        if case.misplaced:
            held.enter_context(guests.memory_forced(vms, 0))
        nodes.set_kernel_balancing(False)
        if not case.misplaced:
            time.sleep(SETTLE_S)  # shares of time are measured
        nodes.set_kernel_balancing(case.misplaced)
        before, idle_before = guests.times_ns(vms), nodes.idle_seconds()
        begin = time.monotonic()
        shares = []
        for _ in range(WATCHED_EPOCHS):
            time.sleep(EPOCH_S)
            shares.append(near(vms))
        ran, waited = (after - start for after, start in zip(guests.times_ns(vms), before))
        passed_s = time.monotonic() - begin
        others_s = passed_s * os.cpu_count() - (nodes.idle_seconds() - idle_before) - ran / 1e9
    guests.destroy_all()
    return {"waited_pct": 100 * waited / (ran + waited), "near_pct": 100 * sum(shares) / len(shares),
            "near_at_end_pct": 100 * shares[-1]}, round(100 * max(others_s, 0) / passed_s)


def scenario_of(case, others_pct):
    """Likewise for the simulator, with nodes and distances as made by tests/lab/run."""
    lines = [f"epochs = {WATCHED_EPOCHS}", "[host]", "nodes = 4", "cores_per_node = 2", 'memory_per_node = "2GiB"',
             "distances = [[10, 12, 21, 21], [12, 10, 21, 21], [21, 21, 10, 12], [21, 21, 12, 10]]"]
    for number in range(case.vms):
        lines += ["[[vm]]", f'name = "same{number}"', f"vcpus = {VCPUS}", f'memory = "{MEMORY_MIB}MiB"',
                  f"load = [{{ from = 0, pct = {case.load} }}]", "stall = 0.0", "qemu = 0.0"]
        if case.pins:
            lines.append(f"pinned_on = [{case.pins[number]}]")
        if case.misplaced:
            lines.append("placed_on = [0]")
    lines += ["[[host.other]]", f"pct = {others_pct}"]
    return "\n".join(lines) + "\n"


def simulated(case, others_pct):
    path = "/run/lab-calibration.toml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(scenario_of(case, others_pct))
    policy = "kernel" if case.misplaced else "none"
    result = json.loads(run_program("vmnuma", "sim", "run", path, "--policy", policy, "--json"))
    waited = [vm["waited_pct"] for vm in result["vms"]]
    return {"waited_pct": sum(waited) / len(waited), "near_pct": result["locality_pct"]["mean"],
            "near_at_end_pct": result["locality_pct"]["end"]}


def is_close(one, other):
    apart = abs(one - other)
    return apart <= MOST_POINTS_APART or apart <= MOST_APART * max(one, other)


def run():
    figures = {}
    apart = []
    for case in CASES:
        here, others_pct = seen_here(case)
        there = simulated(case, others_pct)
        figures[case.name] = {key: [round(here[key], 1), round(there[key], 1)] for key in here}
        figures[case.name]["others_pct"] = others_pct
        apart += [f"{case.name}, {key}: {here[key]:.1f} here, {there[key]:.1f} simulated"
                  for key in ("waited_pct", "near_pct")
                  if (key == "waited_pct" or case.pins) and not is_close(here[key], there[key])]
    expect(not apart, f"not as simulated: {apart}; all: {figures}")
    return figures
