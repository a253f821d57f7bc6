"""Reads of drafts: which there are, what they hold, what validation says of them, and what the model would read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from harnesses import policy, ports
from harnesses.core.diff import HarnessDiff, diff_specs
from harnesses.core.jsonvalues import JsonObject, parse_json
from harnesses.core.mends import Mend, mends
from harnesses.core.merge import MergeResult, merge_specs
from harnesses.core.parsing import spec_from_document
from harnesses.core.risk import RiskReport, assess
from harnesses.core.spec import HarnessSpec
from harnesses.core.templates import SAMPLE_CONTEXT, TemplateError
from harnesses.core.validation import Finding, validate
from harnesses.models import DraftRevision, Harness, HarnessDraft, HarnessVersion
from harnesses.runtime.context_budget import TokenMeter
from harnesses.runtime.render import PART_SEPARATOR, render_prompt
from harnesses.selectors.versions import CountedPart, RenderedVersion, catalogue_for, version_spec
from ledger.errors import NotFound

MAX_ID = 2**63 - 1


@dataclass(frozen=True)
class DraftCheck:
    """What is to be said of a draft's content: findings, its length for the model, and how it differs from the base version.

    `fixes` holds, by the index of a finding, the edits that mend it. `prompt_tokens` is None where a template is broken and
    nothing can be rendered (the findings say where).
    """

    findings: tuple[Finding, ...]
    fixes: Mapping[int, Mend]
    prompt_tokens: int | None
    budget_tokens: int
    risk: RiskReport


@dataclass(frozen=True)
class DraftComparison:
    """A draft's saved content beside a version; `version` None stands for an empty harness."""

    version: HarnessVersion | None
    old: HarnessSpec
    new: HarnessSpec
    diff: HarnessDiff
    risk: RiskReport


def merged_twin(draft: HarnessDraft) -> HarnessDraft | None:
    """Another open draft of the same person that took over the same version onto the same base, and holds the same."""
    same = _drafts().filter(
        harness=draft.harness_id,
        state=HarnessDraft.State.OPEN,
        merged_from=draft.merged_from_id,
        base_version=draft.base_version_id,
        created_by=draft.created_by_id,
        spec_hash=draft.spec_hash,
    )
    return same.exclude(pk=draft.pk).order_by("pk").first()


def draft_list(harness: Harness, *, state: str = "") -> QuerySet[HarnessDraft]:
    """The drafts of a harness, changed last first, without their documents; in one state or in any."""
    drafts = _drafts().defer("document").filter(harness=harness).order_by("-updated_at", "-pk")
    return drafts.filter(state=state) if state else drafts


def draft_get(harness: Harness, draft_id: int | str) -> HarnessDraft:
    """One draft of a harness, in any state. Raises NotFound."""
    text = str(draft_id)
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 19 else 0
    draft = _drafts().filter(harness=harness, pk=number).first() if 0 < number <= MAX_ID else None
    if draft is None:
        raise NotFound(f'The harness "{harness.slug}" has no draft {text[:40]!a}.')
    draft.harness = harness
    return draft


def version_draft(version: HarnessVersion) -> HarnessDraft | None:
    """The draft that a version was committed from; None where it was imported, reverted to, forked or sent by a program."""
    return (
        _drafts()
        .defer("document")
        .filter(harness=version.harness_id, committed_version=version)
        .order_by("-pk")
        .first()
    )


def drafts_of(user: AbstractUser) -> QuerySet[HarnessDraft]:
    """The open drafts that a person began or saved, of harnesses in use that they may see; changed last first."""
    theirs = Q(created_by=user.pk) | Q(Exists(DraftRevision.objects.filter(draft=OuterRef("pk"), author=user.pk)))
    seen = policy.visible_harnesses(user, Harness.objects.filter(archived_at__isnull=True))
    drafts = _drafts().defer("document").filter(theirs, state=HarnessDraft.State.OPEN, harness__in=seen)
    return drafts.order_by("-updated_at", "-pk")


def open_draft_counts(harnesses: Iterable[Harness]) -> dict[int, int]:
    """How many drafts are open, by the harness's key; without those that have none. Takes one query."""
    drafts = HarnessDraft.objects.filter(harness__in=[item.pk for item in harnesses], state=HarnessDraft.State.OPEN)
    return dict(drafts.order_by().values_list("harness_id").annotate(Count("pk")))


