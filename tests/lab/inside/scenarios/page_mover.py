# SPDX-License-Identifier: Apache-2.0
"""The contract of the page mover holds with the kernel on four nodes, where nothing is skipped."""

import json
import os

from lab.process import Failure, expect, run as run_program

IN_SHORT_SET = True
LIMIT_S = 300
TEST = "/share/page_mover_contract_test"


def run():
    if not os.path.exists(TEST):
        raise Failure(f"'{TEST}' was not built")
    out = "/run/page_mover.json"
    said = run_program(TEST, "--gtest_filter=Linux*:*/Linux*", f"--gtest_output=json:{out}",
                       limit_s=LIMIT_S, check=False)
    with open(out, encoding="utf-8") as file:
        suites = json.load(file)["testsuites"]
    tests = [test for suite in suites for test in suite["testsuite"]]
    skipped = [test["name"] for test in tests if test["result"] == "SKIPPED"]
    failed = [test["name"] for test in tests if "failures" in test]
    figures = {"tests": len(tests), "failed": failed, "skipped": skipped}
    expect(tests and not failed and not skipped, f"{figures}\n{said[-3000:]}")
    return figures
