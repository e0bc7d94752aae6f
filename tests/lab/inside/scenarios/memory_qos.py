# SPDX-License-Identifier: Apache-2.0
"""A guaranteed VM keeps all its memory while a process uses up what the host has; without the guarantee it loses some.

Most of the machine's memory is put into huge pages first, so that little needs to be used to be short
of it. It is taken by a plain process in a scope of machine.slice, which is the first to be killed if
the machine runs out of memory, and is easy to end.
"""

import contextlib
import glob
import os
import re
import subprocess
import time

from lab import daemon, guests, process
from lab.process import expect, read, wait_until

IN_SHORT_SET = False
LIMIT_S = 1500
MEMORY_MIB = 128
OVERHEAD_MIB = 256
SPARE_MIB = 768  # left besides the huge pages
BEYOND_MIB = 384  # that the hog wants beyond what is available
SWAP_FILE = "/swapfile"
SWAP_MIB = 1024
SWAP_LIMIT_S = 300
HOG_LIMIT_S = 400
WATCH_S = 20
HUGE_PAGES = "/proc/sys/vm/nr_hugepages"
SLICE = "/sys/fs/cgroup/machine.slice"
SETTINGS = ("/run/systemd/transient", "/run/systemd/system.control")  # of scopes, and of others
HOG = "vmnuma-hog"
FILLED = "/run/vmnuma-hog-filled"
_MIB = 1 << 20

# Touches every page once, says so, and keeps them.
HOG_PROGRAM = f"""
import pathlib, sys, time
pathlib.Path("/proc/self/oom_score_adj").write_text("1000")
memory = bytearray()
for _ in range(int(sys.argv[1])):
    memory += b"\\x5a" * {_MIB}
pathlib.Path({FILLED!r}).touch()
time.sleep(3600)
"""


def available_mib():
    return int(re.search(r"MemAvailable:\s+(\d+) kB", read("/proc/meminfo")).group(1)) // 1024


def number(path):
    """A limit of a cgroup; None for "max"."""
    text = read(path).strip()
    return None if text == "max" else int(text)


def limits(cgroup):
    return {name: number(f"{cgroup}/memory.{name}")
            for name in ("min", "low", "high", "max", "swap.max")}


def settings(cgroup):
    """What systemd keeps of limits that it was asked to set."""
    unit = glob.escape(os.path.basename(cgroup))
    return [path for folder in SETTINGS for path in sorted(glob.glob(f"{folder}/{unit}.d/50-Memory*.conf"))]


def stalled_us(cgroup):
    """How long all of its tasks waited for memory since it was made."""
    return int(re.search(r"full .*total=(\d+)", read(cgroup + "/memory.pressure")).group(1))


def refaulted(cgroup):
    """Anonymous pages that were taken and wanted again."""
    return int(re.search(r"^workingset_refault_anon (\d+)$", read(cgroup + "/memory.stat"),
                         re.MULTILINE).group(1))


