#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows a host with `vmnuma export --follow`, as a script that applies it to a cluster does.

Usage: follow_test.py VMNUMA
"""
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

VMNUMA = sys.argv.pop()
LIMIT_S = 60


class Daemon:
    """Answers every question with a host of one node whose load can be set. Its epochs are short."""

    def __init__(self, path, load):
        self.load = load
        self.path = path
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def host(self):
        return {"epoch": 7, "epoch_length_ms": 20, "vms_known": True, "admission": "advise", "vms": [],
                "nodes": [{"node": 0, "known": True, "cpus": 4, "distances": [10], "load_pct": self.load}]}

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            with connection, connection.makefile("rw", encoding="utf-8") as lines:
                request = lines.readline()
                if not request:
                    return  # stop() rang
                answer = {"version": json.loads(request)["version"], "id": json.loads(request)["id"], "ok": True,
                          "result": self.host()}
                lines.write(json.dumps(answer) + "\n")

    def stop(self):
        with socket.socket(socket.AF_UNIX) as ring:
            ring.connect(self.path)
        self.thread.join()
        self.listener.close()
        os.unlink(self.path)


class FollowTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = str(pathlib.Path(directory.name) / "s")
        self.daemon = None

    def start(self, load):
        self.daemon = Daemon(self.path, load)

    def tearDown(self):
        if self.daemon:
            self.daemon.stop()

    def follow(self, **options):
        process = subprocess.Popen(
            [VMNUMA, "--socket", self.path, "export", "--format", "nrt", "--name", "kvm1", "--follow"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait, LIMIT_S)
        self.addCleanup(process.kill)
        return process

    def line(self, stream):
        ready, _, _ = select.select([stream], [], [], LIMIT_S)
        self.assertTrue(ready, "nothing was printed")
        return stream.readline()

    def load(self, process):
        document = json.loads(self.line(process.stdout))
        return document["zones"][0]["attributes"][0]["value"]

    def test_a_signal_to_stop_ends_it_cleanly(self):
        self.start(5)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            process = self.follow()
            self.assertEqual(self.load(process), "5")
            process.send_signal(number)
            self.assertEqual(process.wait(LIMIT_S), 0)
            self.assertEqual(process.stdout.read() + process.stderr.read(), "")

    def test_it_ends_when_nobody_reads_even_if_nothing_changes(self):
        self.start(5)
        process = self.follow()
        self.assertEqual(self.load(process), "5")
        process.stdout.close()
        self.assertIn(process.wait(LIMIT_S), (0, -signal.SIGPIPE))
        self.assertEqual(process.stderr.read(), "")

    def test_it_outlives_the_daemon_and_says_so_once(self):
        self.start(5)
        process = self.follow()
        self.assertEqual(self.load(process), "5")
        self.daemon.stop()
        self.daemon = None
        self.assertRegex(self.line(process.stderr), "cannot connect to .*; trying again")
        self.start(5)
        self.daemon.load = 6
        self.assertEqual(self.load(process), "6")
        self.daemon.load = 7
        self.assertEqual(self.load(process), "7")
        process.terminate()
        self.assertEqual(process.wait(LIMIT_S), 0)
        self.assertEqual(process.stdout.read() + process.stderr.read(), "")

    def test_it_waits_for_a_daemon_that_is_not_there_yet(self):
        process = self.follow()
        self.assertRegex(self.line(process.stderr), "trying again")
        self.start(5)
        self.assertEqual(self.load(process), "5")


if __name__ == "__main__":
    unittest.main()
