"""What cells and expressions come to, in a form that can be compared: shared by tests of several folders."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hastega_magic.compiler.loops import cached_loops
from hastega_magic.session import Options, Session


def outcome(run: Callable[[], object]) -> object:
    """What it gives, sets and dicts in an order that tells them apart; or an exception's type and text."""
    try:
        return sequence(run())
    except Exception as error:
        return "raised", type(error), str(error)


def evaluated(setting: str, text: str) -> object:
    """What Python alone makes of the expression, behind the statements of the setting."""
    names: dict[str, Any] = {}
    exec(setting, names)
    return eval(text, names)


def sequence(value: object) -> object:
    """Sets and dicts in an order that tells them apart; else the value itself."""
    if isinstance(value, dict):
        return list(value.items())
    return sorted(value) if isinstance(value, set) else value


def written(run: Callable[[], object]) -> object:
    """The type of what it gives and its text, an array's of its elements; or an exception's type and text."""
    try:
        found = run()
    except Exception as error:
        return type(error), str(error)
    if isinstance(found, np.ndarray):
        return found.dtype.str, repr(found.tolist())
    return type(found), repr(found)


def compiled() -> int:
    """How many bodies of loops there are: what was compiled since the fixture `nothing_compiled`."""
    return sum(len(loop.bodies) for loop in cached_loops())


def value_on(cell: str, on: str, names: Mapping[str, object]) -> object:
    """What a back end makes of an expression over these variables."""
    session = Session(dict(names), Options(on=on, threads=2, baseline=False, quiet=True))
    session.run_cell(f"t = {cell}")
    return session.namespace["t"]


def assigned(
    text: str, names: Mapping[str, object], **options: Any
) -> tuple[dict[str, object], tuple[str | None, list[str]], dict[str, Any]]:
    """What a cell assigns to y, z, w and m, what it raises and warns of, and the report's first pipeline."""
    session = Session(dict(names))
    error = None
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            session.run_cell(text, options=Options(**{"baseline": False, **options}))
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised} {getattr(raised, '__notes__', [])}"
    made = {name: session.namespace.get(name) for name in "yzwm" if name not in names}
    return made, (error, [str(each.message) for each in told]), session.last_report.to_dict()["pipelines"][0]
