"""Functions with loops of their own as Python text that looks at each integer: the first that leaves 64 bits.

    while n < k: n = n * n + 1      →      while v4:
                                               v5 = v3*v3
                                               if not -M <= v5 < M: return v5
                                               ...

What the user's function gives tells of its result alone, and the interpreter takes a hundred times as long.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from hastega_magic.compiler.python.nodes import of_params, roots
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.expr import UNROUNDED, Expr, flatten
from hastega_magic.ir.interpreter import SCALAR, apply, first_beyond
from hastega_magic.ir.loop import iteration, operands
from hastega_magic.ir.pipeline import Fn
from hastega_magic.types import INT

_Names = ChainMap[Expr, str]
"""How the text calls what is known; branches and turns have a map of their own in front."""

_LONGEST = 20_000
"""Lines; a node that several branches need may stand in each of them."""

_INFIX = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%"}
_TESTS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


class _TooLong(Exception):
    """The text would be."""


def instrumented(fn: Fn, around: Callable[[Expr], object]) -> Callable[[Any], int | None]:
    """Gives for an element the first integer on the way that no int64 holds; None also where something is raised.

    `around`: the values of leaves that are no parameters. Functions with thousands of branches are interpreted.
    """
    try:
        found = _Text(around).function(fn)
    except _TooLong:
        found = partial(_interpreted, fn, around)

    def first(value: Any) -> int | None:
        try:
            with np.errstate(all="ignore"):
                return found(*of_params(fn.params, value))
        except Exception as error:  # Python, which gives a value or raises itself, is right
            reraise_signal(error)
            return None

    return first


class _Text:
    """The lines so far, and what they read."""

    def __init__(self, around: Callable[[Expr], object]) -> None:
        self._around = around
        self._lines: list[str] = []
        self._values: dict[str, object] = {}
        self._results: dict[Expr, list[str]] = {}
        self._quiet = False
        self._count = 0

    def function(self, fn: Fn) -> Callable[..., int | None]:
        """The function of the numbers of an element."""
        params = {node: self._name() for node in flatten(fn.params)}
        self._compute(roots(fn), ChainMap({}, params), " ")
        text = "\n".join([f"def looked_at({', '.join(params.values())}):", *self._lines, " return None"])
        try:
            code = compile(text, "<hastega integers>", "exec", dont_inherit=True)
        except SyntaxError:  # more blocks within each other than Python takes
            raise _TooLong from None
        exec(code, self._values)
        made: Any = self._values["looked_at"]
        return made

    def _name(self, value: object = None) -> str:
        self._count += 1
        name = f"v{self._count}"
        if value is not None:
            self._values[name] = value
        return name

    def _line(self, indent: str, line: str) -> None:
        self._lines.append(indent + line)
        if len(self._lines) > _LONGEST:
            raise _TooLong

    def _compute(self, wanted: Iterable[Expr], known: _Names, indent: str) -> None:
        """Lines for the nodes, operands first; of a choice the branches as they are taken."""
        stack = list(reversed(list(wanted)))
        while stack:
            node = stack[-1]
            if node in known:
                stack.pop()
                continue
            first = _first(node)
            missing = [each for each in first if each not in known]
            if node.op == "select" and not missing:
                shared = self._always(node.args[1], known) & self._always(node.args[2], known)
                missing = list(shared - {node})
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            known[node] = self._node(node, known, indent)

    def _always(self, root: Expr, known: Mapping[Expr, str]) -> set[Expr]:
        """The unknown nodes that the root needs whichever branches are taken."""
        found, pending = set[Expr](), [root]
        while pending:
            node = pending.pop()
            if node not in known and node not in found:
                found.add(node)
                pending += _first(node)
        return found

    def _node(self, node: Expr, known: _Names, indent: str) -> str:
        """The name of the node, behind the lines that compute it."""
        if not node.args:
            found = node.value if node.op == "const" else self._around(node)
            return self._name(found if node.op == "table" else SCALAR[node.type](found))
        if node.op == "turns":
            return self._turns(node, known, indent)
        name = self._name()
        if node.op == "select":
            condition, *branches = node.args
            for word, branch in zip((f"if {known[condition]}:", "else:"), branches, strict=True):
                self._line(indent, word)
                inside = known.new_child()
                self._compute([branch], inside, indent + " ")
                self._line(indent, f" {name} = {inside[branch]}")
            return name
        if node.op == "result":
            assert isinstance(node.value, int)
            name = self._results[node.args[0]][node.value]
        else:
            self._line(indent, f"{name} = {self._value(node, known)}")
        self._look(node, name, indent)
        return name

    def _value(self, node: Expr, known: _Names) -> str:
        exact = node.op in UNROUNDED
        args = [known[each.args[0] if exact and each.op == "exact_float" else each] for each in node.args]
        whole = all(each.type is INT for each in node.args)
        if whole and (sign := (_INFIX if node.type is INT else _TESTS).get(node.op)):
            return sign.join(args)
        called = self._name(partial(_applied, node.op, SCALAR[node.type]))
        return f"{called}({', '.join(args)})"

    def _look(self, node: Expr, name: str, indent: str) -> None:
        if node.type is INT and not self._quiet:
            self._line(indent, f"if not {-1 << 63} <= {name} < {1 << 63}: return {name}")

    def _turns(self, loop: Expr, known: _Names, indent: str) -> str:
        """The turns, and the parts of the state under names of their own."""
        body, (starts, outside) = iteration(loop), operands(loop)
        state = [self._name() for _ in body.state]
        for name, start in zip(state, starts, strict=True):
            self._line(indent, f"{name} = {known[start]}")
        self._line(indent, f"while {state[0]}:")
        inside = known.new_child(dict(zip(body.state, state, strict=True)))
        inside.update({leaf: known[each] for leaf, each in zip(body.outer, outside, strict=True)})
        before, self._quiet = self._quiet, self._quiet or body.inner
        for condition, node in body.effects:
            self._effect(condition, node, inside, indent + " ")
        self._compute(body.step, inside, indent + " ")
        self._quiet = before
        self._line(indent, f" {', '.join(state)}, = {', '.join(inside[each] for each in body.step)},")
        self._results[loop] = state
        return "False"

    def _effect(self, condition: Expr | None, node: Expr, known: _Names, indent: str) -> None:
        if condition is None:
            self._compute([node], known, indent)
            return
        self._compute([condition], known, indent)
        self._line(indent, f"if {known[condition]}:")
        self._compute([node], known.new_child(), indent + " ")
        self._line(indent, " pass")


def _interpreted(fn: Fn, around: Callable[[Expr], object], *values: Any) -> int | None:
    known = dict(zip(flatten(fn.params), values, strict=True))
    return first_beyond(roots(fn), lambda node: known[node] if node in known else around(node))


def _first(node: Expr) -> Sequence[Expr]:
    """What is computed before it in any case."""
    return node.args[:1] if node.op == "select" else node.args


def _applied(op: str, scalar: Callable[[Any], object], *args: Any) -> object:
    return scalar(apply(op, args))


__all__ = ["instrumented"]
