# SPDX-License-Identifier: Apache-2.0
"""The contract of the page mover holds with the kernel on four nodes, where nothing is skipped."""

import json
import os

from lab import nodes
from lab.process import Failure, expect, run as run_program

IN_SHORT_SET = True
LIMIT_S = 480
TEST = "/share/page_mover_contract_test"
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
    if not os.path.exists(TEST):
        raise Failure(f"'{TEST}' was not built")
    out = "/run/page_mover.json"
    # It hides pages of who runs for a second, which a process on a slow machine does before it has them all.
    balancing = nodes.kernel_balancing() != 0
    nodes.set_kernel_balancing(False)
    prepare()
    try:
        said = run_program(TEST, "--gtest_filter=Linux*:*/Linux*", f"--gtest_output=json:{out}",
                           limit_s=LIMIT_S, check=False)
    finally:
        prepare(give_back=True)
        nodes.set_kernel_balancing(balancing)
    with open(out, encoding="utf-8") as file:
        suites = json.load(file)["testsuites"]
    tests = [test for suite in suites for test in suite["testsuite"]]
    skipped = [test["name"] for test in tests if test["result"] == "SKIPPED"]
    failed = [test["name"] for test in tests if "failures" in test]
    figures = {"tests": len(tests), "failed": failed, "skipped": skipped}
    why = [part for part in said.split("[ RUN      ]") if "Failure" in part]
    expect(tests and not failed and not skipped, f"{figures}\n{''.join(why)[-3000:]}")
    return figures
