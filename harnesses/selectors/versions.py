"""All reads of harnesses beyond a get: lists, versions as specs, comparisons, rendered prompts, findings, exports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db.models import F, Q, QuerySet

from harnesses import ports
from harnesses.contracts import HarnessRef
from harnesses.core.diff import HarnessDiff, diff_specs
from harnesses.core.jsonvalues import parse_json
from harnesses.core.operations import OperationCatalogue
from harnesses.core.parsing import spec_from_document
from harnesses.core.risk import RiskReport, assess
from harnesses.core.spec import HarnessSpec
from harnesses.core.templates import SAMPLE_CONTEXT, TemplateError
from harnesses.core.validation import Finding, validate
from harnesses.formats.archive import export_zip
from harnesses.models import Harness, HarnessVersion
from harnesses.runtime.context_budget import TokenMeter
from harnesses.runtime.render import PART_SEPARATOR, RenderedPart, RenderedPrompt, render_prompt
from ledger.errors import NotFound

SLUG_PATTERN = re.compile(r"(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*")
MAX_NUMBER = 2**31 - 1


@dataclass(frozen=True)
class Comparison:
    """Two versions of one harness, what differs, and what that means."""

    old: HarnessVersion
    new: HarnessVersion
    diff: HarnessDiff
    risk: RiskReport


@dataclass(frozen=True)
class CountedPart:
    """One part of the prompt with the tokens it takes by the tokenizer of the model in service (or the estimate)."""

    part: RenderedPart
    token_count: int


@dataclass(frozen=True)
class RenderedVersion:
    """What the model reads before the conversation: the system prompt and the examples.

    `text` is all of it for people. `total_tokens` counts it as the agent loop does, with the marks around each message.
    """

    text: str
    parts: tuple[CountedPart, ...]
    total_tokens: int
    budget_tokens: int


def harness_list(*, search: str = "", world: str = "", with_archived: bool = False) -> QuerySet[Harness]:
    """Harnesses by slug, filtered by a text in slug, title or description, and by world."""
    harnesses = Harness.objects.select_related("created_by")
    if not with_archived:
        harnesses = harnesses.filter(archived_at__isnull=True)
    if world:
        harnesses = harnesses.filter(world=world)
    if search:
        harnesses = harnesses.filter(
            Q(slug__icontains=search) | Q(title__icontains=search) | Q(description__icontains=search)
        )
    return harnesses


def harness_get(slug: str) -> Harness:
    """The harness of that slug, archived or not. Raises NotFound."""
    if SLUG_PATTERN.fullmatch(slug):
        harness = Harness.objects.select_related("created_by").filter(slug=slug).first()
        if harness is not None:
            return harness
    raise NotFound(f"There is no harness {slug[:80]!a}.")


def version_list(harness: Harness | str) -> QuerySet[HarnessVersion]:
    """The versions of a harness (or of its slug), newest first, without their documents. Raises NotFound for an unknown slug."""
    harness = harness_get(harness) if isinstance(harness, str) else harness
    return _versions().filter(harness=harness).order_by("-number")


def newest_versions(harnesses: Iterable[Harness], count: int) -> dict[int, list[HarnessVersion]]:
    """The newest versions of several harnesses by the harness's key, newest first, without documents. Takes one query."""
    keys = [harness.pk for harness in harnesses]
    # Numbers have no gaps, so the newest ones are those next to the number of versions.
    newest = _versions().filter(harness__in=keys, number__gt=F("harness__version_count") - count)
    found: dict[int, list[HarnessVersion]] = {}
    for version in newest.order_by("-number"):
        found.setdefault(version.harness_id, []).append(version)
    return found


def version_get(harness: Harness | str, number: int | str | None = None) -> HarnessVersion:
    """One version of a harness (or of its slug) with its harness (`document` loads when read); None is the newest.

    Raises NotFound for anything else.
    """
    harness = harness_get(harness) if isinstance(harness, str) else harness
    slug = harness.slug
    versions = _versions().filter(harness=harness)
    version = (
        versions.order_by("-number").first()
        if number is None
        else versions.filter(number=version_number(slug, number)).first()
    )
    if version is None:
        which = "no version yet" if number is None else f"no version {number}"
        raise NotFound(f'The harness "{slug}" has {which}. Its newest is {harness.version_count or "still to come"}.')
    return version


