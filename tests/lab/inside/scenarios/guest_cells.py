# SPDX-License-Identifier: Apache-2.0
"""The memory of each guest NUMA cell follows its own client when both clients move to other nodes.

Each vCPU of the guest writes to pages of both cells, so that the kernel's NUMA balancing would move them
back and forth; it is off.
"""

from lab import daemon, guests, nodes
from lab.process import expect

IN_SHORT_SET = False
LIMIT_S = 480
PLACED_EPOCHS = 90
MOVED_EPOCHS = 120
QUIET_EPOCHS = 10
LEAST_LOCAL = 0.95
LOAD = 60  # together more than a node has, so that the clients live apart


def run():
    nodes.set_kernel_balancing(False)
    vm = guests.Guest("wide", load=LOAD, memory_mib=128, vcpus=4, cells=2)
    guests.start([vm])
    mappings = vm.cell_mappings()

    def homes():
        """Of the two clients, or None where the vCPUs of a cell are not on one node."""
        first, second, third, fourth = vm.pinned_nodes()
        return [first if first == second else None, third if third == fourth else None]

    def shares():
        return [vm.mapping_share(start, home) for start, home in zip(mappings, homes())]

    def settled(status):
        return (None not in homes() and min(shares()) >= LEAST_LOCAL
                and not status["open_actions"] and not status["transfers"])

    daemon.configure('[options]\n"Numa.SpillEnable" = 0')  # so that pins are to the homes alone
    daemon.start()
    expect(not daemon.status()["degraded"], f"it cannot read all: {daemon.status()['degraded']}")
    _, placed_after = daemon.wait_until_in(
        PLACED_EPOCHS, "each cell has a home, and its memory is there", settled)
    first = homes()
    expect(first[0] != first[1], f"both clients live on node {first[0]}")
    others = [node for node in range(4) if node not in first]
    moved_after = 0
    for client, node in enumerate(others):
        daemon.move(vm, node, "--client", client)
        _, epochs = daemon.wait_until_in(
            MOVED_EPOCHS, f"client {client} is on node {node} with its memory",
            lambda status, client=client, node=node: homes()[client] == node and settled(status))
        moved_after += epochs
    daemon.wait_epochs(QUIET_EPOCHS)
    expect(homes() == others, f"the clients live on {homes()}, not on {others}")
    expect(min(shares()) >= LEAST_LOCAL, f"memory left again: {vm.numa_maps(mappings)}")
    return {"epochs_until_placed": placed_after, "epochs_until_moved": moved_after,
            "homes": [first, others],
            "first_cell_is_mapped_above": mappings[0] > mappings[1],
            "local_memory": [round(share, 3) for share in shares()]}
