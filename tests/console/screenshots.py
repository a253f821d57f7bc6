"""Screenshots of every page with demo data, wide and narrow, light and dark: `python -m tests.console.screenshots --out DIR`.

For people to look at. It runs as a test, because it needs the tests' database, but is not collected with them.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pytest

OUT = "SCREENSHOTS_DIR"
ONLY = "SCREENSHOTS_ONLY"


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_take_screenshots(harness, engine, deployment, operator, tmp_path) -> None:
    # Imported here: the command below must start before Django has its settings.
    from tests.conftest import PASSWORD
    from tests.console.browser import DESKTOP, PHONE, launched_browser, live_server, open_visitor
    from tests.console.furnished import furnish
    from tests.console.test_browser_pages import renamed_price_tool

    folder = Path(os.environ[OUT])
    only = os.environ.get(ONLY, "")
    folder.mkdir(parents=True, exist_ok=True)
    addresses = furnish(harness, engine, operator).addresses
    with live_server() as url, launched_browser() as browser:
        for width, viewport in (("wide", DESKTOP), ("narrow", PHONE)):
            for scheme in ("light", "dark"):
                visitor = open_visitor(browser, url, viewport=viewport, scheme=scheme)
                visitor.go("/login/")
                visitor.page.screenshot(path=folder / f"login-{width}-{scheme}.png", full_page=True)
                visitor.log_in(operator.username, PASSWORD)
                for name, address in addresses.items():
                    if only and name not in only.split(","):
                        continue
                    visitor.go(address)
                    visitor.settle()
                    visitor.page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
                if not only or "import-preview" in only:
                    renamed = renamed_price_tool(tmp_path, "fetch_price", "look_up_price")
                    visitor.import_file(harness.slug, renamed, "Clearer tool name")
                    visitor.page.screenshot(path=folder / f"import-preview-{width}-{scheme}.png", full_page=True)
                visitor.context.close()


def main() -> int:
    """Take them; returns pytest's exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.console.screenshots", description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, type=Path, help="the folder to write to")
    parser.add_argument("--only", default="", help="names of pages, separated by commas")
    arguments = parser.parse_args()
    os.environ[OUT], os.environ[ONLY] = str(arguments.out.resolve()), arguments.only
    return int(pytest.main([__file__, "-q", "-s"]))


if __name__ == "__main__":
    sys.exit(main())
