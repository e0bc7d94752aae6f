# SPDX-License-Identifier: Apache-2.0
"""The page mover moves a VM, idle or busy, nearly as fast as one plain migratepages(8).

For migratepages the kernel copies in one go; the mover asks where pages are, looks for room, and
copies chunk by chunk, and must hardly pay for it when nothing but the largest chunk paces it. Both
move the same VM's memory between two nodes in turn, in one program, round after round: single rates
differ by half, because an emulated machine has the real one to itself only now and then. Neither may
touch pages that others use as well, see guests.move_plainly().
"""

import json
import os

from lab import guests, nodes
from lab.process import Failure, expect, run as run_program

IN_SHORT_SET = False
ANY_STARTER = True
LIMIT_S = 600
PROGRAM = "/share/mover_rate"
ROUNDS = 16
LEAST_RATIO = 0.95
MEMORY_MIB = 256
NODE, OTHER_NODE = 0, 2


def rates(vm):
    return json.loads(run_program(
        "setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice",
        PROGRAM, vm.pid(), NODE, OTHER_NODE, ROUNDS, limit_s=LIMIT_S))


def run():
    if not os.path.exists(PROGRAM):
        raise Failure(f"'{PROGRAM}' was not built")
    nodes.set_kernel_balancing(False)
    figures = {}
    for name, load in {"idle": 1, "busy": 100}.items():
        vm = guests.Guest(name, load=load, memory_mib=MEMORY_MIB, vcpus=1)
        guests.start([vm])
        figures[name] = rates(vm)
        guests.destroy_all()
    slow = [name for name in figures if figures[name]["ratio"] < LEAST_RATIO]
    expect(not slow, f"slower than migratepages(8): {figures}")
    return figures
