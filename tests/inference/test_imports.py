"""Web and worker processes load no model library."""

from __future__ import annotations

import subprocess
import sys

PROBE = """
import importlib, pkgutil, sys
import console.asgi
from celery import current_app
current_app.loader.import_default_modules()
from django.conf import settings
from django.urls import get_resolver
get_resolver().url_patterns
import inference.engine.prepare_model, inference.engine.supervisor, inference.engine.null_engine
for app in ("ledger", "harnesses", "livestream", "inference", "console"):
    package = importlib.import_module(app)
    for module in pkgutil.walk_packages(package.__path__, f"{app}."):
        if module.name.split(".")[-1] in ("services", "selectors", "tasks", "views", "urls", "admin"):
            importlib.import_module(module.name)
loaded = sorted({"torch", "transformers", "vllm", "trl", "datasets"} & set(sys.modules))
print("loaded:", ",".join(loaded))
"""


def test_no_model_library_is_loaded_by_web_and_worker_processes():
    result = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip().endswith("loaded:")
