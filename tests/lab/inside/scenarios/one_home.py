# SPDX-License-Identifier: Apache-2.0
"""If machine.slice is confined to one node, the daemon says that there is nothing to balance, and does no more.

Before VMs start, and again while they are pinned to other nodes; memory that is elsewhere is brought there. Once the
slice is widened, the daemon balances.
"""

from lab import daemon, guests, nodes
from lab.process import expect, run as run_program

IN_SHORT_SET = False
LIMIT_S = 600
LOAD = 20
MEMORY_MIB = 32
NODE = 1
OTHER_NODE = 2
SLICE = "machine.slice"
NOTICED_EPOCHS = 10
PLACED_EPOCHS = 60
REST_EPOCHS = 25
NOTHING = f"nothing to balance: only node {NODE} has both memory and CPUs that VMs may use"


def allow(cpus):
    run_program("systemctl", "set-property", "--runtime", SLICE,
                f"AllowedCPUs={','.join(map(str, sorted(cpus)))}")


def pins_in_xml(vm):
    return vm.virsh("dumpxml").count("<vcpupin ")


def expect_told():
    """By status and doctor."""
    daemon.wait_until_in(NOTICED_EPOCHS, "the daemon says that there is nothing to balance",
                         lambda status: status["nothing_to_balance"] == NOTHING)
    said = run_program("vmnuma", "doctor", check=False)
    expect("nothing to balance" in " ".join(said.split()), f"doctor says: {said}")


def wait_for_homes(vms, elsewhere=None):
    """Until each VM is pinned to its home, which need not be another for each; `elsewhere` to that node."""
    def settled(status):
        homes = daemon.homes()
        return (all(vm.pinned_node() is not None and vm.pinned_node() == homes.get((vm.name, 0)) for vm in vms)
                and (elsewhere is None or vms[0].pinned_node() == elsewhere)
                and not status["nothing_to_balance"] and not status["open_actions"] and not status["transfers"])

    return daemon.wait_until_in(PLACED_EPOCHS, "each VM is pinned to its home", settled)[1]


def run():
    vms = [guests.Guest(f"tenant{number}", load=LOAD, memory_mib=MEMORY_MIB) for number in range(2)]
    everywhere = set().union(*(nodes.cpus_of(node) for node in nodes.all_nodes()))
    try:
        allow(nodes.cpus_of(NODE))
        guests.start(vms)
        daemon.start()
        expect_told()
        daemon.expect_rest(REST_EPOCHS)
        expect(not any(pins_in_xml(vm) for vm in vms), "a VM was pinned")
        expect(set(daemon.homes().values()) == {NODE}, f"the homes are {daemon.homes()}")
        expect(not daemon.changes() and not daemon.remembered_homes(), "something was written to the history")

        allow(everywhere)
        figures = {"epochs_until_placed": wait_for_homes(vms)}
        daemon.move(vms[0], OTHER_NODE)
        figures["epochs_until_moved"] = wait_for_homes(vms, OTHER_NODE)

        allow(nodes.cpus_of(NODE))
        expect_told()
        daemon.expect_rest(REST_EPOCHS)
        allow(everywhere)
        figures["epochs_until_placed_again"] = wait_for_homes(vms)
        expect("externally" not in daemon.told(), f"external pins were blamed: {daemon.told()[-2000:]}")
    finally:
        run_program("systemctl", "revert", SLICE)
    figures["pulls"] = [row["vm"] for row in daemon.moves() if row["reason"] == "memory-pull"]
    return figures
