# SPDX-License-Identifier: Apache-2.0
"""The history has the CPU time that VMs wanted, as their guests used it, and the properties of the VMs.

A second stands for a minute, and an epoch is as long. The guests do, half as high, what VMs of the
families of generated loads do. Besides that an emulated vCPU takes time of its own, for its timer and for
waking up, which is as true a part of what it wants: always about the same, and more on a slow machine. The
recording that tests/fixtures/loads keeps was made with MINUTES = 4320, three days.
"""

import statistics
import time

from lab import daemon, guests, process
from lab.process import expect

IN_SHORT_SET = False
MINUTES = 240
LIMIT_S = 300 + 2 * MINUTES
FAMILIES = ("constant", "diurnal", "bursty", "trend", "batch", "batch", "on-off")
SYSTEMS = ("http://debian.org/debian/12", "http://microsoft.com/win/2k22")
# Raw epochs stay in the history for an hour.
COLLECT_EVERY_S = 600
MOST_LATE_S = 120
COMPARED = 100
MOST_DIFFERENCE = 50
MOST_OVERHEAD = 100


def generated():
    """Loads by name, in thousandths, minute by minute."""
    which = [(family, FAMILIES[:i].count(family)) for i, family in enumerate(FAMILIES)]
    words = [word for vm in which for word in vm]
    lines = process.run("/share/generated_loads", MINUTES, *words).splitlines()
    return {name: [int(load) for load in loads] for name, *loads in map(str.split, lines)}


def collect(recorded, since_ms):
    """Adds the epochs since then to the loads by name; returns the last one's time."""
    rows = daemon.query("SELECT time_ms, name, demand_us * 1000 / (vcpus * epoch_us) FROM client_sample"
                        " JOIN vm ON vm.number = vm"
                        f" WHERE span = 0 AND time_ms > {since_ms} ORDER BY time_ms")
    for time_ms, name, load in rows:
        recorded[name].append(load)
        since_ms = time_ms
    return since_ms


def difference(told, recorded):
    """How far the recording is from it at its beginning, on average, and what every second has besides:
    both in thousandths, wherever the daemon came in."""
    found = []
    for late in range(MOST_LATE_S):
        more = [b - a // 2 for a, b in zip(told[late:], recorded[:COMPARED])]
        overhead = statistics.median(more)
        found.append((statistics.fmean(abs(each - overhead) for each in more), overhead))
    return tuple(map(round, min(found)))


def facts():
    rows = daemon.query("SELECT name, memory_mib, shares, guest_os FROM vm")
    return {name: tuple(others) for name, *others in rows}


def run():
    told = generated()
    vms = [guests.Guest(name, load=tuple(load // 20 for load in loads), memory_mib=32 + 16 * (i % 2),
                        vcpus=1, system=SYSTEMS[i % 2])
           for i, (name, loads) in enumerate(told.items())]
    daemon.configure('[options]\n"Numa.RebalancePeriod" = 1000', mode="dry-run")
    end = time.monotonic() + MINUTES
    guests.start(vms)
    daemon.start()
    recorded = {vm.name: [] for vm in vms}
    last_ms = 0
    while time.monotonic() < end:
        time.sleep(min(COLLECT_EVERY_S, max(1, end - time.monotonic())))
        last_ms = collect(recorded, last_ms)
    with open("/share/results/loads.txt", "w", encoding="ascii") as file:
        for vm in vms:
            words = [vm.name, vm.vcpus, *facts()[vm.name], *recorded[vm.name]]
            file.write(" ".join(map(str, words)) + "\n")
    for vm in vms:
        expect(facts()[vm.name] == (vm.memory_mib, 100, vm.system), f"{vm.name} is {facts()[vm.name]}")
    away = {vm.name: difference(told[vm.name], recorded[vm.name]) for vm in vms}
    expect(all(off <= MOST_DIFFERENCE and -MOST_DIFFERENCE <= overhead <= MOST_OVERHEAD
               for off, overhead in away.values()),
           f"recorded was something else: {away}")
    return {"epochs": len(recorded[vms[0].name]), "difference_and_overhead_permille": away}
