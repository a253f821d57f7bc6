"""The web server does not stop to look through what it loaded for good."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import gc, sys
import console.asgi
assert "console.views.reviews" in sys.modules, "the views are loaded with the first request, and looked at for ever"
gc.collect()
print(gc.get_freeze_count(), len(gc.get_objects()))
"""


def test_what_is_loaded_at_the_start_is_out_of_the_collectors_rounds():
    result = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    frozen, left = map(int, result.stdout.split())
    assert frozen > 50_000
    assert left < frozen / 20
