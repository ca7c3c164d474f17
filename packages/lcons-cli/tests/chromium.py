"""A headless Chromium, driven through two pipes with the standard library alone.

The browser is told what to do in the DevTools protocol: JSON messages that end with a zero byte, on file
descriptors 3 (to the browser) and 4 (from it).
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)
TIMEOUT = 60.0


def find_chromium() -> str | None:
    """The browser that `LCONS_CHROMIUM` names, else one on the PATH; None on Windows, without such pipes."""
    if sys.platform == "win32":
        return None
    named = os.environ.get("LCONS_CHROMIUM")
    if named:
        return named
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page of a browser; `problems` are what its console and its network complained of."""

    def __init__(self, program: str, profile: Path) -> None:
        self.problems: list[str] = []
        self.requests: list[str] = []
        import fcntl  # not on Windows

        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # Neither end may be where the other goes.
        ends = tuple(fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser))
        command = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        # Bash puts the pipes where the browser looks for them; sh knows no numbers of two digits.
        start = ["bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]} >/dev/null 2>&1', "bash", *command]
        self._process = subprocess.Popen(start, pass_fds=ends)
        for end in (*ends, to_browser, from_browser):
            os.close(end)
        self._buffer, self._number, self._loaded = b"", 0, False
        self._session: str | None = None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            found = self._receive()
            if found.get("id") != self._number:
                self._note(found)
                continue
            if "error" in found:
                raise RuntimeError(f"{method}: {found['error']['message']}")
            return found["result"]

    def open(self, path: Path) -> None:
        """Opens a file and waits until it has loaded."""
        self._loaded = False
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not self._loaded:
            self._note(self._receive())

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description", "exception"))
        return found["result"].get("value")

    def size(self, width: int, height: int, mobile: bool = False) -> None:
        """Makes the window so large."""
        window = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
        self.call("Emulation.setDeviceMetricsOverride", **window)

    def prefer(self, scheme: str) -> None:
        """Has the system prefer `light` or `dark`."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key: str, text: str | None = None) -> None:
        """Presses and releases a key."""
        code = {"Tab": 9, "Enter": 13, " ": 32}.get(key, 0)
        own = {"key": key, "windowsVirtualKeyCode": code}
        typed = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **own, **typed)
        self.call("Input.dispatchKeyEvent", type="keyUp", **own)

    def write(self, text: str) -> None:
        """Types a text where the focus is."""
        self.call("Input.insertText", text=text)

    def close(self) -> None:
        """Ends the browser."""
        self._session = None
        try:
            self.call("Browser.close")
            self._process.wait(timeout=10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)

    def _receive(self) -> dict[str, Any]:
        deadline = time.monotonic() + TIMEOUT
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(self._in, 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError("the browser has gone" if ready else f"no answer in {TIMEOUT:g} s")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        self._loaded |= method == "Page.loadEventFired"
        if method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.problems.append(str(params))
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
