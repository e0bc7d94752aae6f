# SPDX-License-Identifier: Apache-2.0
"""Thirty VMs that are started as fast as virsh can all get homes, and those that libvirt asks about are spread evenly:
the nodes differ by one VM at most.

This is about where equal VMs start. How long one boots on an emulated machine, and how many do so at a time, is
not known, and a VM rightly starts where fewer boot; so they are started paused, and boot when all have a home.
Load moves would even out the load of booting, so there are none. VMs that libvirt does not ask about have
memory by the time they get a home, and rightly stay with it where little runs: they come after the others.
"""

import collections
import subprocess

from lab import daemon, domains, guests, libvirt, nodes
from lab.process import expect

IN_SHORT_SET = False
LIMIT_S = 900
CONFIG = """[options]
"Numa.SwapMigrateOnly" = 0
"Numa.SwapLoadEnable" = 0
"""
VMS = 30
ASKED_ABOUT = 16
PLACED_EPOCHS = 60


def run():
    libvirt.be_asked()
    daemon.configure(CONFIG)
    daemon.start()
    vms = [guests.Guest(f"storm{number}", load=1, memory_mib=16, vcpus=1, auto=number < ASKED_ABOUT)
           for number in range(VMS)]
    commands = "; ".join(f"create --paused {domains.definition(vm)}" for vm in vms)
    started = subprocess.run(["virsh", "-q", commands], stdin=subprocess.DEVNULL, check=False,
                             capture_output=True, text=True, timeout=LIMIT_S)
    expect(started.returncode == 0, f"not all were started: {started.stderr[-1000:]}")

    def placed(_status):
        homes = daemon.homes()
        return len(homes) == VMS and None not in homes.values()

    daemon.wait_until_in(PLACED_EPOCHS, "every VM has a home", placed)
    homes = daemon.homes()

    def per_node(some):
        at_home = collections.Counter(homes[(vm.name, 0)] for vm in some)
        return {node: at_home[node] for node in nodes.all_nodes()}

    asked_about = per_node(vms[:ASKED_ABOUT])
    figures = {"vms_per_node": per_node(vms), "asked_about": asked_about, "moves": len(daemon.changes_of_home())}
    expect(max(asked_about.values()) - min(asked_about.values()) <= 1, f"unevenly spread: {figures}")
    for vm in vms:
        vm.virsh("resume")
    daemon.expect_at_home(vms, epochs=PLACED_EPOCHS)
    return figures
