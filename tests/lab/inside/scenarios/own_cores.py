# SPDX-License-Identifier: Apache-2.0
"""A VM gets a core of its own, as the kernel confirms, and other VMs keep off it until this VM ends.

Every node has two cores, of which one is left for all.
"""

import subprocess

from lab import daemon, domains, guests, libvirt, nodes
from lab.process import Failure, expect

IN_SHORT_SET = False
LIMIT_S = 600
NODE = 1
PINNED_EPOCHS = 30
ATTEMPTS = 6
ALONE = "cpu_binding='exclusive'"


def refusal_of(vm):
    """What the hook says of the VM. It waits 100 ms for the daemon, which is sometimes too short on this
    machine; the hook then decides from the daemon's last record."""
    xml = domains.xml(vm).replace("<name>", "<uuid>d9ad7e8c-77c9-4d0c-9a5c-3d1e0f8b7a12</uuid><name>")
    for _ in range(ATTEMPTS):
        done = subprocess.run(["vmnuma-hook", vm.name, "prepare", "begin", "-"], check=False, text=True,
                              input=xml, capture_output=True, timeout=60)
        if done.returncode != 0:
            return done.stderr
    raise Failure(f"'{vm.name}' was admitted {ATTEMPTS} times")


def run():
    libvirt.be_asked()
    daemon.start()
    on_node = f"nodes='{NODE}'"
    alone = guests.Guest("alone", load=50, memory_mib=32, vcpus=1, policy=f"{on_node} {ALONE}")
    beside = guests.Guest("beside", load=50, memory_mib=32, vcpus=2, policy=on_node)
    elsewhere = guests.Guest("elsewhere", load=50, memory_mib=32, vcpus=2, policy="nodes='2'")
    cpus = nodes.cpus_of(NODE)
    guests.start([beside, elsewhere])
    daemon.wait_until_in(PINNED_EPOCHS, "without another one it has its node whole",
                         lambda _: beside.allowed_cpus() == [cpus, cpus])
    guests.start([alone])
    daemon.wait_until_in(PINNED_EPOCHS, "the VM has one CPU of its node",
                         lambda _: len(alone.allowed_cpus()[0]) == 1)
    own, = alone.allowed_cpus()
    expect(own < cpus, f"its vCPU may run on {own}, the node has {cpus}")
    daemon.wait_until_in(PINNED_EPOCHS, "who shares its node has the other CPU",
                         lambda _: beside.allowed_cpus() == [cpus - own, cpus - own])
    daemon.wait_until_in(PINNED_EPOCHS, "no thread of another VM may run there", lambda _: not any(
        own & allowed for vm in (beside, elsewhere) for allowed in vm.allowed_cpus_of_all()))
    expect(elsewhere.allowed_cpus() == [nodes.cpus_of(2)] * 2, "a VM of another node was touched")

    refusal = refusal_of(guests.Guest("second", memory_mib=32, vcpus=1, policy=f"{on_node} {ALONE}"))
    expect("cpu_binding is 'exclusive'" in refusal and f"on node {NODE} 0 of 2 cores" in refusal,
           f"the refusal says: {refusal}")

    alone.virsh("destroy")
    daemon.wait_until_in(PINNED_EPOCHS, "its core is for all again",
                         lambda _: beside.allowed_cpus() == [cpus, cpus])
    return {"own": sorted(own), "refusal": refusal[-200:]}
