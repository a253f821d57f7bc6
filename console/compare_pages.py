"""What the comparison page shows: the meaning of the changes first, then the prompt that the model reads, then the texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from console import harness_pages
from console.compare_sides import Side
from console.component_diffs import ComponentChange, component_changes
from console.text_diff import TextDiff, text_diff
from harnesses import selectors
from harnesses.core.risk import assess
from harnesses.core.templates import TemplateError


@dataclass(frozen=True)
class PromptChange:
    """The rendered prompts: their difference (None: equal), their lengths in tokens, or why they cannot be compared."""

    diff: TextDiff | None = None
    old_tokens: int = 0
    new_tokens: int = 0
    problem: str = ""

    @property
    def growth(self) -> str:
        """In words: "34 tokens longer"."""
        change = self.new_tokens - self.old_tokens
        if not change:
            return "as long as before"
        return f"{abs(change):,} token{'' if abs(change) == 1 else 's'} {'longer' if change > 0 else 'shorter'}"


@dataclass(frozen=True)
class ComponentRow:
    """One component of the comparison. `maker`: the version that made it what it is on the new side, if that is another one."""

    change: ComponentChange
    maker: Any
    old_url: str
    new_url: str


def comparison(old: Side, new: Side) -> dict[str, Any]:
    """Everything the comparison page shows of two sides."""
    report = assess(old.spec, new.spec, selectors.catalogue_for(new.harness.world))
    return {
        "old": old,
        "new": new,
        "is_same": old.spec.spec_hash == new.spec.spec_hash,
        "report": harness_pages.risk_view(report),
        "prompt_change": prompt_change(old, new),
        "components": _rows(old, new),
    }


def prompt_change(old: Side, new: Side) -> PromptChange:
    """How the prompt that the model reads differs, in the sample context."""
    rendered = []
    for side in (old, new):
        try:
            rendered.append(selectors.spec_rendered(side.spec))
        except TemplateError as error:
            return PromptChange(problem=f"The prompt of {side.label} cannot be rendered: {error.message} {error.mend}")
    before, after = rendered
    diff = text_diff(before.text, after.text, old_label=old.label, new_label=new.label)
    return PromptChange(diff, before.total_tokens, after.total_tokens)


def _rows(old: Side, new: Side) -> list[ComponentRow]:
    changes = component_changes(old.spec, new.spec, old_label=old.label, new_label=new.label)
    makers: dict[tuple[str, str], Any] = {}
    if new.version is not None and changes:
        blamed = selectors.version_blame(new.version)
        makers = {(item.kind, item.component_id): item.version for item in blamed}
    rows = []
    for change in changes:
        maker = makers.get((change.kind, change.id))
        is_told = maker is not None and new.version is not None and maker.number != new.version.number
        rows.append(
            ComponentRow(
                change,
                maker if is_told else None,
                "" if change.is_added else _place(old, change),
                "" if change.is_removed else _place(new, change),
            )
        )
    return rows


def _place(side: Side, change: ComponentChange) -> str:
    """Where a component can be looked at, or edited: the page of the version, the form of the draft's editor."""
    if not side.url or not change.id:
        return side.url
    return f"{side.url}#{change.kind}/{change.id}" if side.draft is not None else f"{side.url}#{change.anchor}"
