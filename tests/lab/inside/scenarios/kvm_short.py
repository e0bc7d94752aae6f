# SPDX-License-Identifier: Apache-2.0
"""A KVM guest is placed and moved like any other: its vCPUs and memory arrive on the requested node."""

from lab import daemon, guests
from lab.process import run as run_program

IN_SHORT_SET = False
LIMIT_S = 480
PLACED_EPOCHS = 45
MOVED_EPOCHS = 120
LEAST_LOCAL = 0.95


def run():
    run_program("modprobe", "kvm_amd")
    vm = guests.Guest("native", load=5, kind="kvm")
    guests.start([vm])
    daemon.start()
    _, placed_after = daemon.wait_until_in(PLACED_EPOCHS, "it has a home", lambda _: daemon.is_at_home(vm))
    target = (daemon.homes()[vm.name, 0] + 2) % 4
    daemon.move(vm, target)
    _, moved_after = daemon.wait_until_in(MOVED_EPOCHS, f"it is on node {target} with its memory",
                                          lambda _: daemon.is_at_home(vm, target)
                                          and vm.memory_share(target) >= LEAST_LOCAL)
    daemon.expect_at_home([vm])
    return {"epochs_until_placed": placed_after, "epochs_until_moved": moved_after,
            "local_memory": round(vm.memory_share(target), 3)}
