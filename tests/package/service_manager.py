# SPDX-License-Identifier: Apache-2.0
"""Fakes of what maintainer scripts find on a running host: a service manager and a daemon.

Calls of systemctl and requests to the daemon go to one list, so that their order can be seen.
"""

import json
import os
import socket
import threading

_SYSTEMCTL = """#!/bin/sh
case $* in
  *is-system-running*) echo running ;;
  *MainPID*) cat /run/main-pid 2>/dev/null ;;
  *is-enabled*) echo enabled ;;
  *daemon-reload* | *is-active* | *show* | *--version*) ;;
  *) echo "systemctl $*" >>/run/events ;;
esac
"""


class ServiceManager:
    """In a root; ends with the `with`."""

    def __init__(self, root, mode="active", configured="active", missing=()):
        self._root = root
        self._mode = mode
        self._configured = configured
        self._missing = missing
        self._open_actions = 2
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.settimeout(0.2)
        self._ended = False
        self._thread = threading.Thread(target=self._serve)
        self._systemctl = root.inside("/bin/systemctl").resolve()

    def __enter__(self):
        self._kept = self._systemctl.read_bytes()
        self._systemctl.write_text(_SYSTEMCTL, encoding="utf-8")
        # sd_booted(3) looks for this directory.
        self._systemd = self._root.inside("/run/systemd")
        self._had_systemd = self._systemd.exists()
        (self._systemd / "system").mkdir(parents=True)
        self._root.inside("/run/events").write_text("", encoding="utf-8")
        directory = self._root.inside("/run/vmnuma")
        directory.mkdir()
        # A path of a socket has 107 bytes at most (unix(7)).
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        self._listener.bind(f"/proc/self/fd/{fd}/vmnuma.sock")
        os.close(fd)
        self._listener.listen()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended = True
        self._thread.join()
        self._listener.close()
        self._systemctl.write_bytes(self._kept)
        self._root.inside("/run/vmnuma/vmnuma.sock").unlink()
        self._root.inside("/run/vmnuma").rmdir()
        self._root.inside("/run/events").unlink()
        (self._systemd / "system").rmdir()
        if not self._had_systemd:
            self._systemd.rmdir()

    def events(self):
        """"systemctl ARGUMENTS" and "asked COMMAND", in order."""
        return self._root.inside("/run/events").read_text(encoding="utf-8").splitlines()

    def _serve(self):
        while not self._ended:
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            with connection, connection.makefile("rw", encoding="utf-8") as stream:
                request = json.loads(stream.readline())
                answer = {"version": request["version"], "id": request["id"], "ok": True,
                          "result": self._answer(request["command"])}
                stream.write(json.dumps(answer, separators=(",", ":")) + "\n")

    def _answer(self, command):
        with open(self._root.inside("/run/events"), "a", encoding="utf-8") as events:
            events.write(f"asked {command}\n")
        if command == "status":
            if self._mode == "active":
                self._open_actions -= 1
            return {"mode": self._mode, "configured_mode": self._configured,
                    "degraded": [{"source": source} for source in self._missing],
                    "open_actions": max(self._open_actions, 0)}
        if command == "resume":
            self._mode = "active"
        return {"message": f"done: {command}"}
