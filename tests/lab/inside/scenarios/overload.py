# SPDX-License-Identifier: Apache-2.0
"""Five VMs on four nodes: the shortage goes round, and nobody moves more than the guards allow.

Ten busy vCPUs want eight CPUs, so each VM is owed four fifths of what it wants. Without long-term
fairness two of them would share a node for ever and get half: 0.62 of the mean. Memory travels slowly
on an emulated machine: turns as rare as the default makes them would take too long to watch, and those
made here last some twenty epochs, a fifth of what is watched, so that shares are equal within a quarter.
"""

from lab import daemon, guests
from lab.process import expect

IN_SHORT_SET = True
LIMIT_S = 1200
CONFIG = """[options]
"Numa.LTermRestTimes" = 1
"Numa.PageMigStallTarget" = 50000
"""
FIRST_PLACEMENT_EPOCHS = 150
SETTLE_EPOCHS = 15
WINDOW_EPOCHS = 100
LEAST_OF_MEAN = 0.75
MOST_OF_MEAN = 1.25
LEAST_TURNS = 3


def option(name):
    return daemon.ask("options", "get", name)["value"]


def homes_over_time():
    """(epoch, client, from, to) of all changes of home, oldest first."""
    return daemon.query(
        "SELECT epoch, vm_name, from_node, to_node FROM action JOIN relocation ON action = id"
        " WHERE from_node IS NOT NULL AND from_node <> to_node AND state = 'done'"
        " ORDER BY epoch, id")


def first_placements_done(vms):
    """Whether every VM has had its first home and the memory has followed: nobody takes turns before."""
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


def run():
    vms = [guests.Guest(f"crowd{number}") for number in range(5)]
    daemon.configure(CONFIG)
    daemon.start()
    guests.start(vms)
    _, placed_after = daemon.wait_until_in(FIRST_PLACEMENT_EPOCHS, "the memory is at the first homes",
                                           lambda _status: first_placements_done(vms))
    daemon.wait_epochs(SETTLE_EPOCHS)
    before = {vm: vm.vcpu_seconds() for vm in vms}
    daemon.wait_epochs(WINDOW_EPOCHS)
    got = {vm: vm.vcpu_seconds() - before[vm] for vm in vms}
    mean = sum(got.values()) / len(vms)
    changes = homes_over_time()
    figures = {
        "epochs_until_placed": placed_after,
        "cpu_seconds": {vm.name: round(got[vm], 1) for vm in vms},
        "of_mean": {vm.name: round(got[vm] / mean, 2) for vm in vms},
        "moves": {vm.name: sum(1 for change in changes if change[1] == vm.name) for vm in vms},
    }
    daemon.expect_at_home(vms, epochs=SETTLE_EPOCHS)  # turns go on being taken
    for vm in vms:
        expect(LEAST_OF_MEAN <= got[vm] / mean <= MOST_OF_MEAN,
               f"'{vm.name}' got {got[vm] / mean:.2f} of the mean: {figures}")
    turns = sum(figures["moves"].values())
    expect(turns >= LEAST_TURNS, f"only {turns} turns were taken: {figures}")
    expect_guards_held(changes)
    return figures
