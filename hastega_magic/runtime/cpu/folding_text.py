"""The native code of `folding.py`: folds arrays of partial results to one each, as a list of them says.

`@hastega(list, nothing)`: for each array four words, its kind (one of those below), its address, how many numbers it
has, and where the result goes; a kind of 0 ends the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hastega_magic.ir.abi import ENTRY
from hastega_magic.ir.reduction import SUM_NEUTRAL
from hastega_magic.ir.schedule import VIRTUAL_LANES

INTEGERS, HALVES, TREE = 1, 2, 3
"""Integers of any size; pairs of halves, of which each column adds up to what 64 bits hold; float64, in the fixed tree.

The results: integers of 128 bits, and a float64.
"""

_LANES = 8
"""Integers at a time."""


def _all(number: str, lanes: int) -> str:
    """A vector of equal numbers, each given with its type."""
    return f"<{', '.join([number] * lanes)}>"


def _loop(kind: str, vector: str, lanes: int, names: Sequence[str], neutral: str, turn: str, end: str) -> str:
    """A loop over the array's numbers, so many at a time; where the last turn has fewer, the others are neutral.

    names   of what goes from turn to turn, beginning as neutral: `turn` makes `%NAME.next` of `%NAME` and `%KIND.x`
    """
    of = f"v{lanes}{'i' if 'i64' in vector else 'f'}64"
    numbers = ", ".join(f"i64 {lane}" for lane in range(lanes))
    carried = "\n".join(
        f"  %{name} = phi {vector} [ {neutral}, %{kind} ], [ %{name}.next, %{kind}.turn ]" for name in names
    )
    return f"""
{kind}:
  br label %{kind}.check
{kind}.check:
  %{kind}.at = phi i64 [ 0, %{kind} ], [ %{kind}.next, %{kind}.turn ]
{carried}
  %{kind}.more = icmp ult i64 %{kind}.at, %count
  br i1 %{kind}.more, label %{kind}.turn, label %{kind}.end
{kind}.turn:
  %{kind}.left = sub i64 %count, %{kind}.at
  %{kind}.one = insertelement <{lanes} x i64> poison, i64 %{kind}.left, i64 0
  %{kind}.all = shufflevector <{lanes} x i64> %{kind}.one, <{lanes} x i64> poison, <{lanes} x i32> zeroinitializer
  %{kind}.inside = icmp ugt <{lanes} x i64> %{kind}.all, <{numbers}>
  %{kind}.place = getelementptr i64, ptr %numbers, i64 %{kind}.at
  %{kind}.x = call {vector} @llvm.masked.load.{of}.p0(
    ptr %{kind}.place, i32 8, <{lanes} x i1> %{kind}.inside, {vector} {neutral})
{turn}
  %{kind}.next = add i64 %{kind}.at, {lanes}
  br label %{kind}.check
{kind}.end:
{end}
  br label %next
"""


def _halved(name: str, element: str, add: str, lanes: int, least: int = 1) -> str:
    """Lines that add a vector's lanes by halves, down to so many: `%NAME.sum` is what is left."""
    lines: list[str] = []
    whole, width = f"%{name}", lanes // 2
    while width >= least:
        of, half = f"<{2 * width} x {element}>", f"<{width} x {element}>"
        for part, start in (("a", 0), ("b", width)):
            places = ", ".join(f"i32 {place}" for place in range(start, start + width))
            lines.append(
                f"  %{name}.{part}{width} = shufflevector {of} {whole}, {of} poison, <{width} x i32> <{places}>"
            )
        whole = f"%{name}.sum" if width == least else f"%{name}.{width}"
        lines.append(f"  {whole} = {add} {half} %{name}.a{width}, %{name}.b{width}")
        width //= 2
    return "\n".join(lines)


