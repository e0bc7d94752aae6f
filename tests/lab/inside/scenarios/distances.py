# SPDX-License-Identifier: Apache-2.0
"""Decisions use the measured distances wherever the firmware's differ, until this is switched off.

An emulated machine's memory is equally far from everywhere, whatever its firmware says - all nodes equally far
(`run --slit flat`) or not - and a busy host leaves nothing to measure. So after one measurement, whose result is only
reported, the daemon is given what a measurement on two sockets of two nodes would have left. This shows that it is used,
is shown, and survives CPUs that go offline; not that VMs are better off.
"""

import collections
import json

from lab import daemon, guests, nodes
from lab.process import expect, read

IN_SHORT_SET = False
LIMIT_S = 600
MEASURED_EPOCHS = 30
TOLD_EPOCHS = 5
KEPT = "/var/lib/vmnuma/latencies.json"
BOOT = "/proc/sys/kernel/random/boot_id"
AGREEMENT_PCT = 10
LOCAL_NS, SAME_SOCKET_NS, OTHER_SOCKET_NS = 80, 120, 280


def pairs():
    return [(cpus, memory) for cpus in nodes.all_nodes() for memory in nodes.all_nodes()]


def read_ns(cpus, memory):
    return LOCAL_NS if cpus == memory else SAME_SOCKET_NS if cpus // 2 == memory // 2 else OTHER_SOCKET_NS


def keep_latencies():
    """As the daemon does (stats/latency/latency_text.h)."""
    latencies = [{"cpu": cpus, "memory": memory, "read_ns": read_ns(cpus, memory)} for cpus, memory in pairs()]
    with open(KEPT, "w", encoding="ascii") as file:
        json.dump({"version": 1, "boot_id": read(BOOT).strip(), "latencies": latencies}, file)


def decided_by():
    """The distances as decisions take them, row by row."""
    return [distance for node in daemon.ask("top", "--once")["nodes"] for distance in node["distances"]]


def expect_decided_by(words, distances, vm):
    def holds(_status=None):
        return words in daemon.ask("explain", vm.name)["memory"] and decided_by()[:len(distances)] == distances

    daemon.wait_until_in(TOLD_EPOCHS, f"decisions take {distances}, and explain says that {words}", holds)


def wait_for_cpus(nodes_without):
    daemon.wait_until_in(TOLD_EPOCHS, f"{nodes_without} nodes have no CPUs", lambda _: sum(
        node["cpus"] == 0 for node in daemon.ask("top", "--once")["nodes"]) == nodes_without)


def run():
    daemon.configure('distances = "measured"')
    daemon.start()
    daemon.wait_until_in(MEASURED_EPOCHS, "the measurement has ended", lambda _: all(
        row["state"] != "not-measured" for row in daemon.stats("numa-latency")))
    rows = daemon.stats("numa-latency")
    daemon.stop()
    expect([(row["cpuNode"], row["memNode"]) for row in rows] == pairs(), f"the table is {rows}")
    slit = [row["slit"] for row in rows]

    keep_latencies()
    expected = []
    for (cpus, memory), firmware in zip(pairs(), slit):
        distance = read_ns(cpus, memory) * 10 // LOCAL_NS
        expected.append(distance if abs(distance - firmware) * 100 > firmware * AGREEMENT_PCT else firmware)
    expect(expected != slit, f"the firmware is right, so nothing can be seen: {slit}")
    vm = guests.Guest("tenant", load=5, memory_mib=32, vcpus=1)
    guests.start([vm])
    daemon.start()
    said = ("distances are measured, and 28 % of run time is estimated to be spent waiting for memory; a local read takes"
            f" {LOCAL_NS} ns")
    expect_decided_by(said, expected, vm)

    with nodes.offline(nodes.all_nodes()[-1]):
        wait_for_cpus(1)
        # No CPU reads from there.
        expect_decided_by(said, expected[:-len(nodes.all_nodes())], vm)
    wait_for_cpus(0)
    expect_decided_by(said, expected, vm)

    daemon.configure('distances = "firmware"')
    daemon.reload()
    expect_decided_by("distances are the firmware's, and 30 % of run time is assumed", slit, vm)
    return {"slit": slit, "decided_by": expected,
            "really_measured": dict(collections.Counter(row["state"] for row in rows)),
            "really_read_ns": [row["readNs"] for row in rows]}
