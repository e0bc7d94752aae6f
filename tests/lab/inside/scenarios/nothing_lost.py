# SPDX-License-Identifier: Apache-2.0
"""A guest that constantly checks and changes its memory finds no damage while it is moved."""

from lab import daemon, guests
from lab.process import expect

IN_SHORT_SET = True
ANY_STARTER = True
LIMIT_S = 900
MOVES = 4
MOVED_EPOCHS = 90
LEAST_LOCAL = 0.95


def run():
    vm = guests.Guest("checker", load=60)
    guests.start([vm])
    daemon.start()
    daemon.wait_until_in(MOVED_EPOCHS, "it has a home",
                         lambda status: vm.pinned_node() is not None and not status["open_actions"])
    first = vm.pinned_node()
    other = (first + 2) % 4
    rounds = []
    for number in range(MOVES):
        target = other if number % 2 == 0 else first
        daemon.move(vm, target)
        daemon.wait_until_in(MOVED_EPOCHS, f"it is on node {target} with its memory, move {number}",
                             lambda status, target=target: vm.pinned_node() == target
                             and vm.memory_share(target) >= LEAST_LOCAL
                             and not status["open_actions"])
        rounds.append(vm.report()[0])
    done, damaged = vm.report()
    figures = {"moves": MOVES, "rounds": done, "damaged_pages": damaged}
    expect(damaged == 0, f"pages were damaged: {figures}")
    expect(rounds[-1] > rounds[0], f"it did not check while it was moved: {rounds}")
    return figures