@lru_cache(maxsize=512)
def version_by_id(version_id: int) -> HarnessVersion:
    """A version by its key, without its document, remembered: a version never changes. Raises NotFound.

    Of its harness take only the slug, which never changes either.
    """
    version = HarnessVersion.objects.select_related("harness").defer("document").filter(pk=version_id).first()
    if version is None:
        raise NotFound("There is no such harness version.")
    return version


def version_number(slug: str, value: int | str) -> int:
    """A version number out of an address. Raises NotFound for what cannot be one."""
    text = str(value)
    if text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= MAX_NUMBER:
        return int(text)
    raise NotFound(f'The harness "{slug}" has no version {text[:40]!a}: versions are numbered 1, 2, 3 …')


def version_ref(version: HarnessVersion) -> HarnessRef:
    """The version as other apps know it."""
    return HarnessRef(slug=version.harness.slug, number=version.number, spec_hash=version.spec_hash)


def _versions() -> QuerySet[HarnessVersion]:
    return HarnessVersion.objects.select_related("harness", "parent").defer("document", "parent__document")


# --- what a version holds --------------------------------------------------------------------------------------------


def version_spec(version: HarnessVersion) -> HarnessSpec:
    """The spec of a version. Kept for the 64 versions used last: the document is not even read for those."""
    return _stored_spec(version.pk, version.spec_hash)


@lru_cache(maxsize=64)
def _stored_spec(version_id: int, spec_hash: str) -> HarnessSpec:
    # By version and not by hash alone: equal content may have been written with its keys in another order.
    document = HarnessVersion.objects.values_list("document", flat=True).get(pk=version_id, spec_hash=spec_hash)
    return spec_from_document(parse_json(document))


def catalogue_for(world: str) -> OperationCatalogue:
    """The operations of a world. Raises NotFound where this installation no longer knows it."""
    try:
        return ports.catalogue_of(world)
    except ports.UnknownWorldError as error:
        raise NotFound(str(error)) from error


def spec_findings(spec: HarnessSpec, world: str) -> tuple[Finding, ...]:
    """Everything that validation finds, the prompt counted with the tokenizer of the model in service."""
    try:
        prompt_tokens: int | None = _prompt_tokens(render_prompt(spec, SAMPLE_CONTEXT))
    except TemplateError:
        prompt_tokens = None  # The broken template is a finding of its own.
    return tuple(validate(spec, catalogue_for(world), prompt_tokens=prompt_tokens))


def _prompt_tokens(prompt: RenderedPrompt) -> int:
    return TokenMeter(ports.token_counter()).size(prompt.messages)


def version_findings(version: HarnessVersion) -> tuple[Finding, ...]:
    """What validation finds in a version now (the world or the model may have changed since its commit)."""
    return spec_findings(version_spec(version), version.harness.world)


def version_compare(slug: str, old_number: int | str, new_number: int | str) -> Comparison:
    """Two versions of a harness side by side. Raises NotFound."""
    old, new = version_get(slug, old_number), version_get(slug, new_number)
    old_spec, new_spec = version_spec(old), version_spec(new)
    return Comparison(
        old=old,
        new=new,
        diff=diff_specs(old_spec, new_spec),
        risk=assess(old_spec, new_spec, catalogue_for(old.harness.world)),
    )


def version_rendered(version: HarnessVersion, context: Mapping[str, Any] | None = None) -> RenderedVersion:
    """What a version puts before the model in a context (the sample one by default), with tokens counted part by part.

    Raises TemplateError where a text of the harness cannot be rendered in that context.
    """
    spec = version_spec(version)
    prompt = render_prompt(spec, SAMPLE_CONTEXT if context is None else context)
    count = ports.token_counter()
    return RenderedVersion(
        text=PART_SEPARATOR.join(part.text for part in prompt.all_parts),
        parts=tuple(CountedPart(part=part, token_count=count(part.text)) for part in prompt.all_parts),
        total_tokens=_prompt_tokens(prompt),
        budget_tokens=spec.runtime.context_budget_tokens,
    )


def version_export(version: HarnessVersion) -> tuple[str, bytes]:
    """The version as a zip of the folder layout: file name and content. Equal versions give equal bytes."""
    slug = version.harness.slug
    return f"{slug}-v{version.number}.zip", export_zip(version_spec(version), slug)
