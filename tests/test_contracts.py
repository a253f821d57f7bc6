"""The borders of the architecture are watched: every import-linter contract breaks when it should, and no web process loads a model
library."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
VIOLATIONS = {
    "ledger/errors.py": "import harnesses.selectors",
    "harnesses/core/spec.py": "import django",
    "harnesses/selectors/versions.py": "import torch",
    "inference/engine/config.py": "import django",
    "console/processes.py": "import django",
    "inference/selectors.py": "import inference.tasks",
    "console/doctor.py": "import ledger.models, harnesses.models, inference.models",
}
MODEL_LIBRARIES = {"torch", "transformers", "vllm", "accelerate", "gguf"}


def test_every_contract_breaks_when_it_is_broken(tmp_path):
    for package in PYPROJECT["root_packages"]:
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "static", "*.yaml")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name, line in VIOLATIONS.items():
        path = tmp_path / name
        path.write_text(f"{path.read_text()}\n{line}\n")
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 1, result.stdout
    kept = re.findall(r"^(.+) KEPT", result.stdout, re.MULTILINE)
    assert kept == [], "these contracts let a violation through"
    assert f"0 kept, {len(PYPROJECT['contracts'])} broken" in result.stdout


def test_every_app_is_under_the_contracts():
    apps = {path.parent.name for path in ROOT.glob("*/apps.py")}
    assert apps <= set(PYPROJECT["root_packages"])
    protected = {each for contract in PYPROJECT["contracts"] for each in contract.get("protected_modules", ())}
    assert {f"{path.parent.name}.models" for path in ROOT.glob("*/models.py")} <= protected


def test_web_and_worker_processes_load_no_model_library():
    script = """
import sys, console.asgi
from django.urls import get_resolver
get_resolver().url_patterns
from console.celery import app
app.loader.import_default_modules()
print(*sorted({name.split(".")[0] for name in sys.modules}))
"""
    result = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    loaded = set(result.stdout.split())
    assert {"django", "celery", "inference"} <= loaded
    assert loaded & MODEL_LIBRARIES == set()
