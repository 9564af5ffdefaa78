"""Numbers that stages are given: constants, or parameters where they keep changing, as those that functions capture.

clip(k, 255)    with `k` another one in each run: `lo` is a parameter, `hi` is 255
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, cast

from hastega_magic.ir.expr import Expr
from hastega_magic.ops.convert import NUMPY_INTEGERS
from hastega_magic.syntax.closures.contained import Where, is_small, variable_of
from hastega_magic.syntax.closures.given import argument_of, given_by, is_partial, items_of
from hastega_magic.syntax.site import StageSite
from hastega_magic.syntax.stages import Stage
from hastega_magic.syntax.values.environment import Environment
from hastega_magic.syntax.values.values import opened
from hastega_magic.types import Complex


def with_parameters(
    site: StageSite, row: Stage, given: Mapping[str, Any], env: Environment
) -> Mapping[str, Any]:
    """A stage's arguments by name, with parameters in place of those numbers that keep changing."""
    if not getattr(env, "varying", ()):
        return given
    names = {*row.numbers, *(row.parameters[each] for each in row.functions)}
    if row.name in _BESIDE_ELEMENTS:
        names -= {name for name, value in given.items() if isinstance(value, NUMPY_INTEGERS)}
    return {
        name: _with_parameters(argument_of(site, name), value, cast(Any, env)) if name in names else value
        for name, value in given.items()
    }


_BESIDE_ELEMENTS = frozenset({"clip", "where"})
"""Stages that give the number itself: one of NumPy's integers does not count as Python's there."""


def _with_parameters(where: Where, value: Any, env: Any) -> Any:
    if is_partial(value):
        pairs = zip(items_of(where, value), given_by(value), strict=True)
        found = [_or_parameter(*pair, env) for pair in pairs]
        count = len(value.args)
        named = dict(zip(value.keywords, found[count:], strict=True))
        return functools.partial(value.func, *found[:count], **named)
    if type(value) is tuple and is_small(value) and where in map(variable_of, env.varying):
        return opened(env.parameter, where, cast("tuple[object, ...]", value), where[2])
    return _or_parameter(where, value, env)


def _or_parameter(where: Where, value: Any, env: Any) -> Any:
    found: Expr | Complex | None = env.parameter(where, value)
    return value if found is None else found


__all__ = ["with_parameters"]
