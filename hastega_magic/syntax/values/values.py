"""What expressions inside a function stand for while it is evaluated over graph nodes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.interval import INT64
from hastega_magic.ir.expr import Expr, Value, const, make, map_value
from hastega_magic.ops.convert import NUMPY_INTEGERS
from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.attributes import is_disguised
from hastega_magic.syntax.closures.captured_objects import is_owner
from hastega_magic.syntax.closures.contained import Number, Where, item_of, numbers_in, pairs
from hastega_magic.syntax.reading.functions import described
from hastega_magic.types import Complex, Composite, Either, is_redefined

T = TypeVar("T")

TRUE, FALSE = const(True), const(False)

BOOLS_BESIDE_NUMPY = (
    "what takes bools for ints, as `~`, `+` or an index, is left to Python beside NumPy's numbers, "
    "whose bools are none: write `not`, or `int(...)`"
)

TUPLES_BESIDE_NUMPY = (
    "a tuple is compared with a number, which is left to Python beside NumPy's numbers: they are compared with each "
    "item of it"
)
ERRORS_OF_NUMPY = "`numpy.seterr` asks for word of errors, which only NumPy gives"
HOLDS_NUMPYS = (
    "a list, tuple or dict that is read holds NumPy's scalars, of which Python makes NumPy's: arrays are compiled, "
    "and Python's numbers (`.item()`)"
)
ALL_PYTHONS = frozenset({BOOLS_BESIDE_NUMPY, TUPLES_BESIDE_NUMPY, ERRORS_OF_NUMPY, HOLDS_NUMPYS})
"""Reasons why stages before and behind are Python's too: an array of results does not tell that they are NumPy's."""


@dataclass(frozen=True, eq=False)
class Known:
    """A Python object that is no number, known while compiling: a function, a module, an array, None."""

    value: object
    name: str
    where: Where | None = None
    """Of an object that is looked at by its attributes where it is, as far as these may be parameters."""


@dataclass(frozen=True, eq=False)
class Nested:
    """A function that is defined inside the function being read: its tree, the frame around it, and its defaults."""

    node: ast.Lambda | ast.FunctionDef
    frame: object
    defaults: Mapping[str, Symbolic]


@dataclass(frozen=True, eq=False)
class Rule:
    """A function whose calls are compiled by a function over graph and arguments; `Known` holds it."""

    handler: Callable[[Any, Sequence[Symbolic]], Symbolic]


@dataclass(frozen=True, eq=False)
class Range:
    """A `range` of which the ends may depend on the element; `Known` holds it."""

    start: Expr
    stop: Expr
    step: int


@dataclass(frozen=True, eq=False)
class Sized:
    """A sequence of numbers of which the length may depend on the element; `Known` holds it."""

    length: Expr


class _Holder(Protocol):
    def held(self, key: str) -> tuple[Symbolic, ...]:
        """The items of a list now."""
        ...


@dataclass(eq=False)
class Listed:
    """A list that is built inside a function: what it holds stands in the store; `Known` holds it.

    `shared`: it is one of several lists, by a condition, or one of these; so it must not be changed.
    """

    store: _Holder
    key: str
    shared: bool = False

    @property
    def items(self) -> tuple[Symbolic, ...]:
        """What it holds now."""
        return self.store.held(self.key)


@dataclass(frozen=True, eq=False)
class CapturedItems:
    """What a captured list holds of which items are parameters: `Listed` has it, and it must not be changed."""

    items: tuple[Symbolic, ...]

    def held(self, key: str) -> tuple[Symbolic, ...]:
        """Its items."""
        del key
        return self.items


@dataclass(frozen=True, eq=False)
class Record:
    """A named tuple that is made here, of a class; `Known` holds it."""

    kind: type[Any]
    items: tuple[Symbolic, ...]


@dataclass(frozen=True, eq=False)
class Built:
    """A dict whose keys are constants, built inside a function, or of which items are parameters; `Known` holds it."""

    items: Mapping[Number, Symbolic]


@dataclass(frozen=True, eq=False)
class Poison:
    """A name that has no value that compiled code could use, and why; only reading it is an error.

    `early`: a turn of a loop reads it before the same turn assigns it, so that an earlier turn's value may be meant.
    """

    reason: str
    early: bool = False


class ReadTooEarly(NotCompilable):
    """A name is read that has no value before the first turn."""


@dataclass(frozen=True, eq=False)
class Partly:
    """A value of which only some elements have one, those where `present` holds.

    The others have None; or nothing, where `unbound`, so that Python raises if the name is read.
    """

    present: Expr
    value: Value
    unbound: bool
    name: str


Symbolic = Expr | Known | Poison | Partly | tuple["Symbolic", ...]
"""What an expression gives: a number's node, a known object, or a tuple of such. Names may hold a Poison."""

SHORT = 64
"""Items of a captured list that are constants of the code, as those of a tuple are."""

NONE = Known(None, "None")

_PLAIN = (bool, int, float, np.bool_, np.float64, np.float32)
_BITS = 8192
"""Of the largest captured int that is a constant: Python refuses to write out numbers of some thousand digits."""


