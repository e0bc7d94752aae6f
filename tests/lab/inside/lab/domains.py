# SPDX-License-Identifier: Apache-2.0
"""Guests that libvirt starts and manages; virsh shows what became of them."""

import shutil
import subprocess

from lab import nodes
from lab.process import Failure, read, run

_KERNEL_SOURCE = "/share/guest/busy.elf"
_KERNEL = "/var/lib/libvirt/images/busy.elf"
_START_LIMIT_S = 180


def create(guests):
    """Starts them side by side; returns once libvirt says that they run."""
    starts = [subprocess.Popen(["virsh", "-q", "create", definition(guest)],
                               stdin=subprocess.DEVNULL) for guest in guests]
    for guest, process in zip(guests, starts):
        if process.wait(timeout=_START_LIMIT_S) != 0:
            raise Failure(f"libvirt did not start '{guest.name}'")


def destroy_all():
    for name in run("virsh", "-q", "list", "--name").split():
        run("virsh", "-q", "destroy", name)


def destroy(guest):
    virsh(guest, "destroy")


def suspend(guest):
    virsh(guest, "suspend")


def resume(guest):
    virsh(guest, "resume")


def is_running(guest):
    return virsh(guest, "domstate", check=False).strip() == "running"


def pid(guest):
    return int(read(f"/run/libvirt/qemu/{guest.name}.pid"))


def pinned_cpus(guest):
    """For each vCPU the CPUs to which it is pinned, according to virsh."""
    lines = virsh(guest, "vcpupin").splitlines()
    return [nodes.numbers(line.split()[1]) for line in lines if line.split()[:1] != ["VCPU"]
            and len(line.split()) == 2 and line.split()[0].isdigit()]


def virsh(guest, command, *arguments, **how):
    return run("virsh", "-q", command, guest.name, *arguments, **how)


def definition(guest):
    """Its XML in a file, for virsh."""
    shutil.copyfile(_KERNEL_SOURCE, _KERNEL)
    path = f"/run/lab-{guest.name}.xml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(xml(guest))
    return path


def xml(guest):
    # Under emulated SVM first touches are slow, so KVM guests get their memory before they run.
    backing = ("<memoryBacking><allocation mode='immediate'/></memoryBacking>"
               if guest.kind == "kvm" else "")
    per_cell = guest.vcpus // max(1, guest.cells)
    cells = "".join(
        f"<cell id='{cell}' cpus='{cell * per_cell}-{(cell + 1) * per_cell - 1}'"
        f" memory='{guest.memory_mib // guest.cells}' unit='MiB'/>"
        for cell in range(guest.cells))
    policy = (f"<vmnuma:policy xmlns:vmnuma='https://vmnuma.org/policy/1.0' {guest.policy}/>"
              if guest.policy else "")
    system = (f"<o:libosinfo xmlns:o='http://libosinfo.org/xmlns/libvirt/domain/1.0'>"
              f"<o:os id='{guest.system}'/></o:libosinfo>" if guest.system else "")
    load = guest.load if isinstance(guest.load, int) else ",".join(map(str, guest.load))
    current = f" current='{guest.vcpus_at_start}'" if guest.vcpus_at_start else ""
    placement = " placement='auto'" if guest.auto else f" cpuset='{guest.cpuset}'" if guest.cpuset else ""
    # Restrictive, because that is the only mode that libvirt can change for a running VM.
    numatune = ("<numatune><memory mode='restrictive' placement='auto'/></numatune>"
                if guest.auto else "")
    network = (f"<interface type='bridge'><source bridge='{guest.bridge}'/><model type='virtio'/>"
               f"<rom enabled='no'/></interface>" if guest.bridge else "")
    mode = "connect" if guest.answers else "bind"
    line = (f"<serial type='unix'><source mode='{mode}' path='{guest.line}'/></serial>"
            if guest.line else "")
    talk = " talk=1" if guest.line else ""
    return f"""<domain type='{guest.kind}'>
  <name>{guest.name}</name>
  <metadata>{policy}{system}</metadata>
  <memory unit='MiB'>{guest.memory_mib}</memory>
  {backing}
  <vcpu{placement}{current}>{guest.vcpus}</vcpu>
  {numatune}
  <os>
    <type arch='x86_64' machine='pc'>hvm</type>
    <kernel>{_KERNEL}</kernel>
    <cmdline>cpus={guest.vcpus_at_start or guest.vcpus} load={load}{talk}</cmdline>
  </os>
  <features><acpi/><apic/></features>
  {f"<cpu><numa>{cells}</numa></cpu>" if cells else ""}
  <on_poweroff>destroy</on_poweroff><on_reboot>destroy</on_reboot><on_crash>destroy</on_crash>
  <devices><controller type='usb' model='none'/><memballoon model='none'/>{network}{line}</devices>
</domain>"""
