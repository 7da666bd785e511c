"""A headless Chromium that shows one page, driven over its debugging pipe (Chrome DevTools Protocol: JSON messages, each ended by a
zero byte, on descriptors 3 and 4). No library is needed.

    with Browser("chromium", dark=True) as b:
        b.open("file:///page.html")
        b.evaluate("document.title"); b.key("Tab"); b.screenshot("page.png"); b.messages
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "End": 35, "Home": 36, " ": 32}
PATIENCE = 120  # seconds for an answer: this machine may be busy


def find():
    """The browser's program, or None."""
    return next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)


class Browser:
    def __init__(self, program, width=1280, height=900, dark=False):
        self.profile = tempfile.mkdtemp(prefix="browser-")
        self.messages, self.requests, self.number, self.buffer, self.session = [], [], 0, b"", None
        self._start(program)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.size(width, height)

    def _start(self, program):
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (*os.pipe(), *os.pipe())]  # above 4
        theirs_in, self.to, self.back, theirs_out = ends

        def wire():
            os.dup2(theirs_in, 3)
            os.dup2(theirs_out, 4)

        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                   "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe",
                   "--user-data-dir=" + self.profile]
        self.process = subprocess.Popen([program, *options], preexec_fn=wire, pass_fds=(3, 4), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(20)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    # --- messages ------------------------------------------------------------------------------

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._next(until, method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self, until, what):
        while b"\0" not in self.buffer:
            if not select.select([self.back], [], [], max(0, until - time.monotonic()))[0]:
                raise RuntimeError(f"{what}: no answer within {PATIENCE} s")
            data = os.read(self.back, 1 << 16)
            if not data:
                raise RuntimeError(f"{what}: the browser has ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self._note(message)
        return message

    def _note(self, message):
        method, p = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
        elif method == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            self.messages.append(d.get("exception", {}).get("description", d["text"]))
        elif method == "Log.entryAdded":
            self.messages.append(p["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])

    def wait(self, event):
        until = time.monotonic() + PATIENCE
        while self._next(until, event).get("method") != event:
            pass

    # --- the page ------------------------------------------------------------------------------

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("Page.loadEventFired")

    def evaluate(self, expression):
        """The value of an expression of the page's script."""
        r = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            raise RuntimeError(f"{expression}: {r['exceptionDetails'].get('exception', {}).get('description')}")
        return r["result"].get("value")

    def key(self, name, shift=False):
        p = {"key": name, "code": name, "windowsVirtualKeyCode": KEYS[name], "modifiers": 8 if shift else 0}
        text = {"Enter": "\r", " ": " "}.get(name)
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **p, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **p)

    def type(self, text):
        for c in text:
            self.call("Input.dispatchKeyEvent", type="char", text=c)

    def screenshot(self, path, whole=True):
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole, format="png")
        with open(path, "wb") as f:
            f.write(base64.b64decode(shot["data"]))

    def pdf(self, path):
        data = self.call("Page.printToPDF", printBackground=True)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
