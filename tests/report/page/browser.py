"""A headless Chromium, driven over the WebDriver protocol with nothing but the standard library."""

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's name for a reference to an element
KEYS = {"right": "\ue014", "left": "\ue012", "home": "\ue011", "end": "\ue010", "space": " ", "tab": "\ue004"}
# Without a sandbox, because tests may run as root; the only page it opens is ours, and it gets no network.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
)


def chromium_is_installed() -> bool:
    return all(shutil.which(name) for name in ("chromium", "chromedriver"))


class Browser:
    """One window. Scripts run in the page and return plain data."""

    def __init__(self, address: str, session: str) -> None:
        self.session = f"{address}/session/{session}"

    def open(self, path: Path) -> None:
        _send(f"{self.session}/url", {"url": path.resolve().as_uri()})

    def run(self, script: str, *arguments: Any) -> Any:
        return _send(f"{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector: str) -> None:
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        found = _send(f"{self.session}/element", {"using": "css selector", "value": selector})
        _send(f"{self.session}/element/{found[ELEMENT]}/click", {})

    def press(self, *keys: str) -> None:
        """Press keys one after the other, wherever the focus is."""
        strokes = [
            {"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")
        ]
        _send(f"{self.session}/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def wait_for(self, condition: str, seconds: float = 10) -> None:
        """Until the expression holds in the page."""
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition})"):
            assert time.monotonic() < end, f"{condition} did not become true in {seconds} s"
            time.sleep(0.05)

    def emulate(self, width: int, height: int, **media: str) -> None:
        """A screen of that size, with media features such as prefers_color_scheme."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._devtools("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
        self._devtools("Emulation.setEmulatedMedia", {"features": features})

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(_send(f"{self.session}/screenshot")))

    def console(self) -> list[str]:
        """All that was logged since the last call: errors, refusals by the page's policy, failed loads."""
        return [entry["message"] for entry in _send(f"{self.session}/se/log", {"type": "browser"})]

    def requested(self) -> list[str]:
        """The addresses that were asked for since the last call."""
        entries = _send(f"{self.session}/se/log", {"type": "performance"})
        events = [json.loads(entry["message"])["message"] for entry in entries]
        sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
        urls = [event["params"]["request"]["url"] for event in sent]
        return [url for url in urls if not url.startswith("chrome")]  # the browser's own first page

    def _devtools(self, command: str, parameters: dict[str, Any]) -> None:
        _send(f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})


@contextlib.contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile; both it and its driver end with the block."""
    port = _free_port()
    with subprocess.Popen(
        ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as driver:
        address = f"http://127.0.0.1:{port}"
        try:
            _wait_until_ready(address)
            opened = _send(f"{address}/session", {"capabilities": {"alwaysMatch": _capabilities(profile)}})
            yield Browser(address, opened["sessionId"])
            _send(f"{address}/session/{opened['sessionId']}", method="DELETE")
        finally:
            driver.terminate()


def _capabilities(profile: Path) -> dict[str, Any]:
    return {
        "goog:chromeOptions": {"args": [*FLAGS, f"--user-data-dir={profile}"]},
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
    }


def _free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def _wait_until_ready(address: str, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(urllib.error.URLError):
            if _send(f"{address}/status")["ready"]:
                return
        assert time.monotonic() < end, "chromedriver did not start"
        time.sleep(0.05)


def _send(address: str, body: Any = None, method: str | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
    # The driver is on this machine, so no proxy may come between.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        with error:
            raise AssertionError(json.load(error)["value"]["message"]) from None
