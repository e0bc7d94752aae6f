# SPDX-License-Identifier: Apache-2.0
"""The lab works: guests are as busy as they were told to be, have all their memory on one node, and are not pinned.

Needs no daemon. If this fails, the results of the other scenarios mean little.
"""

import time

from lab import guests, nodes
from lab.process import expect

IN_SHORT_SET = True
ANY_STARTER = True
LIMIT_S = 240
WINDOW_S = 5


def run():
    busy, light = guests.Guest("busy", load=100), guests.Guest("light", load=20)
    both = [busy, light]
    guests.start(both)
    expect(nodes.all_nodes() == [0, 1, 2, 3], f"the nodes are {nodes.all_nodes()}")
    with guests.memory_forced(both, 0):
        figures = {"memory_on_node_0": [round(guest.memory_share(0), 3) for guest in both]}
    for guest in both:
        expect(guest.is_running(), f"'{guest.name}' does not run")
        expect(guest.pinned_node() is None, f"'{guest.name}' is pinned")
        expect(len(guest.vcpu_threads()) == 2, f"'{guest.name}' has not two vCPU threads")

    before, begun = [guest.vcpu_seconds() for guest in both], time.monotonic()
    time.sleep(WINDOW_S)  # a rate over time is measured
    window = time.monotonic() - begun
    loads = [(guest.vcpu_seconds() - start) / window / guest.vcpus
             for guest, start in zip(both, before)]
    figures["load"] = [round(load, 2) for load in loads]
    expect(loads[0] > 0.85, f"the busy guest runs only {loads[0]:.0%} of the time")
    expect(0.1 < loads[1] < 0.35, f"the light guest runs {loads[1]:.0%} of the time")
    return figures
