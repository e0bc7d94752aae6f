# SPDX-License-Identifier: Apache-2.0
"""A clean Debian root file system: made once for a set of packages, unpacked for each run, entered with chroot."""

import hashlib
import os
import pathlib
import platform
import re
import shutil
import stat
import subprocess
import tempfile

# The release that this machine has: what is built on it works there.
RELEASE = platform.freedesktop_os_release()
SUITE = RELEASE["VERSION_CODENAME"]

# What changes with every run of apt, and says nothing about a package's leftovers.
_NOT_COMPARED = re.compile(r"/(proc|sys|dev|root|tmp|var/(log|cache)|var/lib/(dpkg|apt))/.*"
                           r"|/etc/(passwd|group|shadow|gshadow)-|/etc/ld\.so\.cache")


def sources():
    """This machine's apt sources that carry Debian's own suite, one a line."""
    program = pathlib.Path(__file__).parent.parent / "support/debian-sources"
    return subprocess.run([program, SUITE], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.strip()


def _names(depends):
    """The packages of a Depends field; of alternatives the first."""
    return sorted({re.split(r"[ (|:]", entry.strip())[0] for entry in depends.split(",")})


def base(cache, depends):
    """The path of a tar archive with Debian's minimum and the given dependencies, from the cache if
    it is there."""
    names = _names(depends)
    lines = sources()
    key = hashlib.sha256("\n".join([SUITE, *names, lines]).encode()).hexdigest()[:16]
    archive = cache / f"base-{key}.tar"
    if not archive.exists():
        for old in cache.glob("base-*"):
            old.unlink()
        part = cache / f"base-{key}.part.tar"
        with open(cache / "base.log", "w", encoding="utf-8") as log:
            subprocess.run(["mmdebstrap", "--mode=root", "--variant=minbase",
                            "--include=" + ",".join(names), SUITE, str(part), "-"],
                           input=lines, text=True, check=True, stdout=log, stderr=log)
        part.rename(archive)
    return archive


class Root:
    """The unpacked root; removed at the end of the `with`."""

    def __init__(self, archive, cache):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="root-", dir=cache))
        subprocess.run(["tar", "-xf", archive, "-C", self.path, "--numeric-owner"], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)

    def run(self, command, check=True):
        """The output of a shell command inside, both streams as one. Its mounts and processes end
        with it."""
        inside = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
                  'mount -t proc proc "$1/proc" && mount --rbind /sys "$1/sys" && '
                  'exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 '
                  'DEBIAN_FRONTEND=noninteractive sh -c "cd; $2"', "sh", str(self.path), command]
        done = subprocess.run(inside, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, timeout=600)
        if check and done.returncode != 0:
            raise RuntimeError(f"'{command}' ended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def inside(self, path):
        return self.path / path.lstrip("/")

    def contents(self):
        """Every path with what it is: kind and rights, owner, target of a link, hash of a file in
        /etc."""
        found = {}
        for directory, directories, files in os.walk(self.path):
            for name in directories + files:
                path = os.path.join(directory, name)
                shown = path[len(str(self.path)):]
                if _NOT_COMPARED.fullmatch(shown):
                    continue
                status = os.lstat(path)
                what = [stat.filemode(status.st_mode), status.st_uid, status.st_gid]
                if stat.S_ISLNK(status.st_mode):
                    what.append(os.readlink(path))
                elif stat.S_ISREG(status.st_mode) and shown.startswith("/etc/"):
                    with open(path, "rb") as file:
                        what.append(hashlib.sha256(file.read()).hexdigest())
                found[shown] = tuple(what)
        return found
