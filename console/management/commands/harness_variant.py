"""`manage.py harness_variant`: a variant of a harness by transforms and seed, with what was done to it and how it differs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from harnesses.augment import (
    POOLS,
    TRAIN_POLICY,
    TRANSFORMS,
    ParameterError,
    UnknownTransformError,
    Variant,
    draw_variant,
)
from harnesses.contracts import HarnessRef
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.risk import RiskReport, assess
from harnesses.core.spec import HarnessSpec
from harnesses.core.templates import SAMPLE_CONTEXT
from harnesses.formats.folder import export_folder
from harnesses.runtime.render import render_prompt
from harnesses.selectors import catalogue_for, harness_get, label_get, version_get, version_ref, version_spec
from ledger.errors import TackroomError

PROMPT_FILE = "prompt.txt"


class Command(BaseCommand):
    """Reads a version, writes nothing to the database."""

    help = (
        "Make a variant of a harness version by transforms (HSA train families) and a seed: prints what was applied and the "
        "changes; the same version, transforms and seed always give the same variant."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--harness", required=True, help="slug, slug@3 or slug@production")
        parser.add_argument(
            "--transforms",
            default=TRAIN_POLICY,
            help=f'ids in order, such as T1,T3; "{TRAIN_POLICY}" draws 0 to 4 as training does. There are {", ".join(TRANSFORMS)}',
        )
        parser.add_argument("--seed", type=int, default=0, help="a whole number (default 0)")
        parser.add_argument("--pool", choices=POOLS, default="train", help="which names and wordings to draw from")
        parser.add_argument(
            "--set", action="append", default=[], metavar="T1.style=opaque", help="a parameter; the others are drawn"
        )
        parser.add_argument("--json", action="store_true", help="print everything as JSON, the variant included")
        parser.add_argument(
            "--out", type=Path, metavar="DIR", help="write the variant as a harness folder, and its rendered prompt"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        ref, world, spec = _version(options["harness"])
        catalogue = catalogue_for(world)
        names = [name.strip() for name in options["transforms"].split(",") if name.strip()]
        chosen = TRAIN_POLICY if names == [TRAIN_POLICY] else names
        params = _params(options["set"])
        try:
            variant = draw_variant(spec, catalogue, options["seed"], chosen, params, options["pool"])
        except (ParameterError, UnknownTransformError) as error:
            raise CommandError(str(error)) from error
        report = assess(spec, variant.spec, catalogue)
        prompt = render_prompt(variant.spec, SAMPLE_CONTEXT)
        if options["out"] is not None:
            text = "\n\n".join(f"[{message.role}]\n{message.content}" for message in prompt.messages)
            _write(options["out"], variant.spec, f"{ref.slug} variant", text)
        if options["json"]:
            found = _as_json(ref, options, variant, report) | {"prompt": prompt.text}
            self.stdout.write(json.dumps(found, indent=2, ensure_ascii=False))
        else:
            for line in _as_lines(ref, options, variant, report):
                self.stdout.write(line)


def _version(reference: str) -> tuple[HarnessRef, str, HarnessSpec]:
    """The version that `slug`, `slug@3` or `slug@label` names, its world, and its harness."""
    slug, _, wanted = reference.partition("@")
    try:
        harness = harness_get(slug)
        is_label = bool(wanted) and not wanted.isdigit()
        version = label_get(harness, wanted).version if is_label else version_get(harness, wanted or None)
        return version_ref(version), harness.world, version_spec(version)
    except TackroomError as error:
        raise CommandError(str(error)) from error


def _params(settings: list[str]) -> dict[str, dict[str, JsonValue]]:
    """What `--set` says, by transform. Whole numbers are numbers."""
    found: dict[str, dict[str, JsonValue]] = {}
    for text in settings:
        target, equals, value = text.partition("=")
        transform, dot, name = target.partition(".")
        if not (equals and dot and transform and name):
            raise CommandError(f'"{text[:60]}" is no parameter. Write it like T1.style=opaque.')
        found.setdefault(transform, {})[name] = int(value) if value.isdecimal() else value
    return found


def _write(folder: Path, spec: HarnessSpec, name: str, prompt: str) -> None:
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise CommandError(f"{folder} is not an empty folder. Name another one, or empty it.")
        for path, content in {**export_folder(spec, name), PROMPT_FILE: prompt.encode()}.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    except OSError as error:
        raise CommandError(f"{folder} cannot be written: {error.strerror}.") from error


def _as_json(ref: HarnessRef, options: dict[str, Any], variant: Variant, report: RiskReport) -> JsonObject:
    return {
        "harness": ref.slug,
        "number": ref.number,
        "spec_hash": ref.spec_hash,
        "seed": options["seed"],
        "pool": options["pool"],
        "applied": [asdict(item) for item in variant.applied],
        "refused": [asdict(item) for item in variant.refused],
        "variant_hash": variant.spec.spec_hash,
        "verdict": report.verdict,
        "changes": [
            {"headline": item.headline, "family": item.family, "preserving": item.preserving, "reason": item.reason}
            for item in report.changes
        ],
        "folder": str(options["out"]) if options["out"] else None,
        "document": variant.spec.document(),
    }


def _as_lines(ref: HarnessRef, options: dict[str, Any], variant: Variant, report: RiskReport) -> Iterator[str]:
    yield f"{ref.slug}@{ref.number}, seed {options['seed']}, {options['pool']} pool"
    yield ""
    yield "Applied" if variant.applied else "Applied: nothing, the variant is the harness itself"
    for item in variant.applied:
        settings = ", ".join(f"{name}={value}" for name, value in item.params.items())
        yield f"  {item.transform}  {TRANSFORMS[item.transform].title}" + (f" ({settings})" if settings else "")
        yield f"      {', '.join(item.components)}"
    for refusal in variant.refused:
        yield f"  {refusal.transform}  could not apply: {refusal.reason}"
    yield ""
    yield f"Changes ({len(report.changes)}; risk says {report.verdict.replace('_', ' ')})"
    for change in report.changes:
        yield f"  {change.headline}"
    yield ""
    yield f"Variant {variant.spec.spec_hash}"
    if options["out"]:
        yield f"Written to {options['out']}; the rendered prompt is {options['out'] / PROMPT_FILE}"
    else:
        yield "The rendered prompt: add --out DIR to write it with the harness, or --json to print it."
