# SPDX-License-Identifier: Apache-2.0
"""If the hook, the VM that makes room, libvirtd or the daemon goes away while a VM's start waits for room, nothing is
left half done, and the next start finds its room.

Memory moves slowly, so that each fault happens during a move.
"""

import os
import subprocess

from lab import daemon, domains, guests, libvirt
from lab.process import Failure, expect, read, run as run_program, wait_until
from scenarios.faults import expect_journal_closed
from scenarios.make_room import FILLER_MIB, IDLE, LEAST_LOCAL, MOVED_EPOCHS, PLACED_EPOCHS, RESIDENCY_EPOCHS, large, \
    made_room

IN_SHORT_SET = False
LIMIT_S = 2400
BEGUN_EPOCHS = 30
RECOVERED_EPOCHS = 120
DEADLINE_S = 120
END_LIMIT_S = DEADLINE_S + 60
RATE = "Numa.PageMigRateMax"
STARTS = 3
SLOW_PAGES_PER_S = 1000  # 4 MB/s: the memory of a filler takes some 50 s
_ON_ITS_NODE = {f"filler{node}": node for node in range(4)}


def set_rate(pages_per_s):
    daemon.ask("options", "set", RATE, pages_per_s)


def settled(status):
    return not status["open_actions"] and not status["transfers"] and not status["degraded"]


def filler(name):
    return guests.Guest(name, load=IDLE, memory_mib=FILLER_MIB)


def put_back(fillers, name):
    """Brings every filler to its own node, as fast as memory moves here, with no other VM."""
    set_rate(256000)
    if name in run_program("virsh", "-q", "list", "--name").split():
        run_program("virsh", "-q", "destroy", name)
    for vm in fillers:
        node = _ON_ITS_NODE[vm.name]
        if not daemon.is_at_home(vm, node):
            daemon.move(vm, node)
        daemon.wait_until_in(MOVED_EPOCHS, f"'{vm.name}' is on node {node} with its memory",
                             lambda status, vm=vm, node=node: settled(status) and daemon.is_at_home(vm, node)
                             and vm.memory_share(node) >= LEAST_LOCAL)
    daemon.wait_epochs(RESIDENCY_EPOCHS)


def begin_start(name):
    """A start that waits while memory moves for it. Returns virsh.

    On a busy machine a hook may have no time left to ask the daemon; the start is then refused as without a daemon,
    and is tried again.
    """
    set_rate(SLOW_PAGES_PER_S)
    definition = domains.definition(large(name, DEADLINE_S))
    for _ in range(STARTS):
        virsh = subprocess.Popen(["virsh", "-q", "create", definition], stdin=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)

        def under_way(status, virsh=virsh):
            return virsh.poll() is not None or any(
                transfer["bytes_done"] > 0 and transfer["bytes_remaining"] > 0 for transfer in status["transfers"])

        daemon.wait_until_in(BEGUN_EPOCHS, f"memory makes room for '{name}'", under_way)
        if virsh.poll() is None:
            return virsh
        said = virsh.stderr.read()
        expect("did not answer within" in said or "no time left to ask" in said, f"'{name}' did not wait: {said}")
    raise Failure(f"'{name}' was refused {STARTS} times before the daemon was asked")


def expect_nothing_left(fillers, what):
    """Returns the epochs that it took."""
    _, epochs = daemon.wait_until_in(
        RECOVERED_EPOCHS, what,
        lambda status: settled(status) and not daemon.ask("reservations")["reservations"])
    expect_journal_closed()
    for vm in fillers:
        expect(vm.is_running(), f"'{vm.name}' does not run")
    daemon.wait_until_in(PLACED_EPOCHS, "every VM is at home", lambda _: all(daemon.is_at_home(vm) for vm in fillers))
    return epochs


def processes_named(name):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if read(f"/proc/{pid}/comm").strip() == name:
                found.append(pid)
        except OSError:
            pass  # it has ended in the meantime
    return found


def expect_not_started(virsh, name):
    try:
        virsh.wait(timeout=END_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        virsh.kill()
        raise Failure(f"the start of '{name}' has not ended") from error
    expect(virsh.returncode != 0, f"'{name}' was started")
    wait_until(f"libvirt does not have '{name}'",
               lambda: libvirt.answers() and name not in run_program("virsh", "-q", "list", "--name").split(), 60)


def hook_is_killed(_):
    virsh = begin_start("large-a")
    hooks = processes_named("vmnuma-hook")
    expect(len(hooks) == 1, f"not one hook: {hooks}")
    run_program("kill", "-KILL", hooks[0])
    # A hook that dies does not prevent the VM from starting.
    expect(virsh.wait(timeout=END_LIMIT_S) == 0, f"'large-a' was not started: {virsh.stderr.read()}")
    return "large-a"


def moving_vm_ends(fillers):
    virsh = begin_start("large-b")
    going = next(vm for vm in fillers if vm.name == daemon.status()["transfers"][0]["vm"])
    going.virsh("destroy")
    expect(virsh.wait(timeout=END_LIMIT_S) == 0, f"'large-b' was not started: {virsh.stderr.read()}")
    guests.start([filler(going.name)])
    return "large-b"


def libvirtd_is_killed(_):
    virsh = begin_start("large-c")
    run_program("systemctl", "kill", "--signal=KILL", "--kill-whom=main", "libvirtd")
    expect_not_started(virsh, "large-c")
    wait_until("no hook waits for a libvirtd that is gone", lambda: not processes_named("vmnuma-hook"), 30)
    return "large-c"


def daemon_is_killed(_):
    virsh = begin_start("large-d")
    before = daemon.process()
    daemon.kill()
    wait_until("the daemon is gone", lambda: daemon.process() != before, 30)
    expect_not_started(virsh, "large-d")
    daemon.start()
    return "large-d"


def run():
    libvirt.be_asked()
    daemon.start()
    fillers = [filler(name) for name in _ON_ITS_NODE]
    guests.start(fillers)
    daemon.wait_until_in(PLACED_EPOCHS, "all have homes", lambda _: all(daemon.is_at_home(vm) for vm in fillers))
    put_back(fillers, "")
    figures = {}
    for fault in (hook_is_killed, moving_vm_ends, libvirtd_is_killed, daemon_is_killed):
        name = fault(fillers)
        figures[fault.__name__] = expect_nothing_left(fillers, f"nothing is open after '{fault.__name__}'")
        put_back(fillers, name)

    before = len(made_room())
    guests.create([large("large", DEADLINE_S)])
    expect(len(made_room()) == before + 1 and made_room()[-1]["state"] == "done", f"not one more move: {made_room()}")
    figures["moves"] = len(daemon.moves())
    return figures
