# SPDX-License-Identifier: Apache-2.0
"""A vmnumad that a test starts, by default on a simulated host, and asks things of."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading

LONGEST_WAIT_S = 60
STOP_S = 5
MOST_LOOKS = 500


class Daemon:
    """In a runtime directory of its own, with the service manager's end of its notifications."""

    def __init__(self, vmnumad, vmnuma, directory, *arguments):
        self.program = vmnuma
        self.environment = os.environ | {"XDG_RUNTIME_DIR": directory, "NOTIFY_SOCKET": directory + "/notify"}
        with contextlib.suppress(FileNotFoundError):
            os.unlink(directory + "/notify")
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind(directory + "/notify")
        self.epoch = threading.Semaphore(0)
        self.log_path = directory + "/log"
        with open(self.log_path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([vmnumad, *arguments], env=self.environment, stderr=log)
        # At once, whatever else is done meanwhile: the daemon waits while too much of it is unread.
        self.ready = threading.Event()
        threading.Thread(target=self.hear, daemon=True).start()
        expect(self.ready.wait(LONGEST_WAIT_S), "it does not become ready", self)

    def hear(self):
        while True:
            told = self.manager.recv(4096)
            if told == b"READY=1":
                self.ready.set()
            elif told == b"WATCHDOG=1":
                self.epoch.release()

    def log(self):
        with open(self.log_path, encoding="utf-8") as file:
            return file.read()

    def vmnuma(self, *arguments, code=0):
        run = subprocess.run([self.program, *arguments], env=self.environment, capture_output=True, text=True,
                             timeout=LONGEST_WAIT_S, check=False)
        expect(run.returncode == code, f"{arguments} ended with {run.returncode}: {run.stdout}{run.stderr}", self)
        return run.stdout + run.stderr

    def ask(self, *arguments):
        return json.loads(self.vmnuma("--sim", "--json", *arguments))

    def wait_for(self, what, found):
        """Looks after an epoch, and again after another one."""
        for _ in range(MOST_LOOKS):
            if value := found():
                return value
            expect(self.epoch.acquire(timeout=LONGEST_WAIT_S), "there are no epochs", self)
        sys.exit(f"in vain waited for {what}: {self.vmnuma('--sim', 'top', '--once')}{self.log()}")

    def host(self):
        return self.ask("top", "--once")

    def clients(self, name):
        return [client for vm in self.host()["vms"] if vm["vm"] == name for client in vm["clients"]]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        expect(self.process.wait(STOP_S) == 0, "not ended well", self)


def expect(condition, what, daemon):
    if not condition:
        sys.exit(f"{what}: {daemon.log()}")
