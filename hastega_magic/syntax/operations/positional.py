"""What Python's own functions take by name, put where they take it by place.

round(x, ndigits=2)    `round` of `x` and 2
complex(imag=x)        `complex` of 0 and `x`
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping, Sequence
from dataclasses import field

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import const
from hastega_magic.records import dataclass
from hastega_magic.syntax.values.values import NONE, Symbolic


@dataclass(frozen=True)
class _Places:
    """The names of a function's parameters, "" for one that has none; `by_place`: how many are taken without one."""

    function: object
    names: tuple[str, ...]
    by_place: int
    defaults: Mapping[str, Symbolic] = field(default_factory=dict[str, Symbolic])


_FUNCTIONS = (
    _Places(builtins.pow, ("base", "exp", "mod"), 3, {"mod": NONE}),
    _Places(builtins.round, ("number", "ndigits"), 2, {"ndigits": NONE}),
    _Places(builtins.complex, ("real", "imag"), 2, {"real": const(0)}),
    _Places(builtins.sum, ("", "start"), 2),
    _Places(math.prod, ("", "start"), 1),
)


def in_places(
    function: object, name: str, args: Sequence[Symbolic], kwargs: Mapping[str, Symbolic]
) -> tuple[Sequence[Symbolic], Mapping[str, Symbolic]]:
    """The arguments with none by name, where the function has places for them; else as they are.

    NotCompilable where Python takes by name alone what is given by its place.
    """
    known = next((each for each in _FUNCTIONS if each.function is function), None)
    if known is None:
        return args, kwargs
    if len(args) > known.by_place:
        most = f"{known.by_place} argument{'s' * (known.by_place != 1)}"
        raise NotCompilable(f"`{name}` takes {most} by place, {len(args)} given")
    found, left = list(args), dict(kwargs)
    for each in known.names[len(args) :]:
        if not left:
            break
        value = left.pop(each, known.defaults.get(each))
        if value is None:
            return args, kwargs
        found.append(value)
    return (args, kwargs) if left else (found, {})


__all__ = ["in_places"]
