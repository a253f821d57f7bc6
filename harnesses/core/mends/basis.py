"""What mends are made of: the findings' surroundings, small edits, and the proof that an edit helps and harms nothing."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harnesses.core.checks_examples import check_examples
from harnesses.core.checks_hooks import check_hooks
from harnesses.core.checks_loops import check_loops
from harnesses.core.checks_tools import check_tools
from harnesses.core.editing.operations import EditProblem, perform
from harnesses.core.fieldpaths import FieldPath, parse_path
from harnesses.core.findings import Finding
from harnesses.core.jsonvalues import JsonObject, JsonValue
from harnesses.core.kinds import KIND_FIELDS
from harnesses.core.operations import OperationCatalogue, OperationSpec
from harnesses.core.spec import BindingCase, HarnessSpec, Hook, RuntimeSettings, Tool

_MAX_LABEL_WORD = 40


@dataclass(frozen=True)
class Mend:
    """One click that settles a finding: what the button says, and the edits it makes (`harnesses.core.editing`)."""

    label: str
    edits: tuple[JsonObject, ...]

    def document(self) -> JsonObject:
        """The mend as JSON."""
        return {"label": self.label, "edits": list(self.edits)}


@dataclass(frozen=True)
class Case:
    """A finding and the harness it was found in. `previous` is the harness the edit started from, if that is known."""

    spec: HarnessSpec
    finding: Finding
    catalogue: OperationCatalogue
    previous: HarnessSpec | None = None
    cache: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.finding.component_id or self.finding.component_kind

    @property
    def path(self) -> FieldPath:
        """The finding's field as a path. Raises ValueError where it is none."""
        return parse_path(self.finding.field)

    def component(self) -> Any:
        """The component that the finding is about; None where it is not there, or its id is used twice."""
        kind = self.finding.component_kind
        if kind == "runtime":
            return self.spec.runtime
        if kind == "harness":
            return None
        found = [item for item in getattr(self.spec, KIND_FIELDS[kind]) if item.id == self.id]
        return found[0] if len(found) == 1 else None

    def tool(self) -> Tool | None:
        component = self.component()
        return component if isinstance(component, Tool) else None

    def hook(self) -> Hook | None:
        component = self.component()
        return component if isinstance(component, Hook) else None

    def binding_case(self) -> tuple[int, BindingCase, OperationSpec] | None:
        """The case of the binding in which the finding lies, with its operation."""
        tool, path = self.tool(), self.path
        if tool is None or tool.binding is None or path[:2] != ("binding", "cases"):
            return None
        index = path[2]
        assert isinstance(index, int)
        case = tool.binding.cases[index]
        operation = self.catalogue.get(case.operation)
        return (index, case, operation) if operation is not None else None

    def value(self, path: FieldPath | None = None) -> JsonValue:
        """The value at a path of the component (the finding's own by default); None where there is none."""
        node: JsonValue = self.component().model_dump(mode="json")
        for step in self.path if path is None else path:
            is_there = step in node if isinstance(node, dict) else isinstance(step, int) and step < len(node or ())
            if not is_there or not isinstance(node, dict | list):
                return None
            node = node[step]  # type: ignore[index]
        return node

    def set(self, **fields: JsonValue) -> JsonObject:
        return self.put(fields)

    def put(self, fields: Mapping[str, JsonValue]) -> JsonObject:
        """An edit that sets fields of the finding's component."""
        return {"op": "set", "kind": self.finding.component_kind, "id": self.id, "fields": dict(fields)}

    def drop(self, *paths: str) -> JsonObject:
        """An edit that takes fields, or entries of lists, out of the finding's component."""
        return {"op": "set", "kind": self.finding.component_kind, "id": self.id, "unset": list(paths)}

    def remove(self) -> JsonObject:
        return {"op": "remove", "kind": self.finding.component_kind, "id": self.id}


def close(word: str, known: Iterable[str], *, cutoff: float = 0.7) -> str | None:
    """The one of `known` that is most like a word; None where none is like it, or two are equally."""
    options = list(dict.fromkeys(known))
    found = difflib.get_close_matches(word, options, n=2, cutoff=cutoff)
    if not found:
        by_stem = [
            option for option in options if word and (option.endswith(f"_{word}") or word.endswith(f"_{option}"))
        ]
        return by_stem[0] if len(by_stem) == 1 else None
    ratios = [difflib.SequenceMatcher(None, option, word).ratio() for option in found]
    return None if len(ratios) > 1 and ratios[0] == ratios[1] else found[0]


def short(text: str) -> str:
    """A word as it stands on a button."""
    return text if len(text) <= _MAX_LABEL_WORD else f"{text[: _MAX_LABEL_WORD - 1]}…"


def free(wanted: str, taken: Collection[str]) -> str:
    """`wanted`, or with the first number that makes it free: `item_2`."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def is_proved(case: Case, mend: Mend) -> bool:
    """Whether a mend of a tool, a hook or the runtime settings settles the finding and adds no error to what it touches."""
    try:
        after = _after(case.spec, mend.edits)
    except (EditProblem, ValueError):
        return False
    kind = case.finding.component_kind
    before, now = _judged(case, case.spec), _judged(case, after)
    if case.finding in before and case.finding in now:
        return False
    errors, errors_now = (Counter(item.code for item in found if item.severity == "error") for found in (before, now))
    own, own_now = (sum(item.code == case.finding.code for item in found) for found in (before, now))
    return errors_now <= errors and (own_now < own or kind == "runtime")


def _judged(case: Case, spec: HarnessSpec) -> tuple[Finding, ...]:
    """What validation finds in the component (and in what depends on it) in a version of the harness."""
    kind, key = case.finding.component_kind, f"{case.finding.component_kind}:{case.id}"
    if spec is case.spec and key in case.cache:
        found: tuple[Finding, ...] = case.cache[key]
        return found
    if kind == "tool":
        tool = spec.tool(case.id)
        alone = HarnessSpec(tools=(tool,) if tool else ())
        checked = [item for item in check_tools(alone, case.catalogue) if item.component_kind == "tool"]
        found = (*checked, *check_examples(spec, case.catalogue))
    elif kind in ("hook", "runtime"):
        found = (*check_hooks(spec, case.catalogue), *check_loops(spec))
    else:
        found = tuple(check_examples(spec, case.catalogue))
    if spec is case.spec:
        case.cache[key] = found
    return found


def _after(spec: HarnessSpec, edits: Iterable[JsonObject]) -> HarnessSpec:
    """The harness after edits of single components: only what is edited is read again."""
    for edit in edits:
        kind = edit["kind"]
        if kind == "runtime":
            document: JsonObject = {"runtime": spec.runtime.model_dump(mode="json")}
            perform(document, edit)
            spec = spec.model_copy(update={"runtime": RuntimeSettings.model_validate(document["runtime"])})
            continue
        field_name = KIND_FIELDS[kind]
        held = getattr(spec, field_name)
        index = next(index for index, item in enumerate(held) if item.id == edit["id"])
        document = {field_name: [held[index].model_dump(mode="json")]}
        perform(document, edit)
        changed = tuple(type(held[index]).model_validate(item) for item in document[field_name])
        spec = spec.model_copy(update={field_name: (*held[:index], *changed, *held[index + 1 :])})
    return spec
