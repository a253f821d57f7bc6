"""Writes `requirements/*.lock` from `requirements/*.in`: every distribution of a layer at one version, layer upon layer.

Locks are installed with `--no-deps`, so a lock is the whole truth, and what a package asks for but does not need is left out
on purpose. Two remarks in an `.in` file steer that: `# no-deps:` after a requirement takes the package alone, `# without: a, b`
takes it without these. Versions that a lock already has are kept; `--upgrade` takes the newest.

Run by `make lock` with the Python of `.venv`, whose pip resolves without installing anything.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

FOLDER = Path(__file__).resolve().parent.parent / "requirements"
LAYERS = {"base": (), "engine-cpu": ("base",), "dev": ("base", "engine-cpu")}


@dataclass
class Wanted:
    """An `.in` file, read: what to resolve, what to take alone, what to leave out."""

    requirements: list[str] = field(default_factory=list)
    alone: list[str] = field(default_factory=list)
    left_out: set[NormalizedName] = field(default_factory=set)


def read_wanted(text: str) -> Wanted:
    """Parse the text of an `.in` file."""
    wanted = Wanted()
    for line in text.splitlines():
        requirement, _, remark = (part.strip() for part in line.partition("#"))
        if not requirement:
            continue
        (wanted.alone if remark.startswith("no-deps:") else wanted.requirements).append(requirement)
        if remark.startswith("without:"):
            wanted.left_out |= {canonicalize_name(name.strip()) for name in remark[len("without:") :].split(",")}
    return wanted


def read_lock(path: Path) -> dict[str, str]:
    """Distribution name to version, of a lock file; empty where there is none."""
    if not path.exists():
        return {}
    pairs = (line.split("#")[0].strip().split("==") for line in path.read_text().splitlines() if "==" in line)
    return {canonicalize_name(name): version for name, version in pairs}


def resolve(requirements: list[str], constraints: dict[str, str], *options: str) -> list[dict[str, Any]]:
    """What pip would install for `requirements`: the metadata of each distribution. Exits with pip's words where it cannot."""
    with tempfile.TemporaryDirectory() as folder:
        pins, report = Path(folder) / "constraints.txt", Path(folder) / "report.json"
        pins.write_text("".join(f"{name}=={version}\n" for name, version in constraints.items()))
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
        command += ["--report", str(report), "-c", str(pins), *options, *requirements]
        if subprocess.run(command).returncode != 0:
            sys.exit("The requirements cannot be resolved; pip says why above.")
        return [item["metadata"] for item in json.loads(report.read_text())["install"]]


def reachable(found: list[dict[str, Any]], roots: list[str], left_out: set[NormalizedName]) -> dict[str, str]:
    """Names and versions that `roots` need when `left_out` and what only these need are dropped."""
    by_name = {canonicalize_name(metadata["name"]): metadata for metadata in found}
    queue = [(requirement, extra) for requirement in map(Requirement, roots) for extra in ("", *requirement.extras)]
    seen: set[tuple[NormalizedName, str]] = set()
    while queue:
        requirement, extra = queue.pop()
        name = canonicalize_name(requirement.name)
        if (name, extra) in seen or name in left_out or name not in by_name:
            continue
        seen.add((name, extra))
        for needed in map(Requirement, by_name[name].get("requires_dist", [])):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                queue += [(needed, one) for one in ("", *needed.extras)]
    # `+cpu` and the like name a build, not a release: only some indexes carry them.
    return {name: by_name[name]["version"].split("+")[0] for name, _ in seen}


def write_lock(layer: str, *, is_upgrade: bool) -> None:
    """Resolve one layer on top of the layers below it and write its lock file."""
    wanted = read_wanted((FOLDER / f"{layer}.in").read_text())
    path = FOLDER / f"{layer}.lock"
    below = {name: version for lower in LAYERS[layer] for name, version in read_lock(FOLDER / f"{lower}.lock").items()}
    kept = {} if is_upgrade else read_lock(path)
    pins = {**kept, **below}
    found = resolve(wanted.requirements, pins)
    chosen = reachable(found, wanted.requirements, wanted.left_out)
    if wanted.alone:
        alone = resolve(wanted.alone, pins, "--no-deps")
        chosen |= {canonicalize_name(metadata["name"]): metadata["version"] for metadata in alone}
    lines = [f"{name}=={version}" for name, version in sorted(chosen.items()) if name not in below]
    header = (
        f"# Written by `make lock` from {layer}.in; do not edit. Install with: pip install --no-deps -r {layer}.lock\n"
    )
    path.write_text(header + "\n".join(lines) + "\n")
    sys.stdout.write(f"{path.name}: {len(lines)} distributions\n")


def main() -> None:
    """Command line: all layers, or the ones named."""
    parser = argparse.ArgumentParser(description="Pin requirements/*.in into requirements/*.lock.")
    parser.add_argument("layers", nargs="*", choices=[[], *LAYERS], default=list(LAYERS))
    parser.add_argument(
        "--upgrade", action="store_true", help="take the newest versions instead of keeping what is locked"
    )
    arguments = parser.parse_args()
    for layer in arguments.layers or list(LAYERS):
        write_lock(layer, is_upgrade=arguments.upgrade)


if __name__ == "__main__":
    main()
