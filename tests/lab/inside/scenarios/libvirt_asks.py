# SPDX-License-Identifier: Apache-2.0
"""libvirt asks vmnuma where a VM is to start, and VMs survive whatever happens to either of them.

With the daemon, with one that hangs and without one; a VM that its own policy keeps from starting,
and that starts in mode dry-run;
a move away from there; restarts of libvirtd; save and restore; a vCPU that is plugged later.
"""

import os

from lab import daemon, domains, guests, libvirt, nodes
from lab.process import Failure, expect, run as run_program

IN_SHORT_SET = False
LIMIT_S = 900
LOAD = 10  # libvirt and QEMU's monitor need CPU time, too
PLACED_EPOCHS = 20
PLUGGED_EPOCHS = 20
MOVED_EPOCHS = 60
LEAST_LOCAL = 0.95
TOO_MUCH_MIB = 3 * 1024  # a node has 2 GiB
SAVED = "/var/lib/libvirt/images/saved"


def home_of(vm):
    return daemon.homes().get((vm.name, 0))


def wait_for_homes(vms):
    daemon.wait_until_in(PLACED_EPOCHS, f"{[vm.name for vm in vms]} are at home",
                         lambda _: all(daemon.is_at_home(vm) for vm in vms))


def expect_started_on_one_node(vm):
    """libvirt was told one node and has started the VM there."""
    advised = libvirt.advised_nodes(vm)
    expect(len(nodes.numbers(advised)) == 1, f"'{vm.name}' was advised to start on '{advised}'")
    return int(advised)


def expect_refused(vm):
    """virsh does not start it and shows why."""
    try:
        vm_xml = domains.definition(vm)
        run_program("virsh", "-q", "create", vm_xml)
    except Failure as failure:
        said = str(failure)
        expect("topology_policy is 'single-numa-node'" in said and "on node 3" in said,
               f"the refusal does not say why: {said}")
        return said.split("Hook script", 1)[-1].strip()[-200:]
    raise Failure(f"'{vm.name}' was started although no node has its memory")


def run():
    libvirt.be_asked()
    daemon.start()

    # With the daemon: these VMs are not known, and they are spread.
    first, second = told = [guests.Guest(f"told{number}", load=LOAD, auto=True) for number in range(2)]
    started_on = {}
    for vm in told:
        guests.create([vm])
        started_on[vm.name] = expect_started_on_one_node(vm)
    wait_for_homes(told)
    homes = {vm.name: home_of(vm) for vm in told}
    expect(homes == started_on, f"started on {started_on}, but at home on {homes}")
    expect(len(set(homes.values())) == 2, f"both have the same home: {homes}")
    expect(not daemon.changes_of_home(), "they were moved although they started at home")

    # What libvirt was advised is no limit for later: its memory comes along.
    target = (homes[first.name] + 2) % 4
    daemon.move(first, target)
    daemon.wait_until_in(MOVED_EPOCHS, f"'{first.name}' is on node {target} with its memory", lambda _: (
        daemon.is_at_home(first, target) and first.memory_share(target) >= LEAST_LOCAL))

    refusal = expect_refused(guests.Guest("refused", memory_mib=TOO_MUCH_MIB,
                                          policy="topology_policy='single-numa-node'"))

    # A vCPU that is plugged later is pinned where its VM is at home.
    growing = guests.Guest("growing", load=LOAD, vcpus=2, vcpus_at_start=1, auto=True)
    guests.create([growing])
    daemon.ask("options", "set", "Numa.SpillEnable", 0)  # so that pins are to the home alone
    daemon.wait_until_in(PLACED_EPOCHS, "'growing' is at home", lambda _: (
        home_of(growing) is not None and growing.pinned_nodes()[0] == home_of(growing)))
    expect(len(growing.vcpu_threads()) == 1, "'growing' has more than one vCPU")
    growing.virsh("setvcpus", 2, "--live")
    expect(len(growing.vcpu_threads()) == 2, "'growing' has not got its second vCPU")
    # libvirt itself lets it run on the advised node; a pin of its own is the daemon's.
    daemon.wait_until_in(PLUGGED_EPOCHS, "the plugged vCPU is at home, too", lambda _: (
        growing.pinned_nodes() == [home_of(growing)] * 2
        and growing.virsh("dumpxml").count("<vcpupin ") == 2))

    daemon.ask("options", "set", "Numa.SpillEnable", 1)

    # What was saved comes back and is at home again.
    growing.virsh("save", SAVED)
    run_program("virsh", "-q", "restore", SAVED)
    os.remove(SAVED)
    wait_for_homes([growing])

    # The daemon hangs, and is gone: VMs start on one node all the same.
    os.kill(daemon.process(), 19)  # SIGSTOP
    hanging = guests.Guest("hanging", load=LOAD, auto=True)
    guests.create([hanging])
    expect_started_on_one_node(hanging)
    os.kill(daemon.process(), 18)  # SIGCONT
    daemon.stop()
    alone = guests.Guest("alone", load=LOAD, auto=True)
    guests.create([alone])
    expect_started_on_one_node(alone)

    # A hook that failed here would cost the VMs their lives.
    vms = [first, second, growing, hanging, alone]
    libvirt.restart()
    for vm in vms:
        expect(vm.is_running(), f"'{vm.name}' did not live through the restart of libvirtd")
    daemon.start()
    wait_for_homes(vms)
    homes = {vm.name: home_of(vm) for vm in vms}

    # As installed nothing is refused: it is only said. That holds while the daemon is away, too.
    daemon.stop()
    daemon.configure(mode="dry-run")
    daemon.start()
    for name, is_away in (("unfit", False), ("unfit-alone", True)):
        if is_away:
            daemon.stop()
        unfit = guests.Guest(name, memory_mib=TOO_MUCH_MIB, policy="topology_policy='single-numa-node'")
        guests.create([unfit])
        expect(unfit.is_running(), f"'{name}' was refused although the daemon is in mode dry-run")
        if not is_away:
            said = daemon.ask("status")
            expect(said["admission"] == "advise" and said["not_admitted"][-1]["vm"] == name,
                   f"status does not say what would have been refused: {said}")
            daemon.wait_until_in(PLACED_EPOCHS, "the history says so", lambda _: any(
                row["vm"] == name and row["reason"] == "admission"
                for row in daemon.ask("history")["moves"]))
        unfit.virsh("destroy")
    return {"started_on": started_on, "refusal": refusal, "homes": homes}
