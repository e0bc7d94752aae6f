# SPDX-License-Identifier: Apache-2.0
"""Guests as QEMU processes without libvirt, started like those of Proxmox VE's qemu-server: each in a scope of
qemu.slice, with a monitor of its own. They are observed in /proc.
"""

import glob
import json
import os
import re
import shutil
import signal
import socket

from lab import nodes
from lab.process import Failure, expect, read, run, wait_until

_KERNEL_SOURCE = "/share/guest/busy.elf"
_FOLDER = "/run/qemu-server"
_QEMU = "qemu-system-x86_64"
_FIRST_VMID = 100
_END_LIMIT_S = 60


def create(guests):
    """Starts them one after the other; returns once they run."""
    os.makedirs(_FOLDER, exist_ok=True)
    shutil.copyfile(_KERNEL_SOURCE, f"{_FOLDER}/busy.elf")
    for guest in guests:
        expect(guest.kind == "qemu" and not (guest.cells or guest.auto or guest.policy or guest.system or guest.cpuset
                                             or guest.vcpus_at_start or guest.bridge or guest.line),
               f"'{guest.name}' wants what only libvirt gives it")
        _start(guest, _free_vmid())


def destroy_all():
    for file in glob.glob(f"{_FOLDER}/*.pid"):
        _kill(int(os.path.basename(file)[:-4]))


def destroy(guest):
    _kill(_vmid(guest))


def suspend(guest):
    _tell(guest, "stop")


def resume(guest):
    _tell(guest, "cont")


def is_running(guest):
    return _tell(guest, "query-status")["running"]


def pid(guest):
    return _pid_of(_vmid(guest))


def pinned_cpus(guest):
    """For each vCPU the CPUs that the kernel lets it run on."""
    return [nodes.allowed_cpus(pid(guest), thread) for thread in guest.vcpu_threads()]


def _start(guest, vmid):
    load = guest.load if isinstance(guest.load, int) else ",".join(map(str, guest.load))
    run("systemd-run", "--quiet", "--scope", "--slice=qemu.slice", f"--unit={vmid}", _QEMU,
        "-name", f"{guest.name},debug-threads=on", "-no-shutdown",
        "-chardev", f"socket,id=qmp,path={_FOLDER}/{vmid}.qmp,server=on,wait=off", "-mon", "chardev=qmp,mode=control",
        "-pidfile", f"{_FOLDER}/{vmid}.pid", "-daemonize",
        "-smbios", f"type=1,uuid=0a5f7d0c-7d8e-4c5d-9c0f-{vmid:012}",
        "-smp", f"{guest.vcpus},sockets=1,cores={guest.vcpus},maxcpus={guest.vcpus}", "-nodefaults", "-display", "none",
        "-accel", "tcg,thread=multi", "-m", guest.memory_mib,
        "-kernel", f"{_FOLDER}/busy.elf", "-append", f"cpus={guest.vcpus} load={load}", "-machine", "type=pc")


def _free_vmid():
    vmid = _FIRST_VMID
    while os.path.exists(f"{_FOLDER}/{vmid}.pid"):
        vmid += 1
    return vmid


def _pid_of(vmid):
    return int(read(f"{_FOLDER}/{vmid}.pid"))


def _vmid(guest):
    """The number of the running process with this guest's name."""
    for file in glob.glob(f"{_FOLDER}/*.pid"):
        vmid = int(os.path.basename(file)[:-4])
        try:
            words = read(f"/proc/{_pid_of(vmid)}/cmdline").split("\0")
        except FileNotFoundError:  # it has ended
            continue
        if f"{guest.name},debug-threads=on" in words:
            return vmid
    raise Failure(f"there is no process of '{guest.name}'")


def _kill(vmid):
    process = _pid_of(vmid)
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended
    wait_until(f"process {process} has ended", lambda: not os.path.exists(f"/proc/{process}"), _END_LIMIT_S)
    wait_until(f"the scope of {vmid} is gone",
               lambda: not os.path.exists(f"/sys/fs/cgroup/qemu.slice/{vmid}.scope"), _END_LIMIT_S)
    os.remove(f"{_FOLDER}/{vmid}.pid")


def _tell(guest, command):
    """Returns the monitor's answer (QMP)."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_END_LIMIT_S)
        connection.connect(f"{_FOLDER}/{_vmid(guest)}.qmp")
        lines = connection.makefile("rw", encoding="utf-8")
        lines.readline()  # its greeting
        _answer(lines, "qmp_capabilities")
        return _answer(lines, command)


def _answer(lines, command):
    lines.write(json.dumps({"execute": command}) + "\n")
    lines.flush()
    while True:
        told = json.loads(lines.readline())
        expect("error" not in told, f"QEMU refuses {command}: {told}")
        if "return" in told:  # not an event
            return told["return"]