def _wide(kind: str, high: str, low: str) -> str:
    """Lines that store high · 2³² + low, two i128."""
    return f"""
  %{kind}.shifted = shl i128 {high}, 32
  %{kind}.total = add i128 %{kind}.shifted, {low}
  store i128 %{kind}.total, ptr %result, align 8"""


def _integers() -> str:
    vector = f"<{_LANES} x i64>"
    turn = f"""
  %x.high = ashr {vector} %integers.x, {_all("i64 32", _LANES)}
  %x.low = and {vector} %integers.x, {_all("i64 4294967295", _LANES)}
  %high.next = add {vector} %high, %x.high
  %low.next = add {vector} %low, %x.low"""
    end = f"""
{_halved("high", "i64", "add", _LANES)}
{_halved("low", "i64", "add", _LANES)}
  %high.one = extractelement <1 x i64> %high.sum, i64 0
  %low.one = extractelement <1 x i64> %low.sum, i64 0
  %high.wide = sext i64 %high.one to i128
  %low.wide = zext i64 %low.one to i128
{_wide("integers", "%high.wide", "%low.wide")}"""
    return _loop("integers", vector, _LANES, ("high", "low"), "zeroinitializer", turn, end)


def _pairs() -> str:
    vector = f"<{_LANES} x i64>"
    end = f"""
{_halved("both", "i64", "add", _LANES, 2)}
  %upper = extractelement <2 x i64> %both.sum, i64 0
  %lower = extractelement <2 x i64> %both.sum, i64 1
  %upper.wide = sext i64 %upper to i128
  %lower.wide = sext i64 %lower to i128
{_wide("halves", "%upper.wide", "%lower.wide")}"""
    turn = f"  %both.next = add {vector} %both, %halves.x"
    return _loop("halves", vector, _LANES, ("both",), "zeroinitializer", turn, end)


def _tree() -> str:
    """As `ir/reduction.py` folds: rows of lanes added one after the other, then halves."""
    vector = f"<{VIRTUAL_LANES} x double>"
    neutral = _all(f"double {SUM_NEUTRAL}", VIRTUAL_LANES)
    end = f"""
{_halved("lanes", "double", "fadd", VIRTUAL_LANES)}
  store <1 x double> %lanes.sum, ptr %result, align 8"""
    turn = f"  %lanes.next = fadd {vector} %lanes, %tree.x"
    return _loop("tree", vector, VIRTUAL_LANES, ("lanes",), neutral, turn, end)


def _masked_loads() -> Iterator[str]:
    for lanes, element, letter in ((_LANES, "i64", "i"), (VIRTUAL_LANES, "double", "f")):
        vector = f"<{lanes} x {element}>"
        yield f"declare {vector} @llvm.masked.load.v{lanes}{letter}64.p0(ptr, i32, <{lanes} x i1>, {vector})"


def text() -> str:
    """LLVM IR, for any target that is little-endian."""
    declared = "\n".join(_masked_loads())
    return f"""
{declared}

define void @{ENTRY}(ptr %list, ptr %nothing) {{
entry:
  br label %begin
next:
  %place.next = getelementptr i64, ptr %place, i64 4
  br label %begin
begin:
  %place = phi ptr [ %list, %entry ], [ %place.next, %next ]
  %numbers.at = getelementptr i64, ptr %place, i64 1
  %count.at = getelementptr i64, ptr %place, i64 2
  %result.at = getelementptr i64, ptr %place, i64 3
  %kind = load i64, ptr %place, align 8
  %numbers = load ptr, ptr %numbers.at, align 8
  %count = load i64, ptr %count.at, align 8
  %result = load ptr, ptr %result.at, align 8
  switch i64 %kind, label %leave [
    i64 {INTEGERS}, label %integers
    i64 {HALVES}, label %halves
    i64 {TREE}, label %tree
  ]
leave:
  ret void
{_integers()}
{_pairs()}
{_tree()}
}}
"""


__all__ = ["HALVES", "INTEGERS", "TREE", "text"]
