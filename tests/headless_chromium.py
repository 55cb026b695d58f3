"""A headless Chromium, driven through its DevTools pipe: no driver program, no port, no package."""

import base64
import io
import json
import os
import selectors
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-device-scale-factor=1",
    "--remote-debugging-pipe",
)
PATIENCE = 60.0
"""Seconds without an answer after which a test fails instead of hanging."""


def found() -> str | None:
    """The browser's path."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


class Chromium:
    """One browser with one tab; ``troubles`` collects console errors, exceptions and requests."""

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        command = [found(), *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        # The browser reads descriptor 3 and writes 4.
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "bash", *command],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._read, selectors.EVENT_READ)
        self._buffer, self._number, self._session = b"", 0, None
        self.troubles: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """Send a command and return its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not self._selector.select(PATIENCE):
                raise TimeoutError(f"Chromium said nothing for {PATIENCE:g} s")
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                raise RuntimeError("Chromium ended")
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b"\0", 1)
        answer: dict[str, Any] = json.loads(message)
        return answer

    def _note(self, event: dict[str, Any]) -> None:
        method, what = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            told = details.get("exception", {}).get("description", details["text"])
            self.troubles.append(str(told))
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
            self.troubles.append(str([one.get("value") for one in what["args"]]))
        elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.troubles.append(str(what["entry"]["text"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(str(what["request"]["url"]))

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Ask until the JavaScript expression is true."""
        deadline = time.monotonic() + PATIENCE
        while not self.evaluate(condition):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{condition} did not come true; {self.troubles}")
            time.sleep(0.02)

    def open(self, path: Path, width: int) -> None:
        """Load a file into a window so wide; what was noted before is forgotten."""
        self.troubles.clear()
        self.requests.clear()
        self.resize(width)
        self.call("Page.navigate", url=path.as_uri())
        there = f"location.href === '{path.as_uri()}' && innerWidth === {width}"
        self.wait_for(f"document.readyState === 'complete' && {there}")

    def resize(self, width: int, height: int = 1000) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def png(self, selector: str | None = None) -> bytes:
        """A screenshot of the whole page, or of the first element that the selector finds."""
        box = self.evaluate(
            f"(r => ({{x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height}}))"
            f"(document.querySelector({json.dumps(selector or 'html')}).getBoundingClientRect())"
        )
        shot = self.call(
            "Page.captureScreenshot", clip={**box, "scale": 1}, captureBeyondViewport=True
        )
        return base64.b64decode(shot["data"])

    def pixels(self, selector: str) -> Any:
        """The same as an array."""
        from matplotlib.image import imread

        return np.asarray(imread(io.BytesIO(self.png(selector)), format="png"))

    def close(self) -> None:
        self._session = None
        self.call("Browser.close")
        self._process.wait(PATIENCE)
        self._selector.close()
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()
