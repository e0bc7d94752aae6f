# SPDX-License-Identifier: Apache-2.0
"""Five VMs on four nodes take turns in the shortage, and none moves more often than the guards allow.

Ten busy vCPUs want eight CPUs, so each VM is owed four fifths of what it wants. Without long-term
fairness two of them would share a node forever and get half: 0.62 of the mean. In a round of five
turns each VM shares its node once with the VM that came and once with the one to be relieved next. A turn is one
action, a move or a swap. How long it lasts is a matter of how fast memory travels on an emulated machine, so
a whole round is watched and not a time, and each of its turns counts alike. Turns as rare as the default
makes them would take too long to watch. Homes are walls here, as with ESXi's rules: VMs that spill share
their nodes without taking turns.
"""

from lab import daemon, guests
from lab.process import expect

IN_SHORT_SET = False  # a quarter of an hour: a whole round of turns
ANY_STARTER = True
LIMIT_S = 1200
CONFIG = """[options]
"Numa.LTermRestTimes" = 1
"Numa.PageMigStallTarget" = 50000
"Numa.SpillEnable" = 0
"Numa.MigrationsPerEpoch" = 4
"""
MEMORY_MIB = 16  # little memory moves quickly
FIRST_PLACEMENT_EPOCHS = 150
ROUND = 5  # turns
WATCHED_AT_ONCE_EPOCHS = 5
EPOCHS_OF_A_TURN = 15  # its pins, not its memory
MOST_WATCHED_EPOCHS = 350
LEAST_OF_MEAN = 0.75
MOST_OF_MEAN = 1.25


def option(name):
    return daemon.ask("options", "get", name)["value"]


def homes_over_time():
    """(epoch, client, from, to) of all changes of home, oldest first."""
    return daemon.query(
        "SELECT epoch, vm_name, from_node, to_node FROM action JOIN relocation ON action = id"
        " WHERE from_node IS NOT NULL AND from_node <> to_node AND state = 'done'"
        " ORDER BY epoch, id")


def first_placements_done(vms):
    """Whether every VM has had its first home and the memory has followed: no VM takes turns before."""
    rows = daemon.query("SELECT count(DISTINCT vm) FROM action JOIN relocation ON action = id"
                        " WHERE from_node IS NULL AND state = 'done'")
    return rows[0][0] == len(vms)


def expect_guards_held(changes):
    """Residency, no return and the limit of each epoch, as configured."""
    residency, no_return = option("Numa.Residency"), option("Numa.NoReturn")
    limit = option("Numa.MigrationsPerEpoch")
    last, left, in_epoch = {}, {}, {}
    for epoch, vm, source, target in changes:
        expect(epoch - last.get(vm, -residency) >= residency,
               f"'{vm}' moved in epochs {last.get(vm)} and {epoch}")
        expect(epoch - left.get((vm, target), -no_return) >= no_return,
               f"'{vm}' went back to node {target} in epoch {epoch}")
        last[vm], left[vm, source] = epoch, epoch
        in_epoch[epoch] = in_epoch.get(epoch, 0) + 1
        expect(in_epoch[epoch] <= 2 * limit, f"{in_epoch[epoch]} clients moved in epoch {epoch}")


def watch_a_round(vms):
    """[(epoch, {VM: CPU seconds so far})] of some epochs, until a round of turns is over, and the epochs in
    which they began, with that of the turn after them."""
    seen = []
    begun = []
    while len(begun) <= ROUND:
        expect(len(seen) * WATCHED_AT_ONCE_EPOCHS <= MOST_WATCHED_EPOCHS,
               f"only {len(begun)} turns in {MOST_WATCHED_EPOCHS} epochs: {begun}")
        seen.append((daemon.epoch(), {vm: vm.vcpu_seconds() for vm in vms}))
        daemon.wait_epochs(WATCHED_AT_ONCE_EPOCHS)
        begun = sorted({change[0] for change in homes_over_time() if change[0] >= seen[0][0]})
    seen.append((daemon.epoch(), {vm: vm.vcpu_seconds() for vm in vms}))
    return seen, begun[:ROUND + 1]


def nearest(seen, epoch):
    return min(seen, key=lambda moment: abs(moment[0] - epoch))


def shares_of_mean(seen, begun, vms):
    """What each VM got of the mean, every turn counting alike."""
    shares = {vm: 0 for vm in vms}
    for start, end in zip(begun, begun[1:]):
        before, after = nearest(seen, start)[1], nearest(seen, end)[1]
        all_got = sum(after[vm] - before[vm] for vm in vms)
        expect(all_got > 0, f"nothing was seen of the turn in {start}")
        for vm in vms:
            shares[vm] += (after[vm] - before[vm]) * len(vms) / all_got / (len(begun) - 1)
    return shares


def run():
    vms = [guests.Guest(f"crowd{number}", memory_mib=MEMORY_MIB) for number in range(5)]
    daemon.configure(CONFIG)
    daemon.start()
    guests.start(vms)
    _, placed_after = daemon.wait_until_in(FIRST_PLACEMENT_EPOCHS, "the memory is at the first homes",
                                           lambda _status: first_placements_done(vms))
    seen, begun = watch_a_round(vms)
    shares = shares_of_mean(seen, begun, vms)
    figures = {
        "epochs_until_placed": placed_after,
        "epochs_of_round": begun[-1] - begun[0],
        "turns": [f"{vm} {source}>{target} in {epoch}" for epoch, vm, source, target in homes_over_time()
                  if epoch in begun],
        "of_mean": {vm.name: round(share, 2) for vm, share in shares.items()},
    }
    daemon.expect_at_home(vms, epochs=EPOCHS_OF_A_TURN)  # turns go on being taken
    for vm, share in shares.items():
        expect(LEAST_OF_MEAN <= share <= MOST_OF_MEAN, f"'{vm.name}' got {share:.2f} of the mean: {figures}")
    expect_guards_held(homes_over_time())
    return figures
