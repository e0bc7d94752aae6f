# SPDX-License-Identifier: Apache-2.0
"""Wake-ups between VMs are counted on Debian's kernel by a service with few rights, and reported by the daemon.

Two VMs talk over a serial line, a third one is silent.
"""

import os

from lab import daemon, guests, process
from lab.process import expect, read, wait_until

IN_SHORT_SET = False
LIMIT_S = 480
UNIT = "vmnuma-wakeups.service"
COUNTS = "/run/vmnuma-wakeups/counts"
LINE = "/run/lab-line"
LEAST = 50
WAIT_S = 120


def counts():
    """The counts by pair of pids, as written by the service; empty before its first write."""
    if not os.path.exists(COUNTS):
        return {}
    _, *lines = read(COUNTS).splitlines()
    rows = [[int(word) for word in line.split()] for line in lines]
    return {(a, b): count for a, b, count in rows}


def run():
    caller = guests.Guest("caller", load=20, memory_mib=32, vcpus=1, line=LINE)
    answerer = guests.Guest("answerer", load=20, memory_mib=32, vcpus=1, line=LINE, answers=True)
    silent = guests.Guest("silent", load=20, memory_mib=32, vcpus=1)
    guests.start([caller, silent])
    guests.start([answerer])  # the line is there now
    pair = tuple(sorted((caller.pid(), answerer.pid())))
    daemon.start()
    process.run("systemctl", "start", UNIT)
    try:
        wait_until("the two VMs' wake-ups are counted", lambda: counts().get(pair, 0) >= LEAST, WAIT_S)
        others = {who: count for who, count in counts().items() if who != pair}
        expect(not others, f"counted, too: {others}, of VMs {pair} and {silent.pid()}")
        daemon.wait_until_in(10, "the daemon says that one pair is counted",
                             lambda status: status["wakeup_pairs"] == 1)
        first = counts()[pair]
        wait_until("they are counted on", lambda: counts()[pair] > first, WAIT_S)
    finally:
        process.run("systemctl", "stop", UNIT, check=False)
    daemon.wait_until_in(30, "the daemon says that nobody counts any more",
                         lambda status: status["wakeup_pairs"] is None)
    return {"wakeups": first}
