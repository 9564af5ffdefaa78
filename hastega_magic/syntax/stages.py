"""The table of stage names: what each takes, and what it does in a sentence. A new stage is a new row."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hastega_magic.records import dataclass


@dataclass(frozen=True)
class Stage:
    """One stage name.

    parameters  names of its positional arguments, in order; the first `required` must be given
    variadic    any number more may follow
    keywords    argument names that may be given by name only
    numbers     names of arguments that a loop may be given from outside, where they keep changing
    functions   positions of the arguments that may be functions, in which `_` stands for the element; so may a `key`
    sink        it ends the pipeline: what follows is applied to its value
    """

    name: str
    kind: str
    doc: str
    parameters: tuple[str, ...] = ()
    required: int = 0
    variadic: bool = False
    keywords: tuple[str, ...] = ()
    functions: tuple[int, ...] = ()
    sink: bool = False
    numbers: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """How it is written, as in `enumerate(start=...)`."""
        shown = [name if i < self.required else f"{name}=..." for i, name in enumerate(self.parameters)]
        shown += ["..."] if self.variadic else []
        shown += [f"{name}=..." for name in self.keywords]
        return f"{self.name}({', '.join(shown)})" if shown else self.name

    @property
    def help(self) -> str:
        """What it takes and does, for who asks."""
        return f"{self.usage}\n\nA stage ({self.kind}): {self.doc}."

    def complaint(self, positional: int, keywords: Iterable[str]) -> str | None:
        """What is wrong with this many arguments and these names, in a sentence; None: nothing."""
        given = set(self.parameters[:positional])
        if positional > len(self.parameters) and not self.variadic:
            most = len(self.parameters)
            if not most and self.keywords:
                plural = "its arguments" if len(self.keywords) > 1 else "its argument"
                return f"{self.name} takes {plural} by name alone: {self.usage}"
            takes = f"at most {most}" if self.required < most else most or "no"
            return f"{self.name} takes {takes} argument{'s' * (most != 1)}, {positional} given: {self.usage}"
        for keyword in keywords:
            if keyword in given:
                return f"{self.name} got the argument {keyword!r} twice: {self.usage}"
            if keyword not in self.parameters and keyword not in self.keywords:
                near = difflib.get_close_matches(keyword, (*self.parameters, *self.keywords), n=1)
                meant = f" (did you mean {near[0]!r}?)" if near else ""
                meant = " (a comparison is written `==`)" if keyword == "_" else meant
                return f"{self.name} has no argument {keyword!r}{meant}: {self.usage}"
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


def _sink(
    name: str, doc: str, *keywords: str, parameters: tuple[str, ...] = (), numbers: tuple[str, ...] = ()
) -> Stage:
    return Stage(name, "sink", doc, parameters, keywords=keywords, sink=True, numbers=numbers)


_ROWS = (
    Stage("map", "element", "f of each element", ("f",), 1, functions=(0,)),
    Stage("filter", "element", "the elements for which f holds", ("f",), 1, functions=(0,)),
    Stage("zip", "element", "tuples of the elements side by side, as many as the shortest has; `strict=True`: "
          "ValueError where one has more", ("other",), 1, variadic=True, keywords=("strict",)),
    Stage("enumerate", "element", "pairs of a running number and the element", ("start",),
          numbers=("start",)),
    Stage("astype", "element", "each element as a dtype: int, float, bool or one of NumPy's; OverflowError for an "
          "integer that it does not hold", ("dtype",), 1),
    Stage("clip", "element", "each element, or the bound that it lies beyond; None is no bound, and of two "
          "that cross `hi` holds", ("lo", "hi"), 2,
          numbers=("lo", "hi")),
    Stage("where", "element", "the elements for which f holds; for the others `other`, a value or a function of "
          "the element", ("f", "other"), 2, functions=(0, 1), numbers=("other",)),
    Stage("take", "order", "the first n elements", ("n",), 1),
    Stage("drop", "order", "all but the first n elements", ("n",), 1),
    Stage("take_while", "order", "the elements before the first for which f does not hold", ("f",), 1,
          functions=(0,)),
    Stage("drop_while", "order", "the elements from the first for which f does not hold", ("f",), 1,
          functions=(0,)),
    Stage("reverse", "order", "the elements from the last to the first"),
    Stage("step", "order", "the first element, and every n-th after it", ("n",), 1),
    Stage("window", "neighbours", "tuples of n neighbours, one for each place where there are as many", ("n",), 1),
    Stage("chunk", "neighbours", "tuples of n elements, one after the other; the last may be shorter", ("n",), 1),
    Stage("scan", "running", "every value on the way of f of the value so far and each element; without init the "
          "first element is the first value", ("f", "init"), 1, functions=(0,), numbers=("init",)),
    Stage("cumsum", "running", "the sum of the elements so far, at each of them"),
    Stage("tap", "observation", "f is called once, with all elements so far as one value, and that value goes on",
          ("f",), 1, functions=(0,)),
    Stage("reduce", "sink", "f of the value so far and each element", ("f", "init"), 1, functions=(0,),
          sink=True, numbers=("init",)),
    _sink("sum", "the sum", parameters=("start",), numbers=("start",)),
    _sink("prod", "the product", "start", numbers=("start",)),
    _sink("min", "the smallest element", "key", "default"),
    _sink("max", "the largest element", "key", "default"),
    _sink("count", "how many elements there are"),
    _sink("mean", "the arithmetic mean"),
    _sink("var", "the mean square deviation from the mean, over the number of elements less ddof", "ddof"),
    _sink("std", "the square root of var", "ddof"),
    _sink("any", "whether some element is true"),
    _sink("all", "whether all elements are true"),
    _sink("argmin", "the number of the first smallest element"),
    _sink("argmax", "the number of the first largest element"),
    _sink("first", "the first element", "default"),
    _sink("last", "the last element", "default"),
    Stage("dot", "sink", "the sum of the products with the elements of another sequence of as many",
          ("other",), 1, sink=True),
    _sink("bincount", "an array of how often each of the numbers 0, 1, ... occurs", "minlength"),
    _sink("to_list", "a Python list"),
)  # fmt: skip

STAGES: dict[str, Stage] = {row.name: row for row in _ROWS}
"""All stages, by name."""

ONE_BY_ONE = frozenset({"map", "filter", "clip", "where"})
"""Stages that make one element or none of each, whichever come before it and behind it."""


_KEYS = frozenset({"key"})
"""Arguments by name alone that are functions."""


def function_arguments(row: Stage, call: ast.Call) -> list[ast.expr]:
    """The expressions of the call that may be functions of the stage, as far as they are written as such."""
    plain = next((i for i, arg in enumerate(call.args) if isinstance(arg, ast.Starred)), len(call.args))
    names = {*(row.parameters[position] for position in row.functions), *_KEYS.intersection(row.keywords)}
    found = [call.args[position] for position in row.functions if position < plain]
    return found + [keyword.value for keyword in call.keywords if keyword.arg in names]


def function_argument(row: Stage, call: ast.Call) -> ast.expr | None:
    """The expression of the call that has to be a function; None where it is not written as such."""
    found = function_arguments(replace(row, functions=row.functions[:1]), call)
    return found[0] if found else None


def no_stage(name: str) -> str:
    """Why Python calls what a pipeline names. Of Python's own functions `reversed` alone is near to a stage's name."""
    near = None if "." in name else suggest(name)  # what a module has is meant
    meant = (
        f" (did you mean {near}?)" if near and (not hasattr(builtins, name) or name.startswith(near)) else ""
    )
    return f"`{name}` is no stage: Python calls it on the value so far{meant}"


def suggest(name: str, others: Iterable[str] = ()) -> str | None:
    """The stage name (or one of `others`) that is spelled most like this one; None: there is nothing near."""
    names = [*STAGES, *others]
    alike = [other for other in names if other.casefold() == name.casefold()]
    alike = alike or [other for other in names if sorted(other) == sorted(name)]
    near = alike or difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.6)
    return near[0] if near and near[0] != name else None
