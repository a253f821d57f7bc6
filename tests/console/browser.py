"""Driving the real pages with a real Chromium: a live server, a browser that reports what goes wrong, and page helpers.

The server is the project's own ASGI application under uvicorn in a thread, on the test database.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
import uvicorn
from asgiref.sync import sync_to_async
from axe_playwright_python.sync_playwright import Axe
from django.db import connections
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from console.browser import find_browser

Result = TypeVar("Result")

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NO_BROWSER = (
    "NO BROWSER FOUND: the browser tests did not run. Install Chromium or Chrome (Debian: apt-get install chromium)."
)
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
TIMEOUT_MS = 20_000
expect.set_options(
    timeout=TIMEOUT_MS
)  # What does not come at all fails the test just the same; what is slow is no failure.
_OVERFLOWING = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  const wide = [...document.querySelectorAll("body *")]
    .filter((node) => node.getBoundingClientRect().right > width + 1 && !node.closest(".table-wrap, .diff, pre"))
    .map((node) => `too wide: ${node.tagName} ${node.className}`);
  return ["page too wide", ...wide];
}"""


def browser_path() -> str:
    """Where the browser is. Without one the test is skipped, or fails where CI is set."""
    path = find_browser()
    if path is None:
        if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
            pytest.fail(NO_BROWSER, pytrace=False)
        pytest.skip(NO_BROWSER)
    return path


@contextlib.contextmanager
def launched_browser() -> Iterator[Browser]:
    """A headless Chromium. While it is open, Django must allow its database calls beside Playwright's event loop."""
    path = browser_path()
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
            yield browser
            browser.close()
    finally:
        if before is None:
            os.environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)
        else:
            os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


@contextlib.contextmanager
def live_server() -> Iterator[str]:
    """The project's ASGI application on a free port; gives its URL. Use it within `transactional_db`."""
    from console.asgi import application

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(application, lifespan="off", log_level="warning", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="live-server", daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        if time.monotonic() > deadline or not thread.is_alive():
            raise RuntimeError("The live server did not start within 30 s.")
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(15)


def run_async(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a thread of its own: Playwright's event loop occupies this one."""

    async def run() -> Result:
        try:
            return await work
        finally:
            await sync_to_async(connections.close_all)()

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, run()).result()


@dataclass
class Visitor:
    """A person at a browser. `problems` collects script errors, failed loads and refusals of the security policy."""

    page: Page
    context: BrowserContext
    base_url: str
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(TIMEOUT_MS)
        self.page.on("pageerror", lambda error: self.problems.append(f"script error: {error}"))
        self.page.on("console", self._hear)
        self.page.on("requestfailed", lambda request: self._failed(request.url, request.failure))

    def _hear(self, message: ConsoleMessage) -> None:
        is_expected = "status of 4" in message.text  # a form that is sent back with its errors
        if message.type in ("error", "warning") and not is_expected:
            self.problems.append(f"{message.type}: {message.text}")

    def _failed(self, url: str, failure: str | None) -> None:
        if failure != "net::ERR_ABORTED":
            self.problems.append(f"not loaded: {url} ({failure})")

    def go(self, address: str) -> None:
        """Open an address of the console and wait until it has settled."""
        self.page.goto(f"{self.base_url}{address}", wait_until="load")

    def settle(self) -> None:
        """Wait until a page that loads its content by itself (the editor) shows it."""
        self.page.locator("[data-loading]").wait_for(state="detached")

    def log_in(self, username: str, password: str) -> None:
        """Log in through the form."""
        self.go("/login/")
        self.page.get_by_label("User name").fill(username)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url(f"{self.base_url}/harnesses/")

    def import_file(self, slug: str, path: Path, message: str) -> None:
        """Upload a file for a harness and stop at the preview."""
        self.go(f"/harnesses/{slug}/import/")
        self.page.get_by_label("File").set_input_files(path)
        self.page.get_by_label("What this version changes").fill(message)
        self.page.get_by_role("button", name="Preview").click()
        self.page.get_by_role("heading", name="What changed").wait_for()

    def commit_import(self) -> None:
        """Commit what the preview shows."""
        self.page.get_by_role("button", name="Commit version").click()
        self.page.get_by_role("navigation", name="Harness").wait_for()

    def start_session(self, version: str, other: str = "", checkpoint: str = "") -> None:
        """Start a session in the playground; versions are `slug@number`."""
        self.go("/playground/")
        self.page.get_by_label("Harness version").select_option(version)
        if other:
            self.page.get_by_label("Beside it").select_option(other)
        if checkpoint:
            self.page.get_by_label("Checkpoint").select_option(checkpoint)
        self.page.get_by_role("button", name="Start session").click()
        self.page.get_by_label("Say something as a viewer").wait_for()

    def say(self, comment: str, *, lanes: int = 1, turn: int = 1, timeout_ms: float = TIMEOUT_MS) -> None:
        """Say something and wait for the answer in every lane."""
        self.page.get_by_label("Say something as a viewer").fill(comment)
        self.page.get_by_role("button", name="Send").click()
        answered = self.page.get_by_role("link", name=f"Turn {turn}", exact=True)
        answered.nth(lanes - 1).wait_for(timeout=timeout_ms)

    def reached_operations(self) -> list[str]:
        """The operations that the calls on this page reached, in order."""
        return self.page.locator("[data-operation]").all_inner_texts()

    def axe_violations(self, *rules: str) -> list[str]:
        """Serious and critical accessibility violations of the page, each with where it is; of all rules or of these."""
        options = {"runOnly": list(rules)} if rules else None
        found = Axe().run(self.page, options=options).response["violations"]
        return [
            f"{item['impact']} {item['id']}: {node['target']} {node['failureSummary']}"
            for item in found
            if item["impact"] in ("serious", "critical")
            for node in item["nodes"]
        ]

    def overflowing(self) -> list[str]:
        """What makes the page wider than the window; empty where it fits."""
        found: list[str] = self.page.evaluate(_OVERFLOWING)
        return found


def open_visitor(
    browser: Browser, base_url: str, *, viewport: dict[str, int], scheme: str = "light", has_scripts: bool = True
) -> Visitor:
    """A fresh browser profile with one page, in Shanghai."""
    context = browser.new_context(
        viewport=viewport,  # type: ignore[arg-type]
        color_scheme=scheme,  # type: ignore[arg-type]
        java_script_enabled=has_scripts,
        locale="en-GB",
        timezone_id="Asia/Shanghai",
    )
    return Visitor(context.new_page(), context, base_url)
