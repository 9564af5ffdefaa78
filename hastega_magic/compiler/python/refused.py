"""What a stage refused that was given something else than was meant: all elements at once, names, None.

Before: `TypeError: must be real number, not range`, of `xs |> math.sqrt`; after it:
`math.sqrt` is called once, with all elements: `map(math.sqrt)` calls it for each
"""

from __future__ import annotations

import functools
import itertools
import re
import traceback
from collections.abc import Sequence
from types import FunctionType
from typing import cast

from hastega_magic.compiler.statement import Bound
from hastega_magic.report.escape import quoted
from hastega_magic.runtime.columnar import names_alone
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.site import StageSite

_KINDS = r"(?:range|list|tuple|dict|set|numpy\.ndarray)"
_OF_ALL = re.compile(
    rf"'{_KINDS}' (?:and|object)|(?:and|:) '{_KINDS}'$|not '?{_KINDS}'?$|type {_KINDS} doesn't"
    "|truth value of an array|arrays can be converted to Python"
)
"""What Python says of a value that holds many where it was to be given one."""


def may_have_refused(stage: BoundStage, error: Exception) -> bool:
    """Whether the error is a callable's own: of its code, not of what it calls, or with its name."""
    if stage.callee is None:
        return False
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    name: object = getattr(stage.callee, "__name__", "")
    named = f"{name}()" in str(error) or str(error).startswith(f"{name} expected ")
    first = id(stage.callee) in _FUNCTION_FIRST and str(error).endswith("object is not iterable")
    return getattr(stage.callee, "__code__", None) is frame.f_code or named or first


_FUNCTION_FIRST = {
    id(functools.reduce): "reduce", id(map): "map", id(filter): "filter", id(itertools.starmap): "map",
    id(itertools.takewhile): "take_while", id(itertools.dropwhile): "drop_while",
}  # fmt: skip
"""Callables of Python's that take a function before what they go through, and the stages that are meant."""

_GIVEN = re.compile(r"(?<=\w)\(\s*_\s*(?:,\s*|(?=\)))")
"""The value so far, written as the first argument of a callable."""


def once(stage: BoundStage, error: Exception) -> str:
    """How a callable is called for each element, if one is what it takes; "" where something else is wrong."""
    said = str(error)
    if stage.args and isinstance(error, TypeError) and " argument" in said and _GIVEN.search(stage.site.text):
        # As in languages with a place for it; here `_` is IPython's last value.
        written = _GIVEN.sub("(", stage.site.text, count=1).removesuffix("()")
        return f"the value so far goes before the arguments by itself: write `{written}`"
    if stage.callee is None:
        return ""
    if isinstance(error, TypeError) and (meant := _FUNCTION_FIRST.get(id(stage.callee))) is not None:
        name, _, rest = stage.site.text.partition("(")
        written = f"{meant}({re.sub(r', *_ *[)]$', ')', rest)}" if rest else f"{meant}(...)"
        return f"`{name}` takes its function first, and is given the value so far there: write `{written}`"
    if not callable(stage.callee):
        source = ": a source stands before `|>`" if hasattr(stage.callee, "__iter__") else ""
        return f"{quoted(stage.site.text)} is no function, but of type {type(stage.callee).__name__}{source}"
    if not isinstance(error, (TypeError, ValueError)) or not _OF_ALL.search(said):
        return ""
    # `sorted` and `set` say that of their elements.
    of_elements = "supported between" in said or ("unhashable" in said and stage.callee is not hash)
    if of_elements and not isinstance(stage.callee, FunctionType):
        return ""
    name = each = stage.site.text
    if stage.args or stage.kwargs:
        name, _, rest = name.partition("(")
        each = f"{name}(_, {rest}"
    return f"`{name}` is called once, with all elements: `map({each})` calls it for each"


def of_names(stage: StageSite, error: Exception, bound: Bound) -> str:
    """What the source gives in place of what may be meant, if the stage is the first."""
    wrong = isinstance(error, (TypeError, AttributeError)) and stage == bound.site.stages[0]
    return names_alone(bound.source) if wrong else ""


_OF_OPERANDS = re.compile(r"operand type|not supported between|must be real number")
"""What Python says of operands, and not of what was to be called."""


_NUMBERS = frozenset({bool, int, float, complex})


def of_none(stage: BoundStage, before: Sequence[BoundStage], error: Exception, source: object) -> str:
    """What helps where an element is None: most often a function without `return` gave it.

    Not where what the stage itself was given may be None, or give it, as a key does.
    """
    said = str(error)
    if any(type(each) not in _NUMBERS for each in (*stage.args, *stage.kwargs.values())):
        return ""
    if not isinstance(error, TypeError) or "NoneType" not in said or not _OF_OPERANDS.search(said):
        return ""
    maps = [stage for stage in before if stage.callee is None and stage.site.name == "map"]
    if not maps:
        given = cast("Sequence[object]", source) if type(source) in (list, tuple) and not before else ()
        first = next((number for number, each in enumerate(given) if each is None), None)
        return "an element is None" if first is None else f"element {first} is None"
    return (
        f"an element is None: does the function of {quoted(maps[-1].site.text)} return a value in every case?"
    )


__all__ = ["may_have_refused", "of_names", "of_none", "once"]
