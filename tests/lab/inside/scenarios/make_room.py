# SPDX-License-Identifier: Apache-2.0
"""A VM that needs more of one node than any node has free starts once another VM has moved away, and not before.

Without waiting it is refused, as with a deadline of 0 s. One VM lives on each node; the new one is larger than the room
left by the smallest of them, and smaller than the node without it.
"""

from lab import daemon, domains, guests, libvirt
from lab.process import Failure, expect, run as run_program

IN_SHORT_SET = False
LIMIT_S = 1200
IDLE = 0  # an idle VM moves fastest here
FILLER_MIB = 192
BESIDE_MIB = 96  # how much the new VM needs of what a filler leaves free
PLACED_EPOCHS = 20
MOVED_EPOCHS = 120
RESIDENCY_EPOCHS = 14  # somewhat more than Numa.Residency
LEAST_LOCAL = 0.95
DEADLINE_S = 120
_MIB = 1 << 20


def large(name, deadline_s):
    room = max(node["largest_vm_bytes"] for node in daemon.ask("top", "--once")["nodes"])
    return guests.Guest(name, load=IDLE, memory_mib=room // _MIB + BESIDE_MIB,
                        policy="topology_policy='single-numa-node' make_room='before-start' "
                               f"make_room_deadline_s='{deadline_s}'")


def made_room():
    return [row for row in daemon.moves() if row["reason"] == "make-room"]


def expect_refused(vm):
    try:
        run_program("virsh", "-q", "create", domains.definition(vm))
    except Failure as failure:
        expect("topology_policy is 'single-numa-node'" in str(failure), f"it was refused otherwise: {failure}")
        return
    raise Failure(f"'{vm.name}' was started although no node has its memory")


def run():
    libvirt.be_asked()
    daemon.start()
    fillers = [guests.Guest(f"filler{node}", load=IDLE, memory_mib=FILLER_MIB) for node in range(4)]
    guests.start(fillers)
    daemon.wait_until_in(PLACED_EPOCHS, "all have homes", lambda _: all(daemon.is_at_home(vm) for vm in fillers))
    for node, vm in enumerate(fillers):
        if not daemon.is_at_home(vm, node):
            daemon.move(vm, node)
        daemon.wait_until_in(MOVED_EPOCHS, f"'{vm.name}' is on node {node} with its memory",
                             lambda _, vm=vm, node=node: (
                                 daemon.is_at_home(vm, node) and vm.memory_share(node) >= LEAST_LOCAL))
    daemon.wait_epochs(RESIDENCY_EPOCHS)

    expect_refused(large("at-once", 0))
    expect(not made_room(), f"VMs were moved for one that does not wait: {made_room()}")

    vm = large("large", DEADLINE_S)
    guests.create([vm])
    expect(vm.is_running(), f"'{vm.name}' does not run")
    moves = made_room()
    expect(len(moves) == 1 and moves[0]["state"] == "done", f"not one move that is done: {moves}")
    expect(not daemon.ask("reservations")["reservations"], "what was reserved for it is left")
    daemon.wait_until_in(PLACED_EPOCHS, "it is at home where room was made",
                         lambda _: daemon.is_at_home(vm, moves[0]["from"]))
    return {"memory_mib": vm.memory_mib, "moved": moves[0]["vm"], "from": moves[0]["from"], "to": moves[0]["to"]}
