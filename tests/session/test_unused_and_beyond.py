"""What raises in a value that nothing uses, of an element whose integers leave 64 bits as well."""

import math

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.session import Options, Session

UNUSED = {
    "math.exp(x)": "math range error",
    "float(x) ** 200": "Numerical result out of range",
    "math.cosh(x)": "math range error",
    "1 / (x - 1000)": "division by zero",
}
XS = [3] * 300 + [1000] + [3] * 300
TEXT = "def f(x):\n    y = {}\n    return x * 10**17\n"


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("on", ["parallel", "simd"])
@pytest.mark.parametrize("sink", ["", " |> sum"])
@pytest.mark.parametrize("unused", UNUSED)
def test_it_is_raised(unused, sink, on):
    session = Session({"math": math, "xs": XS}, Options(on=on, baseline=False))
    for _ in range(2):
        with pytest.raises(ArithmeticError, match=UNUSED[unused]) as caught:
            session.run_cell(f"{TEXT.format(unused)}v = xs |> map(f){sink}")
        assert any("element 300 of xs" in note for note in caught.value.__notes__)


def test_so_in_decorated_functions():
    def f(x):
        y = math.exp(x)  # noqa: F841
        return x * 10**17

    @hastega
    def listed(xs):
        return [f(x) for x in xs]

    for _ in range(2):
        with pytest.raises(OverflowError, match="math range error"):
            listed(XS)


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
def test_what_numpy_s_integers_raise_is_still_no_error():
    session = Session({"k": np.int64(7), "xs": [1, 2**62]}, Options(baseline=False))
    found = session.run_cell("xs |> map(lambda x: x * k * 10**15) |> to_list").value
    assert found == [7 * 10**15, 7 * 2**62 * 10**15]


def test_elements_before_the_one_that_raises_are_not_computed_bit_by_bit(monkeypatch):
    """Their values are not needed, and the interpreter takes milliseconds for a power."""
    from hastega_magic.compiler.python import elements

    asked = []
    evaluate = elements.evaluate
    monkeypatch.setattr(elements, "evaluate", lambda *given: asked.append(given) or evaluate(*given))
    with pytest.raises(OverflowError, match="Numerical result out of range") as caught:
        Session({"xs": XS}, Options(baseline=False)).run_cell("xs |> map(lambda x: (x + 0.5) ** 200) |> sum")
    assert any("element 300 of xs" in note for note in caught.value.__notes__)
    assert len(asked) < 5
