# SPDX-License-Identifier: Apache-2.0
"""The starters of guests: libvirt (domains.py), a script (processes.py), or both in turn."""

import itertools
import json

from lab import domains, processes

_REQUEST = "/share/request.json"
_OF = {"libvirt": (domains,), "qemu": (processes,), "auto": (domains, processes)}


def hypervisor():
    """The value of `hypervisor` (vmnuma.toml(5)) for which the lab was started."""
    with open(_REQUEST, encoding="utf-8") as file:
        return json.load(file)["hypervisor"]


ALL = _OF[hypervisor()]
_TURNS = itertools.cycle(ALL)


def next_one():
    """The module that starts the next guest."""
    return next(_TURNS)
