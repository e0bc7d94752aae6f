# SPDX-License-Identifier: Apache-2.0
"""Runs scenarios on the lab's machine and leaves what they found in /share/results.

usage: main.py [SCENARIO...]      default: the scenarios that /share/request.json asks for

A scenario is a module in scenarios/ with a docstring whose first line says what must hold,
IN_SHORT_SET, LIMIT_S (of this machine's clock) and run(), which returns its figures or raises. With
ANY_STARTER it is also for guests that are processes of a script (lab/starters.py).
Each begins without guests and with a daemon that is stopped and remembers nothing, and fails if a
program of vmnuma was refused a system call. One that fails is run once more after all others,
because an emulated machine stalls now and then; that it took two attempts is said.
"""

import importlib
import json
import os
import pkgutil
import signal
import sys
import threading
import time
import traceback

import scenarios
from lab import daemon, guests, nodes, starters
from lab.process import Failure

RESULTS = "/share/results"


def log(text):
    line = f"[{time.monotonic():7.1f}] {text}"
    print(line, flush=True)
    with open(f"{RESULTS}/log", "a", encoding="utf-8") as file:
        file.write(line + "\n")


def all_scenarios():
    names = sorted(module.name for module in pkgutil.iter_modules(scenarios.__path__))
    return {name: importlib.import_module(f"scenarios.{name}") for name in names}


def chosen():
    known = all_scenarios()
    with open("/share/request.json", encoding="utf-8") as file:
        request = json.load(file)
    names = sys.argv[1:] or request["scenarios"]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Failure(f"there is no scenario '{unknown[0]}'; there are: {', '.join(known)}")
    if names:
        return {name: known[name] for name in names}
    return {name: module for name, module in known.items()
            if (request["set"] == "full" or module.IN_SHORT_SET)
            and (starters.hypervisor() == "libvirt" or getattr(module, "ANY_STARTER", False))}


def out_of_time(_signal, _frame):
    raise Failure("the scenario did not end within its time")


def run_scenario(name, module):
    """Runs one and returns its result; never raises."""
    log(f"{name}: {module.__doc__.splitlines()[0]}")
    begun = time.monotonic()
    result = {"scenario": name, "passed": False, "reason": "", "figures": {}}
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(module.LIMIT_S)
    try:
        guests.destroy_all()
        nodes.set_kernel_balancing(True)
        daemon.reset()
        result["figures"] = module.run()
        denied = daemon.denied_system_calls(begun)
        if denied:
            raise Failure(f"system calls were refused: {denied}")
        result["passed"] = True
    except Failure as failure:
        result["reason"] = str(failure)
    except Exception:  # an error in the scenario itself is a failure like any other
        result["reason"] = traceback.format_exc()
    finally:
        signal.alarm(0)
    if not result["passed"]:
        daemon.keep_evidence(f"{RESULTS}/{name}")
    result["seconds"] = round(time.monotonic() - begun, 1)
    with open(f"{RESULTS}/{name}.json", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    verdict = "passed" if result["passed"] else f"FAILED: {result['reason']}"
    log(f"{name}: {verdict} ({result['seconds']} s) {json.dumps(result['figures'])}")
    return result


def give_signs_of_life():
    while True:
        with open(f"{RESULTS}/alive", "w", encoding="ascii") as file:
            file.write(f"{time.monotonic()}\n")
        time.sleep(5)


def main():
    threading.Thread(target=give_signs_of_life, daemon=True).start()
    try:
        todo = chosen()
        if os.path.isdir("/share/install/usr"):
            daemon.install()
        results = [run_scenario(name, module) for name, module in todo.items()]
        for number, result in enumerate(results):
            if not result["passed"]:
                name = result["scenario"]
                log(f"{name}: once more")
                results[number] = run_scenario(name, todo[name])
                results[number]["first_attempt"] = result["reason"]
    except Failure as failure:
        log(str(failure))
        results = [{"scenario": "lab", "passed": False}]
    guests.destroy_all()
    failed = [result["scenario"] for result in results if not result["passed"]]
    second = [result["scenario"] for result in results if result["passed"] and "first_attempt" in result]
    with open(f"{RESULTS}/summary", "w", encoding="utf-8") as file:
        file.write("".join(f"lab: {name} failed twice\n" for name in failed))
        file.write("".join(f"lab: {name} passed at the second attempt\n" for name in second))
        file.write(f"{len(results) - len(failed)} passed, {len(failed)} failed\n")
    with open(f"{RESULTS}/verdict", "w", encoding="ascii") as file:
        file.write("failed" if failed else "passed")


if __name__ == "__main__":
    main()
