# SPDX-License-Identifier: Apache-2.0
"""VMs start near the host's devices, as strictly as their policies ask for.

The machine has a network adapter at node 2. VMs reach it by a bridge; one is said to have it passed through.
"""

import os
import subprocess

from lab import daemon, domains, guests, libvirt, nodes
from lab.process import Failure, expect, run as run_program

IN_SHORT_SET = False
LIMIT_S = 600
LOAD = 10
PLACED_EPOCHS = 20
BRIDGE = "far"
ADAPTERS_NODE = 2
ATTEMPTS = 6
TOO_MUCH_MIB = 3 * 1024  # a node has 2 GiB


def build_bridge(adapter):
    run_program("ip", "link", "add", BRIDGE, "type", "bridge")
    run_program("ip", "link", "set", adapter, "master", BRIDGE, "up")
    run_program("ip", "link", "set", BRIDGE, "up")


def remove_bridge():
    run_program("ip", "link", "delete", BRIDGE)


def node_of_start(vm):
    """Repeats the start if necessary: the hook waits 100 ms for the daemon, which is sometimes too short on this
    machine; the daemon then does not know that this VM asks."""
    for _ in range(ATTEMPTS):
        guests.create([vm])
        if f"VM '{vm.name}' asked where to start" in daemon.told():
            advised = nodes.numbers(libvirt.advised_nodes(vm))
            expect(len(advised) == 1, f"'{vm.name}' was advised to start on {advised}")
            return advised.pop()
        vm.virsh("destroy")
    raise Failure(f"the hook did not reach the daemon {ATTEMPTS} times for '{vm.name}'")


def refusal_of(adapter, vm):
    """What the hook says of the VM if it had the adapter's PCI device for itself."""
    address = os.path.basename(os.path.dirname(os.path.realpath(f"/sys/class/net/{adapter}/device")))
    domain, bus, rest = address.split(":")
    slot, function = rest.split(".")
    hostdev = (f"<hostdev mode='subsystem' type='pci' managed='yes'><source><address domain='0x{domain}'"
               f" bus='0x{bus}' slot='0x{slot}' function='0x{function}'/></source></hostdev>")
    xml = domains.xml(vm).replace("<name>", "<uuid>d9ad7e8c-77c9-4d0c-9a5c-3d1e0f8b7a11</uuid><name>")
    done = subprocess.run(["vmnuma-hook", vm.name, "prepare", "begin", "-"], check=False, text=True,
                          input=xml.replace("</devices>", hostdev + "</devices>"),
                          capture_output=True, timeout=60)
    if done.returncode == 0:
        raise Failure(f"'{vm.name}' was admitted")
    return done.stderr


def run():
    far = [name for name, node in nodes.adapters().items() if node == ADAPTERS_NODE]
    expect(len(far) == 1, f"the adapters are on nodes {nodes.adapters()}")
    libvirt.be_asked()
    daemon.start()
    build_bridge(far[0])
    try:
        near = guests.Guest("near", load=LOAD, auto=True, bridge=BRIDGE)
        started = {"near": node_of_start(near)}
        expect(started["near"] == ADAPTERS_NODE, f"of equal nodes it was started on {started['near']}")
        # A VM starts where others already are only if it insists.
        other = guests.Guest("other", load=LOAD, auto=True, bridge=BRIDGE)
        started["other"] = node_of_start(other)
        expect(started["other"] != ADAPTERS_NODE, "both were started at the adapter")
        strict = guests.Guest("strict", load=LOAD, auto=True, bridge=BRIDGE,
                              policy="device_locality='strict'")
        started["strict"] = node_of_start(strict)
        expect(started["strict"] == ADAPTERS_NODE, f"it was started on node {started['strict']}")
        daemon.wait_until_in(PLACED_EPOCHS, "all are at home where they were started", lambda _: all(
            daemon.homes().get((name, 0)) == node for name, node in started.items()))
        shown = [(device["name"], device["node"]) for device in daemon.ask("explain", strict.name)["devices"]]
        expect((BRIDGE, ADAPTERS_NODE) in shown, f"explain shows the devices {shown}")

        refusal = refusal_of(far[0], guests.Guest("passed", memory_mib=TOO_MUCH_MIB,
                                                  policy="topology_policy='single-numa-node'"))
        expect(f"devices of node {ADAPTERS_NODE}" in refusal, f"the refusal says: {refusal}")
    finally:
        guests.destroy_all()
        remove_bridge()
    return {"started_on": started, "refusal": refusal[-200:]}
