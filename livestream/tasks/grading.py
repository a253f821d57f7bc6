"""Grade a turn: a Trace and its task in, points by component and a reason for each point lost out. Deterministic, no model asked.

Everything is compared on the canonical side (operations, ids, minor units), so names and shapes of a harness play no part. The
score is 1 only where every component is full; the partial credit is for looking closer and for reward shaping.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from harnesses.core.jsonvalues import JsonObject
from harnesses.runtime.trace import CallRecord, StopReason, Trace
from livestream.tasks.evidence import Evidence, invented_names, promises
from livestream.tasks.facts import Fact, holds
from livestream.tasks.meaning import effect_of, meaning, same_arguments
from livestream.tasks.reading import Quantity, Reading
from livestream.tasks.task import Effect, GoldCall, Task

Component = Literal["operations", "arguments", "state", "facts", "truth"]
WEIGHTS: Final[dict[Component, float]] = {
    "operations": 0.25,
    "arguments": 0.25,
    "state": 0.15,
    "facts": 0.25,
    "truth": 0.1,
}
MAX_REPLY_CHARS: Final = 4_000
"""Nobody in a live stream reads more; a longer reply is no answer, and only this much of it is looked at."""
_PLAIN_UNITS: Final = frozenset({"", "percent", "measure"})
_INFRASTRUCTURE: Final = frozenset({StopReason.ENGINE_ERROR, StopReason.DEADLINE})


@dataclass(frozen=True, slots=True)
class Lost:
    """Why a component is not full: a stable code, and the matter in words."""

    component: Component
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Counters:
    """How the model kept to the form, apart from whether it was right.

    `parse_errors`: calls that could not be read. `format_errors`: calls read, but with a wrong name or wrong arguments.
    `repeated`: the very call made again. `refused`: calls that an operation or hook refused. `is_skill_loaded`: None where no
    skill applies.
    """

    calls: int
    parse_errors: int
    format_errors: int
    repeated: int
    refused: int
    needless: int
    revisions: int
    is_fallback: bool
    stop_reason: StopReason
    is_skill_loaded: bool | None


@dataclass(frozen=True, slots=True)
class Grade:
    """The result. `score` is 1 or 0; `partial` lies between. An infrastructure failure is no wrong answer: leave it out of
    accuracy."""

    task_id: str
    score: int
    partial: float
    components: dict[Component, float]
    lost: tuple[Lost, ...]
    counters: Counters
    is_infrastructure: bool


def grade(task: Task, trace: Trace) -> Grade:
    """Grade the turn. Never raises for anything a model can make of a turn."""
    reply = Reading(trace.reply[:MAX_REPLY_CHARS])
    made = [call for call in trace.calls if call.status == "ok" and call.effect in ("read", "write")]
    lost: list[Lost] = []
    operations, arguments, needless = _grade_calls(task, trace, made, lost)
    components: dict[Component, float] = {
        "operations": operations,
        "arguments": arguments,
        "state": _grade_state(task, trace, lost),
        "facts": _grade_facts(task, trace, reply, lost),
        "truth": _grade_truth(task, trace, made, reply, lost),
    }
    is_down = trace.stop_reason in _INFRASTRUCTURE or any(
        error.boundary == "platform" and error.code == "unavailable" for error in trace.errors
    )
    return Grade(
        task_id=task.id,
        score=int(not lost),
        partial=sum(WEIGHTS[name] * points for name, points in components.items()) if lost else 1.0,
        components=components,
        lost=tuple(lost),
        counters=_count(task, trace, needless),
        is_infrastructure=is_down,
    )


# --- calls -----------------------------------------------------------------------------------------------------------


def _grade_calls(task: Task, trace: Trace, made: Sequence[CallRecord], lost: list[Lost]) -> tuple[float, float, int]:
    """Points for operations and for arguments, and how many calls nobody asked for."""
    gold = [call for call in task.turn.calls if not call.is_optional]
    open_calls = [
        (call.operation, meaning(task.world, call.operation or "", call.operation_arguments or {})) for call in made
    ]
    names = Counter(operation for operation, _ in open_calls)
    right_names = right_arguments = 0
    for wanted in gold:
        if names[wanted.operation] > 0:
            names[wanted.operation] -= 1
            right_names += 1
        else:
            lost.append(Lost("operations", "missing_operation", f"{wanted.operation} was not called with success."))
        match = next((each for each in open_calls if _matches(task.world, wanted, *each)), None)
        if match is not None:
            open_calls.remove(match)
            right_arguments += 1
        else:
            lost.append(Lost("arguments", "wrong_arguments", f"No {wanted.operation} with {wanted.arguments}."))
    operations = right_names / len(gold) if gold else 1.0
    arguments = right_arguments / len(gold) if gold else 1.0
    if repeated := [error for error in trace.errors if error.code == "repeated_call"]:
        lost.append(Lost("operations", "called_twice", f"The same call was made again {len(repeated)} times."))
        operations = 0.0
    spare = [wanted for wanted in task.turn.calls if wanted.is_optional]
    needless = sum(1 for each in open_calls if not any(_matches(task.world, wanted, *each) for wanted in spare))
    return operations, arguments, needless


def _matches(world: str, wanted: GoldCall, operation: str | None, arguments: JsonObject) -> bool:
    if operation != wanted.operation:
        return False
    return any(
        same_arguments(meaning(world, wanted.operation, accepted), arguments, wanted.free)
        for accepted in (wanted.arguments, *wanted.also)
    )


# --- the room --------------------------------------------------------------------------------------------------------


def _grade_state(task: Task, trace: Trace, lost: list[Lost]) -> float:
    """Whether the writes leave the room as they must: each effect once, none besides."""
    if not trace.actions and not task.effects:
        return 1.0
    done = Counter(_key(effect_of(action.operation, action.arguments, action.result)) for action in trace.actions)
    wanted = Counter(_key(effect) for effect in task.effects)
    allowed = Counter(_key(effect) for effect in task.allowed_effects)
    before = len(lost)
    for key in (wanted - done).elements():
        lost.append(Lost("state", "missing_effect", f"{' '.join(key).strip()} was not done."))
    for key in (done - wanted - allowed).elements():
        lost.append(Lost("state", "unwanted_effect", f"{' '.join(key).strip()} was done and must not be."))
    return 1.0 if len(lost) == before else 0.0


def _key(effect: Effect) -> tuple[str, str, str]:
    return effect.operation, effect.subject, effect.audience


# --- the reply -------------------------------------------------------------------------------------------------------


def _grade_facts(task: Task, trace: Trace, reply: Reading, lost: list[Lost]) -> float:
    if trace.is_fallback:
        lost.append(Lost("facts", "fallback", f"The viewer got the fallback reply ({trace.stop_reason.value})."))
        return 0.0
    if len(trace.reply) > MAX_REPLY_CHARS:
        lost.append(Lost("facts", "too_long", f"The reply has {len(trace.reply):,} characters."))
        return 0.0
    missing = [fact for fact in task.required if not holds(fact, reply)]
    broken = [fact for fact in task.forbidden if holds(fact, reply)]
    lost += [Lost("facts", "missing_fact", f"The reply does not say {fact.told}.") for fact in missing]
    lost += [Lost("facts", "forbidden_fact", f"The reply says {fact.told}.") for fact in broken]
    if broken or not trace.reply.strip():
        return 0.0
    return 1 - len(missing) / len(task.required) if task.required else 1.0


def _grade_truth(task: Task, trace: Trace, made: Sequence[CallRecord], reply: Reading, lost: list[Lost]) -> float:
    """Whether everything the reply states was shown: by a result, the comment, the shelf or an earlier turn."""
    if trace.is_fallback:
        return 1.0
    before = len(lost)
    results = [call.operation_result for call in made]
    is_proven = len(made) >= sum(not call.is_optional for call in task.turn.calls) > 0
    doubtful = [
        each for each in reply.quantities if not (is_proven and any(_is_fact(each, fact) for fact in task.required))
    ]
    promised = list(promises(reply))
    texts = _known_texts(task)
    evidence: Evidence | None = None
    if doubtful or promised:
        evidence = Evidence(results, texts)
        for quantity in doubtful:
            if not evidence.shows(quantity):
                code = "invented_money" if quantity.unit == "money" else "invented_number"
                shown = reply.plain[quantity.start : quantity.end].strip()
                lost.append(Lost("truth", code, f'Nothing shows "{shown}".'))
        for name, pattern in promised:
            if not pattern.search(evidence.prose.plain):
                lost.append(Lost("truth", "promise", f"The reply promises {name}; no result does."))
    for code, what in _names(task, reply.raw, results, texts, evidence):
        lost.append(Lost("truth", code, f'Nothing shows "{what}".'))
    return 1.0 if len(lost) == before else 0.0


def _names(
    task: Task, reply: str, results: Sequence[JsonObject | None], texts: Sequence[str], evidence: Evidence | None
) -> list[tuple[str, str]]:
    """Invented ids, codes and coupons; looked for in the results only if the comment and the shelf do not explain them."""
    known = evidence.raw if evidence else "\n".join(texts)
    found = list(invented_names(task.world, reply, known))
    if found and evidence is None:
        found = list(invented_names(task.world, reply, Evidence(results, texts).raw))
    return found


def _is_fact(quantity: Quantity, fact: Fact) -> bool:
    if fact.kind in ("money", "prices"):
        if quantity.unit == "money":
            amounts = (
                (*fact.amounts, abs(fact.amounts[0] - fact.amounts[-1])) if fact.kind == "prices" else fact.amounts
            )
            return quantity.minor in amounts and quantity.currency == fact.currency
        return not quantity.unit and quantity.value * 100 in fact.amounts
    if fact.kind == "words":
        return quantity.unit in _PLAIN_UNITS and any(str(quantity.value) in phrase for phrase in fact.phrases)
    return fact.kind == "number" and quantity.value == fact.amounts[0] and quantity.unit in (fact.unit, "")


def _known_texts(task: Task) -> tuple[str, ...]:
    """Comments and replies so far, and the ids on the shelf."""
    said = [text for turn in task.history for text in (turn.comment, turn.reply)]
    return (*said, task.turn.comment, *task.room.shelf)


# --- counting --------------------------------------------------------------------------------------------------------


def _count(task: Task, trace: Trace, needless: int) -> Counters:
    codes = [error.code for error in trace.errors]
    invalid = sum(call.status == "invalid" for call in trace.calls)
    unreadable = codes.count("unreadable_call")
    repeated = codes.count("repeated_call")
    refused = sum(call.status in ("denied", "failed") for call in trace.calls) - repeated
    loaded = None if task.skill is None else task.skill in trace.conversation.loaded_skills
    asked_again = sum(call.finish_reason == "stop" for call in trace.model_calls)
    rounds = len({call.round for call in trace.calls})
    return Counters(
        calls=len(trace.calls),
        parse_errors=unreadable,
        format_errors=invalid - unreadable,
        repeated=repeated,
        refused=refused,
        needless=needless,
        revisions=max(0, asked_again - rounds - 1),
        is_fallback=trace.is_fallback,
        stop_reason=trace.stop_reason,
        is_skill_loaded=loaded,
    )
