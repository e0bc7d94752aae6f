# SPDX-License-Identifier: Apache-2.0
"""The page mover moves an idle VM nearly as fast as one plain migratepages(8).

For migratepages the kernel copies in one go; the mover asks where pages are, looks for room, and
copies chunk by chunk, and must not pay more than a tenth for it when nothing but the largest chunk
paces it. Both move the same memory in turn: migratepages takes it away from the VM's home, and the
daemon pulls it back, which moves nothing but pages. What the default target for stalls costs is
shown: a call with the smallest chunk takes longer than that here.
"""

import statistics
import time

from lab import daemon, guests, nodes
from lab.process import expect

IN_SHORT_SET = False
LIMIT_S = 480
ROUNDS = 3
LEAST_RATIO = 0.9
MEMORY_MIB = 384
PULLED_EPOCHS = 60
HOME, AWAY = 0, 2


def seconds_of(call):
    begun = time.monotonic()
    call()
    return time.monotonic() - begun


def plain_rate(vm, source, target):
    """Bytes per second of migratepages(8), less the time that the program takes to do nothing."""
    start = seconds_of(lambda: guests.move_plainly(vm, target, target))
    before = vm.memory()[target]
    seconds = seconds_of(lambda: guests.move_plainly(vm, source, target))
    return (vm.memory()[target] - before) / (seconds - start)


def pulls(vm):
    """What the daemon's finished pulls of any size worth measuring brought, by action."""
    return {row["action"]: row["outcome"] for row in daemon.moves()
            if row["vm"] == vm.name and row["reason"] == "memory-pull" and row["outcome"]
            and row["outcome"]["moved_bytes"] > MEMORY_MIB * 2**20 / 2}


def pull_home(vm, number):
    """Has the daemon bring the memory back and returns the rate of this pull, the number-th."""
    daemon.ask("resume")
    daemon.wait_until_in(PULLED_EPOCHS, "the memory was pulled home, and the pull measured",
                         lambda _: len(pulls(vm)) >= number)
    outcome = list(pulls(vm).values())[number - 1]
    daemon.ask("pause")
    return outcome["moved_bytes"] / outcome["took_ms"] * 1000


def run():
    vm = guests.Guest("idle", load=1, memory_mib=MEMORY_MIB, vcpus=1)
    nodes.set_kernel_balancing(False)
    guests.start([vm])
    # Allowed on one node only, the VM is not moved to where its memory is.
    daemon.configure(f'[options]\n"Numa.PageMigRateMax" = 0\n[vm."{vm.name}"]\nnodes = "{HOME}"')
    daemon.start()
    daemon.wait_until_in(PULLED_EPOCHS, "the VM is at home with its memory", lambda status: (
        vm.pinned_node() == HOME and not status["open_actions"]))

    daemon.ask("pause")
    plain = [plain_rate(vm, HOME, AWAY)]
    paced = pull_home(vm, 1)
    daemon.ask("options", "set", "Numa.PageMigStallTarget", 1_000_000)
    ours = []
    for number in range(ROUNDS):
        plain.append(plain_rate(vm, HOME, AWAY))
        ours.append(pull_home(vm, 2 + number))
    ratio = statistics.median(ours) / statistics.median(plain)
    figures = {
        "ours_mib_per_s": [round(rate / 2**20, 1) for rate in ours],
        "migratepages_mib_per_s": [round(rate / 2**20, 1) for rate in plain],
        "ratio": round(ratio, 2),
        "with_default_stall_target_mib_per_s": round(paced / 2**20, 1),
    }
    expect(ratio >= LEAST_RATIO, f"slower than migratepages(8): {figures}")
    return figures