def known(value: object, name: str) -> Symbolic:
    """A captured object: numbers are constants; subclasses of numbers may do as they like, and are not."""
    if is_disguised(value):
        raise NotCompilable(f"`{name}` is an object that is asked what it is, which runs code of its own")
    if isinstance(value, (Expr, Complex)):  # a parameter already
        return value
    if type(value) is int and value.bit_length() > _BITS:
        raise NotCompilable(f"`{name}` has more than {_BITS} bits")
    if type(value) in _PLAIN:
        return const(value)
    if type(value) in (complex, np.complex64):
        held = cast("complex | np.complex64", value)
        return Complex((const(held.real), const(held.imag)))
    if isinstance(value, NUMPY_INTEGERS):  # `arr.max()`: integers are Python integers here
        return const(int(cast("np.integer[Any]", value)))
    if is_redefined(value):
        raise NotCompilable(f"`{name}` is a {type(value).__name__}, a subclass with rules of its own")
    return Known(value, name)


def located(value: object, name: str, where: Where) -> Symbolic:
    """The same of what a variable holds, or an attribute of what it holds."""
    found = known(value, name)
    return Known(value, name, where) if isinstance(found, Known) and is_owner(value) else found


_OWN_TYPES: tuple[type, ...] = (np.float32, np.complex64)
"""NumPy's scalars that stay what they are in compiled code."""


_counted: ContextVar[bool] = ContextVar("_counted", default=False)


def counted(arrays: bool, do: Callable[[], T]) -> T:
    """What `do` gives: over elements of arrays, which count as Python's numbers, the items of captured lists do, too.

    No context: Ctrl-C as the end of one begins would leave it so for the pipelines of later cells.
    """
    before = _counted.get()
    try:
        _counted.set(arrays)
        return do()
    finally:
        _counted.set(before)


def known_item(value: object, name: str) -> Symbolic:
    """The same of what a captured list, tuple or dict holds: items are of the types that Python finds there."""
    if issubclass(type(value), np.generic) and type(value) not in _OWN_TYPES and not _counted.get():
        raise NotCompilable(HOLDS_NUMPYS)
    return known(value, name)


class _Parameter(Protocol):
    def __call__(self, where: Where, value: object, beside: Sequence[int]) -> Expr | None: ...


def opened(parameter: _Parameter, where: Where, value: object, name: str) -> Symbolic:
    """A small captured container of which numbers are parameters, as they keep changing."""
    every = [each for _, _, each in numbers_in(where, value) if type(each) is int]
    ints = [each for each in every if each in INT64]
    container: type = type(value)
    if container is list and len(ints) < len(every):
        return known(value, name)  # which may be read as an array is, and is none

    def one(where: Where, value: object) -> Symbolic:
        kind = type(value)
        if kind not in (tuple, list, dict):
            found = parameter(where, value, ints)
            return known_item(value, name) if found is None else found
        items = {key: one(item_of(where, key), item) for key, item in pairs(value)}
        if kind is dict:
            return Known(Built(items), name)
        held = tuple(items.values())
        return Known(Listed(CapturedItems(held), name, shared=True), name) if kind is list else held

    return one(where, value)


def holds_numpys(value: object) -> bool:
    """Whether a list or tuple, or one in it, holds such."""
    kind = type(value)  # objects of the user's are not asked what they are
    if issubclass(kind, (list, tuple)):
        return any(map(holds_numpys, cast("Sequence[object]", value)))
    return issubclass(kind, np.generic)


def is_none(value: Symbolic) -> bool:
    """Whether the value is None for all elements."""
    return isinstance(value, Known) and value.value is None


def captured_tuple(value: Symbolic) -> tuple[Symbolic, ...] | None:
    """The items of a captured tuple; None for everything else."""
    content = value.value if isinstance(value, Known) else None
    if not isinstance(content, tuple):
        return None
    return tuple(known_item(item, cast(Known, value).name) for item in cast("tuple[object, ...]", content))


def written_out(value: Symbolic) -> Symbolic:
    """The value, of captured tuples their items."""
    items = captured_tuple(value)
    return value if items is None else tuple(map(written_out, items))


def items_in(value: Symbolic) -> tuple[Symbolic, ...] | None:
    """The items of a tuple, made here or captured; None for everything else."""
    if isinstance(value, Composite):
        return None
    if isinstance(value, Known) and isinstance(value.value, Record):
        return value.value.items
    return value if isinstance(value, tuple) else captured_tuple(value)


def members(value: Symbolic) -> tuple[Symbolic, ...] | None:
    """The same, and those of a list that is made here, or of a short captured one."""
    held = value.value if isinstance(value, Known) else None
    if type(held) is list and len(cast("list[object]", held)) <= SHORT:
        return tuple(known_item(item, cast(Known, value).name) for item in cast("list[object]", held))
    return held.items if isinstance(held, Listed) else items_in(value)


def required(value: Value, condition: Expr) -> Value:
    """The value where the condition holds; elements where it does not are evaluated, or refused, by Python."""
    if condition is TRUE:
        return value
    return map_value(lambda node: make("required", node, condition), value)


def number(value: Symbolic) -> Expr:
    """The node of a number; NotCompilable for everything else."""
    if isinstance(value, Partly):
        value = required(value.value, value.present)  # where it is None, Python raises
    if isinstance(value, Expr):
        return value
    if isinstance(value, Complex):
        raise NotCompilable("a complex number stands where a real one is needed")
    if isinstance(value, Either):
        low, high = value.low.type.value, value.high.type.value
        raise NotCompilable(
            f"a number that is of type {low} for some elements and {high} for others stands here"
        )
    if isinstance(value, tuple):
        raise NotCompilable("a tuple stands where a number is needed")
    if isinstance(value, Poison):
        raise NotCompilable(value.reason)
    if value.value is None:
        raise NotCompilable("None takes part, and only numbers are compiled")
    if isinstance(value.value, Listed):
        raise NotCompilable("a list is built")
    raise NotCompilable(f"`{value.name}` is {described(value.value)}, not a number")
