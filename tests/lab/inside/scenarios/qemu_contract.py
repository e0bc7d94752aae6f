# SPDX-License-Identifier: Apache-2.0
"""Inventory and control keep their contract with QEMU processes in real cgroups, whatever else starts VMs here.

What VMs without libvirt lack is skipped: each skipped claim has its reason in tests/integration/qemu.
"""

from lab import gtest
from lab.process import expect

IN_SHORT_SET = False
ANY_STARTER = True
LIMIT_S = 900
LACKS = 4  # claims that only libvirt's VMs keep


def run():
    outcome = gtest.run_tests("vmnuma_qemu_integration_test", "*DomainsContract*", LIMIT_S)
    expect(outcome.tests and not outcome.failed and len(outcome.skipped) <= LACKS, f"{outcome.figures()}\n{outcome.why}")
    return outcome.figures()
