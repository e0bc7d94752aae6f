# SPDX-License-Identifier: Apache-2.0
"""Compares the NUMA nodes, cores and caches that a definition promises a guest with those that its Linux reports.

Pure functions from text to values; guest/linux/init.c explains how Linux's files get here.
"""

import collections
import dataclasses
import re
import xml.etree.ElementTree as ET

from lab.nodes import numbers

_KIB_OF = {"b": 1 / 1024, "KiB": 1, "MiB": 1024, "GiB": 1 << 20}
# The firmware keeps the hole below 1 MiB and its tables.
_FIRMWARE_KIB = 1024


@dataclasses.dataclass(frozen=True)
class Topology:
    """Of a guest. CPUs are the vCPUs' numbers; groups of them are sorted."""

    cpus: list  # of each node
    distances: list  # row by row
    memory_kib: list  # of each node
    sockets: list  # groups of CPUs
    cores: list
    caches: list  # groups of CPUs that share a third-level cache; None: nothing is promised


def promised(definition):
    """The topology in a domain XML, where each cell has its memory in `unit`."""
    domain = ET.fromstring(definition)
    vcpus = int(domain.findtext("vcpu"))
    topology = domain.find("cpu/topology").attrib
    threads = int(topology["threads"])
    socket = int(topology.get("dies", 1)) * int(topology["cores"]) * threads
    sockets = _groups_of(vcpus, socket)
    cells = domain.findall("cpu/numa/cell")
    return Topology(
        cpus=[sorted(numbers(cell.get("cpus"))) for cell in cells] or [list(range(vcpus))],
        distances=[_distances(cell, number, len(cells)) for number, cell in enumerate(cells)] or [[10]],
        memory_kib=[_kib(cell.get("memory"), cell.get("unit")) for cell in cells]
        or [_kib(domain.findtext("memory"), domain.find("memory").get("unit"))],
        sockets=sockets,
        cores=_groups_of(vcpus, threads),
        caches=sockets if domain.find("cpu/cache[@level='3'][@mode='emulate']") is not None else None)


def seen(console):
    """The topology that a guest's Linux has printed on its console."""
    told = collections.defaultdict(list)
    for path, line in re.findall(r"^(/[^:]+): (.*)$", console.replace("\r", ""), re.MULTILINE):
        told[path].append(line)

    def of_each(kind, file):
        """{number: the file's line}, in the order of numbers."""
        found = {int(match[1]): lines[0] for path, lines in told.items()
                 if (match := re.fullmatch(rf"/sys/devices/system/{kind}/{kind}(\d+)/{file}", path))}
        return dict(sorted(found.items()))

    packages = collections.defaultdict(list)
    for cpu, package in of_each("cpu", "topology/physical_package_id").items():
        packages[package].append(cpu)
    return Topology(
        cpus=[sorted(numbers(cpus)) for cpus in of_each("node", "cpulist").values()],
        distances=[[int(each) for each in row.split()] for row in of_each("node", "distance").values()],
        memory_kib=_present_kib(told["/proc/zoneinfo"]),
        sockets=sorted(packages.values()),
        cores=_distinct(of_each("cpu", "topology/thread_siblings_list").values()),
        caches=_distinct(lines[0] for path, lines in told.items() if path.endswith("/shared_cpu_list")
                         and told.get(path.replace("/shared_cpu_list", "/level")) == ["3"]))


def differences(promise, sight):
    """Returns what the guest does not see of the promise, as sentences."""
    found = [f"{part} {getattr(promise, part)} were promised and {getattr(sight, part)} are seen"
             for part in ("cpus", "distances", "sockets", "cores", "caches")
             if getattr(promise, part) not in (None, getattr(sight, part))]
    if len(promise.memory_kib) != len(sight.memory_kib) or not all(
            0 <= wanted - there <= _FIRMWARE_KIB
            for wanted, there in zip(promise.memory_kib, sight.memory_kib)):
        found.append(f"{promise.memory_kib} KiB were promised and {sight.memory_kib} are seen")
    return found


def complaints(console):
    """Returns the complaints of the guest's kernel about its nodes, cores and caches."""
    return [line for line in console.splitlines()
            if re.search(r"not on the same node|SRAT|SLIT|NUMA: ", line)]


def _groups_of(vcpus, size):
    return [list(range(first, first + size)) for first in range(0, vcpus, size)]


def _distances(cell, own, count):
    told = {int(sibling.get("id")): int(sibling.get("value"))
            for sibling in cell.findall("distances/sibling")}
    return [told.get(other, 10 if other == own else 20) for other in range(count)]


def _kib(size, unit):
    return int(int(size) * _KIB_OF[unit or "KiB"])


def _present_kib(zones):
    """Of each node, in pages of 4 KiB: the sum of its zones."""
    pages = collections.Counter()
    for line in zones:
        if match := re.match(r"Node (\d+), zone", line):
            node = int(match[1])
        elif match := re.fullmatch(r" *present +(\d+)", line):
            pages[node] += 4 * int(match[1])
    return [pages[node] for node in sorted(pages)]


def _distinct(lists):
    return sorted(sorted(numbers(cpus)) for cpus in set(lists))
