"""Arguments of stages that are written as literals, and can be judged before anything runs."""

from __future__ import annotations

import ast
import difflib

import numpy as np

from hastega_magic.syntax.stages import STAGES

_LEAST = {"take": 0, "drop": 0, "step": 1, "window": 1, "chunk": 1}
"""The smallest number of elements, by stage."""

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
    "complex64", "complex128", "int", "float",
)  # fmt: skip


def wrong_literal(name: str, call: ast.Call) -> tuple[ast.expr, str] | None:
    """An argument that the stage of this name refuses, and why in a sentence; None where none is seen to be wrong."""
    row = STAGES[name]
    pairs = [
        *zip(row.parameters, call.args, strict=False),
        *((each.arg, each.value) for each in call.keywords),
    ]
    for parameter, node in pairs:
        known, value = _value(node)
        if not known:
            continue
        sentence = None
        if parameter == "n":
            sentence = wrong_count(name, value)
        elif (name, parameter) == ("astype", "dtype"):
            sentence = wrong_dtype(value)
        elif (name, parameter) == ("enumerate", "start") and not isinstance(value, int):
            sentence = f"enumerate counts from a whole number, not {value!r}"
        if sentence is not None:
            return node, sentence
    return None


def uncallable(node: ast.expr, text: str) -> str:
    """Why it can be no stage, where arithmetic on literals or on `_` shows that. `text`: as it is written."""
    operands, left = list[ast.expr](), [node]
    while left:  # a long sum goes deep on its left
        each = left.pop()
        if isinstance(each, ast.BinOp):
            left += [each.right, each.left]
        elif isinstance(each, ast.UnaryOp):
            left.append(each.operand)
        else:
            operands.append(each)
    if any(isinstance(each, ast.Name) and each.id == "_" and each is not node for each in operands):
        return f"`_` stands for the element where a stage takes a function: write `map({text})`"
    written = all(isinstance(each, _WRITTEN) for each in operands)
    return "a stage is a name or a call, as in `|> map(f)`" if written else ""


_WRITTEN = (ast.Constant, ast.JoinedStr, ast.Tuple, ast.List, ast.Dict, ast.Set)


def _value(node: ast.expr) -> tuple[bool, object]:
    """Whether it is a literal, and its value."""
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        value = node.operand.value
        return (True, -value) if isinstance(value, (int, float)) else (False, None)
    return (True, node.value) if isinstance(node, ast.Constant) else (False, None)


def wrong_count(name: str, value: object) -> str | None:
    """What is wrong with a number of elements."""
    least = _LEAST.get(name, 0)
    if type(value) is not int:
        return f"{name} takes a whole number of elements, not {value!r}"
    if value >= least:
        return None
    instead = {"take": f"reverse |> take({-value})", "drop": f"reverse |> drop({-value}) |> reverse"}.get(
        name
    )
    at_the_end = f"; at the end it is `{instead}`" if instead else ""
    return f"{name} takes a number of elements from {least} on, not {value}{at_the_end}"


def wrong_dtype(value: object) -> str | None:
    """What is wrong with the name of a dtype."""
    if not isinstance(value, str):
        return f"astype takes a type such as float or 'int32', not {value!r}"
    try:
        np.dtype(value)
    except TypeError:
        near = difflib.get_close_matches(value, DTYPES, n=1)
        return f"astype knows no type {value!r}" + (f": did you mean {near[0]!r}?" if near else "")
    return None
