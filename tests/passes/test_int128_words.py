"""Arithmetic on pairs of words, as the interpreter computes it, against Python's."""

from __future__ import annotations

from battery import examples
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.ir.interpreter import evaluate
from hastega_magic.passes import int128_words
from hastega_magic.passes.int128 import HELD
from hastega_magic.passes.int128_words import Pair

DIVISORS = st.one_of(
    st.integers(1, 2**127 - 1),
    st.integers(1, 126).flatmap(lambda bits: st.integers(2**bits - 2, 2**bits + 2)),
    st.integers(1, 2**33),
).filter(bool)


@examples(250)
@given(
    st.one_of(st.integers(HELD.lo, HELD.hi), st.sampled_from([HELD.lo, HELD.hi, 0, -1, 1])),
    DIVISORS,
    st.sampled_from([1, -1]),
    st.integers(-2, 2),
)
def test_division(value, divisor, sign, off):
    near = value // divisor * divisor + off  # quotients that all but reach the next integer
    by = sign * divisor
    for each in (value, near):
        if each in HELD:
            a = int128_words.of_constant(each)
            found = int128_words.quotient(a, by), int128_words.modulo(a, by)
            assert tuple(map(_integer, found)) == divmod(each, by)
            if by in HELD:
                found = int128_words.divided(a, int128_words.of_constant(by))
                assert tuple(map(_integer, found)) == divmod(each, by)


def _integer(pair: Pair) -> int:
    known = evaluate([pair.high, pair.low], lambda node: node.value)
    return (known[pair.high] << 64) + known[pair.low] % 2**64
