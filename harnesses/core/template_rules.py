"""The white list over a parsed template: which parts of Jinja's language a harness may use.

Everything that is not named here is refused, so a new Jinja feature is off until someone allows it. What is allowed has no way
to define, assign, import, recurse or multiply, and loops only over a declared list, one level deep: rendering always ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from jinja2 import nodes

MAX_DEPTH: Final = 40
FILTER_NAMES: Final = ("lower", "upper", "title", "trim", "join", "default", "length", "round")

_STRUCTURE: Final = (nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.Keyword, nodes.Pair)
_EXPRESSIONS: Final = (
    nodes.Const, nodes.List, nodes.Tuple, nodes.Dict, nodes.Neg, nodes.Not, nodes.And, nodes.Or,
    nodes.Compare, nodes.Operand, nodes.CondExpr, nodes.Concat,
)  # fmt: skip
_LITERALS: Final = (nodes.Const, nodes.List, nodes.Dict, nodes.Pair, nodes.Neg)


@dataclass(frozen=True)
class TemplateProblem:
    """One thing wrong with a template: a stable code, what was found, and what to do."""

    code: str
    message: str
    mend: str


def fits_depth(tree: nodes.Template) -> bool:
    """Whether the tree is shallow enough to be walked and compiled recursively."""
    level: list[nodes.Node] = [tree]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in node.iter_child_nodes()]
        if not level:
            return True
    return False


def find_problems(
    tree: nodes.Template,
    *,
    fields: Mapping[str, frozenset[str]],
    lists: frozenset[str],
    functions: Mapping[str, str],
    loop_fields: frozenset[str],
) -> tuple[TemplateProblem, ...]:
    """Everything in the tree that is not allowed.

    `fields`: the declared names and the fields of each; `lists`: which of them are lists; `functions`: name → how to write it.
    """
    checker = _Checker(fields, lists, functions, loop_fields)
    return tuple(dict.fromkeys(checker.walk(tree, {})))


Scope = Mapping[str, frozenset[str]]
"""Loop variables in sight, with the fields of each."""


@dataclass(frozen=True)
class _Checker:
    fields: Mapping[str, frozenset[str]]
    lists: frozenset[str]
    functions: Mapping[str, str]
    loop_fields: frozenset[str]

    def walk(self, node: nodes.Node, scope: Scope) -> Iterator[TemplateProblem]:
        if isinstance(node, nodes.For):
            yield from self._for(node, scope)
        elif isinstance(node, nodes.Call):
            yield from self._call(node)
        elif isinstance(node, nodes.Filter):
            yield from self._filter(node, scope)
        elif isinstance(node, nodes.Getattr | nodes.Getitem):
            yield from self._access(node, scope)
        elif isinstance(node, nodes.Name):
            yield from self._name(node, scope)
        elif isinstance(node, _STRUCTURE + _EXPRESSIONS):
            yield from self._children(node, scope)
        else:
            yield _not_allowed(f"{_spelled(node)} is not allowed in a template", node)

    def _children(self, node: nodes.Node, scope: Scope) -> Iterator[TemplateProblem]:
        for child in node.iter_child_nodes():
            yield from self.walk(child, scope)

    def _for(self, node: nodes.For, scope: Scope) -> Iterator[TemplateProblem]:
        if scope:
            yield _not_allowed("A loop inside a loop is not allowed", node)
            return
        if not isinstance(node.iter, nodes.Name) or node.iter.name not in self.lists:
            yield _not_allowed(f"A loop may only go over {_listed(self.lists)}", node)
            return
        if node.recursive or not isinstance(node.target, nodes.Name):
            yield _not_allowed("A loop needs one plain variable and may not be recursive", node)
            return
        target = node.target.name
        if target in self.fields or target in self.functions or target == "loop":
            yield _not_allowed(f'The loop variable "{target}" hides a name that means something else; rename it', node)
            return
        inner = {target: self.fields[node.iter.name], "loop": self.loop_fields}
        for child in (*node.body, *((node.test,) if node.test else ())):
            yield from self.walk(child, inner)
        for child in node.else_:
            yield from self.walk(child, scope)

    def _name(self, node: nodes.Name, scope: Scope) -> Iterator[TemplateProblem]:
        if node.ctx != "load":
            yield _not_allowed("Assigning is not allowed in a template", node)
        elif node.name in self.functions:
            yield TemplateProblem(
                "template_bad_call",
                f"{node.name} is a function and needs an id (line {node.lineno}).",
                f"Write {self.functions[node.name]}.",
            )
        elif node.name not in self.fields and node.name not in scope:
            yield TemplateProblem(
                "template_unknown_variable",
                f'There is no variable "{node.name}" (line {node.lineno}).',
                f"Use one of: {', '.join(sorted({*self.fields, *scope}))}.",
            )

    def _access(self, node: nodes.Getattr | nodes.Getitem, scope: Scope) -> Iterator[TemplateProblem]:
        base = node.node
        key: Any = node.attr if isinstance(node, nodes.Getattr) else _constant(node.arg)
        if isinstance(base, nodes.Getitem) and isinstance(base.node, nodes.Name) and base.node.name in self.lists:
            if not isinstance(_constant(base.arg), int):
                yield _not_allowed("A list is opened by a number, such as items[0]", node)
                return
            owner, allowed = base.node.name, self.fields[base.node.name]
        elif isinstance(base, nodes.Name):
            problems = tuple(self._name(base, scope))
            yield from problems
            if problems or (base.name in self.lists and isinstance(key, int)):
                return
            owner = base.name
            allowed = scope.get(owner) or (frozenset() if owner in self.lists else self.fields.get(owner, frozenset()))
        else:
            yield _not_allowed("Only the fields of declared variables can be opened", node)
            return
        if key not in allowed:
            shown = f'"{key}"' if isinstance(key, str) else "what is in the brackets"
            wanted = f"Use one of: {', '.join(sorted(allowed))}." if allowed else "Loop over it, or open it by number."
            yield TemplateProblem(
                "template_unknown_variable", f'"{owner}" has no field {shown} (line {node.lineno}).', wanted
            )

    def _filter(self, node: nodes.Filter, scope: Scope) -> Iterator[TemplateProblem]:
        if node.node is None or node.name not in FILTER_NAMES or node.dyn_args or node.dyn_kwargs:
            yield TemplateProblem(
                "template_not_allowed",
                f'The filter "{node.name}" is not allowed (line {node.lineno}).',
                f"Use one of: {', '.join(FILTER_NAMES)}.",
            )
            return
        values = [*node.args, *(item.value for item in node.kwargs)]
        if not all(isinstance(value, nodes.Const) for value in values):
            yield _not_allowed(f'The filter "{node.name}" takes constants only', node)
        if node.name == "round" and (len(values) > 1 or any(_constant(v) not in range(11) for v in values)):
            yield _not_allowed("round takes one number of digits, 0 to 10", node)
        yield from self.walk(node.node, scope)

    def _call(self, node: nodes.Call) -> Iterator[TemplateProblem]:
        name = node.node.name if isinstance(node.node, nodes.Name) else None
        if name is None or name not in self.functions:
            yield _not_allowed(f"Only {', '.join(self.functions)} can be called", node)
            return
        values = [*node.args, *(item.value for item in node.kwargs)]
        if (
            node.dyn_args
            or node.dyn_kwargs
            or not node.args
            or not all(_is_literal(value) for value in values)
            or not isinstance(_constant(node.args[0]), str)
        ):
            yield TemplateProblem(
                "template_bad_call",
                f"{name}() takes an id in quotes and constants (line {node.lineno}).",
                f"Write {self.functions[name]}.",
            )


def _is_literal(node: nodes.Node) -> bool:
    return isinstance(node, _LITERALS) and all(_is_literal(child) for child in node.iter_child_nodes())


def _constant(node: nodes.Node) -> Any:
    if isinstance(node, nodes.Neg) and isinstance(node.node, nodes.Const) and isinstance(node.node.value, int):
        return -node.node.value
    return node.value if isinstance(node, nodes.Const) else None


def _listed(names: frozenset[str]) -> str:
    return " or ".join(f'"{name}"' for name in sorted(names))


def _spelled(node: nodes.Node) -> str:
    name = type(node).__name__
    words = {
        "Assign": "set", "AssignBlock": "set", "CallBlock": "call block", "FilterBlock": "filter block", "Test": "is",
        "FromImport": "import", "Import": "import", "Slice": "a slice", "ScopedEvalContextModifier": "autoescape",
    }  # fmt: skip
    return f'"{words.get(name, name.lower())}"'


def _not_allowed(message: str, node: nodes.Node) -> TemplateProblem:
    return TemplateProblem(
        "template_not_allowed",
        f"{message} (line {node.lineno}).",
        "Templates know output, if, for over a declared list, comparisons, a few filters, and tool(), skill(), param(), call().",
    )
