"""One change to a sound harness for each finding of validation: code, severity, component, field, change."""

from __future__ import annotations

from harnesses.core.validation import Severity
from tests.harnesses.validation_world import (
    TEXT,
    WHOLE,
    Change,
    a_map,
    add_hook,
    add_parameter,
    all_of,
    argument,
    body,
    case,
    check,
    example,
    example_call,
    put,
    rewrite,
    runtime,
    schema_of,
    shown,
    switched,
    tool,
    when,
)

E, W, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
ON_DEMAND = {"disclosure": "on_demand"}
TWO_SIZES = [{"operation": "S", "surface": "small"}, {"operation": "M", "surface": "medium"}]

CASES: list[tuple[str, Severity, str, str | None, str, Change]] = [
    # names and texts
    ("duplicate_id", E, "tool", "price", "id", lambda d: d["tools"][1].update(id="price")),
    ("duplicate_id", E, "example", "first", "id", lambda d: d["examples"].append(d["examples"][0])),
    ("duplicate_name", E, "tool", "show", "name", lambda d: d["tools"][1].update(name="get_price")),
    ("duplicate_name", W, "hook", "h", "name", add_hook("Stop", check("forbid", "x"), name="polite")),
    ("twin_name", E, "tool", "show", "name", lambda d: d["tools"][1].update(name="Get_Price")),
    ("illegal_name", E, "tool", "price", "name", put(tool, name="查价")),
    ("illegal_name", E, "tool", "price", "name", put(tool, name="a" * 65)),
    ("illegal_name", E, "tool", "price", "name", put(tool, name="get_price\n")),
    ("illegal_name", E, "skill", "fit", "name", put(lambda d: d["skills"][0], name="Size--Advice")),
    ("illegal_name", E, "runtime", None, "skill_tool_name", runtime(skill_tool_name="load skill")),
    ("reserved_name", E, "tool", "price", "name", put(tool, name="tool_call")),
    ("reserved_name", E, "tool", "price", "name", put(tool, name="CALL")),
    ("reserved_name", E, "skill", "fit", "name", put(lambda d: d["skills"][0], name="result")),
    ("skill_tool_name_taken", W, "tool", "price", "name", put(tool, name="load_skill")),
    ("skill_tool_name_taken", E, "tool", "price", "name", all_of(put(tool, name="load_skill"), runtime(**ON_DEMAND))),
    ("skill_tool_name_taken", E, "skill", "fit", "name", runtime(skill_tool_name="size-advice")),
    ("skill_named_like_tool", W, "skill", "fit", "name", lambda d: d["tools"][1].update(name="size-advice")),
    ("skill_description_empty", E, "skill", "fit", "description", put(lambda d: d["skills"][0], description=" ")),
    ("skill_description_long", E, "skill", "fit", "description", put(lambda d: d["skills"][0], description="x" * 1025)),
    ("empty_text", E, "prompt", "rules", "body", body("  ")),
    ("empty_text", W, "prompt", "rules", "title", put(lambda d: d["prompt"][0], title="")),
    ("empty_text", E, "skill", "fit", "body", put(lambda d: d["skills"][0], body="")),
    ("empty_text", W, "tool", "price", "description", put(tool, description="")),
    ("empty_text", E, "hook", "h", "action.reason", add_hook("PreToolUse", {"type": "deny", "reason": ""})),
    ("empty_text", E, "hook", "h", "action.phrases[0]", add_hook("Stop", check("require", ""))),
    ("empty_text", E, "example", "first", "reply", example(reply="")),
    ("empty_text", E, "runtime", None, "fallback_reply", runtime(fallback_reply="")),
    (
        "duplicate_title", W, "prompt", "two", "title",
        lambda d: d["prompt"].append({"id": "two", "title": "RULES", "body": "x"}),
    ),
    # schemas
    ("schema_invalid", E, "tool", "price", "input_schema", put(tool, input_schema={"type": "objet"})),
    ("schema_invalid", E, "tool", "price", "input_schema", add_parameter("x", {"type": "string", "pattern": "("})),
    ("schema_invalid", E, "tool", "price", "output_schema", put(tool, output_schema={"type": 3})),
    ("schema_not_object", E, "tool", "price", "input_schema", put(tool, input_schema={"type": "array"})),
    ("schema_not_object", E, "tool", "price", "input_schema", put(tool, input_schema={})),
    ("schema_remote_ref", E, "tool", "price", "input_schema", add_parameter("x", {"$ref": "https://example.org/x"})),
    ("schema_dangling_ref", E, "tool", "price", "input_schema", add_parameter("x", {"$ref": "#/$defs/no"})),
    ("schema_endless", E, "tool", "price", "input_schema", put(tool, input_schema={"type": "object", "$ref": "#"})),
    ("parameter_order_unknown", E, "tool", "price", "parameter_order[0]", put(tool, parameter_order=["nope"])),
    ("parameter_order_repeats", E, "tool", "price", "parameter_order[1]", put(tool, parameter_order=["sku", "sku"])),
    ("required_unknown", E, "tool", "price", "input_schema.required", put(schema_of, required=["sku", "nope"])),
    # bindings
    ("unbound_tool", W, "tool", "price", "binding", all_of(put(tool, binding=None), lambda d: d.update(examples=[]))),
    ("unreached_operation", INFO, "harness", None, "tools", lambda d: d["tools"].pop(1)),
    ("unused_parameter", W, "tool", "price", "input_schema.mood", add_parameter("mood", TEXT)),
    ("unknown_operation", E, "tool", "price", "binding.cases[0].operation", put(case, operation="price.guess")),
    (
        "unknown_operation_argument", E, "tool", "price", "binding.cases[0].arguments[0].argument",
        put(argument, argument="id"),
    ),
    ("unknown_operation_argument", E, "tool", "price", "binding.cases[0].constants.x", put(case, constants={"x": 1})),
    (
        "argument_supplied_twice", E, "tool", "price", "binding.cases[0].arguments[0].argument",
        put(case, constants={"item_id": "a"}),
    ),
    ("missing_operation_argument", E, "tool", "price", "binding.cases[0]", lambda d: case(d)["arguments"].pop(0)),
    ("unknown_path", E, "tool", "price", "binding.cases[0].arguments[0].path", put(argument, path="item")),
    ("unknown_path", E, "tool", "price", "binding.ignored[0]", put(lambda d: tool(d)["binding"], ignored=["x"])),
    ("paths_overlap", E, "tool", "price", "binding.cases[0]", a_map("since", "sku")),
    ("optional_feeds_required", E, "tool", "price", "input_schema.sku", put(schema_of, required=[])),
    ("switch_missing", E, "tool", "price", "binding.switch", switched(switch=None)),
    ("switch_missing", W, "tool", "price", "binding.switch", put(case, when="x")),
    ("unknown_path", E, "tool", "price", "binding.switch", switched(switch="what")),
    (
        "switch_value_missing", E, "tool", "price", "binding.cases[0].when",
        all_of(switched(), lambda d: case(d).update(when=None)),
    ),
    (
        "switch_value_repeats", E, "tool", "price", "binding.cases[1].when",
        all_of(switched(), lambda d: tool(d)["binding"]["cases"][1].update(when="price")),
    ),
    (
        "switch_value_mismatch", E, "tool", "price", "binding.cases[0].when",
        all_of(switched(), lambda d: case(d).update(when="cost")),
    ),
    (
        "switch_value_mismatch", E, "tool", "price", "input_schema.do.enum",
        all_of(switched(), lambda d: tool(d)["binding"]["cases"].pop(1)),
    ),
    ("switch_optional", W, "tool", "price", "input_schema.do", all_of(switched(), put(schema_of, required=[]))),
    (
        "surface_constant_mismatch", E, "tool", "price", "binding.surface_constants[0].value",
        all_of(
            add_parameter("ok", {"type": "boolean"}, is_required=True),
            lambda d: tool(d)["binding"].update(surface_constants=[{"path": "ok", "value": 1}]),
        ),
    ),
    (
        "surface_constant_optional", W, "tool", "price", "input_schema.ok",
        all_of(
            add_parameter("ok", {"type": "boolean"}),
            lambda d: tool(d)["binding"].update(surface_constants=[{"path": "ok", "value": True}]),
        ),
    ),
    ("constant_mismatch", E, "tool", "price", "binding.cases[0].constants.count", put(case, constants={"count": "3"})),
    # values
    (
        "recode_not_one_to_one", E, "tool", "price", "binding.cases[0].arguments[1].recode[2].operation",
        put(lambda d: argument(d, 1), recode=[*TWO_SIZES, {"operation": "S", "surface": "large"}]),
    ),
    (
        "recode_not_single", E, "tool", "price", "binding.cases[0].arguments[1].recode[0].surface",
        put(lambda d: argument(d, 1), recode=[{"operation": "S", "surface": ["small"]}]),
    ),
    (
        "recode_surface_mismatch", E, "tool", "price", "binding.cases[0].arguments[1].recode[0].surface",
        put(lambda d: argument(d, 1), recode=[{"operation": "S", "surface": "tiny"}, TWO_SIZES[1]]),
    ),
    (
        "recode_surface_mismatch", E, "tool", "price", "binding.cases[0].arguments[1].recode",
        put(lambda d: argument(d, 1), recode=TWO_SIZES[:1]),
    ),
    (
        "recode_operation_mismatch", E, "tool", "price", "binding.cases[0].arguments[1].recode[0].operation",
        put(lambda d: argument(d, 1), recode=[{"operation": "XS", "surface": "small"}, TWO_SIZES[1]]),
    ),
    (
        "recode_incomplete", W, "tool", "price", "binding.cases[0].arguments[1].recode",
        put(lambda d: argument(d, 1), recode=TWO_SIZES[:1]),
    ),
    (
        "recode_and_conversion", E, "tool", "price", "binding.cases[0].arguments[1]",
        put(lambda d: argument(d, 1), conversion={"kind": "text"}),
    ),
    (
        "conversion_mismatch", E, "tool", "price", "binding.cases[0].arguments[2].conversion",
        all_of(add_parameter("n", TEXT), a_map("count", "n", conversion={"kind": "scale", "factor": "2"})),
    ),
    (
        "type_mismatch", E, "tool", "price", "binding.cases[0].arguments[2]",
        all_of(add_parameter("n", TEXT), a_map("count", "n")),
    ),
    (
        "value_refused", E, "tool", "price", "binding.cases[0].arguments[1]",
        put(lambda d: argument(d, 1), recode=[]),
    ),
    (
        "default_mismatch", E, "tool", "price", "binding.cases[0].arguments[2].default",
        all_of(add_parameter("n", WHOLE), a_map("count", "n", default="many")),
    ),
    (
        "default_mismatch", E, "tool", "price", "binding.cases[0].arguments[2].default",
        all_of(add_parameter("at", WHOLE), a_map("since", "at", default="today", conversion={"kind": "epoch"})),
    ),
    # results
    (
        "result_field_repeats", E, "tool", "price", "binding.cases[0].result.fields[1]",
        shown({"path": "name"}, {"path": "name"}),
    ),
    ("unknown_result_field", E, "tool", "price", "binding.cases[0].result.fields[0].path", shown({"path": "cost"})),
    (
        "unknown_result_field", E, "tool", "price", "binding.cases[0].result.fields[0].path",
        shown({"path": ["rows", "x"]}),
    ),
    ("result_name_clash", E, "tool", "price", "binding.cases[0].result", shown({"path": "name", "name": "price_fen"})),
    ("empty_text", E, "tool", "price", "binding.cases[0].result.wrap[0]", shown(wrap=[" "])),
    ("empty_text", E, "tool", "price", "binding.cases[0].result.fields[0].name", shown({"path": "name", "name": ""})),
    (
        "conversion_mismatch", E, "tool", "price", "binding.cases[0].result.fields[0].conversion",
        shown({"path": ["rows", "code"], "conversion": {"kind": "scale", "factor": "2"}}),
    ),
    (
        "recode_not_one_to_one", E, "tool", "price", "binding.cases[0].result.fields[0].recode[1].surface",
        shown({"path": "name", "recode": [{"operation": "a", "surface": 1}, {"operation": "b", "surface": 1}]}),
    ),
    # skills and runtime
    (
        "unknown_tool_id", E, "skill", "fit", "allowed_tools[0]",
        put(lambda d: d["skills"][0], allowed_tools=["get_price"]),
    ),
    ("unreachable_skill", E, "skill", "fit", "", runtime(**ON_DEMAND, max_tool_rounds=0)),
    ("unreachable_skill", E, "skill", "fit", "", all_of(put(tool, name="load_skill"), runtime(**ON_DEMAND))),
    (
        "unreachable_skill", E, "skill", "fit", "",
        all_of(put(lambda d: d["skills"][0], description=""), runtime(**ON_DEMAND)),
    ),
    ("tools_shut_out", W, "runtime", None, "max_tool_rounds", runtime(max_tool_rounds=0)),
    # hooks
    ("unknown_tool_id", E, "hook", "h", "matcher[0]", add_hook("PreToolUse", rewrite(item_id="a"), matcher=["x"])),
    ("matcher_unused", W, "hook", "h", "matcher", add_hook("Stop", check("forbid", "x"), matcher=["price"])),
    ("action_not_allowed", E, "hook", "h", "action.type", add_hook("SessionStart", {"type": "deny", "reason": "No."})),
    ("action_not_allowed", E, "hook", "h", "action.type", add_hook("PreToolUse", check("forbid", "x"))),
    ("action_not_allowed", E, "hook", "h", "action.type", add_hook("PostToolUse", rewrite(item_id="a"))),
    (
        "action_not_allowed", E, "hook", "h", "action.type",
        add_hook("PreToolUse", {"type": "replace_output", "drop": ["name"]}),
    ),
    (
        "slot_not_allowed", E, "hook", "h", "action.slot",
        add_hook("Stop", {"type": "add_context", "text": "x", "slot": "tool_result_suffix"}),
    ),
    ("revise_without_message", E, "hook", "h", "action.message", add_hook("Stop", check("forbid", "x", then="revise"))),
    (
        "revise_never", W, "hook", "h", "action.on_violation",
        all_of(add_hook("Stop", check("forbid", "x", then="revise", message="m")), runtime(max_revisions=0)),
    ),
    (
        "replace_without_replacement", E, "hook", "h", "action.replacement",
        add_hook("Stop", check("forbid", "x", then="replace")),
    ),
    (
        "condition_field_unavailable", E, "hook", "h", "when[0].field",
        when("UserPromptSubmit", field="reply", op="exists"),
    ),
    (
        "condition_field_unavailable", E, "hook", "h", "when[0].field",
        when("PreToolUse", field="result", op="exists", path="name"),
    ),
    ("condition_path_missing", E, "hook", "h", "when[0].path", when("PreToolUse", field="argument", op="exists")),
    ("condition_path_unused", E, "hook", "h", "when[0].path", when("Stop", field="reply", op="exists", path="x")),
    (
        "condition_unknown_field", E, "hook", "h", "when[0].path",
        when("PreToolUse", field="argument", op="exists", path="sku"),
    ),
    (
        "condition_unknown_field", E, "hook", "h", "when[0].path",
        when("PostToolUse", field="result", op="exists", path="cost"),
    ),
    (
        "condition_unknown_field", E, "hook", "h", "when[0].path",
        when("Stop", field="context", op="exists", path="weather"),
    ),
    ("condition_values", E, "hook", "h", "when[0].values", when("Stop", field="reply", op="exists", values=["x"])),
    ("condition_values", E, "hook", "h", "when[0].values", when("Stop", field="reply", op="contains_any", values=[])),
    ("condition_values", E, "hook", "h", "when[0].values", when("Stop", field="reply", op="contains_any", values=[""])),
    ("condition_values", E, "hook", "h", "when[0].values", when("Stop", field="reply", op="above", values=[True])),
    ("condition_values", E, "hook", "h", "when[0].values", when("Stop", field="reply", op="equals_any")),
    ("empty_action", E, "hook", "h", "action.set", add_hook("PreToolUse", rewrite())),
    ("empty_action", E, "hook", "h", "action.set", add_hook("PostToolUse", {"type": "replace_output"})),
    ("rewrite_unknown_argument", E, "hook", "h", "action.set.sku", add_hook("PreToolUse", rewrite(sku="a"))),
    ("rewrite_unknown_argument", E, "hook", "h", "action.set.count", add_hook("PreToolUse", rewrite(count=1))),
    (
        "rewrite_mismatch", E, "hook", "h", "action.set.count",
        add_hook("PreToolUse", rewrite(count="1"), matcher=["price"]),
    ),
    (
        "replace_unknown_field", E, "hook", "h", "action.set.cost",
        add_hook("PostToolUse", {"type": "replace_output", "set": {"cost": 1}}),
    ),
    (
        "replace_unknown_field", E, "hook", "h", "action.drop[0]",
        add_hook("PostToolUse", {"type": "replace_output", "drop": ["cost"]}),
    ),
    # hooks against one another
    (
        "hooks_contradict", E, "hook", "h", "action.phrases",
        add_hook("Stop", check("require", "Damn it", then="revise", message="m")),
    ),
    (
        "hooks_contradict", W, "hook", "h", "action.phrases",
        add_hook(
            "Stop", check("require", "damn"), when=[{"field": "comment", "op": "contains_any", "values": ["price"]}]
        ),
    ),
    (
        "replacement_violates_rule", E, "hook", "h", "action.replacement",
        add_hook("Stop", check("forbid", "x", then="replace", replacement="Damn.")),
    ),
    (
        "replacement_violates_rule", E, "hook", "h", "action.replacement",
        add_hook("Stop", check("require", "thanks", then="replace", replacement="Bye.")),
    ),
    ("fallback_violates_rule", E, "hook", "polite", "action.phrases", runtime(fallback_reply="Damn, try again.")),
    (
        "rewrites_undo", E, "hook", "b", "action.set.item_id",
        all_of(
            add_hook("PreToolUse", rewrite(item_id="a"), "a"),
            add_hook("PreToolUse", rewrite(item_id="b"), "b"),
        ),
    ),
    (
        "rewrites_undo", E, "hook", "b", "action.set.item_id",
        all_of(
            add_hook("PreToolUse", rewrite(item_id="a"), "a"),
            add_hook(
                "PreToolUse", rewrite(item_id="b"), "b",
                when=[{"field": "argument", "path": "item_id", "op": "equals_any", "values": ["a"]}],
            ),
        ),
    ),
    (
        "rewrites_undo", W, "hook", "b", "action.set.item_id",
        all_of(
            add_hook("PreToolUse", rewrite(item_id="a"), "a"),
            add_hook(
                "PreToolUse", rewrite(item_id="b"), "b",
                when=[{"field": "comment", "op": "contains_any", "values": ["scarf"]}],
            ),
        ),
    ),
    # examples
    ("unknown_operation", E, "example", "first", "calls[0].operation", example_call(operation="price.guess")),
    ("example_argument_mismatch", E, "example", "first", "calls[0].arguments", example_call(arguments={"item_id": 3})),
    ("example_result_mismatch", E, "example", "first", "calls[0].result", example_call(result={"price_fen": "5"})),
    ("example_unreachable", E, "example", "first", "calls[0]", example_call(arguments={"item_id": "a", "count": 1})),
    # templates and mentions
    ("template_unknown_variable", E, "prompt", "rules", "body", body("{{ weather }}")),
    ("template_unknown_tool", E, "skill", "fit", "body", put(lambda d: d["skills"][0], body='{{ tool("get_price") }}')),
    (
        "template_syntax", E, "hook", "h", "action.message",
        add_hook("Stop", check("forbid", "x", then="revise", message="{{")),
    ),
    ("stale_mention", W, "prompt", "rules", "body", body("First call fetch_price, then answer.")),
    ("stale_mention", W, "prompt", "rules", "body", body("Load `sizing-help` before you answer.")),
    ("stale_mention", W, "prompt", "rules", "body", body("Call `fetchPrice()`.")),
    ("stale_mention", W, "prompt", "rules", "body", body("The answer holds price_fen.")),
    (
        "stale_mention", W, "tool", "show", "description",
        lambda d: d["tools"][1].update(description="Like fetch_price."),
    ),
    ("stale_mention", W, "example", "first", "reply", example(reply="I asked fetch_price.")),
    ("name_by_hand", INFO, "prompt", "rules", "body", body("First call get_price, then answer.")),
    ("name_by_hand", INFO, "prompt", "rules", "body", body("Load `size-advice`.")),
]  # fmt: skip
