# SPDX-License-Identifier: Apache-2.0
"""Guests that run Linux: they print on their console what the kernel sees (guest/linux/init.c), then power off."""

import os
import shutil

from lab.process import expect, read, run, wait_until

_SOURCE = "/share/guest"
_IMAGES = "/var/lib/libvirt/images"
_FILES = ("vmlinux", "initrd", "qemu-in-one-thread")
_BOOT_LIMIT_S = 900
_WRITTEN_LIMIT_S = 30

# QEMU's emulated APIC searches for CPUs only up to the first unused number, and three cores of a socket use the numbers
# of four; a kernel that supports more than eight CPUs does not address them like this. Calibrations fail if time
# sometimes stands still, and the remaining options avoid work that is useless here.
_WORDS = ("console=ttyS0 loglevel=5 panic=-1 possible_cpus=16 lpj=4000000 tsc=reliable no_timer_check nowatchdog nokaslr"
          " mitigations=off cryptomgr.notests random.trust_cpu=on 8250.nr_uarts=1")


def prepare():
    """Copies the guest's files to where QEMU may read them."""
    for file in _FILES:
        shutil.copy(f"{_SOURCE}/{file}", _IMAGES)


def definition(name, vcpus, memory_mib, model=""):
    """A VM as defined by an administrator who ignores nodes and cores. `model`: of its CPUs, QEMU's own
    choice if empty. Without MTRRs, for which all CPUs have to wait for each other, it boots in less time."""
    cpu = (f"<cpu match='exact' check='none'><model>{model}</model><feature policy='disable' name='mtrr'/></cpu>"
           if model else "")
    return f"""<domain type='qemu'>
  <name>{name}</name>
  <memory unit='MiB'>{memory_mib}</memory>
  <vcpu>{vcpus}</vcpu>
  <os>
    <type arch='x86_64' machine='pc'>hvm</type>
    <kernel>{_IMAGES}/vmlinux</kernel>
    <initrd>{_IMAGES}/initrd</initrd>
    <cmdline>{_WORDS}</cmdline>
  </os>
  <features><acpi/><apic/></features>
  {cpu}
  <on_poweroff>destroy</on_poweroff><on_reboot>destroy</on_reboot><on_crash>destroy</on_crash>
  <devices>
    <emulator>{_IMAGES}/qemu-in-one-thread</emulator>
    <controller type='usb' model='none'/><memballoon model='none'/>
    <serial type='file'><source path='{_console(name)}'/></serial>
  </devices>
</domain>
"""


def start(name, xml):
    """Starts the definition with libvirt; returns once the guest runs."""
    path = f"/run/lab-{name}.xml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(xml)
    run("virsh", "-q", "create", "--validate", path)


def console(name):
    """Waits until the guest has powered off, and returns its output."""
    # Not with virsh, which would take CPU time from the guest.
    wait_until(f"'{name}' has switched itself off",
               lambda: not os.path.exists(f"/run/libvirt/qemu/{name}.pid"), _BOOT_LIMIT_S)
    wait_until(f"the console of '{name}' is written", lambda: os.path.getsize(_console(name)) > 0, _WRITTEN_LIMIT_S)
    written = read(_console(name))
    expect("\nend" in written, f"'{name}' ended before it had told all: {written[-2000:]}")
    return written


def _console(name):
    return f"{_IMAGES}/{name}.console"
