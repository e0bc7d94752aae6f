# SPDX-License-Identifier: Apache-2.0
"""Inventory and control keep their contract with QEMU processes in real cgroups, whatever else starts VMs here.

What VMs without libvirt lack is skipped: each skipped claim has its reason in tests/integration/qemu.
"""

from lab import gtest
from lab.process import expect

IN_SHORT_SET = False
ANY_STARTER = True
LIMIT_S = 900
# Claims that only libvirt's VMs keep, and those that need an offline CPU.
LACKS = {
    "ALostConnectionIsUnavailableUntilItIsBack",
    "MemoryNodesMakeTheModeRestrictiveAndMayBeSetAgain",
    "OnlyAPersistentPolicyIsInTheDefinition",
    "RefusesANodeTheHostDoesNotHave",
    "WideningLeavesAVmAloneThatMayUseAllNodes",
    "WideningNeverRemovesANode",
    "AnOfflineCpuBesideAnOnlineOneIsAccepted",
    "OnlyOfflineCpusMeanAllOnlineOnes",
}


def run():
    outcome = gtest.run_tests("vmnuma_qemu_integration_test", "*DomainsContract*", LIMIT_S)
    skipped = {name.split("/")[0] for name in outcome.skipped}
    expect(outcome.tests and not outcome.failed and skipped <= LACKS, f"{outcome.figures()}\n{outcome.why}")
    return outcome.figures()
