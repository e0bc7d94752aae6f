# SPDX-License-Identifier: Apache-2.0
"""A VM that is released, or whose memory is no longer limited, may use all nodes again; the pin that libvirt gives a
plugged vCPU does not count as external.
"""

import re

from lab import daemon, guests
from lab.process import expect

IN_SHORT_SET = False
LIMIT_S = 600
LOAD = 20
PLACED_EPOCHS = 60
GIVEN_BACK_EPOCHS = 20
QUIET_EPOCHS = 8
ALL_NODES = ("", "0-3")
ALL_CPUS = "0-7"
MASKED = '[vm."{}"]\nmemory_mode = "mask"\n'


def nodeset(vm):
    return re.search(r"numa_nodeset\s*:\s*(\S*)", vm.virsh("numatune")).group(1)


def is_limited_to_its_home(vm):
    return daemon.is_at_home(vm) and nodeset(vm) == str(daemon.homes()[(vm.name, 0)])


def run():
    masked, released = guests.Guest("masked", load=LOAD), guests.Guest("released", load=LOAD)
    growing = guests.Guest("growing", load=LOAD, vcpus=2, vcpus_at_start=1, cpuset=ALL_CPUS)
    guests.start([masked, released, growing])
    daemon.configure(MASKED.format("masked") + MASKED.format("released"))
    daemon.start()
    daemon.wait_until_in(PLACED_EPOCHS, "two VMs are limited to the memory of their homes",
                         lambda _: is_limited_to_its_home(masked) and is_limited_to_its_home(released))

    home = daemon.homes()[("growing", 0)]
    growing.virsh("setvcpus", 2, "--live")
    _, plugged_after = daemon.wait_until_in(PLACED_EPOCHS, "the plugged vCPU is pinned to the VM's home",
                                            lambda _: daemon.is_at_home(growing, home))

    daemon.configure(MASKED.format("released"))
    daemon.reload()
    _, soft_after = daemon.wait_until_in(GIVEN_BACK_EPOCHS, "'masked' may use all nodes again",
                                         lambda _: nodeset(masked) in ALL_NODES)
    expect(daemon.is_at_home(masked), "'masked' has left its home")

    daemon.ask("release", "released")
    _, released_after = daemon.wait_until_in(GIVEN_BACK_EPOCHS, "'released' may use all nodes and CPUs again", lambda _: (
        nodeset(released) in ALL_NODES and released.pinned_node() is None))
    daemon.wait_epochs(QUIET_EPOCHS)
    expect(nodeset(released) in ALL_NODES and released.pinned_node() is None, "'released' was pinned again")
    expect(nodeset(masked) in ALL_NODES, "'masked' was limited again")
    expect(daemon.is_at_home(growing, home), "'growing' was taken for a VM that somebody else pins")
    return {"epochs_until": {"plugged": plugged_after, "soft": soft_after, "released": released_after}}
