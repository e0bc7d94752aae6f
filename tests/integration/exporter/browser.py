# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium for tests of the dashboard, driven through its DevTools protocol over a pipe."""
import base64
import json
import os
import select
import subprocess
import time

LIMIT_S = 120


class Browser:
    """One page of a headless Chromium."""

    def __init__(self, chromium, profile):
        from_us, to_browser = os.pipe()
        self.from_browser, from_it = os.pipe()
        self.to_browser = to_browser

        def place_pipes():  # --remote-debugging-pipe reads descriptor 3 and writes descriptor 4
            kept = os.dup2(from_us, 100), os.dup2(from_it, 101)
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        self.process = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--disable-background-networking", "--no-first-run", "--remote-debugging-pipe",
             f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(from_it)
        self.buffer = b""
        self.events = []
        self.number = 0
        self.session = None
        target = next(target for target in self.call("Target.getTargets")["targetInfos"]
                      if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def read(self):
        end = time.monotonic() + LIMIT_S
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.from_browser], [], [], max(0, end - time.monotonic()))
            chunk = os.read(self.from_browser, 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError("the browser does not answer")
            self.buffer += chunk
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, expression):
        """Until the expression is true; the page itself tells, after each frame."""
        return self.value(f"""new Promise((resolve) => {{
            const look = () => ({expression}) ? resolve(true) : requestAnimationFrame(look);
            setTimeout(() => resolve(false), {LIMIT_S * 1000});
            look();
        }})""")

    def press(self, key):
        codes = {"Enter": 13, "Tab": 9, "ArrowLeft": 37, "Escape": 27}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key],
                      **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))

    def look(self, width, height, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path, **what):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, **what)["data"]
        path.write_bytes(base64.b64decode(data))

    def end(self):
        self.process.terminate()
        self.process.wait()


class Findings:
    def __init__(self):
        self.count = 0

    def check(self, good, claim):
        print(f"{'ok' if good else 'FAILED'}: {claim}", flush=True)
        self.count += 0 if good else 1