def _drafts() -> QuerySet[HarnessDraft]:
    related = HarnessDraft.objects.select_related("harness", "base_version", "committed_version")
    return related.defer("base_version__document", "committed_version__document")


def draft_document(draft: HarnessDraft) -> JsonObject:
    """The draft's content as plain JSON, keys in the author's order."""
    document: JsonObject = parse_json(draft.document)
    return document


def draft_spec(draft: HarnessDraft) -> HarnessSpec:
    """The draft's content. Kept for the 32 drafts read last."""
    return _kept_spec(draft.document)


def draft_base_spec(draft: HarnessDraft) -> HarnessSpec:
    """What the draft started from, or was last merged with: its base version's content, or an empty harness."""
    return version_spec(draft.base_version) if draft.base_version else HarnessSpec()


def revision_list(draft: HarnessDraft) -> QuerySet[DraftRevision]:
    """The saves of a draft that are still kept, newest first, without their documents."""
    return DraftRevision.objects.filter(draft=draft).defer("document").order_by("-revision")


def revision_get(draft: HarnessDraft, revision: int) -> DraftRevision:
    """One save of a draft. Raises NotFound where it never was or is no longer kept."""
    found = DraftRevision.objects.filter(draft=draft, revision=revision).first() if 0 < revision < 2**31 else None
    if found is None:
        raise NotFound(f"Revision {revision} of this draft is not kept. The newest is {draft.revision}.")
    return found


def revision_spec(revision: DraftRevision) -> HarnessSpec:
    """The content of one save."""
    return _kept_spec(revision.document)


@lru_cache(maxsize=32)
def _kept_spec(document: str) -> HarnessSpec:
    # By the text itself, which says all: to hash it takes a thousandth of the time of reading it.
    return spec_from_document(parse_json(document))


def draft_check(draft: HarnessDraft, spec: HarnessSpec) -> DraftCheck:
    """Everything to be said of `spec` as the draft's content, saved or not."""
    catalogue = catalogue_for(draft.harness.world)
    prompt_tokens, base = spec_prompt_tokens(spec), draft_base_spec(draft)
    findings = validate(spec, catalogue, prompt_tokens=prompt_tokens)
    return DraftCheck(
        findings=findings,
        fixes=mends(spec, findings, catalogue, base),
        prompt_tokens=prompt_tokens,
        budget_tokens=spec.runtime.context_budget_tokens,
        risk=assess(base, spec, catalogue),
    )


def draft_merge(draft: HarnessDraft, spec: HarnessSpec, base_revision: int) -> MergeResult:
    """What was saved since `base_revision`, put into an unsaved content that started from it. Writes nothing.

    Where that revision is no longer kept, the draft's base version stands in for it: both come from that one too.
    """
    base = DraftRevision.objects.filter(draft=draft, revision=base_revision).first()
    return merge_specs(revision_spec(base) if base else draft_base_spec(draft), spec, draft_spec(draft))


def draft_compare(draft: HarnessDraft, version: HarnessVersion | None = None) -> DraftComparison:
    """The draft as it is saved beside a version of any harness (None: its base version)."""
    version = version or draft.base_version
    old, new = version_spec(version) if version else HarnessSpec(), draft_spec(draft)
    risk = assess(old, new, catalogue_for(draft.harness.world))
    return DraftComparison(version=version, old=old, new=new, diff=diff_specs(old, new), risk=risk)


def spec_prompt_tokens(spec: HarnessSpec) -> int | None:
    """How many tokens a harness puts before the model in the sample context; None where a template is broken."""
    try:
        prompt = render_prompt(spec, SAMPLE_CONTEXT)
    except TemplateError:
        return None
    return TokenMeter(ports.token_counter()).size(prompt.messages)


def spec_rendered(spec: HarnessSpec, context: Mapping[str, Any] | None = None) -> RenderedVersion:
    """What a harness puts before the model in a context (the sample one by default), tokens counted part by part.

    Raises TemplateError where a text of the harness cannot be rendered in that context.
    """
    prompt = render_prompt(spec, SAMPLE_CONTEXT if context is None else context)
    count = ports.token_counter()
    return RenderedVersion(
        text=PART_SEPARATOR.join(part.text for part in prompt.all_parts),
        parts=tuple(CountedPart(part=part, token_count=count(part.text)) for part in prompt.all_parts),
        total_tokens=TokenMeter(count).size(prompt.messages),
        budget_tokens=spec.runtime.context_budget_tokens,
    )
