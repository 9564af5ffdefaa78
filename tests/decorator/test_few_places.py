"""Several `for` clauses over few elements: Python computes them beside the call, and many are found out about."""

from __future__ import annotations

from typing import Any

from hastega_magic import hastega


def neighbours(board: Any, i: int, j: int) -> Any:
    n, m = len(board), len(board[0])
    return sum(board[(i + di) % n][(j + dj) % m] for di in (-1, 0, 1) for dj in range(-1, 2) if di or dj)


def pairs(n: int) -> Any:
    return sum(i * j for i in range(n) for j in range(i))


def crossed(xs: Any, ys: Any) -> Any:
    return [x * y for x in xs for y in ys]


def test_what_is_written_down_is_known_to_be_few() -> None:
    board = [[(i * j) % 3 for j in range(9)] for i in range(7)]
    decorated = hastega(neighbours)
    assert decorated(board, 3, 4) == neighbours(board, 3, 4)
    assert "fewer than 256 elements" in str(decorated.explain())


def test_few_and_many_in_turns() -> None:
    decorated = hastega(on="simd")(pairs)
    for n in (3, 4, 2, 4, 3, 200, 3, 3, 3, 3, 150, 300, 0, 1, 1):
        assert decorated(n) == pairs(n)
        assert ("1 fused loop" in str(decorated.explain())) == (n >= 150), n


def test_a_short_first_clause_with_a_long_second_one_is_found_again() -> None:
    decorated, few, many = hastega(on="simd")(crossed), [1, 2, 3], list(range(3000))
    for _ in range(5):
        assert decorated(few, few) == crossed(few, few)
    compiled = 0
    for _ in range(130):
        assert decorated(few, many) == crossed(few, many)
        compiled += "1 fused loop" in str(decorated.explain())
    assert compiled > 110
    assert decorated(many, few) == crossed(many, few)
