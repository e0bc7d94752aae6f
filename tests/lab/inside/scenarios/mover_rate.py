# SPDX-License-Identifier: Apache-2.0
"""The page mover moves an idle VM nearly as fast as one plain migratepages(8).

The kernel copies in one go for migratepages; ours stops after every chunk to keep stalls short,
and must not pay more than a tenth for it. Both move the same VM, in turn, three times.
"""

import statistics
import time

from lab import daemon, guests
from lab.process import expect

IN_SHORT_SET = True
LIMIT_S = 480
ROUNDS = 3
LEAST_RATIO = 0.9
MEMORY_MIB = 384


def move_with_daemon(vm, node):
    """(bytes moved, seconds) of one move by the daemon."""
    answer = daemon.ask("move", vm.name, node, "--wait", limit_s=240)
    return answer["bytes_moved"], answer["seconds"]


def seconds_of(call):
    begun = time.monotonic()
    call()
    return time.monotonic() - begun


def move_with_migratepages(vm, source, target):
    """The same by migratepages(8), less the time that the program takes to do nothing."""
    start = seconds_of(lambda: guests.move_plainly(vm, target, target))
    before = vm.memory()[target]
    seconds = seconds_of(lambda: guests.move_plainly(vm, source, target))
    return vm.memory()[target] - before, seconds - start


def run():
    vm = guests.Guest("idle", load=1, memory_mib=MEMORY_MIB, vcpus=1)
    guests.start([vm])
    daemon.configure("[options]\n\"Numa.PageMigRateMax\" = 0")
    daemon.start()
    daemon.ask("move", vm.name, 0, "--wait", limit_s=240)
    daemon.wait_until_in(30, "the VM is on node 0",
                         lambda status: vm.pinned_node() == 0 and not status["open_actions"])
    ours, plain = [], []
    for _ in range(ROUNDS):
        moved, seconds = move_with_daemon(vm, 2)
        ours.append(moved / seconds)
        daemon.ask("move", vm.name, 0, "--wait", limit_s=240)
        daemon.ask("pause")
        moved, seconds = move_with_migratepages(vm, 0, 2)
        plain.append(moved / seconds)
        moved, seconds = move_with_migratepages(vm, 2, 0)
        plain.append(moved / seconds)
        daemon.ask("resume")
    ratio = statistics.median(ours) / statistics.median(plain)
    figures = {
        "ours_mib_per_s": [round(rate / 2**20, 1) for rate in ours],
        "migratepages_mib_per_s": [round(rate / 2**20, 1) for rate in plain],
        "ratio": round(ratio, 2),
    }
    expect(ratio >= LEAST_RATIO, f"slower than migratepages(8): {figures}")
    return figures
