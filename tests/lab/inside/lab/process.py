# SPDX-License-Identifier: Apache-2.0
"""Runs programs, waits for conditions, and reports what went wrong."""

import subprocess
import time


class Failure(Exception):
    """A scenario's expectation that does not hold; the text is for people."""


def run(*command, limit_s=120, check=True):
    """Runs a program and returns its output. Fails on a non-zero exit unless told not to."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=limit_s, check=False)
    except FileNotFoundError as error:
        raise Failure(f"'{words[0]}' is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise Failure(f"'{' '.join(words)}' did not end within {limit_s} s") from error
    if check and done.returncode != 0:
        raise Failure(f"'{' '.join(words)}' failed with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def wait_until(what, condition, limit_s):
    """Polls until condition() is true and returns its value; for conditions that do not depend on epochs."""
    deadline = time.monotonic() + limit_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failure(f"not within {limit_s} s: {what}")
        time.sleep(0.5)


def expect(holds, what):
    """Fails the scenario with `what` unless `holds`."""
    if not holds:
        raise Failure(what)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()
