"""`any` and `all` over many elements, of which Python needs only the first."""

import math

import numpy as np

from hastega_magic import hastega
from hastega_magic.compiler.fastpath import profitability
from hastega_magic.compiler.fastpath.prepared import Prepared
from hastega_magic.compiler.fastpath.profitability import Profitability


def _raised(function, *args):
    try:
        return function(*args)
    except TypeError as error:
        return str(error)


def test_any_and_all_go_no_further_than_they_have_to(monkeypatch):
    def decided(xs):
        return any(x > 0 for x in xs), all(x <= 0 for x in xs)

    made, count, went = hastega(decided), 1 << 19, []
    over_many = Prepared._over_many
    monkeypatch.setattr(
        Prepared, "_over_many", lambda self, *given: went.append(self) or over_many(self, *given)
    )
    monkeypatch.setattr(Profitability, "by_python", lambda self, length: "")  # which is sooner done
    for kind in (list, np.array):
        xs = [-1] * count
        assert made(kind(xs)) == (False, True)
        for place, further in ((0, 0), (2047, 0), (2048, 0), (32_767, 0), (32_768, 2), (count - 1, 2)):
            for value in (1, -1):
                xs[place] = value
                went.clear()
                assert made(kind(xs)) == (value > 0, value < 0)
                assert len(went) == (further if value > 0 else 2)
    assert made([1, *xs[1:-1], "a"]) == (True, False)
    for odd in ("a", 2**70):  # before what decides
        xs[5:7] = odd, 1
        assert _raised(made, xs) == _raised(decided, xs)


def test_python_goes_on_where_some_of_the_elements_decide(monkeypatch):
    """Until more of them have to be looked at."""
    monkeypatch.setattr(profitability, "_SHORT", math.inf)

    def decided(xs):
        return any(x > 0 for x in xs)

    made, count = hastega(decided), 20_000
    for _ in range(9):
        assert made([1] * count)
    assert "Python was measured to be faster" in str(made.explain())
    for _ in range(60):
        assert not made([-1] * count)
    assert "1 fused loop" in str(made.explain())
