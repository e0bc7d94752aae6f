# SPDX-License-Identifier: Apache-2.0
"""Installs, configures, starts, asks and kills the programs of vmnuma on this machine."""

import collections
import glob
import json
import os
import re
import shutil
import sqlite3
import time

from lab import starters
from lab.process import Failure, expect, read, run, wait_until

_INSTALL = "/share/install"
_UNIT = "vmnumad.service"
_CONFIG = "/etc/vmnuma/vmnuma.toml"
_STATE = "/var/lib/vmnuma"
_HISTORY = _STATE + "/history.sqlite"

# An epoch, by this machine's clock. A daemon that completes none within the silence limit hangs.
_EPOCH_S = 2
_SILENCE_LIMIT_S = 60

# System calls that are refused without harm (numbers of x86-64): mmap of memory that is both writable and executable,
# without which PCRE2, used by libvirt, does not compile regular expressions; and clone3, which RestrictNamespaces=
# always refuses, so that libc starts threads with clone.
_HARMLESSLY_REFUSED = {9, 435}


def install():
    """Installs the result of `cmake --install` like an administrator."""
    expect(os.path.isdir(_INSTALL + "/usr"), "the lab was started without the programs of vmnuma")
    stop()
    for top in os.listdir(_INSTALL):
        run("cp", "-a", "--no-preserve=ownership", f"{_INSTALL}/{top}/.", f"/{top}/")
    run("systemd-sysusers")
    run("systemd-tmpfiles", "--create", check=False)  # warns about files that are not ours
    run("systemctl", "daemon-reload")
    run("systemctl", "reload", "polkit", check=False)  # it also notices new rules by itself


def configure(text="", mode="active"):
    """Writes the configuration: the mode, whose VMs are balanced, and whatever lines the scenario adds.

    Emulated memory is equally far from everywhere, so distances are the firmware's unless the scenario says otherwise.
    """
    distances = "" if "distances" in text else 'distances = "firmware"\n'
    os.makedirs(os.path.dirname(_CONFIG), exist_ok=True)
    with open(_CONFIG, "w", encoding="utf-8") as file:
        file.write(f'mode = "{mode}"\nhypervisor = "{starters.hypervisor()}"\n{distances}{text}\n')


def start():
    """Starts the daemon and waits until it has read every VM twice, which it needs for rates."""
    run("systemctl", "start", _UNIT)
    wait_until("the daemon has finished three epochs",
               lambda: is_answering() and epoch() >= 3, _SILENCE_LIMIT_S)


def reload():
    """Makes the daemon read its configuration again."""
    run("systemctl", "reload", _UNIT)


def stop():
    run("systemctl", "stop", _UNIT, check=False)


def kill():
    """Sends SIGKILL to the main process; the unit may restart it."""
    run("systemctl", "kill", "--signal=KILL", "--kill-whom=main", _UNIT)


