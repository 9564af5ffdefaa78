"""What affine steps multiply by: powers of constants, and of numbers that are computed before the loop."""

from __future__ import annotations

import operator

from hastega_magic.codegen.llvm.frame import Frame
from hastega_magic.codegen.llvm.single import Single, given
from hastega_magic.codegen.llvm.text import NAN, literal
from hastega_magic.ir.affine import LARGEST, SMALLEST, all_in_doubt
from hastega_magic.ir.kernel import Factor
from hastega_magic.ir.scan import powers
from hastega_magic.types import FLOAT


def factors(frame: Frame) -> None:
    """At the end of the entry: for each affine store the powers of its factor, and those of the last of these.

    Whether it leaves all zeros in doubt too: NaN if it does, else 0.
    """
    for number, store in enumerate(frame.layout.stores):
        if store.factor is not None:
            frame.powers[number] = near, _ = _powers(frame, store.factor)
            frame.in_doubt[number] = _in_doubt(frame, store.factor, near[0])


def _powers(frame: Frame, factor: Factor) -> tuple[tuple[str, ...], tuple[str, ...]]:
    value = factor.value.value
    if factor.value.op == "const":
        assert isinstance(value, float)
        near = powers(value, operator.mul)
        return _literals(near), _literals(powers(near[-1], operator.mul))
    w = frame.writer

    def times(a: str, b: str) -> str:
        return w.let(f"fmul double {a}, {b}", "power")

    names = powers(_computed(frame, factor), times)
    return names, powers(names[-1], times)


def _in_doubt(frame: Frame, factor: Factor, name: str) -> str:
    """What `all_in_doubt` says of the factor."""
    w, zero = frame.writer, literal(0.0, FLOAT)
    if factor.doubtful == "any":
        return NAN
    if factor.value.op == "const":
        assert isinstance(factor.value.value, float)
        return NAN if all_in_doubt(factor.value.value, factor.doubtful) else zero
    found = w.let(f"fcmp olt double {name}, {zero}")
    if factor.doubtful:
        found = w.let(f"or i1 {found}, {w.let(f'fcmp oeq double {name}, {literal(LARGEST, FLOAT)}')}")
    return w.let(f"select i1 {found}, double {NAN}, double {zero}", "in_doubt")


def _literals(numbers: tuple[float, ...]) -> tuple[str, ...]:
    return tuple(literal(each, FLOAT) for each in numbers)


def _computed(frame: Frame, factor: Factor) -> str:
    """The factor; NaN where there is none."""
    w = frame.writer
    found = Single(frame, [factor.value, *factor.guards], given(frame, factor.given))
    value = found[factor.value]
    size = w.let(f"call double @llvm.fabs.f64(double {value})")
    large = w.let(f"fcmp oge double {size}, {literal(SMALLEST, FLOAT)}")
    fits = w.let(f"and i1 {large}, {w.let(f'fcmp ole double {size}, {literal(LARGEST, FLOAT)}')}")
    for guard in factor.guards:
        fits = w.let(f"and i1 {fits}, {w.let(f'xor i1 {found[guard]}, true')}")
    return w.let(f"select i1 {fits}, double {value}, double {NAN}", "factor")
