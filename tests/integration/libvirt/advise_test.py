#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Definitions as `vmnuma advise` makes them, under a real libvirt and QEMU.

A dozen shapes start, and QEMU gives the guest exactly the cells that were advised; a VM that is there is defined as
advised and goes back to what it was. The hosts are files, so that all shapes are tried on any machine.

Usage: with-libvirtd --numad FILE advise_test.py VMNUMA
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

VMNUMA = pathlib.Path(sys.argv.pop(1)).resolve()
NAME = "guest"
MIB = 1 << 20


def run(*command, text=None, status=0):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != status:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def virsh(*arguments, text=None):
    return run("virsh", "--quiet", *arguments, text=text)


def host(nodes, cores, threads=1, mib=512, distance=21):
    """A host file; memory is what advice holds cells against, no more."""
    cpus = iter(range(nodes * cores * threads))
    cores_of = [[{"cpu": next(cpus), "core": node * cores + core, "cache": node} for core in range(cores)
                 for _ in range(threads)] for node in range(nodes)]
    return {"vmnuma_host": 1, "name": "test", "prefer_ht": False,
            "distances": [[10 if a == b else distance for b in range(nodes)] for a in range(nodes)],
            "nodes": [{"node": node, "socket": node, "memory_bytes": mib * MIB, "cpus": cores_of[node],
                       "huge_pages": []} for node in range(nodes)]}


class AdviseTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.addCleanup(self.forget)

    @staticmethod
    def forget():
        subprocess.run(["virsh", "--quiet", "destroy", NAME], capture_output=True, check=False)
        subprocess.run(["virsh", "--quiet", "undefine", NAME], capture_output=True, check=False)

    def advise(self, machine, *arguments):
        path = self.folder / "host.json"
        path.write_text(json.dumps(machine))
        return run(VMNUMA, "advise", "--host", path, *arguments)

    def start(self, xml):
        """As advised, but emulated, and let to bind its memory on this machine's nodes."""
        virsh("define", "--validate", "/dev/stdin", text=xml.replace("type='kvm'", "type='qemu'"))
        virsh("start", NAME)

    def cells_of_qemu(self):
        """[vCPUs, MiB] of each node, as QEMU has it."""
        said = virsh("qemu-monitor-command", NAME, "--hmp", "info numa")
        cpus = re.findall(r"^node \d+ cpus:(.*)$", said, re.MULTILINE)
        sizes = re.findall(r"^node \d+ size: (\d+) MB", said, re.MULTILINE)
        return [[[int(cpu) for cpu in numbers.split()], int(size)] for numbers, size in zip(cpus, sizes)]

    def test_what_is_advised_starts_and_is_what_qemu_has(self):
        shapes = [  # vCPUs, MiB, host
            (1, 48, host(2, 2)), (2, 64, host(2, 2)), (3, 64, host(2, 2)), (4, 64, host(2, 2)),
            (5, 96, host(2, 4)), (6, 64, host(2, 4)), (7, 64, host(2, 4)), (8, 64, host(4, 2)),
            (9, 96, host(2, 8, threads=2)), (10, 64, host(2, 6)), (11, 66, host(4, 4, distance=32)),
            (12, 96, host(4, 3)), (12, 96, host(1, 2)), (2, 96, host(2, 4, mib=64)),
        ]
        for vcpus, mib, machine in shapes:
            with self.subTest(vcpus=vcpus, mib=mib, nodes=len(machine["nodes"])):
                new = ("--vcpus", str(vcpus), "--memory", f"{mib}MiB")
                advice = json.loads(self.advise(machine, *new, "--json"))
                self.start(self.advise(machine, *new, "--format", "xml"))
                cells = self.cells_of_qemu()
                wanted = [[cell["vcpus"], cell["memory_bytes"] // MIB] for cell in advice["cells"]]
                self.assertEqual(cells, wanted)
                topology = ET.fromstring(virsh("dumpxml", NAME)).find("cpu/topology").attrib
                for part in ("sockets", "cores", "threads"):
                    self.assertEqual(int(topology[part]), advice["topology"][part])
                self.assertEqual(advice["topology"]["sockets"] * advice["topology"]["cores"] *
                                 advice["topology"]["threads"], vcpus)
                self.forget()

    def test_what_libvirt_makes_of_it_is_as_advised(self):
        machine = host(2, 4)
        xml = self.advise(machine, "--vcpus", "6", "--memory", "64MiB", "--format", "xml")
        virsh("define", "--validate", "/dev/stdin", text=xml.replace("type='kvm'", "type='qemu'"))
        self.assertEqual(self.advise(machine, NAME, "--format", "diff"), "")

    def test_a_vm_is_given_a_device_that_no_other_vm_has(self):
        root = self.folder / "root"
        files = {"etc/vmnuma/vmnuma.toml": 'device_pool = "gpu=0000:0b:00.0,0000:8b:00.0"\n'
                                           '[vm.guest]\ndevice_pool = "gpu"\n',
                 "sys/devices/system/node/online": "0\n", "sys/devices/system/node/has_cpu": "0\n",
                 "sys/devices/system/node/has_memory": "0\n", "sys/devices/system/node/node0/distance": "10\n",
                 "sys/devices/system/node/node0/cpulist": "0\n",
                 "sys/devices/system/node/node0/meminfo": "Node 0 MemTotal: 1048576 kB\n",
                 "sys/devices/system/cpu/online": "0\n",
                 "sys/devices/system/cpu/cpu0/topology/core_id": "0\n",
                 "sys/devices/system/cpu/cpu0/topology/core_cpus": "1\n",
                 "sys/devices/system/cpu/cpu0/topology/physical_package_id": "0\n",
                 "sys/devices/system/cpu/cpu0/topology/package_cpus": "1\n"}
        for bus in ("0b", "8b"):
            files[f"sys/bus/pci/devices/0000:{bus}:00.0/numa_node"] = "0\n"
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        plain = ("<domain type='qemu'><name>{}</name><memory unit='MiB'>48</memory><vcpu>1</vcpu>"
                 "<os><type arch='x86_64'>hvm</type></os><devices>{}</devices></domain>")
        taken = ("<hostdev mode='subsystem' type='pci'><source><address domain='0' bus='0x0b' slot='0' "
                 "function='0'/></source></hostdev>")
        virsh("define", "/dev/stdin", text=plain.format("other", taken))
        self.addCleanup(virsh, "undefine", "other")
        virsh("define", "/dev/stdin", text=plain.format("plain", ""))
        self.addCleanup(virsh, "undefine", "plain")
        virsh("start", "plain")
        self.addCleanup(virsh, "destroy", "plain")
        virsh("define", "/dev/stdin", text=plain.format(NAME, ""))
        command = (VMNUMA, "advise", NAME, "--root", root, "--definitions", self.folder / "kept")
        run(*command, "--apply", "--yes")
        definition = ET.fromstring(virsh("dumpxml", "--inactive", NAME))
        self.assertEqual(definition.find("devices/hostdev/source/address").get("bus"), "0x8b")
        self.assertIn("as advised", run(*command))
        virsh("define", "/dev/stdin", text=plain.format("third", taken.replace("0x0b", "0x8b")))
        self.addCleanup(virsh, "undefine", "third")
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("'other' has 0000:0b:00.0", done.stderr)

    def test_a_vm_is_defined_as_advised_and_goes_back_while_it_runs(self):
        plain = ("<domain type='qemu'><name>guest</name><memory unit='MiB'>48</memory><vcpu>1</vcpu>"
                 "<os><type arch='x86_64'>hvm</type></os><devices><graphics type='vnc' passwd='secret'/></devices>"
                 "</domain>")
        virsh("define", "/dev/stdin", text=plain)
        virsh("start", NAME)
        before = virsh("dumpxml", "--inactive", "--security-info", NAME)
        live = virsh("dumpxml", NAME)
        command = (VMNUMA, "advise", NAME, "--definitions", self.folder / "kept")
        run(*command, "--apply", text="n\n", status=1)
        self.assertEqual(virsh("dumpxml", "--inactive", "--security-info", NAME), before)
        said = run(*command, "--apply", text="y\n")
        self.assertNotIn("secret", said)
        after = virsh("dumpxml", "--inactive", "--security-info", NAME)
        self.assertIn("placement='auto'", after)
        self.assertIn("secret", after)
        self.assertEqual(virsh("dumpxml", NAME), live)
        self.assertIn("as advised", run(*command, "--apply", "--yes"))
        run(*command, "--undo", "--yes")
        self.assertEqual(virsh("dumpxml", "--inactive", "--security-info", NAME), before)


if __name__ == "__main__":
    unittest.main()
