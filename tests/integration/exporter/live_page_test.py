#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays with the VMs of `vmnumad --simulate` and watches the dashboard, as people do who try it: a VM appears,
moves, wants more and less, and is gone.

Usage: live_page_test.py CHROMIUM VMNUMAD VMNUMA VMNUMA-EXPORTER
Exit status: 0 all is well, 1 not, 77 there is no Chromium.
"""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "service"))
from browser import Browser, Findings  # noqa: E402
from simulated_daemon import Daemon  # noqa: E402

# Where on the page a VM is: the place of the node that it lives on, -1 if on none.
HOME = """[...document.querySelectorAll('.node')].findIndex((node) =>
    [...node.querySelectorAll('.clients b')].some((name) => name.textContent === 'guest'))"""
LISTED = "[...document.querySelectorAll('#vms tbody th a')].some((name) => name.textContent === 'guest')"
WANTS_NOTHING = """[...document.querySelectorAll('.node .clients li')].some((client) =>
    client.textContent.startsWith('guest') && client.textContent.includes('0.00 /'))"""
IS_MOVED = """[...document.querySelectorAll('#moves tbody tr')].some((row) =>
    row.cells[1].textContent.startsWith('guest') && row.textContent.includes('administrator'))"""


def play(browser, daemon, check):
    check(browser.wait_for("document.querySelectorAll('#vms tbody tr').length > 5"), "the scenario's VMs are listed")
    check(browser.value("document.title") == "shifts · vmnuma", "the title names the simulated host")
    check(not browser.value(LISTED), "there is no VM 'guest'")

    # One that wants nothing is not moved by the balancer meanwhile.
    daemon.vmnuma("sim", "start", "guest", "--vcpus", "2", "--memory", "1GiB", "--load", "0")
    check(browser.wait_for(f"{LISTED} && {HOME} >= 0"), "it appears, with a home")
    before = browser.value(HOME)
    other = (before + 1) % browser.value("document.querySelectorAll('.node').length")
    daemon.vmnuma("--sim", "move", "guest", str(other))
    check(browser.wait_for(IS_MOVED), "it moves, and the move is listed")
    # Where it is from here on is the balancer's business.
    daemon.vmnuma("sim", "load", "guest", "90")
    check(browser.wait_for(f"!{WANTS_NOTHING}"), "it wants CPU time")
    daemon.vmnuma("sim", "load", "guest", "0")
    check(browser.wait_for(WANTS_NOTHING), "it wants nothing any more")
    daemon.vmnuma("sim", "stop", "guest")
    check(browser.wait_for(f"!{LISTED} && {HOME} < 0"), "it is gone")


def main():
    chromium, vmnumad, vmnuma, exporter = sys.argv[1:]
    if not os.path.exists(chromium):
        print("there is no Chromium here (Debian package chromium)")
        return 77
    findings = Findings()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        daemon = Daemon(vmnumad, vmnuma, directory, "--simulate", "--speed", "10")
        served = subprocess.Popen([exporter, "--sim"], env=daemon.environment, stdout=subprocess.PIPE, text=True)
        browser = Browser(chromium, directory + "/profile")
        try:
            browser.look(1280, 900, "light")
            browser.call("Page.navigate", url=served.stdout.readline().split()[-1])
            play(browser, daemon, findings.check)
            daemon.stop()
        finally:
            browser.end()
            for process in (served, daemon.process):
                process.kill()
                process.wait()
    return 1 if findings.count else 0


if __name__ == "__main__":
    sys.exit(main())
