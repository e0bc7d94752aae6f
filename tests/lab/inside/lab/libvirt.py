# SPDX-License-Identifier: Apache-2.0
"""libvirtd, and what connects it with vmnuma: the hook, and the numad program that libvirt asks."""

import os
import xml.etree.ElementTree as xml

from lab.process import Failure, run, wait_until

_UNIT = "libvirtd.service"
_ANSWER_LIMIT_S = 60
# Where the package installs them, and where libvirt looks for them.
_LINKS = {
    "/etc/libvirt/hooks/qemu.d/vmnuma": "/usr/share/vmnuma/libvirt-hook",
    "/usr/bin/numad": "/usr/libexec/vmnuma/numad",
}


def restart():
    """Returns once libvirtd answers again."""
    run("systemctl", "restart", _UNIT)
    wait_until("libvirtd answers", answers, _ANSWER_LIMIT_S)


def answers():
    try:
        run("virsh", "-q", "list")
    except Failure:
        return False
    return True


def be_asked():
    """Makes libvirt call the hook, and ask where VMs with placement='auto' start.

    libvirtd looks for hooks only when it starts.
    """
    for link, target in _LINKS.items():
        os.makedirs(os.path.dirname(link), exist_ok=True)
        if not os.path.islink(link):
            os.symlink(target, link)
    restart()


def forget_us():
    """Removes the links that be_asked() created."""
    for link in _LINKS:
        if os.path.islink(link):
            os.remove(link)
    restart()


def advised_nodes(vm):
    """The nodes that numad answered when this VM was started, as recorded by libvirt, e.g. "2"."""
    status = xml.parse(f"/run/libvirt/qemu/{vm.name}.xml")
    advice = status.find("./numad")
    if advice is None:
        raise Failure(f"libvirt did not ask where '{vm.name}' should start")
    return advice.get("nodeset")