def reset():
    """Stops the daemon and makes it forget everything."""
    stop()
    run("systemctl", "reset-failed", _UNIT, check=False)
    if os.path.isdir(_STATE):
        for name in os.listdir(_STATE):
            path = os.path.join(_STATE, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    configure()


def ask(*command, limit_s=120):
    """The answer to `vmnuma --json COMMAND...`."""
    text = run("vmnuma", "--json", *command, limit_s=limit_s)
    try:
        return json.loads(text)
    except ValueError as error:
        words = " ".join(map(str, command))
        again = run("vmnuma", "--json", "status")[:1]
        raise Failure(f"'vmnuma --json {words}' is not JSON (another answer begins with '{again}'): {text}") from error


def is_answering():
    try:
        status()
    except Failure:
        return False
    return True


def status():
    return ask("status")


def epoch():
    return status()["epoch"]


def wait_until_in(epochs, what, condition):
    """Asks condition(status) after every epoch until it is true; at most that many epochs.

    Returns (value of the condition, epochs that passed). A daemon that was started again counts
    from where it is.
    """
    first = last = epoch()
    heard = time.monotonic()
    passed = 0
    while True:
        now = status()
        if now["epoch"] != last or passed == 0:
            value = condition(now)
            if value:
                return value, passed
            passed += max(1, now["epoch"] - last)
            last = now["epoch"]
            heard = time.monotonic()
        if passed > epochs:
            raise Failure(f"not within {epochs} epochs (from epoch {first}): {what}")
        if time.monotonic() - heard > _SILENCE_LIMIT_S:
            raise Failure(f"the daemon has finished no epoch for {_SILENCE_LIMIT_S} s: {what}")
        time.sleep(1)


def move(vm, node, *more, epochs=20):
    """Moves a VM like an administrator, once the daemon is active and has measured it. On a busy machine this
    may take epochs."""
    def ordered(now):
        if now["mode"] != "active":
            return None
        try:
            return ask("move", vm.name, node, *more)
        except Failure as failure:
            if '"code":"busy"' not in str(failure):
                raise
            return None

    return wait_until_in(epochs, f"a move of '{vm.name}' to node {node} is ordered", ordered)[0]


def wait_epochs(epochs):
    """Lets that many epochs pass and returns the status at the end.

    Asks as rarely as it can: every question takes CPU time that a guest is owed then.
    """
    first = epoch()
    time.sleep(epochs * _EPOCH_S)
    return wait_until_in(2 * epochs, f"{epochs} epochs have passed",
                         lambda now: now["epoch"] - first >= epochs and now)[0]


def owed_pct(epochs):
    """What each node owed over the last so many epochs, in percent of its capacity: {node: percent}."""
    rows = query("SELECT node, 100.0 * sum(owed_us) / sum(capacity_us) FROM node_sample"
                 " WHERE span = 0 AND time_ms IN (SELECT DISTINCT time_ms FROM node_sample"
                 f" WHERE span = 0 ORDER BY time_ms DESC LIMIT {epochs}) GROUP BY node")
    return dict(rows)


def stats(report):
    """The rows of a report, as dictionaries."""
    return ask("stats", "-t", report)["rows"]


def homes():
    """The home node of every client: {(VM name, client): node}; without a home it is None."""
    return {(row["vmName"], row["clientID"]): row["homeNode"] for row in stats("numa-clients")}


def moves():
    """Returns the history's rows, oldest first."""
    return list(reversed(ask("history", "--limit", 1000)["moves"]))


def changes_of_home():
    """Returns the rows of the history that moved a client from one node to another."""
    return [row for row in moves() if row["from"] is not None and row["from"] != row["to"]]


def is_at_home(vm, node=None):
    """Its one client has a home, on this node if one is named, and all vCPUs are pinned to it, where it
    spills with a second one."""
    home = homes().get((vm.name, 0))
    return home is not None and node in (None, home) and vm.is_pinned_around(home)


def expect_at_home(vms, epochs=3):
    """Every VM runs, and all its vCPUs are pinned to the node that the daemon calls its home, where
    it spills with a second one.

    The reports are of the last epoch, so what was done after it is waited for.
    """
    def misplaced(_status=None):
        home = homes()
        return [vm.name for vm in vms if not vm.is_pinned_around(home.get((vm.name, 0)))]

    for vm in vms:
        expect(vm.is_running(), f"'{vm.name}' does not run")
    wait_until_in(epochs, f"pins of {[vm.name for vm in vms]} are to their homes",
                  lambda status: not misplaced(status))


def told():
    """Returns what the daemon has written to the journal since it was started."""
    return run("journalctl", f"_PID={process()}", "-o", "cat")


def changes():
    """All actions but pulls of memory: (number, reason), oldest first."""
    return query("SELECT id, reason FROM action WHERE reason <> 'memory-pull' ORDER BY id")


def remembered_homes():
    """(UUID, client, node), as the next start will find them."""
    return query("SELECT vm, client, node FROM home ORDER BY vm, client")


def expect_rest(epochs):
    """Within so many epochs no VM is placed, moved or pinned, and no home is remembered or forgotten.

    Pages that could not be moved home are tried again, after ever longer.
    """
    done, homes_then = changes(), remembered_homes()
    wait_epochs(epochs)
    expect(changes() == done, f"not at rest: {changes()[len(done):]}")
    expect(remembered_homes() == homes_then, f"homes were {homes_then} and are {remembered_homes()}")


def query(sql):
    """Rows of the history database, read from the file."""
    database = sqlite3.connect(f"file:{_HISTORY}?mode=ro", uri=True, timeout=30)
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


def keep_evidence(directory):
    """Copies logs and state of the daemon, for diagnosis, into the directory."""
    os.makedirs(directory, exist_ok=True)
    for name, command in {
            "journal": ("journalctl", "-b", "-u", _UNIT, "-u", "libvirtd", "-o", "short-precise"),
            "status.json": ("vmnuma", "--json", "status"),
            "plan.json": ("vmnuma", "--json", "plan"),
            "moves.json": ("vmnuma", "--json", "history", "--limit", "1000"),
            "clients.json": ("vmnuma", "--json", "stats", "-t", "numa-clients"),
            "nodes.json": ("vmnuma", "--json", "stats", "-t", "numa-pnode"),
            "domains": ("virsh", "list", "--all"),
    }.items():
        try:
            text = run(*command, check=False)
        except Failure as error:
            text = str(error)
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)
    for name in glob.glob(_HISTORY + "*"):  # the write-ahead log belongs to it
        shutil.copy(name, directory)


def denied_system_calls(since_s):
    """How often systemd's filters have refused system calls of vmnuma's programs since that monotonic time, by program
    and number. They are in the journal because of SYSTEMD_LOG_SECCOMP=1, see run."""
    found = collections.Counter()
    for line in run("journalctl", "-b", "_TRANSPORT=audit", "-o", "short-monotonic", "-g", "^SECCOMP",
                    check=False).splitlines():
        said = re.match(r'\[ *([\d.]+)\].* exe="([^"]*/(?:vmnuma|numad)[^"]*)" .* syscall=(\d+) ', line)
        if said and float(said[1]) >= since_s and int(said[3]) not in _HARMLESSLY_REFUSED:
            found[f"{said[2]} {said[3]}"] += 1
    return dict(found)


def process():
    """The daemon's main process; 0 if there is none."""
    return int(run("systemctl", "show", "--property=MainPID", "--value", _UNIT))


def memory_bytes():
    """Resident memory of the daemon."""
    return int(read(f"/proc/{process()}/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")
