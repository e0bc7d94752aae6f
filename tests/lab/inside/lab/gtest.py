# SPDX-License-Identifier: Apache-2.0
"""Runs test programs of the build on this machine's kernel; elsewhere the same claims are tested with fakes."""

import dataclasses
import json
import os

from lab.process import Failure, run


@dataclasses.dataclass(frozen=True)
class Outcome:
    tests: int
    failed: list  # names
    skipped: list  # names
    why: str  # the output of those that failed

    def figures(self):
        return {"tests": self.tests, "failed": self.failed, "skipped": self.skipped}


def run_tests(program, chosen, limit_s):
    """Runs those tests of /share/PROGRAM whose names match `chosen`."""
    path = f"/share/{program}"
    if not os.path.exists(path):
        raise Failure(f"'{path}' was not built")
    told = f"/run/{program}.json"
    said = run(path, f"--gtest_filter={chosen}", f"--gtest_output=json:{told}", limit_s=limit_s, check=False)
    with open(told, encoding="utf-8") as file:
        suites = json.load(file)["testsuites"]
    tests = [test for suite in suites for test in suite["testsuite"]]
    return Outcome(tests=len(tests),
                   failed=[test["name"] for test in tests if "failures" in test],
                   skipped=[test["name"] for test in tests if test["result"] == "SKIPPED"],
                   why="".join(part for part in said.split("[ RUN      ]") if "Failure" in part)[-3000:])
