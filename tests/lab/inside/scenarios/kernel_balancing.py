# SPDX-License-Identifier: Apache-2.0
"""If requested, the kernel's own NUMA balancing is off while the daemon runs, and afterwards as it was before."""

from lab import daemon, nodes, process
from lab.process import expect, wait_until

IN_SHORT_SET = False
ANY_STARTER = True
LIMIT_S = 240
UNIT = "vmnuma-kernel-balancing.service"
WAIT_S = 60


def run():
    expect(nodes.kernel_balancing() == 1, "the kernel's balancing is not on at first")
    daemon.start()
    expect(daemon.status()["kernel_numa_balancing"] == 1, "the daemon does not say that it is on")
    process.run("systemctl", "enable", "--now", UNIT)
    try:
        daemon.wait_until_in(5, "the daemon says that it is off",
                             lambda status: status["kernel_numa_balancing"] == 0)
        killed = daemon.process()
        daemon.kill()  # systemd restarts it, and its related units
        wait_until("the daemon is back, and the kernel's balancing is off again",
                   lambda: daemon.is_answering() and daemon.process() not in (0, killed)
                   and nodes.kernel_balancing() == 0, WAIT_S)
        daemon.stop()
        wait_until("the kernel's balancing is as it was",
                   lambda: nodes.kernel_balancing() == 1, WAIT_S)
    finally:
        process.run("systemctl", "disable", "--now", UNIT, check=False)
    return {}
