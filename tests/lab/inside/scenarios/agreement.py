# SPDX-License-Identifier: Apache-2.0
"""virsh and numastat report the same as `vmnuma stats`, for VMs of both memory modes."""

import re

from lab import daemon, guests
from lab.nodes import cpus_of
from lab.process import expect, read, run as run_program

IN_SHORT_SET = False
LIMIT_S = 360
QUIET_EPOCHS = 60
TOLERANCE_MIB = 6  # kernel counters are batched by CPU and up to 2 s old


def numastat(vm):
    """MiB of the VM on each node according to numastat -p, without what it maps from files.

    Programs and libraries are shared with others and stay where they were first read.
    """
    mib = [float(word) for word in
           next(line for line in run_program("numastat", "-p", vm.pid()).splitlines()
                if line.startswith("Total")).split()[1:-1]]
    for mapping in read(f"/proc/{vm.pid()}/numa_maps").splitlines():
        if " file=" in mapping and " anon=" not in mapping:
            for node, pages in re.findall(r" N(\d+)=(\d+)", mapping):
                mib[int(node)] -= int(pages) * 4096 / 2**20
    return mib


def compare(vm, row):
    """Compares one row of numa-clients with other sources."""
    home = row["homeNode"]
    for number, cpus in enumerate(vm.pinned_cpus()):
        expect(cpus == cpus_of(home),
               f"vCPU {number} of '{vm.name}' is pinned to {cpus}, but its home is node {home}")
    tune = vm.virsh("numatune")
    nodeset = re.search(r"numa_nodeset\s*:\s*(\S*)", tune).group(1)
    others = numastat(vm)
    local, remote = row["localMem"] / 1024, row["remoteMem"] / 1024
    elsewhere = sum(others) - others[home]
    for what, ours, theirs in (("local", local, others[home]), ("remote", remote, elsewhere)):
        expect(abs(ours - theirs) <= TOLERANCE_MIB,
               f"'{vm.name}' has {ours:.1f} MiB {what}, but numastat says {theirs:.1f}")
    return {"home": home, "nodeset": nodeset,
            "local_mib": [round(local, 1), round(others[home], 1)],
            "remote_mib": [round(remote, 1), round(elsewhere, 1)]}


def run():
    soft, mask = guests.Guest("soft", load=40), guests.Guest("mask", load=40)
    vms = [soft, mask]
    guests.start(vms)
    daemon.configure('[vm."mask"]\nmemory_mode = "mask"')
    with guests.memory_forced(vms, 0):
        daemon.start()
    daemon.wait_until_in(QUIET_EPOCHS, "both have a home and nothing travels", lambda status: (
        all(vm.pinned_node() is not None for vm in vms)
        and not status["open_actions"] and not status["transfers"]))
    rows = {row["vmName"]: row for row in daemon.stats("numa-clients")}
    figures = {vm.name: compare(vm, rows[vm.name]) for vm in vms}
    expect(figures["mask"]["nodeset"] == str(rows["mask"]["homeNode"]),
           f"the nodes of 'mask' are {figures['mask']['nodeset']!r}, its home is"
           f" {rows['mask']['homeNode']}")
    expect(figures["soft"]["nodeset"] in ("", "0-3"),
           f"the nodes of 'soft' were narrowed to {figures['soft']['nodeset']!r}")
    return figures
