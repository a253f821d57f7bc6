"""A calculator for expressions that a model writes: parsed and walked, never evaluated as code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from fractions import Fraction

from livestream.arguments import OperationFailed

_ALLOWED = frozenset("0123456789+-*/(). ")
_BINARY: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def calculate(expression: str) -> int | float:
    """The value, computed exactly and rounded to two decimals.

    Raises OperationFailed (`invalid_argument`) for anything but numbers, + - * / and parentheses, and for a division by zero.
    """
    if not set(expression) <= _ALLOWED:
        raise _refusal("Invalid characters in the expression; use digits, + - * / ( ) and a decimal point.")
    try:
        rounded = round(_value(ast.parse(expression.strip(), mode="eval").body), 2)
        return int(rounded) if rounded.denominator == 1 else float(rounded)
    except ZeroDivisionError as error:
        raise _refusal("The expression divides by zero.") from error
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise _refusal("The expression is not complete or not valid.") from error


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left), _value(node.right))
    raise _refusal("Only numbers, + - * / and parentheses can be calculated.")


def _refusal(message: str) -> OperationFailed:
    return OperationFailed("invalid_argument", message, "expression")
