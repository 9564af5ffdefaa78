"""Writing LLVM IR: names, types, constants, and the declarations that the written calls need."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence

from hastega_magic.ir.expr import Expr
from hastega_magic.types import BOOL, FLOAT, FLOAT32, INT, ScalarType

INTRINSICS = (
    "llvm.abs.", "llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax.", "llvm.fabs.", "llvm.sqrt.",
    "llvm.floor.", "llvm.ceil.", "llvm.trunc.", "llvm.rint.", "llvm.copysign.", "llvm.fma.", "llvm.bswap.",
    "llvm.ctpop.", "llvm.ctlz.", "llvm.masked.load.", "llvm.masked.store.", "llvm.masked.gather.",
    "llvm.masked.expandload.", "llvm.masked.scatter.", "llvm.x86.avx512.mask.expand.",
    "llvm.experimental.vector.compress.", "llvm.vector.reduce.add.", "llvm.memcpy.", "llvm.prefetch.",
    "llvm.x86.avx512.vpmadd52l.uq.", "llvm.x86.avx512.vpmadd52h.uq.",
    "llvm.x86.avx512.rcp14.pd.", "llvm.x86.bmi.pdep.64", "llvm.x86.bmi.pext.64", "llvm.x86.avx2.permd",
    "llvm.x86.sse2.pause", "sched_yield",
)  # fmt: skip
"""The functions that generated code may call: the system's `sched_yield`, and intrinsics.

LLVM's verifier lets a misspelled intrinsic pass, as a call to null."""

_CALL = re.compile(r"call (void|ptr|\{[^}]*\}|<[^>]*>|\w+) @([\w.]+)\((.*)\)$")


def element_type(type_: ScalarType) -> str:
    """LLVM's type of one value."""
    if type_ is BOOL:
        return "i1"
    if type_ is INT:
        return "i64"
    return "float" if type_ is FLOAT32 else "double"


def mangled(element: str, lanes: int) -> str:
    """The suffix of an overloaded intrinsic."""
    return f"v{lanes}{ {'double': 'f64', 'float': 'f32'}.get(element, element) }"


def literal(value: object, type_: ScalarType) -> str:
    """A scalar constant as LLVM writes it; floats by their bits, so that every value survives."""
    if type_ is BOOL:
        return "true" if value else "false"
    if type_ is INT:
        return str(value)
    assert isinstance(value, (int, float))
    return f"0x{struct.unpack('<Q', struct.pack('<d', float(value)))[0]:016X}"


NAN = literal(math.nan, FLOAT)


def splat_literal(node: Expr) -> str:
    """The constant node as a vector operand."""
    return splat(element_type(node.type), literal(node.value, node.type))


def splat(element: str, value: object) -> str:
    """A vector constant with one value in every lane."""
    return f"splat ({element} {value})"


class Writer:
    """Collects the lines of a function; every value gets the next number.

    `place`: the line of the printed kernel that what is written next belongs to (0: none).
    """

    def __init__(self) -> None:
        """Start with no lines."""
        self.lines: list[str] = []
        self.declarations: dict[str, str] = {}
        self.place = 0
        self.places: dict[int, int] = {}
        self.block = ""
        self._count = 0

    def name(self, hint: str = "v") -> str:
        """A fresh local name."""
        self._count += 1
        return f"%{hint}{self._count}"

    def let(self, text: str, hint: str = "v") -> str:
        """Write `name = text`, and return the name."""
        name = self.name(hint)
        self.line(f"{name} = {text}")
        return name

    def line(self, text: str) -> None:
        """Write one instruction."""
        call = _CALL.search(text)
        if call:
            result, function, arguments = call.groups()
            if not function.startswith(INTRINSICS):
                raise AssertionError(f"unknown intrinsic {function}")
            types = ", ".join(_type_of(part) for part in _split(arguments))
            self.declarations[function] = f"declare {result} @{function}({types})"
        if self.place:
            self.places[len(self.lines)] = self.place
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """Begin a basic block, which then is `block`."""
        self.block = name
        self.lines.append(f"{name}:")

    def comment(self, text: str) -> None:
        """A line for the reader."""
        self.lines.append(f"  ; {text}")


def _split(arguments: str) -> list[str]:
    parts: list[str] = []
    depth = start = 0
    for position, char in enumerate(arguments):
        depth += (char in "<({") - (char in ">)}")
        if char == "," and depth == 0:
            parts.append(arguments[start:position].strip())
            start = position + 1
    return [*parts, arguments[start:].strip()] if arguments.strip() else parts


def _type_of(argument: str) -> str:
    return argument[: argument.index(">") + 1] if argument.startswith("<") else argument.split(" ", 1)[0]


def picked(w: Writer, vectors: Sequence[str], element: str, lanes: int, order: Sequence[int]) -> str:
    """One vector of elements of all these, which are counted from the first one's on."""
    names, width = list(vectors), lanes
    while len(names) > 1:
        pairs = [*names, "poison"] if len(names) % 2 else names
        places = range(2 * width) if len(pairs) > 2 else order
        numbers, type_ = ", ".join(f"i32 {place}" for place in places), f"<{width} x {element}>"
        names = [
            w.let(f"shufflevector {type_} {low}, {type_} {high}, <{len(places)} x i32> <{numbers}>")
            for low, high in zip(pairs[::2], pairs[1::2], strict=True)
        ]
        width *= 2
    return names[0]
