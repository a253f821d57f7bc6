"""Mends of templates and of names written by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harnesses.core.editing.mentions import find_word, mention_pattern
from harnesses.core.editing.texts import is_within, placeholder_spans, text_fields
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.kinds import KIND_FIELDS, Kind
from harnesses.core.mends.basis import Case, Mend, close, short
from harnesses.core.spec import HarnessSpec
from harnesses.core.templates import CONTEXT_SCHEMA, check_template

_IN_QUOTES = re.compile(r'"([^"]+)"')


def _text(case: Case) -> str | None:
    """The text that the finding is about. A schema's description is named by its parameter, not by a path."""
    component = case.component()
    value = case.value() if component is not None and not case.finding.field.startswith("input_schema.") else None
    return value if isinstance(value, str) else None


def _rewritten(case: Case, text: str, label: str) -> Mend:
    return Mend(label, (case.put({case.finding.field: text}),))


# --- mentions ----------------------------------------------------------------------------------------------------------


def stale_mention(case: Case) -> Iterator[Mend]:
    """The present name of what was renamed since, in every text that still mentions the old one; else a name nearly the same."""
    word = _quoted(case.finding.message)
    if not word:
        return
    renamed = _renamed_since(case, word)
    if renamed is not None:
        kind, new = renamed
        count = len(find_word(case.spec, kind, word))
        label = f"Update {count} mention{'' if count == 1 else 's'} to {short(new)}"
        yield Mend(label, tuple(_follow(case.spec, word, new)))
        return
    names = {item.name: "tool" for item in case.spec.tools} | {item.name: "skill" for item in case.spec.skills}
    if match := close(word, names, cutoff=0.75):
        count = len(find_word(case.spec, "tool", word))
        label = f"Update {count} mention{'' if count == 1 else 's'} to {short(match)}"
        yield Mend(label, tuple(_follow(case.spec, word, match)))


def _quoted(message: str) -> str:
    match = _IN_QUOTES.match(message)
    return match.group(1) if match else ""


def _renamed_since(case: Case, word: str) -> tuple[Kind, str] | None:
    """Kind and present name of the component that had a name in the previous harness."""
    kinds: tuple[Kind, ...] = ("tool", "skill", "hook")
    for kind in kinds:
        held = getattr(case.previous, KIND_FIELDS[kind]) if case.previous is not None else ()
        before = next((item for item in held if item.name == word), None)
        now = [item for item in getattr(case.spec, KIND_FIELDS[kind]) if before is not None and item.id == before.id]
        if now and now[0].name != word:
            return kind, now[0].name
    return None


def _follow(spec: HarnessSpec, old: str, new: str) -> Iterator[JsonObject]:
    """Edits that write the new name wherever the old one is mentioned, field by field."""
    pattern = mention_pattern("tool", old)
    for field in text_fields(spec.document()):
        if field.is_name or not pattern.search(field.text):
            continue
        text = _outside_placeholders(pattern, field.text, new, is_template=field.is_template)
        if text != field.text:
            target = {"kind": field.kind, "id": field.component_id}
            yield {"op": "set", **target, "fields": {field.field: text}}


def _outside_placeholders(pattern: re.Pattern[str], text: str, new: str, *, is_template: bool) -> str:
    spans = placeholder_spans(text) if is_template else []
    return pattern.sub(lambda match: match[0] if is_within(spans, *match.span()) else new, text)


def name_by_hand(case: Case) -> Iterator[Mend]:
    """A name becomes a placeholder that follows a rename."""
    word, text = _quoted(case.finding.message[len("The name ") :]), _text(case)
    if text is None or not word:
        return
    placeholder = re.search(r"\{\{.*?\}\}", case.finding.mend)
    if placeholder is not None:
        pattern = re.compile(rf"(?<![\w./@-]){re.escape(word)}(?![\w/@-]|\.\w)")
        new = _outside_placeholders(pattern, text, placeholder[0], is_template=True)
        if new != text:
            yield _rewritten(case, new, f"Write {short(placeholder[0])}")


# --- templates ---------------------------------------------------------------------------------------------------------


