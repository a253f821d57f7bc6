"""Which version last changed each component of a harness."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.kinds import KIND_FIELDS, Kind

ComponentKey = tuple[Kind, str]
"""A kind and an id; the runtime settings are ("runtime", "runtime")."""


@dataclass(frozen=True)
class Blame:
    """`numbers`: the version that made each component of the newest version what it is, in the order of the format.

    `undecided`: components that were the same in every version looked at, so that an older one may have changed them last.
    """

    numbers: Mapping[ComponentKey, int]
    undecided: frozenset[ComponentKey] = field(default_factory=frozenset)


def blame(versions: Iterable[tuple[int, JsonObject]], *, is_complete: bool = True) -> Blame:
    """Walk documents of versions from the newest back, only as far as needed.

    With `is_complete` the oldest one given is the first of all: what it holds unchanged came with it. Order of keys and of
    components is no change of a component. Raises ValueError where there is no version.
    """
    walk = iter(versions)
    first = next(walk, None)
    if first is None:
        raise ValueError("Blame needs at least one version.")
    newest = dict(_components(first[1]))
    numbers = dict.fromkeys(newest, first[0])
    open_keys = set(newest)
    for number, document in walk:
        held = dict(_components(document))
        open_keys = {key for key in open_keys if held.get(key) == newest[key]}
        if not open_keys:
            break
        numbers.update(dict.fromkeys(open_keys, number))
    return Blame(numbers, frozenset() if is_complete else frozenset(open_keys))


def _components(document: JsonObject) -> Iterator[tuple[ComponentKey, str]]:
    for kind, name in KIND_FIELDS.items():
        for component in document.get(name, ()):
            yield (kind, component["id"]), json.dumps(component, sort_keys=True)
    yield ("runtime", "runtime"), json.dumps(document.get("runtime"), sort_keys=True)