@contextlib.contextmanager
def little_memory():
    """Swap, and most of the memory in huge pages that are not used."""
    process.run("sync")
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")
    process.run("fallocate", "-l", f"{SWAP_MIB}M", SWAP_FILE)
    os.chmod(SWAP_FILE, 0o600)
    process.run("mkswap", SWAP_FILE)
    process.run("swapon", SWAP_FILE)
    try:
        with open(HUGE_PAGES, "w", encoding="ascii") as file:
            file.write(str(max(0, available_mib() - SPARE_MIB) // 2))
        yield
    finally:
        with open(HUGE_PAGES, "w", encoding="ascii") as file:
            file.write("0")
        process.run("swapoff", SWAP_FILE, limit_s=SWAP_LIMIT_S, check=False)
        os.remove(SWAP_FILE)


@contextlib.contextmanager
def hog():
    """Has taken more than there is while the context lasts."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(FILLED)
    taker = subprocess.Popen(
        ["systemd-run", "--quiet", "--scope", "--slice=machine.slice", f"--unit={HOG}", "python3",
         "-c", HOG_PROGRAM, str(available_mib() + BEYOND_MIB)], stdin=subprocess.DEVNULL)
    try:
        wait_until("the hog has its memory", lambda: os.path.exists(FILLED) or taker.poll() is not None,
                   HOG_LIMIT_S)
        expect(taker.poll() is None, f"the hog ended with {taker.returncode}; was it killed?")
        yield
    finally:
        taker.kill()
        taker.wait()
        process.run("systemctl", "stop", f"{HOG}.scope", check=False)


def beside_a_hog(vm):
    """What the VM loses while a process takes more memory than there is."""
    scope = vm.scope()
    begun, stalled, refaults = time.monotonic(), stalled_us(scope), refaulted(scope)
    with hog():
        time.sleep(WATCH_S)
        return {
            "swapped_mib": number(scope + "/memory.swap.current") / _MIB,
            "refaults": refaulted(scope) - refaults,
            "stalled_pct": (stalled_us(scope) - stalled) / (time.monotonic() - begun) / 1e4,
            "hog_swapped_mib": number(f"{SLICE}/{HOG}.scope/memory.swap.current") / _MIB,
        }


def swap_in():
    """Brings everything back that was swapped out."""
    process.run("swapoff", SWAP_FILE, limit_s=SWAP_LIMIT_S)
    process.run("swapon", SWAP_FILE)


def run():
    kept = guests.Guest("kept", load=5, memory_mib=MEMORY_MIB)
    with little_memory():
        guests.start([kept])
        scope = kept.scope()
        found = {"scope": limits(scope), "slice": limits(SLICE)}
        daemon.configure(f'[options]\n"Numa.MemQosOverhead" = {OVERHEAD_MIB}\n'
                         f'[vm."{kept.name}"]\nmemory_class = "guaranteed"')
        daemon.start()
        daemon.wait_epochs(5)
        expect({"scope": limits(scope), "slice": limits(SLICE)} == found,
               "limits were changed though Numa.MemQosEnable is 0")
        without = beside_a_hog(kept)
        swap_in()

        daemon.ask("options", "set", "Numa.MemQosEnable", 1)
        reserved = (MEMORY_MIB + OVERHEAD_MIB) * _MIB
        daemon.wait_until_in(15, "the VM and its slice are protected", lambda _status: (
            number(scope + "/memory.min") == reserved and number(scope + "/memory.swap.max") == 0
            and number(SLICE + "/memory.min") == reserved))
        expect(number(scope + "/memory.high") is None, "a guaranteed VM is throttled")
        expect(settings(scope) and settings(SLICE), "systemd keeps what it was asked to set elsewhere")
        with_qos = beside_a_hog(kept)

        view = daemon.ask("memory")
        [row] = [row for row in view["vms"] if row["vm"] == kept.name]
        shown = {name: row[name] for name in ("memory_class", "min_bytes", "swap_max_bytes")}
        expect(shown == {"memory_class": "guaranteed", "min_bytes": reserved, "swap_max_bytes": 0},
               f"'vmnuma memory' shows {shown}")

        daemon.ask("release", kept.name)
        daemon.wait_until_in(15, "nothing of it is left after a release", lambda _status: (
            {"scope": limits(scope), "slice": limits(SLICE)} == found
            and not settings(scope) and not settings(SLICE)))
        figures = {"without": without, "with": with_qos}
        expect(without["swapped_mib"] > 1, f"without protection it lost nothing: {figures}")
        expect(with_qos["hog_swapped_mib"] > 1, f"nobody was short of memory: {figures}")
        expect(with_qos["swapped_mib"] == 0 and with_qos["refaults"] == 0,
               f"the guaranteed VM lost memory: {figures}")
        expect(with_qos["stalled_pct"] < 1, f"the guaranteed VM waited for memory: {figures}")
        guests.destroy_all()
        return figures
