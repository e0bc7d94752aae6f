# SPDX-License-Identifier: Apache-2.0
"""Two heavy VMs share a node and two light ones share another: only a swap helps, and it is made.

In CPUs: heavy wants 1.5, light 0.8, a node has 2. A heavy VM has twice the weight, so of the two nodes, which policy
confines them to, it is entitled to 1.33, and a light one to 0.67. Heavy and heavy have 1.0 each, so 0.67 is owed to
them. One heavy VM with both light ones would be owed as much together with them; a light one with both heavy ones
would increase that. With heavy and light on each node all get what they are entitled to. Homes are walls here.
"""

from lab import daemon, guests
from lab.process import expect

IN_SHORT_SET = False
ANY_STARTER = True
LIMIT_S = 480
MEMORY_MIB = 16  # little travels quickly
HEAVY_WEIGHT = 200  # 100 by default
SETTLE_EPOCHS = 60
SWAP_EPOCHS = 60


def run():
    heavy = [guests.Guest(f"heavy{number}", load=75, memory_mib=MEMORY_MIB) for number in range(2)]
    light = [guests.Guest(f"light{number}", load=40, memory_mib=MEMORY_MIB) for number in range(2)]
    vms = heavy + light
    policies = "\n".join(f'[vm."{vm.name}"]\nnodes = "0-1"' for vm in vms)
    guests.start(vms)
    for vm in heavy:
        with open(vm.scope() + "/cpu.weight", "w", encoding="ascii") as weight:
            weight.write(str(HEAVY_WEIGHT))
    # Nothing is moved until all are where the scenario wants them.
    daemon.configure(f"[options]\n\"Numa.RebalanceEnable\" = 0\n\"Numa.SpillEnable\" = 0\n{policies}")
    daemon.start()
    for vm in vms:
        daemon.move(vm, 0 if vm in heavy else 1)
    daemon.wait_until_in(SETTLE_EPOCHS, "they are where the scenario wants them", lambda status: (
        not status["open_actions"] and all(vm.pinned_node() == 0 for vm in heavy)
        and all(vm.pinned_node() == 1 for vm in light)))
    before = daemon.wait_epochs(3)

    daemon.ask("options", "set", "Numa.RebalanceEnable", 1)

    def mixed(_status):
        return all(len({vm.pinned_node() for vm in pair}) == 2 for pair in (heavy, light))

    _, swapped_after = daemon.wait_until_in(SWAP_EPOCHS, "one heavy and one light VM on each node",
                                            mixed)
    after = daemon.wait_epochs(10)
    swaps = [row for row in daemon.moves() if row["reason"] == "load-swap"]
    counters = {row["vmName"]: row["loadSwap"] for row in daemon.stats("numa-migration")}
    figures = {
        "epochs_until_swap": swapped_after,
        "lost_ms": [before["lost_ms"], after["lost_ms"]],
        "imbalance_pct": [before["imbalance_pct"], after["imbalance_pct"]],
        "loadSwap": counters,
        "reasons": [row["reason"] for row in daemon.changes_of_home()],
    }
    daemon.expect_at_home(vms)
    expect(swaps, f"no swap in the history: {figures['reasons']}")
    expect(len({row["action"] for row in swaps}) == 1, f"more than one swap: {swaps}")
    expect(sum(counters.values()) == 2, f"loadSwap counts {counters}")
    return figures
