"""The table of stage names: what each takes, and what it does in a sentence. A new stage is a new row."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """One stage name.

    parameters  names of its positional arguments, in order; the first `required` must be given
    variadic    any number more may follow
    keywords    argument names that may be given by name only
    function    position of the argument that is a function, in which `_` stands for the element
    sink        it ends the pipeline: what follows is applied to its value
    """

    name: str
    kind: str
    doc: str
    parameters: tuple[str, ...] = ()
    required: int = 0
    variadic: bool = False
    keywords: tuple[str, ...] = ()
    function: int | None = None
    sink: bool = False

    @property
    def usage(self) -> str:
        """How it is written, as in `enumerate(start=...)`."""
        shown = [name if i < self.required else f"{name}=..." for i, name in enumerate(self.parameters)]
        shown += ["..."] if self.variadic else []
        shown += [f"{name}=..." for name in self.keywords]
        return f"{self.name}({', '.join(shown)})" if shown else self.name

    def complaint(self, positional: int, keywords: Iterable[str]) -> str | None:
        """What is wrong with this many arguments and these names, in a sentence; None: nothing."""
        given = set(self.parameters[:positional])
        if positional > len(self.parameters) and not self.variadic:
            most = len(self.parameters)
            takes = f"at most {most}" if self.required < most else most or "no"
            return f"{self.name} takes {takes} argument{'s' * (most != 1)}, {positional} given: {self.usage}"
        for keyword in keywords:
            if keyword in given:
                return f"{self.name} got the argument {keyword!r} twice: {self.usage}"
            if keyword not in self.parameters and keyword not in self.keywords:
                return f"{self.name} has no argument {keyword!r}: {self.usage}"
            given.add(keyword)
        missing = [name for name in self.parameters[: self.required] if name not in given]
        return f"{self.name} needs {' and '.join(map(repr, missing))}: {self.usage}" if missing else None

    def bind(self, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, object]:
        """The arguments by name, those beyond the named ones as "rest"; TypeError where they do not fit."""
        complaint = self.complaint(len(args), kwargs)
        if complaint:
            raise TypeError(complaint)
        named = dict(zip(self.parameters, args, strict=False))
        return {**named, **kwargs, "rest": tuple(args[len(self.parameters) :])}


def _sink(name: str, doc: str, *keywords: str, parameters: tuple[str, ...] = ()) -> Stage:
    return Stage(name, "sink", doc, parameters, keywords=keywords, sink=True)


_ROWS = (
    Stage("map", "element", "f of each element", ("f",), 1, function=0),
    Stage("filter", "element", "the elements for which f holds", ("f",), 1, function=0),
    Stage("zip", "element", "tuples of the elements side by side, as many as the shortest has",
          ("other",), 1, variadic=True),
    Stage("enumerate", "element", "pairs of a running number and the element", ("start",)),
    Stage("take", "order", "the first n elements", ("n",), 1),
    Stage("drop", "order", "all but the first n elements", ("n",), 1),
    Stage("tap", "observation", "f of each element is called, and the elements go on", ("f",), 1, function=0),
    Stage("reduce", "sink", "f of the value so far and each element", ("f", "init"), 1, function=0,
          sink=True),
    _sink("sum", "the sum", parameters=("start",)),
    _sink("prod", "the product", "start"),
    _sink("min", "the smallest element", "key", "default"),
    _sink("max", "the largest element", "key", "default"),
    _sink("count", "how many elements there are"),
    _sink("mean", "the arithmetic mean"),
    _sink("any", "whether some element is true"),
    _sink("all", "whether all elements are true"),
    _sink("to_list", "a Python list"),
)  # fmt: skip

STAGES: dict[str, Stage] = {row.name: row for row in _ROWS}
"""All stages, by name."""


def function_argument(row: Stage, call: ast.Call) -> ast.expr | None:
    """The expression of the call that is the stage's function; None where it is not written as such."""
    if row.function is None:
        return None
    if len(call.args) > row.function:
        found = call.args[row.function]
        return None if any(isinstance(arg, ast.Starred) for arg in call.args[: row.function + 1]) else found
    name = row.parameters[row.function]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def suggest(name: str, others: Iterable[str] = ()) -> str | None:
    """The stage name (or one of `others`) that is spelled most like this one; None: there is nothing near."""
    names = [*STAGES, *others]
    swapped = [other for other in names if sorted(other) == sorted(name)]
    near = swapped or difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return near[0] if near and near[0] != name else None