def unknown_component(case: Case) -> Iterator[Mend]:
    """The id that was meant: that of the component of this name, or one nearly the same."""
    text, kind = _text(case), "skill" if case.finding.code.endswith("skill") else "tool"
    wanted = re.search(r'with the id "([^"]+)"', case.finding.message)
    if text is None or wanted is None:
        return
    held = case.spec.skills if kind == "skill" else case.spec.tools
    by_name = {item.name: item.id for item in held}
    match = by_name.get(wanted[1]) or close(wanted[1], [item.id for item in held])
    other = {item.name: item.id for item in (case.spec.tools if kind == "skill" else case.spec.skills)}
    if match:
        yield from _checked(case, _in_tags(text, f'"{wanted[1]}"', f'"{match}"'), f"Use {short(match)}")
    elif wanted[1] in other.values() and kind in ("tool", "skill"):
        swapped = "tool" if kind == "skill" else "skill"
        new = _in_tags(text, f'{kind}("{wanted[1]}")', f'{swapped}("{wanted[1]}")')
        yield from _checked(case, new, f"Write it as a {swapped}")


def unknown_argument(case: Case) -> Iterator[Mend]:
    text = _text(case)
    wanted = re.search(r'The tool "([^"]+)" takes no operation argument "([^"]+)"', case.finding.message)
    tool = case.spec.tool(wanted[1]) if wanted else None
    if text is None or wanted is None or tool is None or tool.binding is None:
        return
    known = {item.argument: item.argument for entry in tool.binding.cases for item in entry.arguments}
    by_path = {".".join(item.path): item.argument for entry in tool.binding.cases for item in entry.arguments}
    match = by_path.get(wanted[2]) or close(wanted[2], known)
    if match:
        yield from _checked(case, _in_tags(text, f'"{wanted[2]}"', f'"{match}"'), f"Use {short(match)}")


def unknown_variable(case: Case) -> Iterator[Mend]:
    """The declared variable or field that was meant."""
    text, message = _text(case), case.finding.message
    if text is None:
        return
    properties = CONTEXT_SCHEMA["properties"]
    if found := re.match(r'There is no variable "([^"]+)"', message):
        name = found[1]
        match = close(name, properties) or next((item for item in properties if name.startswith(f"{item}_")), None)
        field = name.removeprefix(f"{match}_") if match else ""
        if match and name != match and field in properties[match].get("properties", {}):
            match = f"{match}.{field}"
        if match:
            yield from _checked(case, _in_tags(text, name, match, is_word=True), f"Use {short(match)}")
    elif found := re.match(r'"([^"]+)" has no field "([^"]+)"', message):
        owner, name = found[1], found[2]
        schema = properties.get(owner, properties["items"])
        fields = schema.get("items", schema).get("properties", {})
        options = list(fields)
        match = close(name, options) or (options[0] if len(options) == 1 else None)
        if match:
            new = _in_tags(text, f"{owner}.{name}", f"{owner}.{match}", is_word=True)
            yield from _checked(case, new, f"Use {short(owner)}.{short(match)}")


def missing_value(case: Case) -> Iterator[Mend]:
    """What may be missing is asked for first: the tag stands only where there is an item on show."""
    text = _text(case)
    if text is not None and "no item on show" in case.finding.message:
        new = re.sub(r"\{\{\s*item\.\w+[^{}]*\}\}", lambda match: f"{{% if item %}}{match[0]}{{% endif %}}", text)
        yield from _checked(case, new, "Show it only with an item on show")


def _in_tags(text: str, old: str, new: str, *, is_word: bool = False) -> str:
    """`new` for `old` inside placeholders and tags only. Either quotes are read as double ones."""
    pattern = re.escape(old).replace('"', "[\"']")
    if is_word:
        pattern = rf"(?<![\w.\"']){pattern}(?![\w\"'])"
    pieces, position = [], 0
    for start, end in placeholder_spans(text, has_comments=False):
        pieces += [text[position:start], re.sub(pattern, lambda _: new, text[start:end])]
        position = end
    return "".join([*pieces, text[position:]])


def _checked(case: Case, new: str, label: str) -> Iterator[Mend]:
    """The mend, if the template then has no problem that it did not have before, and this one is gone."""
    text = _text(case)
    if text is None or new == text:
        return
    before = {(problem.code, problem.message) for problem in check_template(text, case.spec)}
    after = {(problem.code, problem.message) for problem in check_template(new, case.spec)}
    if (case.finding.code, case.finding.message) not in after and len(after) < len(before):
        yield _rewritten(case, new, label)
