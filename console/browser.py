"""Finds the Chromium that browser tests and screenshots drive; `python -m console.browser` installs Debian's where it may.

Exit status: 0 there is one, or tests will be skipped with a loud line; 1 there is none and `CI` is set, where nothing is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MISSING = (
    "No Chromium or Chrome was found, and none could be installed ({reason}). For Debian: apt-get install chromium"
)
APT_TIMEOUT_S = 600


def find_browser() -> str | None:
    """The path of a Chromium or Chrome; `CHROMIUM_PATH` names another. None where there is none."""
    named = os.environ.get("CHROMIUM_PATH")
    if named:
        return shutil.which(named)
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def install_browser() -> str:
    """Install Debian's Chromium; returns why it could not be done, empty where it was."""
    if shutil.which("apt-get") is None:
        return "this system has no apt-get"
    if os.geteuid() != 0:
        return "that takes root"
    print("Installing Debian's chromium for the browser tests (about 100 MB) …", flush=True)  # noqa: T201 (this is a command)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"],
    ):
        try:
            result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=APT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return f"{' '.join(command[:2])} took longer than {APT_TIMEOUT_S} s"
        if result.returncode != 0:
            return f"{' '.join(command[:2])} failed: {result.stderr.strip()[-300:]}"
    return ""


def main() -> int:
    """Find or install one; returns the exit status."""
    if find_browser():
        return 0
    reason = install_browser()
    if not reason and find_browser():
        return 0
    is_ci = os.environ.get("CI", "").lower() in ("1", "true", "yes")
    line = "*" * 100
    skipped = "" if is_ci else "\nThe browser tests will be SKIPPED."
    print(f"{line}\n{MISSING.format(reason=reason or 'it is not on the path')}{skipped}\n{line}", file=sys.stderr)  # noqa: T201 (this is a command)
    return 1 if is_ci else 0


if __name__ == "__main__":
    sys.exit(main())
