# SPDX-License-Identifier: Apache-2.0
"""VMs that wait at home while another node idles run on its CPUs as well, and return home when told to.

Three VMs of two busy vCPUs live on a node of two CPUs and may use one more node, which idles; moves
are switched off and memory is not touched. At home each vCPU runs a third of the time. With spills
there are twice as many CPUs, so they wait half as much.
"""

from lab import daemon, guests, nodes
from lab.process import expect

IN_SHORT_SET = False
ANY_STARTER = True
LIMIT_S = 480
SETTLE_EPOCHS = 60
SPILL_EPOCHS = 15
MEASURED_EPOCHS = 8
MOST_OF_WAITING = 0.6


def wait_share(vms):
    before = guests.times_ns(vms)
    daemon.wait_epochs(MEASURED_EPOCHS)
    run, wait = (after - start for after, start in zip(guests.times_ns(vms), before))
    return wait / (run + wait)


def pinned_nodes(vm):
    return nodes.nodes_of(set().union(*vm.pinned_cpus()))


def run():
    vms = [guests.Guest(f"busy{number}", memory_mib=32) for number in range(3)]
    policies = "\n".join(f'[vm."{vm.name}"]\nnodes = "0-1"\nmemory_mode = "hands-off"'
                         for vm in vms)
    guests.start(vms)
    daemon.configure("[options]\n\"Numa.RebalanceEnable\" = 0\n\"Numa.SwapMigrateOnly\" = 0\n"
                     f"\"Numa.SwapLoadEnable\" = 0\n\"Numa.LTermFairnessInterval\" = 0\n{policies}")
    with guests.memory_forced(vms, 0):  # elsewhere it would be a reason to move there
        daemon.start()
    for vm in vms:
        daemon.move(vm, 0)
    daemon.wait_until_in(SETTLE_EPOCHS, "all are on node 0", lambda status: (
        not status["open_actions"] and all(vm.pinned_node() == 0 for vm in vms)))
    walled = wait_share(vms)

    daemon.ask("options", "set", "Numa.RebalanceEnable", 1)
    _, spilled_after = daemon.wait_until_in(
        SPILL_EPOCHS, "someone runs on both nodes",
        lambda _status: any(pinned_nodes(vm) == {0, 1} for vm in vms))
    daemon.wait_epochs(2)
    spilled = wait_share(vms)
    reasons = {row["reason"] for row in daemon.moves()}
    homes = {row["homeNode"] for row in daemon.stats("numa-clients")}

    daemon.ask("options", "set", "Numa.SpillEnable", 0)
    daemon.wait_until_in(SPILL_EPOCHS, "all are back on node 0", lambda _status: all(
        vm.pinned_node() == 0 for vm in vms))
    figures = {"epochs_until_spill": spilled_after, "wait_share": [walled, spilled]}
    expect("spill" in reasons, f"no spill in the history: {reasons}")
    expect(homes == {0}, f"homes have changed: {homes}")
    expect(spilled <= walled * MOST_OF_WAITING, f"they wait on: {figures}")
    return figures
