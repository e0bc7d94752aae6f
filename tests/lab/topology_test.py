#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the comparison of a definition with what a Linux guest reports (inside/lab/topology.py).

Usage: topology_test.py
"""
import dataclasses
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "inside"))
from lab import topology  # noqa: E402, after the path

# Two cells, with two vCPUs and with one; each socket has one core.
DEFINITION = """<domain type='qemu'>
  <memory unit='KiB'>196608</memory>
  <vcpu placement='auto'>3</vcpu>
  <cpu>
    <topology sockets='3' cores='1' threads='1'/>
    <cache level='3' mode='emulate'/>
    <numa>
      <cell id='0' cpus='0-1' memory='131072' unit='KiB'>
        <distances><sibling id='0' value='10'/><sibling id='1' value='12'/></distances>
      </cell>
      <cell id='1' cpus='2' memory='64' unit='MiB'>
        <distances><sibling id='0' value='12'/><sibling id='1' value='10'/></distances>
      </cell>
    </numa>
  </cpu>
</domain>"""

# What Linux 6.1 reports about it: 131072 KiB minus what the firmware uses, and 65536.
CONSOLE = "".join(line + "\r\n" for line in """\
[    0.952649] mtrr: your CPUs had inconsistent fixed MTRR settings
/sys/devices/system/node/node0/cpulist: 0-1
/sys/devices/system/node/node1/cpulist: 2
/sys/devices/system/node/node0/distance: 10 12
/sys/devices/system/node/node1/distance: 12 10
/proc/zoneinfo: Node 0, zone      DMA
/proc/zoneinfo:         present  3998
/proc/zoneinfo: Node 0, zone    DMA32
/proc/zoneinfo:         present  28672
/proc/zoneinfo: Node 0, zone   Normal
/proc/zoneinfo:         present  0
/proc/zoneinfo: Node 1, zone      DMA
/proc/zoneinfo:         present  0
/proc/zoneinfo: Node 1, zone    DMA32
/proc/zoneinfo:         present  16352
/sys/devices/system/cpu/cpu0/topology/physical_package_id: 0
/sys/devices/system/cpu/cpu1/topology/physical_package_id: 1
/sys/devices/system/cpu/cpu2/topology/physical_package_id: 2
/sys/devices/system/cpu/cpu0/topology/thread_siblings_list: 0
/sys/devices/system/cpu/cpu1/topology/thread_siblings_list: 1
/sys/devices/system/cpu/cpu2/topology/thread_siblings_list: 2
/sys/devices/system/cpu/cpu0/cache/index0/level: 1
/sys/devices/system/cpu/cpu0/cache/index3/level: 3
/sys/devices/system/cpu/cpu1/cache/index3/level: 3
/sys/devices/system/cpu/cpu2/cache/index3/level: 3
/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list: 0
/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list: 0
/sys/devices/system/cpu/cpu1/cache/index3/shared_cpu_list: 1
/sys/devices/system/cpu/cpu2/cache/index3/shared_cpu_list: 2
end
""".splitlines())


class TopologyTest(unittest.TestCase):
    def expect_difference(self, before, after, word):
        """If the guest reports this instead, one thing differs, and the sentence names it."""
        self.assertIn(before, CONSOLE)
        found = topology.differences(topology.promised(DEFINITION), topology.seen(CONSOLE.replace(before, after)))
        self.assertEqual(len(found), 1, found)
        self.assertIn(word, found[0])

    def test_a_guest_that_sees_what_was_promised_does_not_differ(self):
        self.assertEqual(topology.differences(topology.promised(DEFINITION), topology.seen(CONSOLE)), [])

    def test_each_part_that_is_seen_otherwise_is_told(self):
        self.expect_difference("node0/distance: 10 12", "node0/distance: 10 20", "distances")
        self.expect_difference("node1/cpulist: 2", "node1/cpulist: 1-2", "cpus")
        self.expect_difference("cpu1/topology/physical_package_id: 1", "cpu1/topology/physical_package_id: 0", "sockets")
        self.expect_difference("cpu1/topology/thread_siblings_list: 1", "cpu1/topology/thread_siblings_list: 0-1", "cores")
        self.expect_difference("cpu1/cache/index3/shared_cpu_list: 1", "cpu1/cache/index3/shared_cpu_list: 0-1", "caches")

    def test_memory_may_lack_what_the_firmware_keeps_and_no_more(self):
        self.expect_difference("present  16352", "present  16000", "KiB")
        self.expect_difference("present  16352", "present  16385", "KiB")

    def test_a_node_that_is_not_seen_is_told(self):
        without = "".join(line for line in CONSOLE.splitlines(keepends=True)
                          if "node1" not in line and "Node 1" not in line and "16352" not in line)
        found = topology.differences(topology.promised(DEFINITION), topology.seen(without))
        self.assertEqual([sentence.split()[0] for sentence in found], ["cpus", "distances", "[131072,"])

    def test_a_vm_without_cells_is_promised_one_node(self):
        definition = DEFINITION.split("    <numa>")[0] + "  </cpu>\n</domain>"
        promise = topology.promised(definition.replace("sockets='3' cores='1'", "sockets='1' cores='3'"))
        self.assertEqual(promise, topology.Topology(cpus=[[0, 1, 2]], distances=[[10]], memory_kib=[196608],
                                                    sockets=[[0, 1, 2]], cores=[[0], [1], [2]], caches=[[0, 1, 2]]))

    def test_distances_that_are_not_written_are_those_that_guests_take_for_granted(self):
        promise = topology.promised(DEFINITION.replace("<sibling id='1' value='12'/>", ""))
        self.assertEqual(promise.distances, [[10, 20], [12, 10]])

    def test_caches_of_which_nothing_is_promised_may_be_any(self):
        promise = topology.promised(DEFINITION.replace("<cache level='3' mode='emulate'/>", ""))
        sight = dataclasses.replace(topology.seen(CONSOLE), caches=[[0, 1, 2]])
        self.assertEqual(topology.differences(promise, sight), [])

    def test_threads_are_grouped_into_cores_and_cores_into_sockets(self):
        promise = topology.promised(DEFINITION.replace("cores='1' threads='1'", "cores='1' threads='2'")
                                    .replace("<vcpu placement='auto'>3", "<vcpu placement='auto'>4"))
        self.assertEqual((promise.cores, promise.sockets), ([[0, 1], [2, 3]], [[0, 1], [2, 3]]))

    def test_what_the_kernel_says_against_nodes_is_a_complaint(self):
        said = "[    0.1] sched: CPU #1's llc-sibling CPU #0 is not on the same node! [node: 1 != 0]. Ignoring dependency."
        self.assertEqual(topology.complaints(CONSOLE), [])
        self.assertEqual(topology.complaints(f"{said}\n{CONSOLE}"), [said])


if __name__ == "__main__":
    unittest.main()
