"""The loop body in OpenCL C: each node of the scalar graph as one statement per vector (or row) in flight.

One operation per statement, under `FP_CONTRACT OFF`, gives the same bits on every device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from hastega_magic.codegen.opencl.text import (
    BUILTIN,
    Writer,
    builtin,
    is_narrow_float,
    literal,
    memory_type,
    scalar_type,
    suffix,
    unknown_zero,
    vector_type,
    widened,
)  # fmt: skip
from hastega_magic.codegen.opencl.turns import emit_turns
from hastega_magic.codegen.turned import Turned
from hastega_magic.interval import TOP
from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.ir.kernel import Assume, Kernel
from hastega_magic.ir.target import Target
from hastega_magic.ops import OPS
from hastega_magic.records import dataclass
from hastega_magic.types import BOOL, FLOAT32, INT

_ORDER = frozenset({"lt", "le", "gt", "ge"})
_WRAPPED = frozenset({"add", "sub", "mul", "neg"})
_ROUNDED_TWICE = {"truediv": "{0} / {1}", "fdiv": "{0} / {1}", "sqrt": "sqrt({0})", "fsqrt": "sqrt({0})"}
"""Operators that a device may round wrongly in float32; the detour over double rounds to the same result."""


@dataclass
class Body:
    """Emits nodes for the elements at `positions` (names; of a vector the first).

    `live`: mask of a tail's vector. `masks`: in a turn of a loop, the lanes that make it, of each vector.
    """

    writer: Writer
    kernel: Kernel
    target: Target
    positions: list[str]
    live: str | None = None
    places: Mapping[Expr, int] = field(default_factory=dict[Expr, int])
    values: dict[Expr, list[str]] = field(default_factory=dict[Expr, list[str]])
    turned: dict[Expr, Turned] = field(default_factory=dict[Expr, Turned])
    used: Mapping[Expr, frozenset[int]] = field(default_factory=dict[Expr, "frozenset[int]"])
    masks: Sequence[str] = ()

    @property
    def lanes(self) -> int:
        """Elements of a vector."""
        return self.kernel.schedule.lanes

    def at_lanes(self, lanes: int) -> Body:
        """Where nodes without leaves in memory can be emitted for one vector of so many lanes."""
        schedule = replace(self.kernel.schedule, lanes=lanes)
        return Body(self.writer, replace(self.kernel, schedule=schedule), self.target, [""])

    @property
    def n(self) -> str:
        """What names of vector types end in."""
        return suffix(self.lanes)

    def emit(self, roots: list[Expr]) -> None:
        """Everything below the roots, operands first, vector beside vector."""
        for node in postorder(roots):
            if node not in self.values:
                self.writer.place = self.places.get(node, 0)
                self.values[node] = self._node(node)
        self.writer.place = 0

    def __getitem__(self, node: Expr) -> list[str]:
        """The names of the node's vectors."""
        return self.values[node]

    def _let(self, node: Expr, text: str) -> str:
        return self.writer.let(vector_type(node.type, self.lanes), text)

    def _node(self, node: Expr) -> list[str]:
        many = range(len(self.positions))
        match node.op:
            case "const":
                return [literal(node.value, node.type, self.lanes)] * len(many)
            case "load":
                return [self._load(node, number) for number in many]
            case "index":
                return [self._let(node, self._numbers(f"origin + {self.positions[k]}")) for k in many]
            case "length":
                return [f"({vector_type(INT, self.lanes)})(t{node.value}_length)"] * len(many)
            case "table":
                return [""] * len(many)
            case "gather":
                return [self._gather(node, number) for number in many]
            case "turns":
                self.turned[node] = emit_turns(self, node, self.used.get(node, frozenset()))
                return self.turned[node].trouble
            case "result":
                assert isinstance(node.value, int)
                return self.turned[node.args[0]].state[node.value]
            case _:
                template = self._template(node)
                names = [self.values[arg] for arg in node.args]
                if node.op == "select":
                    names = _hidden_zeros(node, names, self.lanes)
                return [self._let(node, template.format(*(name[k] for name in names))) for k in many]

    def _numbers(self, first: str) -> str:
        return first if self.lanes == 1 else f"({first}) + iota"

    # Operators

    def _template(self, node: Expr) -> str:
        """The row's spelling, with what vectors, float32 and int64 need around it."""
        subject = node.args[1] if node.op == "select" else node.args[0]
        kind = "float" if subject.type.is_float else subject.type.value
        text = OPS[node.op].opencl[kind]
        if node.op in _WRAPPED and node.type is INT and not self._exact(node):
            return widened(f"as_long({_unsigned(text)})", self.lanes)
        if node.op in _ROUNDED_TWICE and node.type is FLOAT32 and not self.target.has("exact_float32"):
            doubled = _ROUNDED_TWICE[node.op].replace("{0}", "convert_double({0})")
            return widened(f"convert_float({doubled.replace('{1}', 'convert_double({1})')})", self.lanes)
        function, bracket, rest = text.partition("(")
        if function in BUILTIN and self.target.has("builtins"):
            text = f"{builtin(function, scalar_type(node.type, 1), self.lanes)}{bracket}{rest}"
        text = widened(text, self.lanes)
        if self.lanes == 1:
            return text
        if node.op in _ORDER and kind == "bool":
            return text.format("{1}", "{0}")  # True is -1 in a vector
        if node.type is BOOL and is_narrow_float(subject):
            return f"convert_long{self.n}({text})"
        if node.op == "select" and is_narrow_float(subject):
            return text.replace("{0}", f"convert_int{self.n}({{0}})", 1)
        return text

    def _exact(self, node: Expr) -> bool:
        """Whether no element can overflow, also in blocks that leave what the variant assumes."""
        rule = OPS[node.op].range
        if rule is None or self.kernel.of(Assume):
            return False
        operands: list[object] = [self.kernel.ranges.get(arg, TOP) for arg in node.args]
        return rule(*operands).fits_int64  # pyright: ignore[reportCallIssue, reportArgumentType]

    # Memory

    def _load(self, node: Expr, number: int) -> str:
        slot, position = node.value, self.positions[number]
        assert isinstance(slot, int)
        storage = self.kernel.sources[slot].storage
        if storage is None:
            first = f"as_ulong(s{slot}_start) + as_ulong({position}) * as_ulong(s{slot}_step)"
            if self.lanes > 1:
                first = f"(ulong{self.n})({first}) + s{slot}_steps"
            return self._let(node, widened("as_long(", self.lanes) + f"{first})")
        element = memory_type(storage)
        if self.lanes == 1:
            raw = f"s{slot}[{position}]"
        elif self.live is None:
            raw = f"vload{self.n}(0, s{slot} + {position})"
        else:
            buffer = self.writer.name("tail")
            self.writer.line(f"{element} {buffer}[{self.lanes}];")
            guarded = f"{position} + l < length ? s{slot}[{position} + l] : 0"
            self.writer.line(f"for (int l = 0; l < {self.lanes}; ++l) {buffer}[l] = {guarded};")
            raw = f"vload{self.n}(0, {buffer})"
        if storage.scalar is BOOL:
            return self._let(node, f"{raw} != 0" if self.lanes == 1 else f"convert_long{self.n}({raw}) != 0")
        wanted = scalar_type(node.type, self.lanes)
        return self._let(node, raw if element == wanted else f"convert_{wanted}{self.n}({raw})")

    def _gather(self, node: Expr, number: int) -> str:
        """An element of a captured array; an index out of bounds reads nothing."""
        slot = node.args[0].value
        assert isinstance(slot, int)
        storage = self.kernel.tables[slot].storage
        index = self.values[node.args[1]][number]

        def element(at: str) -> str:
            return f"as_ulong({at}) < as_ulong(t{slot}_length) ? t{slot}[{at}] : 0"

        if self.lanes == 1:
            if index.startswith("("):
                index = self.writer.let("long", index)
            text = element(index)
            return self._let(node, f"({text}) != 0" if storage.scalar is BOOL else text)
        places = self.writer.name("places")
        self.writer.line(f"long {places}[{self.lanes}];")
        self.writer.line(f"vstore{self.n}({index}, 0, {places});")
        found = self.writer.name("found")
        type_ = scalar_type(node.type, self.lanes)
        self.writer.line(f"{type_} {found}[{self.lanes}];")
        text = element(f"{places}[l]")
        text = f"-(long)(({text}) != 0)" if storage.scalar is BOOL else text
        self.writer.line(f"for (int l = 0; l < {self.lanes}; ++l) {found}[l] = {text};")
        return self._let(node, f"vload{self.n}(0, {found})")


def _unsigned(text: str) -> str:
    """An arithmetic spelling over operands whose overflow is defined."""
    return text.replace("{0}", "as_ulong({0})").replace("{1}", "as_ulong({1})")


def _hidden_zeros(node: Expr, names: list[list[str]], lanes: int) -> list[list[str]]:
    """Operands of a choice between an element and zero: the zero as a number that a compiler does not know.

    Else it may take the choice for a minimum or maximum, whose zero can have the other sign: `x < 0.0 ? x : 0.0` on
    NVIDIA (driver 580), `x < 0.0 ? -0.0 : x` on PoCL 3.
    """
    test, *arms = node.args
    while test.op == "not":
        (test,) = test.args
    if test.op not in _ORDER or not node.type.is_float or not any(map(_is_zero, arms)):
        return names
    if not all(_is_zero(each) or each in test.args for each in arms) or not any(map(_is_zero, test.args)):
        return names
    return [names[0], *(
        [unknown_zero(arm.value, arm.type, lanes)] * len(name) if _is_zero(arm) else name
        for arm, name in zip(arms, names[1:], strict=True)
    )]  # fmt: skip


def _is_zero(node: Expr) -> bool:
    return node.op == "const" and node.type.is_float and node.value == 0
