# SPDX-License-Identifier: Apache-2.0
"""If a VM, its pins, libvirtd or the daemon go away in the middle of a move, nothing is left half done.

Memory moves slowly, so that each fault happens during a transfer.
"""

from lab import daemon, domains, guests, processes, starters
from lab.process import expect, run as run_program, wait_until

IN_SHORT_SET = True
ANY_STARTER = True
LIMIT_S = 600
PLACED_EPOCHS = 30
BEGUN_EPOCHS = 15
RECOVERED_EPOCHS = 90
SLOW_PAGES_PER_S = 1000  # 4 MB/s: the memory of one VM takes some 25 s


def transfer_of(vm, status):
    return next((transfer for transfer in status["transfers"] if transfer["vm"] == vm.name), None)


def begin_move(vm):
    """Orders a move to the opposite node and returns once some of the memory has arrived there."""
    target = (daemon.homes()[vm.name, 0] + 2) % 4
    daemon.move(vm, target)

    def under_way(status):
        transfer = transfer_of(vm, status)
        return transfer and transfer["bytes_done"] > 0 and transfer["bytes_remaining"] > 0

    daemon.wait_until_in(BEGUN_EPOCHS, f"memory of '{vm.name}' is travelling", under_way)


def wait_until_settled(what):
    """Waits until nothing is open or moving and libvirt answers. Returns the epochs that it took."""
    def settled(status):
        return not status["open_actions"] and not status["transfers"] and not status["degraded"]

    return daemon.wait_until_in(RECOVERED_EPOCHS, what, settled)[1]


def expect_progress(vms):
    """Every VM gets CPU time."""
    before = {vm: vm.vcpu_seconds() for vm in vms}
    wait_until("every VM has run", lambda: all(vm.vcpu_seconds() > before[vm] for vm in vms), 30)


def expect_journal_closed():
    """Every action has ended; one that was not carried out says why."""
    rows = daemon.query("SELECT id, reason, state, detail FROM action ORDER BY id")
    for number, _, state, detail in rows:
        expect(state != "open", f"action {number} is still open")
        expect(state == "done" or detail, f"action {number} was {state} without a reason")
    return {state: sum(1 for row in rows if row[2] == state) for state in {row[2] for row in rows}}


def run():
    doomed, *others = vms = [guests.Guest(name, load=30, memory_mib=32) for name in ("doomed", "other1", "other2")]
    guests.start(vms)
    daemon.configure(f"[options]\n\"Numa.PageMigRateMax\" = {SLOW_PAGES_PER_S}")
    daemon.start()
    daemon.wait_until_in(PLACED_EPOCHS, "every VM has a home",
                         lambda _: all(vm.pinned_node() is not None for vm in vms))
    wait_until_settled("the first placements are carried out")
    figures = {}

    begin_move(doomed)
    doomed.destroy()
    figures["epochs_after_vm_gone"] = wait_until_settled("the move of the destroyed VM is closed")
    expect((doomed.name, 0) not in daemon.homes(), "the destroyed VM still has a home")
    daemon.expect_at_home(others)
    expect_progress(others)

    begin_move(others[0])
    if domains in starters.ALL:
        run_program("systemctl", "restart", "libvirtd")
    if processes in starters.ALL:  # older kernels lose pins of threads when a parent cpuset is written
        run_program("systemctl", "set-property", "--runtime", "qemu.slice", "AllowedCPUs=0-7")
    figures["epochs_after_interruption"] = wait_until_settled("the move survives libvirtd, or pins that are gone")
    daemon.expect_at_home(others)
    expect_progress(others)

    begin_move(others[1])
    before = daemon.process()
    daemon.kill()
    wait_until("the daemon is gone", lambda: daemon.process() != before, 30)
    expect_progress(others)
    daemon.start()
    figures["epochs_after_kill"] = wait_until_settled("the killed daemon's move is closed")
    daemon.expect_at_home(others)
    expect_progress(others)

    figures["actions"] = expect_journal_closed()
    home = daemon.homes()
    figures["local_memory"] = {vm.name: round(vm.memory_share(home[(vm.name, 0)]), 3) for vm in others}
    return figures
