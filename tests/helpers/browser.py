"""A headless Chromium that shows pages to tests, driven through its pipe with the standard library alone."""

import itertools
import json
import os
import select
import shutil
import subprocess
import time

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 60


def browser_program():
    """Return the path of Chromium; skip the test if there is none."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("there is no Chromium to show pages")
    return found


class Page:
    """One page in a separate browser; `console` has its errors and warnings, `requests` the addresses it requested."""

    def __init__(self, url, profile_folder, size=(1200, 800)):
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]
        options += [f"--user-data-dir={profile_folder}", f"--window-size={size[0]},{size[1]}", "about:blank"]
        # The browser reads from descriptor 3 and writes to 4.
        command = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", browser_program(), *options],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._numbers = itertools.count(1)
        self.console = []
        self.requests = []
        self._loaded = False
        self._session = None
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")
        self._ask("Page.navigate", url=url)
        while not self._loaded:
            self._notice(self._message())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._process.terminate()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def evaluate(self, expression):
        """The value of a JavaScript expression in the page."""
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def middle(self, selector):
        """Return the middle of the first element that the selector matches."""
        where = f"(({json.dumps(selector)}))"
        return self.evaluate(
            f"(() => {{ const box = document.querySelector({where}).getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )

    def move(self, selector):
        """Move the mouse there."""
        box = self.middle(selector)
        self._ask("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])

    def click(self, selector):
        """Press and release the mouse there."""
        box = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def key(self, name):
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self._ask("Input.dispatchKeyEvent", type=kind, key=name, code=name)

    def type(self, text):
        """Type into the element that has the focus."""
        self._ask("Input.insertText", text=text)

    def screenshot(self):
        """Return a screenshot, as the base64 of a PNG."""
        return self._ask("Page.captureScreenshot", format="png")["data"]

    def _ask(self, method, **parameters):
        number = next(self._numbers)
        request = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            request["sessionId"] = self._session
        os.write(self._write, json.dumps(request).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self._notice(message)

    def _notice(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.consoleAPICalled":
            self.console.append(str(parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            self.console.append(str(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.console.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def _message(self):
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            data = os.read(self._read, 1 << 16) if ready else b""
            if not data:
                raise RuntimeError("the browser does not answer")
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)
