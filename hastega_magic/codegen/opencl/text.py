"""Writing OpenCL C: types, constants, and rows' spellings over vectors.

row "ult"      as_ulong({0}) < as_ulong({1})
8 lanes        long8 v3 = as_ulong8(v1) < as_ulong8(v2);      a mask: 0 or -1 in every lane
1 lane         int v3 = as_ulong(v1) < as_ulong(v2);          a mask: 0 or 1
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Generator
from contextlib import contextmanager

from hastega_magic.ir.expr import Expr
from hastega_magic.types import BOOL, FLOAT32, INT, ScalarType, Storage

_WIDENED = re.compile(r"\b(as|convert)_(double|float|u?long|u?int|u?short|u?char)(_rt[enpz])?\(")

_MEMORY = {"int": "long", "float32": "float", "float64": "double", "bool": "uchar"}
_SIZES = {1: "char", 2: "short", 4: "int", 8: "long"}

INT64_MIN = -(1 << 63)

BUILTIN = {"fma": 3, "rint": 1, "floor": 1, "ceil": 1, "trunc": 1}
"""Functions, and how many arguments they take, that the machine has an instruction for and PoCL a call."""


def builtin(function: str, element: str, lanes: int) -> str:
    """The name of our own function that calls the compiler's one for each component of a vector."""
    return f"each_{function}_{element}{suffix(lanes)}"


def suffix(lanes: int) -> str:
    """What a vector type's name ends in."""
    return "" if lanes == 1 else str(lanes)


def scalar_type(type_: ScalarType, lanes: int) -> str:
    """The element type that a value is computed in; masks of vectors are as wide as int64."""
    if type_ is BOOL:
        return "int" if lanes == 1 else "long"
    if type_ is INT:
        return "long"
    return "float" if type_ is FLOAT32 else "double"


def vector_type(type_: ScalarType, lanes: int) -> str:
    """The type of a value for so many elements."""
    return scalar_type(type_, lanes) + suffix(lanes)


def memory_type(storage: Storage) -> str:
    """The element type in memory."""
    if storage.scalar is INT:
        return ("" if storage.signed else "u") + _SIZES[storage.size]
    return _MEMORY.get(storage.scalar.value, "double")


def literal(value: object, type_: ScalarType, lanes: int) -> str:
    """A constant for so many elements; floats in hexadecimal, so that every bit survives."""
    text = _scalar_literal(value, type_)
    if type_ is BOOL and lanes > 1 and value:
        text = "-1L"
    return text if lanes == 1 else f"({vector_type(type_, lanes)})({text})"


def unknown_zero(value: object, type_: ScalarType, lanes: int) -> str:
    """0.0 or -0.0 for so many elements, which no compiler knows to be that: it does not know of lengths below zero."""
    assert isinstance(value, float)
    short, bits = ("float", "uint") if type_ is FLOAT32 else ("double", "ulong")
    text = f"({bits})(length < 0)"
    if math.copysign(1, value) < 0:
        text += f" | {1 << (31 if type_ is FLOAT32 else 63):#x}{'u' if type_ is FLOAT32 else 'UL'}"
    text = f"as_{short}({text})"
    return text if lanes == 1 else f"({vector_type(type_, lanes)})({text})"


def _scalar_literal(value: object, type_: ScalarType) -> str:
    assert isinstance(value, (int, float))
    if type_ is BOOL:
        return "1" if value else "0"
    if type_ is INT:
        return (
            f"({INT64_MIN + 1}L - 1)" if value == INT64_MIN else f"{value}L" if value >= 0 else f"({value}L)"
        )
    number = float(value)
    if type_ is FLOAT32:
        if not math.isfinite(number):
            return f"as_float(0x{struct.unpack('<I', struct.pack('<f', number))[0]:08x}u)"
        return f"{number.hex()}f" if math.copysign(1, number) > 0 else f"({number.hex()}f)"
    if not math.isfinite(number):
        return f"as_double(0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016x}UL)"
    return number.hex() if math.copysign(1, number) > 0 else f"({number.hex()})"


def widened(template: str, lanes: int) -> str:
    """A row's spelling for vectors: conversions get their width."""
    return template if lanes == 1 else _WIDENED.sub(rf"\g<1>_\g<2>{lanes}\g<3>(", template)


class Writer:
    """Collects lines; every value gets the next number.

    `place`: the line of the printed kernel that what is written next belongs to (0: none).
    """

    def __init__(self) -> None:
        """Start with no lines."""
        self.lines: list[str] = []
        self.place = 0
        self.places: list[int] = []
        self._count = 0
        self._depth = 0

    def name(self, hint: str = "v") -> str:
        """A fresh name."""
        self._count += 1
        return f"{hint}{self._count}"

    def let(self, type_: str, text: str, hint: str = "v") -> str:
        """Write `const type name = text;`, and return the name."""
        name = self.name(hint)
        self.line(f"const {type_} {name} = {text};")
        return name

    def line(self, text: str) -> None:
        """Write one line."""
        self.lines.append("    " * self._depth + text if text else "")
        self.places += [self.place] * (1 + text.count("\n"))

    @contextmanager
    def block(self, head: str) -> Generator[None]:
        """A block in braces after `head`."""
        self.line(f"{head} {{")
        self._depth += 1
        yield
        self._depth -= 1
        self.line("}")


def is_narrow_float(node: Expr) -> bool:
    """Whether the value is computed in float32."""
    return node.type is FLOAT32
