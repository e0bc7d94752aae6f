#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at the dashboard with a browser, as people would: in light and dark, small and large, with the keyboard.

Starts a daemon on a simulated host, vmnuma-exporter, and headless Chromium. Screenshots are left in the output
directory.

Usage: page_test.py CHROMIUM EXPORTER PAGE_HOST SCENARIO OUTPUT_DIRECTORY
Exit status: 0 all is well, 1 not, 77 there is no Chromium.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from browser import Browser, Findings  # noqa: E402


def luminance(colour):
    """Relative luminance (WCAG 2.1) of a colour as the browser tells it."""
    parts = [float(part) / 255 for part in colour[colour.index("(") + 1:-1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


# What may be absent of the daemon's answers (balancer/model/view.h).
UNKNOWN = ("imbalance_pct|lost_ms|late_ms|late_most_ms|load_pct|vm_load_pct|non_vm_pct|capacity_ms|non_vm_ms|used_ms|ready_ms|"
           "demand_ms|entitled_ms|owed_ms|free_bytes|reserve_bytes|locality_pct")


def show_changed(browser, change, read):
    """What `read` gives once the page shows the daemon's answers as `change` left them; the next reading mends it."""
    return browser.value(f"""(async () => {{
        const [figures, map, tables] = await Promise.all(['/figures.js', '/host_map.js', '/tables.js'].map((path) => import(path)));
        const {{ status, host }} = await (await fetch('/api/state')).json();
        {change};
        figures.showFigures(status, host);
        map.showMap(status, host);
        tables.showVms(host);
        return ({read.strip()});
    }})()""")


def show_where_and_when(browser, check):
    """The host's own name, whatever address the page was asked at; of a recording also its time."""
    text = browser.value("document.getElementById('where').textContent")
    check(text.startswith("simulated · "), f"the host's name is the daemon's word: {text}")
    check(browser.value("document.title") == "simulated · vmnuma", "so says the title")
    check(browser.value("document.getElementById('recorded').textContent === ''"), "it is no recording")
    shown = browser.value("""(async () => {
        const { fetch } = window;
        const state = await (await fetch('/api/state')).json();
        state.status.recorded = '2025-01-31T12:00:00Z';
        window.fetch = async (path, ...rest) => (path === '/api/state' ? new Response(JSON.stringify(state)) : fetch(path, ...rest));
        const text = () => document.getElementById('recorded').textContent;
        while (text() === '') await new Promise(requestAnimationFrame);
        window.fetch = fetch;
        return [text(), document.getElementById('age').textContent];
    })()""")
    check("2025" in shown[0] and "epoch" in shown[0] and shown[1] != "live", f"a recording says of when it is: {shown}")


def invent_nothing(browser, check):
    zeros = show_changed(browser, f"""
        const forget = (value) => Object.entries(value).forEach(([key, part]) => {{
            if (/^({UNKNOWN})$/.test(key)) value[key] = null;
            else if (key === 'memory_bytes' && Array.isArray(part)) value[key] = [];
            else if (key === 'count' || key === 'moves') value[key] = 7;
            else if (part !== null && typeof part === 'object') forget(part);
        }});
        forget(status);
        forget(host);
        status.vms = status.clients = null""", """
        [...document.querySelectorAll('#figures .value, #figures .more, .node .bars dd, .clients small, #vms td.number')]
            .map((element) => element.textContent).filter((text) => /(^|[^0-9.])0([.]0+)?([^0-9.]|$)/.test(text))""")
    check(not zeros, f"what is not known is not shown as 0: {zeros[:5]}")
    locality = show_changed(browser, """
        const clients = host.vms.flatMap((vm) => vm.clients);
        clients.forEach((client) => { client.memory_bytes = host.nodes.map((node) => (node.node === client.home ? 1 << 30 : 0)); });
        clients[0].home = null""", """
        [...document.querySelectorAll('.figure')].find((f) => f.textContent.startsWith('Locality')).querySelector('.value').textContent""")
    check(locality == "100 %", f"a VM without a home is not part of the host's locality: {locality}")
    load = show_changed(browser, "host.nodes[0].vm_load_pct = 9; host.nodes[0].non_vm_pct = 90", """
        (() => {
            const bar = document.querySelector('.node .bar');
            return [bar.getAttribute('aria-label'), ...[...bar.children].map((part) => part.style.width)];
        })()""")
    check(load == ["Load: VMs want 9 % of the node, others use 90 %", "9%", "90%"],
          f"what others use has its own part of the bar: {load}")


def look_at_a_vm(browser, output, check):
    """From the table to a VM's page, and back."""
    browser.value("document.querySelector('#vms tbody th a').focus()")
    name = browser.value("document.activeElement.textContent")
    browser.press("Enter")
    check(browser.wait_for("document.querySelectorAll('#vm-clients article').length > 0"), "a VM's clients are explained")
    check(browser.value("document.getElementById('vm-title').textContent") == f"VM {name}", f"the page is about {name}")
    check(name in browser.value("document.title"), "so says its title")
    check(browser.value("document.querySelector('#vm-clients article p').textContent").strip() != "", "it is said why it is there")
    check(not browser.value("document.getElementById('figures').checkVisibility()"), "the host is not on this page")
    rows = browser.value("[...document.querySelectorAll('#moves tbody tr')].map((row) => row.cells[1].textContent)")
    check(all(row.startswith(name) for row in rows), f"only its moves are shown: {rows}")
    browser.screenshot(output / "dashboard-vm.png")
    for width in (768, 360):
        browser.look(width, 800, "light")
        wide = browser.value("document.documentElement.scrollWidth")
        check(wide <= width, f"nothing of a VM's page sticks out at {width} pixels: {wide}")
    browser.look(1280, 900, "light")
    browser.value("history.back()")
    check(browser.wait_for("document.getElementById('vm').hidden && document.getElementById('figures').checkVisibility()"),
          "back is the host")


def visit(browser, url, output, findings):
    check = findings.check
    browser.look(1280, 900, "light")
    browser.call("Page.navigate", url=url)
    check(browser.wait_for("document.querySelectorAll('#vms tbody tr').length >= 8"), "VMs are listed")
    check(browser.wait_for("document.querySelectorAll('.plot path[d]').length >= 16"), "plots are drawn")
    check(browser.value("document.getElementById('mode').textContent") == "active", "the mode is shown")
    text = browser.value("document.body.innerText")
    for name in ("db1", "db4", "web1", "Node 0", "Node 3", "Locality", "load-move"):
        check(name in text, f"the page says '{name}'")
    homes = browser.value("[...document.querySelectorAll('.node')].map((node) => "
                          "node.querySelectorAll('.clients li').length)")
    check(len(homes) == 4 and sum(homes) >= 8, f"VMs are shown on their nodes: {homes}")

    for scheme in ("light", "dark"):
        browser.look(1280, 900, scheme)
        colours = browser.value("""['body', 'h1', '.figure h3', '.clients small', 'td', '#mode', '.plot h3 small'].map((s) => {
            const element = document.querySelector(s);
            let under = element;
            while (getComputedStyle(under).backgroundColor === 'rgba(0, 0, 0, 0)') under = under.parentElement;
            return [s, getComputedStyle(element).color, getComputedStyle(under).backgroundColor];
        })""")
        for where, colour, background in colours:
            ratio = contrast(colour, background)
            check(ratio >= 4.5, f"{scheme}: '{where}' can be read, contrast {ratio:.1f}")
        browser.screenshot(output / f"dashboard-{scheme}.png")
    for width in (1280, 768, 360):
        browser.look(width, 800, "light")
        wide = browser.value("document.documentElement.scrollWidth")
        check(wide <= width, f"nothing sticks out at {width} pixels: {wide}")
    browser.screenshot(output / "dashboard-small.png")
    browser.look(1280, 900, "light")

    show_where_and_when(browser, check)
    invent_nothing(browser, check)
    name = browser.value(r"""import('/format.js').then((format) => format.parsed('{"vm": "a\\n\\u001b\\u009b\\u202eb \\u00e4"}').vm)""")
    check(name == r"a\n\x1b\u009b\u202eb ä", f"a name has no character that changes how a line reads: {name}")

    # The click path: sort by what is owed, filter, read a plot with the arrow keys.
    browser.value("[...document.querySelectorAll('#vms th button')].find((b) => b.textContent === 'Locality').focus()")
    browser.press("Enter")
    check(browser.value("document.querySelector('#vms th[aria-sort]').textContent") == "Locality" and
          browser.value("document.querySelector('#vms th[aria-sort]').getAttribute('aria-sort')") == "descending",
          "Enter on a column's head sorts by it")
    check(browser.value("document.activeElement.textContent") == "Locality", "the focus stays where it was")
    browser.value("const f = document.getElementById('filter'); f.value = 'WEB'; f.dispatchEvent(new Event('input'))")
    names = browser.value("[...document.querySelectorAll('#vms tbody th a')].map((n) => n.textContent)")
    check(names and all("web" in name for name in names), f"the filter leaves what matches: {names}")
    browser.value("document.querySelector('.area').focus()")
    browser.press("ArrowLeft")
    check(browser.value("document.getElementById('plots-title').textContent").startswith("At "),
          "arrow keys read a moment of the plots")
    browser.press("Escape")
    check(browser.value("document.getElementById('plots-title').textContent") == "Last 10 minutes",
          "Escape goes back to now")
    look_at_a_vm(browser, output, check)
    before = browser.value("document.getElementById('about').textContent")
    check(browser.wait_for(f"document.getElementById('about').textContent !== {json.dumps(before)}"),
          "the page goes on by itself")


def main():
    chromium, exporter, page_host, scenario, output = sys.argv[1:]
    if not os.path.exists(chromium):
        print("there is no Chromium here (Debian package chromium)")
        return 77
    output = pathlib.Path(output)
    output.mkdir(parents=True, exist_ok=True)
    findings = Findings()
    host = subprocess.Popen([page_host, scenario, "150"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    served = subprocess.Popen([exporter, "--socket", host.stdout.readline().strip(), "--listen", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, text=True)
    url = served.stdout.readline().split()[-1]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(chromium, profile)
        try:
            visit(browser, url, output, findings)
            served.terminate()
            findings.check(served.wait() == 0, "the exporter ends when told to")
            findings.check(browser.wait_for("document.getElementById('mode').textContent === 'no exporter'"),
                           "the page says that the exporter is gone")
            # What the page did wrong, as the browser noticed.
            complaints = [event for event in browser.events
                          if event.get("method") == "Runtime.exceptionThrown" or
                          (event.get("method") == "Log.entryAdded" and
                           event["params"]["entry"]["source"] in ("javascript", "security"))]
            findings.check(not complaints, f"the browser had nothing to complain about: {complaints[:3]}")
            asked = {event["params"]["request"]["url"] for event in browser.events
                     if event.get("method") == "Network.requestWillBeSent"}
            strangers = [address for address in asked if not address.startswith((url, "about:", "data:"))]
            findings.check(not strangers, f"nothing was fetched from elsewhere: {strangers}")
        finally:
            browser.end()
            if served.poll() is None:
                served.terminate()
                served.wait()
            host.stdin.close()
            host.wait()
    return 1 if findings.count else 0


if __name__ == "__main__":
    sys.exit(main())
