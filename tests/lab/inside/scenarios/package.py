# SPDX-License-Identifier: Apache-2.0
"""The Debian packages work with a real systemd and libvirt when installed, tried, active, upgraded, removed and purged.

A VM runs all the time. It is only observed until the administrator goes live, keeps its place during
an upgrade, and has no pin once the package is removed.
"""

import glob
import os
import pathlib
import re
import shutil
import urllib.request

from lab import daemon, guests, libvirt
from lab.process import expect, read, run as run_program

IN_SHORT_SET = False
LIMIT_S = 600
PACKAGES = "/share/packages"
UNIT = "vmnumad.service"
EXPORTER = "vmnuma-exporter.service"
UNITS = (UNIT, EXPORTER, "vmnuma-forecast.service", "vmnuma-repack.service", "vmnuma-wakeups.service",
         "vmnuma-kernel-balancing.service", "vmnuma-revert@.service")
METRICS = "http://127.0.0.1:9721/metrics"
CONNECT = 'import socket; socket.socket(socket.AF_UNIX).connect("/run/libvirt/libvirt-sock")'
CONFIG = pathlib.Path("/etc/vmnuma/vmnuma.toml")
STATE = ("/var/lib/vmnuma", "/etc/vmnuma", "/run/vmnuma", "/etc/libvirt/hooks/qemu.d/vmnuma",
         "/usr/bin/vmnuma", "/usr/sbin/vmnumad", "/usr/bin/vmnuma-exporter", "/usr/sbin/vmnuma-wakeups")
MOST_EXPOSURE = {UNIT: 1.6}  # for other units 1.2
PLACED_EPOCHS = 45
QUIET_EPOCHS = 3


def state_of(unit):
    return run_program("systemctl", "is-active", unit, check=False).strip()


def exposure(unit):
    said = run_program("systemd-analyze", "security", "--no-pager", unit)
    return float(re.search(r"Overall exposure level for \S+: ([0-9.]+)", said)[1])


def expect_kept_away_from_libvirt():
    """The units that run as the daemon's user and need no libvirt cannot reach it: neither by its socket, nor by D-Bus."""
    for unit, cannot in (("vmnuma-forecast", "Address family not supported"), ("vmnuma-repack", "Permission denied")):
        drop_in = pathlib.Path(f"/run/systemd/system/{unit}.service.d/try.conf")
        drop_in.parent.mkdir(parents=True)
        drop_in.write_text("[Unit]\nConditionPathExists=\n[Service]\nExecStart=\n"
                           f"ExecStart=/usr/bin/python3 -c '{CONNECT}'\n", encoding="utf-8")
        run_program("systemctl", "daemon-reload")
        run_program("systemctl", "start", f"{unit}.service", check=False)
        said = run_program("journalctl", "--no-pager", "-o", "cat", "-u", f"{unit}.service")
        expect(cannot in said, f"{unit} may connect to libvirt: {said}")
        shutil.rmtree(drop_in.parent)
    run_program("systemctl", "daemon-reload")


def pins(vm):
    """The vCPUs' CPUs according to virsh."""
    return run_program("virsh", "-q", "vcpupin", vm.name)


def forget_the_build_tree():
    """Removes what the lab has installed and configured without packages, so that everything comes from packages."""
    daemon.stop()
    libvirt.forget_us()
    for directory in ("/etc/vmnuma", "/var/lib/vmnuma"):
        shutil.rmtree(directory, ignore_errors=True)
    for top, _, names in os.walk("/share/install"):
        for name in names:
            path = os.path.join(top.removeprefix("/share/install"), name)
            if os.path.lexists(path):
                os.remove(path)
    run_program("systemctl", "daemon-reload")


def install(debs):
    return run_program("dpkg", "-i", *debs, limit_s=LIMIT_S)


def run():
    # The package for Proxmox VE does not belong on a host with libvirt.
    debs = sorted(set(glob.glob(PACKAGES + "/*.deb")) - set(glob.glob(PACKAGES + "/vmnuma-pve_*.deb")))
    expect(len(debs) == 2, f"there are no packages in the build tree, only {debs}: tools/package makes them")
    forget_the_build_tree()
    vm = guests.Guest("tenant", load=20)
    guests.start([vm])
    without_us = pins(vm)
    try:
        said = install(debs)
        expect("dry-run" in said and "vmnuma " in said, f"the first installation does not say what is next: {said}")
        expect(state_of(UNIT) == "active" and state_of(EXPORTER) == "active", "the services do not run")
        daemon.wait_until_in(PLACED_EPOCHS, "the VM is known", lambda _: ("tenant", 0) in daemon.homes())
        expect(daemon.status()["mode"] == "dry-run", "the first start is no dry-run")
        daemon.wait_epochs(QUIET_EPOCHS)
        expect(pins(vm) == without_us, "the VM was touched in dry-run")
        with urllib.request.urlopen(METRICS, timeout=30) as answer:
            metrics = answer.read().decode()
        expect("vmnuma_up 1" in metrics, f"the exporter does not reach the daemon: {metrics[:400]}")
        expect_kept_away_from_libvirt()
        figures = {"exposure": {unit: exposure(unit) for unit in UNITS}}
        for unit, level in figures["exposure"].items():
            expect(level <= MOST_EXPOSURE.get(unit, 1.2), f"{unit} is exposed by {level}")

        # Go live like an administrator.
        daemon.configure()
        run_program("systemctl", "restart", UNIT)
        daemon.wait_until_in(PLACED_EPOCHS, "it has a home", lambda _: vm.pinned_node() is not None)
        home = vm.pinned_node()
        daemon.expect_at_home([vm])

        before = daemon.process()
        install(debs)  # the same version again, like an upgrade
        expect(state_of(UNIT) == "active" and daemon.process() != before, "it was not restarted")
        daemon.wait_until_in(PLACED_EPOCHS, "the VM is known again", lambda _: ("tenant", 0) in daemon.homes())
        expect(vm.pinned_node() == home, "the upgrade moved the VM")

        run_program("dpkg", "-r", "vmnuma-exporter", "vmnuma", limit_s=LIMIT_S)
        expect(vm.is_running() and pins(vm) == without_us, f"the VM is left with pins: {pins(vm)}")
        expect(state_of(UNIT) == "inactive" and CONFIG.exists(), "the service or its configuration")
        run_program("dpkg", "-P", "vmnuma-exporter", "vmnuma", limit_s=LIMIT_S)
        left = [path for path in STATE if os.path.lexists(path)]
        expect(not left, f"a purge leaves {left}")
        expect("vmnuma" not in read("/etc/passwd"), "a purge leaves the user")
        run_program("virsh", "-q", "destroy", vm.name)  # there is no hook left that could fail
    finally:
        run_program("dpkg", "-P", "vmnuma-exporter", "vmnuma", limit_s=LIMIT_S, check=False)
        daemon.install()
    return figures
