"""Types of values inside functions (ScalarType) and of memory (Storage)."""

from __future__ import annotations

import array
from enum import Enum
from typing import Any

from hastega_magic.errors import NotCompilable
from hastega_magic.records import dataclass


class ScalarType(Enum):
    """What a value is to the user's functions.

    INT is a Python int of any size; FLOAT a Python float, which is weak beside NumPy's types
    (NEP 50); FLOAT64 an element of a float64 array; FLOAT32 an element of a float32 array.
    """

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    FLOAT64 = "float64"
    FLOAT32 = "float32"

    __hash__ = (
        object.__hash__
    )  # each is one object: the name's hash, Python's own, is asked for millions of times

    @property
    def is_float(self) -> bool:
        """Whether the machine holds it as IEEE floating point."""
        return self in (ScalarType.FLOAT, ScalarType.FLOAT64, ScalarType.FLOAT32)

    @property
    def is_integral(self) -> bool:
        """Whether Python counts with it as an int (bool included)."""
        return self in (ScalarType.BOOL, ScalarType.INT)


BOOL, INT, FLOAT = ScalarType.BOOL, ScalarType.INT, ScalarType.FLOAT
FLOAT64, FLOAT32 = ScalarType.FLOAT64, ScalarType.FLOAT32

_RANK = {BOOL: 0, INT: 1, FLOAT: 2, FLOAT32: 3, FLOAT64: 4}


def promote(*types: ScalarType) -> ScalarType:
    """The type of an arithmetic result over these operands (Python's tower, NEP 50's weak scalars)."""
    return max(types, key=_RANK.__getitem__)


def type_of_constant(value: object) -> ScalarType:
    """The type of a captured scalar; NotCompilable for anything that is not a number."""
    name = type(value).__name__
    if isinstance(value, bool) or name in ("bool_", "bool"):
        return BOOL
    if isinstance(value, int):
        return INT
    if name == "float64":  # np.float64 is a float too, but strong
        return FLOAT64
    if isinstance(value, float):
        return FLOAT
    if name == "float32":
        return FLOAT32
    raise NotCompilable(f"a value of type {name} is not a number that can be compiled")


class Composite(tuple[Any, ...]):
    """One value of Python's that is several nodes (or their types, or whatever stands for them).

    A tuple to all that goes through the numbers of an element, and never equal to one.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self).__name__, *self))


class Complex(Composite):
    """The real and the imaginary part of a complex number."""

    __slots__ = ()

    @property
    def real(self) -> Any:
        """The first part."""
        return self[0]

    @property
    def imag(self) -> Any:
        """The second part."""
        return self[1]


class Either(Composite):
    """A number that is of one type for some elements and of another for others: a condition, and both numbers.

    Each number is 0 where the value is the other one, so that all three may be computed for every element.
    """

    __slots__ = ()

    @property
    def test(self) -> Any:
        """Whether the value is the second number."""
        return self[0]

    @property
    def low(self) -> Any:
        """The number of the lower type: a bool, or an int beside a float."""
        return self[1]

    @property
    def high(self) -> Any:
        """The number of the higher type."""
        return self[2]


@dataclass(frozen=True)
class Storage:
    """How elements lie in memory: NumPy's name, size in bytes, the type they are to functions."""

    name: str
    size: int
    scalar: ScalarType
    signed: bool = True

    @property
    def limits(self) -> tuple[int, int] | None:
        """Smallest and largest integer it holds; None for floats."""
        if self.scalar is BOOL:
            return 0, 1
        if self.scalar is not INT:
            return None
        bits = 8 * self.size
        return (-(1 << bits - 1), (1 << bits - 1) - 1) if self.signed else (0, (1 << bits) - 1)


STORAGES: dict[str, Storage] = {
    storage.name: storage
    for storage in (
        Storage("bool", 1, BOOL),
        *(Storage(f"int{8 * size}", size, INT) for size in (1, 2, 4, 8)),
        *(Storage(f"uint{8 * size}", size, INT, signed=False) for size in (1, 2, 4, 8)),
        Storage("float32", 4, FLOAT32),
        Storage("float64", 8, FLOAT64),
    )
}

COMPLEX_STORAGES: dict[str, Storage] = {
    "complex128": Storage("complex128", 16, FLOAT64),
    "complex64": Storage("complex64", 8, FLOAT32),
}
"""Of pairs, by NumPy's name; `scalar` is what a part is."""

RESULT_STORAGE: dict[ScalarType, Storage] = {
    BOOL: STORAGES["bool"],
    INT: STORAGES["int64"],
    FLOAT: STORAGES["float64"],
    FLOAT64: STORAGES["float64"],
    FLOAT32: STORAGES["float32"],
}


_ROWS: tuple[type, ...] = (list, tuple, bytes, bytearray, array.array)
_RULES = (
    "__getitem__", "__iter__", "__len__", "__contains__", "__add__", "__mul__",
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
)  # fmt: skip


def is_redefined(value: object) -> bool:
    """Whether a list, a tuple or memory is of a subclass that gives its elements in a way of its own."""
    kind = type(value)
    base = next((each for each in _ROWS if issubclass(kind, each)), kind)
    return kind is not base and any(getattr(kind, each) is not getattr(base, each) for each in _RULES)
