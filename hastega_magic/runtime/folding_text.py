"""The native code of `folding.py`: `@hastega(numbers, count, results)` adds integers, or floats in the fixed tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hastega_magic.ir.abi import ENTRY
from hastega_magic.ir.reduction import SUM_NEUTRAL
from hastega_magic.ir.schedule import VIRTUAL_LANES

LANES = 8
"""Integers at a time; of as many columns as divide it."""


def _all(number: str, lanes: int) -> str:
    """A vector of equal numbers, each given with its type."""
    return f"<{', '.join([number] * lanes)}>"


def _text(vector: str, lanes: int, names: Sequence[str], neutral: str, turn: str, end: str) -> str:
    """A loop over `%count` numbers, so many at a time; where the last turn has fewer, the others are neutral.

    names   of what goes from turn to turn, beginning as neutral: `turn` makes `%NAME.next` of `%NAME` and `%x`
    """
    of = f"v{lanes}{'i' if 'i64' in vector else 'f'}64"
    numbers = ", ".join(f"i64 {lane}" for lane in range(lanes))
    carried = "\n".join(
        f"  %{name} = phi {vector} [ {neutral}, %entry ], [ %{name}.next, %turn ]" for name in names
    )
    return f"""
declare {vector} @llvm.masked.load.{of}.p0(ptr, i32, <{lanes} x i1>, {vector})

define void @{ENTRY}(ptr %numbers, i64 %count, ptr %results) {{
entry:
  br label %check
check:
  %at = phi i64 [ 0, %entry ], [ %next, %turn ]
{carried}
  %more = icmp ult i64 %at, %count
  br i1 %more, label %turn, label %end
turn:
  %left = sub i64 %count, %at
  %left.one = insertelement <{lanes} x i64> poison, i64 %left, i64 0
  %left.all = shufflevector <{lanes} x i64> %left.one, <{lanes} x i64> poison, <{lanes} x i32> zeroinitializer
  %inside = icmp ugt <{lanes} x i64> %left.all, <{numbers}>
  %address = getelementptr i64, ptr %numbers, i64 %at
  %x = call {vector} @llvm.masked.load.{of}.p0(ptr %address, i32 8, <{lanes} x i1> %inside, {vector} {neutral})
{turn}
  %next = add i64 %at, {lanes}
  br label %check
end:
{end}
  ret void
}}
"""


def _halves(name: str, element: str, add: str, lanes: int) -> Iterator[tuple[int, str, str]]:
    """A vector's lanes added by halves: for each width, down to one lane, the sum's name and the lines that make it."""
    whole, width = f"%{name}", lanes // 2
    while width:
        lines: list[str] = []
        of, half = f"<{2 * width} x {element}>", f"<{width} x {element}>"
        for part, start in (("a", 0), ("b", width)):
            places = ", ".join(f"i32 {place}" for place in range(start, start + width))
            lines.append(
                f"  %{name}.{part}{width} = shufflevector {of} {whole}, {of} poison, <{width} x i32> <{places}>"
            )
        whole = f"%{name}.{width}"
        lines.append(f"  {whole} = {add} {half} %{name}.a{width}, %{name}.b{width}")
        yield width, whole, "\n".join(lines)
        width //= 2


def integers() -> str:
    """Sums of the high and the low halves of integers. Those of so many columns: `results[columns : 2 * columns]`."""
    vector = f"<{LANES} x i64>"
    turn = f"""
  %x.high = ashr {vector} %x, {_all("i64 32", LANES)}
  %x.low = and {vector} %x, {_all("i64 4294967295", LANES)}
  %high.next = add {vector} %high, %x.high
  %low.next = add {vector} %low, %x.low"""
    end: list[str] = []
    for name, start in (("high", 0), ("low", 2 * LANES)):
        for width, folded, lines in [(LANES, f"%{name}", ""), *_halves(name, "i64", "add", LANES)]:
            end += [lines, f"  %{name}.at{width} = getelementptr i64, ptr %results, i64 {start + width}"]
            end += [f"  store <{width} x i64> {folded}, ptr %{name}.at{width}, align 8"]
    return _text(vector, LANES, ("high", "low"), "zeroinitializer", turn, "\n".join(end))


def tree() -> str:
    """The fold of `ir/reduction.py` over float64: rows of lanes added one after the other, then halves."""
    vector = f"<{VIRTUAL_LANES} x double>"
    neutral = _all(f"double {SUM_NEUTRAL}", VIRTUAL_LANES)
    turn = f"  %lanes.next = fadd {vector} %lanes, %x"
    folds = list(_halves("lanes", "double", "fadd", VIRTUAL_LANES))
    end = [lines for _, _, lines in folds] + [f"  store <1 x double> {folds[-1][1]}, ptr %results, align 8"]
    return _text(vector, VIRTUAL_LANES, ("lanes",), neutral, turn, "\n".join(end))


__all__ = ["LANES", "integers", "tree"]
