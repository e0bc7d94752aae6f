# SPDX-License-Identifier: Apache-2.0
"""The page mover keeps its contract with the kernel on four nodes, where no test is skipped."""

from lab import gtest, nodes
from lab.process import expect

IN_SHORT_SET = True
LIMIT_S = 480
POOL = "/sys/devices/system/node/node{}/hugepages/hugepages-2048kB/nr_hugepages"
POOL_PAGES = 8
MERGING = "/sys/kernel/mm/ksm/run"
DROP_CACHES = "/proc/sys/vm/drop_caches"


def give(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def prepare(give_back=False):
    """Pools of huge pages and same-page merging, or all as it was; and what is cached makes room."""
    for node in nodes.all_nodes():
        give(POOL.format(node), 0 if give_back else POOL_PAGES)
    give(MERGING, 0 if give_back else 1)
    give(DROP_CACHES, 1)


def run():
    # It hides pages of a process that has run for a second, as one on a slow machine has before it has them all.
    balancing = nodes.kernel_balancing() != 0
    nodes.set_kernel_balancing(False)
    prepare()
    try:
        outcome = gtest.run_tests("page_mover_contract_test", "Linux*:*/Linux*", LIMIT_S)
    finally:
        prepare(give_back=True)
        nodes.set_kernel_balancing(balancing)
    expect(outcome.tests and not outcome.failed and not outcome.skipped, f"{outcome.figures()}\n{outcome.why}")
    return outcome.figures()
