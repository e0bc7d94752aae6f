# SPDX-License-Identifier: Apache-2.0
"""A VM moves away when all CPUs of its node go offline, and the node is used again once they are back.

Pins that no longer fit do not count as external, and the host comes to rest each time.
"""

from lab import daemon, guests, nodes
from lab.process import expect

IN_SHORT_SET = False
ANY_STARTER = True
LIMIT_S = 600
LOAD = 30
MEMORY_MIB = 32
PLACED_EPOCHS = 60
GONE_EPOCHS = 90
REST_EPOCHS = 20
LEAST_LOCAL = 0.95


def is_at_home(vm):
    """By its own pins, its memory and what the daemon says."""
    node = vm.pinned_node()
    return (node is not None and node == daemon.homes().get((vm.name, 0))
            and vm.memory_share(node) >= LEAST_LOCAL)


def wait_for_homes(vms, what):
    return daemon.wait_until_in(GONE_EPOCHS, what, lambda status: (
        all(is_at_home(vm) for vm in vms) and not status["open_actions"] and not status["transfers"]))[1]


def run():
    vms = [guests.Guest(f"tenant{number}", load=LOAD, memory_mib=MEMORY_MIB) for number in range(3)]
    guests.start(vms)
    daemon.start()
    figures = {"epochs_until_placed": wait_for_homes(vms, "each VM is at home")}
    before = {vm: vm.pinned_node() for vm in vms}
    expect(len(set(before.values())) == len(vms), f"they share nodes: {before.values()}")
    gone = max(before.values())
    others = {vm: node for vm, node in before.items() if node != gone}

    with nodes.offline(gone):
        figures["epochs_until_elsewhere"] = wait_for_homes(vms, "all are at home on nodes that have CPUs")
        expect({vm: vm.pinned_node() for vm in others} == others, "a VM of another node was moved")
        daemon.expect_rest(REST_EPOCHS)

    # It is empty, so a VM that starts now starts there.
    late = guests.Guest("late", load=LOAD, memory_mib=MEMORY_MIB)
    guests.start([late])
    figures["epochs_until_used_again"] = wait_for_homes([*vms, late], "the new VM is at home, too")
    expect(late.pinned_node() == gone, f"it is on node {late.pinned_node()}, not on {gone}, which is empty")
    daemon.expect_rest(REST_EPOCHS)
    expect("externally" not in daemon.told(), f"external pins were blamed: {daemon.told()[-2000:]}")
    return figures
