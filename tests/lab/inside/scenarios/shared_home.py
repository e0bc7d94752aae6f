# SPDX-License-Identifier: Apache-2.0
"""Three equal VMs on two nodes get equal CPU time by sharing nodes, not by moving back and forth.

Six busy vCPUs want four CPUs, and no arrangement of homes divides that evenly: with walls between nodes two VMs get
half of what they want, and the third all. One that runs on both nodes lets all have two thirds. Turns would achieve
this, too, but would move memory back and forth; here none is moved once the VMs have settled. What the kernel's NUMA
balancing moves to the second node and back does not count, and the daemon leaves it there.
"""

from lab import daemon, guests, nodes
from lab.process import expect

IN_SHORT_SET = False
ANY_STARTER = True
LIMIT_S = 600
PLACED_EPOCHS = 60
SETTLED_EPOCHS = 30  # a minute
WATCHED_EPOCHS = 30
MOST_FROM_MEAN = 0.1


def is_on(vm, wanted):
    pinned = nodes.nodes_of(set().union(*vm.pinned_cpus()))
    return bool(pinned) and pinned <= wanted


def pulls():
    return [row for row in daemon.moves() if row["reason"] == "memory-pull"]


def run():
    vms = [guests.Guest(f"third{number}") for number in range(3)]
    daemon.configure("\n".join(f'[vm."{vm.name}"]\nnodes = "0-1"' for vm in vms))
    daemon.start()
    guests.start(vms)
    _, placed_after = daemon.wait_until_in(PLACED_EPOCHS, "all live on the two nodes",
                                           lambda _status: all(is_on(vm, {0, 1}) for vm in vms))
    daemon.wait_epochs(SETTLED_EPOCHS)

    moves, pulled, memory = daemon.changes_of_home(), pulls(), {vm.name: vm.memory() for vm in vms}
    before = {vm: vm.vcpu_seconds() for vm in vms}
    daemon.wait_epochs(WATCHED_EPOCHS)
    got = {vm: vm.vcpu_seconds() - before[vm] for vm in vms}
    mean = sum(got.values()) / len(vms)
    left = {vm.name: sum(max(0, size - vm.memory()[node]) for node, size in memory[vm.name].items()) // 1024
            for vm in vms}
    figures = {
        "epochs_until_placed": placed_after,
        "of_mean": {vm.name: round(got[vm] / mean, 2) for vm in vms},
        "moves": len(moves),
        "moves_afterwards": len(daemon.changes_of_home()) - len(moves),
        "pulls": len(pulled),
        "pulls_afterwards": len(pulls()) - len(pulled),
        "moved_by_the_kernel_kib": left,
        "pinned_to": {vm.name: sorted(nodes.nodes_of(set().union(*vm.pinned_cpus()))) for vm in vms},
    }
    expect(figures["moves_afterwards"] == 0, f"homes went on changing: {figures}")
    expect(figures["pulls_afterwards"] == 0, f"memory went on moving: {figures}")
    for vm in vms:
        expect(abs(got[vm] / mean - 1) <= MOST_FROM_MEAN, f"'{vm.name}' got another share: {figures}")
    return figures
