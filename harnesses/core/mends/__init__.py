"""One-click mends: for a finding, the edits that settle it, wherever there is one edit that is safe.

A mend settles its finding, adds no error, and throws nothing away that somebody wrote and the harness still uses. Where several
things could be meant, or words have to be found, there is none: then the finding's own text says what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from harnesses.core.findings import Finding
from harnesses.core.mends import hooks, names, texts, tools, values
from harnesses.core.mends.basis import Case, Mend, is_proved
from harnesses.core.operations import OperationCatalogue
from harnesses.core.spec import HarnessSpec

__all__ = ["MENDABLE", "Mend", "mends"]

MAX_MENDS: Final = 100
_Mender = Callable[[Case], Iterator[Mend]]

_MENDERS: Final[Mapping[str, _Mender]] = {
    # ids, names, empty texts
    "duplicate_id": names.duplicate_id,
    "duplicate_name": names.taken_name,
    "twin_name": names.taken_name,
    "duplicate_title": names.same_title,
    "illegal_name": names.bad_name,
    "reserved_name": names.bad_name,
    "skill_named_like_tool": names.bad_name,
    "skill_tool_name_taken": names.loader_name,
    "empty_text": names.empty_text,
    # schemas and bindings
    "schema_not_object": tools.without_type,
    "parameter_order_unknown": tools.entry,
    "parameter_order_repeats": tools.entry,
    "required_unknown": tools.required_unknown,
    "unbound_tool": tools.unbound,
    "unreached_operation": tools.unreached,
    "unused_parameter": tools.unused,
    "unknown_path": tools.unknown_path,
    "unknown_operation": tools.unknown_operation,
    "unknown_operation_argument": tools.unknown_argument,
    "argument_supplied_twice": tools.supplied_twice,
    "missing_operation_argument": tools.missing_argument,
    "optional_feeds_required": tools.not_required,
    "switch_optional": tools.not_required,
    "surface_constant_optional": tools.not_required,
    "paths_overlap": tools.overlap,
    "switch_missing": tools.no_switch,
    "switch_value_missing": tools.switch_value,
    "switch_value_repeats": tools.switch_value,
    "switch_value_mismatch": tools.switch_value,
    # values
    "surface_constant_mismatch": values.fixed_value,
    "constant_mismatch": values.fixed_value,
    "default_mismatch": values.fixed_value,
    "recode_and_conversion": values.two_ways,
    "recode_not_single": values.recode_gap,
    "recode_not_one_to_one": values.pair,
    "recode_surface_mismatch": values.recode_gap,
    "recode_operation_mismatch": values.recode_gap,
    "recode_incomplete": values.recode_gap,
    "conversion_mismatch": values.conversion,
    "type_mismatch": values.other_type,
    "value_refused": values.refused,
    "result_field_repeats": tools.entry,
    "unknown_result_field": values.unknown_result,
    "result_name_clash": values.name_clash,
    "example_argument_mismatch": values.example_value,
    "example_result_mismatch": values.example_value,
    # skills, hooks, runtime
    "unknown_tool_id": hooks.unknown_tool,
    "unreachable_skill": hooks.unreachable,
    "tools_shut_out": hooks.allow_rounds,
    "matcher_unused": hooks.matcher_unused,
    "action_not_allowed": hooks.other_event,
    "slot_not_allowed": hooks.other_slot,
    "revise_without_message": hooks.revision_message,
    "revise_never": hooks.allow_revision,
    "replace_without_replacement": hooks.block_instead,
    "condition_path_unused": hooks.path_unused,
    "condition_unknown_field": hooks.condition_field,
    "condition_values": hooks.condition_values,
    "empty_action": hooks.without_effect,
    "rewrite_unknown_argument": hooks.rewritten_argument,
    "rewrite_mismatch": hooks.rewritten_value,
    "replace_unknown_field": hooks.replaced_field,
    # texts
    "stale_mention": texts.stale_mention,
    "name_by_hand": texts.name_by_hand,
    "template_unknown_tool": texts.unknown_component,
    "template_unknown_skill": texts.unknown_component,
    "template_unknown_argument": texts.unknown_argument,
    "template_unknown_variable": texts.unknown_variable,
    "template_missing_value": texts.missing_value,
}
MENDABLE: Final = frozenset(_MENDERS)
"""Codes of findings for which there can be a mend."""
_CHECKED_BY_NAME: Final = frozenset({
    "duplicate_id", "duplicate_name", "twin_name", "illegal_name", "reserved_name", "skill_tool_name_taken",
    "empty_text", "stale_mention", "name_by_hand", "unreached_operation", "revise_never", "tools_shut_out", "unbound_tool",
})  # fmt: skip
"""Codes whose mends are sound by construction, or are about more than the component alone."""


def mends(
    spec: HarnessSpec,
    findings: Sequence[Finding],
    catalogue: OperationCatalogue | None = None,
    previous: HarnessSpec | None = None,
) -> dict[int, Mend]:
    """A mend by the index of each finding that has one; looks at the first MAX_MENDS that may.

    `previous` is the harness that the edit started from: with it, a stale mention is known to be of what was renamed since.
    """
    found: dict[int, Mend] = {}
    cache: dict[str, object] = {}
    looked_at = 0
    for index, finding in enumerate(findings):
        mender = _MENDERS.get(finding.code)
        if mender is None or looked_at >= MAX_MENDS:
            continue
        looked_at += 1
        case = Case(spec, finding, catalogue or {}, previous, cache)
        mend = _first_sound(case, mender)
        if mend is not None:
            found[index] = mend
    return found


def _first_sound(case: Case, mender: _Mender) -> Mend | None:
    needs_proof = case.finding.component_kind in ("tool", "hook", "example") and not (
        case.finding.code in _CHECKED_BY_NAME or case.finding.code.startswith("template_")
    )
    for mend in mender(case):
        if not needs_proof or is_proved(case, mend):
            return mend
    return None
