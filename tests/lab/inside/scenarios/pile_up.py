# SPDX-License-Identifier: Apache-2.0
"""Four VMs whose memory is all on node 0 end up on one node each, with their memory, and stay there.

Two of them are more than a node's two CPUs can do, one is not, even together with the daemon's and libvirt's own
work, which takes up to a third of a node here. (A host that is full on every node is what `overload`
watches: there VMs take turns, and none stays.) Still a VM runs on a second node, too, while others keep its
own busy; the kernel's NUMA balancing would then lead its memory there, so it is off. What the nodes owe is
compared over all the quiet epochs together: in a single one the emulated machine's own work, which may be
on any node, is a tenth of what a node has.
"""

from lab import daemon, guests
from lab.process import expect

IN_SHORT_SET = False
ANY_STARTER = True
LIMIT_S = 600
LOAD_PCT = 60
SPREAD_EPOCHS = 60
MEMORY_EPOCHS = 90
QUIET_EPOCHS = 15
LEAST_LOCAL = 0.95
MOST_IMBALANCE_PCT = 10


def run():
    vms = [guests.Guest(f"pile{number}", load=LOAD_PCT) for number in range(4)]
    guests.start(vms)
    with guests.memory_forced(vms, 0):
        daemon.start()
        return watch(vms)


def watch(vms):
    def spread(_status):
        home = daemon.homes()
        nodes = [home.get((vm.name, 0)) for vm in vms]
        return len(set(nodes)) == len(vms) and all(
            vm.is_pinned_around(node) for vm, node in zip(vms, nodes))

    def at_home(_status):
        home = daemon.homes()
        return all(vm.memory_share(home[vm.name, 0]) >= LEAST_LOCAL for vm in vms)

    _, spread_after = daemon.wait_until_in(SPREAD_EPOCHS, "each VM has a node of its own", spread)
    _, memory_after = daemon.wait_until_in(MEMORY_EPOCHS, "the memory has followed", at_home)
    daemon.expect_at_home(vms)
    before = daemon.changes_of_home()

    daemon.wait_epochs(QUIET_EPOCHS)
    owed = daemon.owed_pct(QUIET_EPOCHS)
    imbalance = max(owed.values()) - min(owed.values())
    after = daemon.changes_of_home()
    home = daemon.homes()

    figures = {
        "epochs_until_spread": spread_after,
        "epochs_until_memory_there": spread_after + memory_after,
        "moves": len(before),
        "moves_afterwards": len(after) - len(before),
        "local_memory": {vm.name: round(vm.memory_share(home[vm.name, 0]), 3) for vm in vms},
        "spills": daemon.query("SELECT count(*) FROM action WHERE reason = 'spill'")[0][0],
        "owed_pct": {node: round(share, 1) for node, share in owed.items()},
        "imbalance_pct": round(imbalance, 1),
        "daemon_mib": round(daemon.memory_bytes() / 2**20, 1),
    }
    daemon.expect_at_home(vms)
    expect(spread(None), "they are no longer on a node each")
    expect(at_home(None), f"not all memory is at home: {figures['local_memory']}")
    expect(len(after) == len(before), f"moved again: {after[len(before):]}")
    expect(imbalance < MOST_IMBALANCE_PCT, f"imbalance of owed time: {figures}")
    return figures
