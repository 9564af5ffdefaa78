"""Running values where an integer leaves 64 bits on the way: in an element, or in a step whose value fits again."""

import functools
import itertools
import warnings

import numpy as np
import pytest

from hastega_magic.session import Options, Session

PLACES = ["simd", "opencl"]
XS = [1, 2, 2**62, 5] + [7] * 5000
BIG = [3, 2**53 + 1, 2**62 + 12345, 5] * 1500
UNSIGNED = np.array([1, 2**63 + 5, 7, 2**64 - 1] * 1200, np.uint64)
NAMES = {"xs": XS, "big": BIG, "us": UNSIGNED}


def value(cell: str, on: str, **options: object):
    session = Session(dict(NAMES), Options(on=on, baseline=False, quiet=True, **options))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = session.run_cell(cell).value
    return (found.tolist() if isinstance(found, np.ndarray) else found), [
        str(each.message) for each in caught
    ]


@pytest.mark.parametrize("on", [*PLACES, "numpy"])
@pytest.mark.parametrize(
    "behind",
    [
        "cumsum",
        "scan(lambda a, x: max(a, x), 0)",
        "reduce(lambda a, x: (a * 3 + x) % 100)",
        "map(lambda x: (x, x + 1)) |> scan(lambda s, t: (s[0] + t[0], max(s[1], t[1])), (0, 0))",
    ],
)
def test_checked_raises_for_an_element_behind_which_values_run(behind: str, on: str) -> None:
    said = r"`map\(lambda x: x \* 4 % 7\)`: element 2 of xs, which is 4611686018427387904, needs 18446744073709551616"
    with pytest.raises(OverflowError, match=said):
        value(f"xs |> map(lambda x: x * 4 % 7) |> {behind}", on, int_mode="checked")


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize("init", ["", ", 0"])
def test_a_step_that_leaves_64_bits_and_comes_back(init: str, on: str) -> None:
    step = f"(lambda a, x: (a * 3 + x * 4) % 100{init})"
    for cell in (f"xs |> reduce{step}", f"xs |> map(lambda x: x + 1) |> scan{step}"):
        with pytest.raises(
            OverflowError, match=r"an integer that no int64 holds in `.*`: 184467440737095516"
        ):
            value(cell, on, int_mode="checked")
        found, (said,) = value(cell, on)
        assert found == value(cell, "python")[0]
        assert "184467440737095516" in said


def test_what_stays_within_64_bits_is_not_told_of() -> None:
    """No float holds some of the elements, so that Python compares them."""
    step = "lambda a, x: (a + x) % 1000 if x > 5.0 else a"
    for mode in ("exact", "checked"):
        found, told = value(f"big |> scan({step}, 0)", "simd", int_mode=mode)
        assert (found, told) == (list(itertools.accumulate(BIG, eval(step), initial=0))[1:], [])


def wrap(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize("on", PLACES)
def test_steps_and_elements_that_python_computes_wrap_around(on: str) -> None:
    """Of some, Python compares the elements; these, and the steps, wrap around as the others do."""
    found, _ = value("big |> map(lambda x: x * 4 // 3 if x > 5.0 else x) |> scan(lambda a, x: (a + x) // 2, 0)", on,
                     int_mode="wrap")  # fmt: skip
    elements = [wrap(x * 4) // 3 if x > 5 else x for x in BIG]
    assert found == list(itertools.accumulate(elements, lambda a, x: wrap(a + x) // 2, initial=0))[1:]

    def step(a: int, x: int) -> int:
        return wrap(wrap(a * 4) + x) // 3 if x > 5 else wrap(a + x)

    text = "lambda a, x: (a * 4 + x) // 3 if x > 5.0 else a + x"
    assert value(f"big |> scan({text})", on, int_mode="wrap")[0] == list(itertools.accumulate(BIG, step))
    assert value(f"big |> reduce({text}, 7)", on, int_mode="wrap")[0] == functools.reduce(step, BIG, 7)


@pytest.mark.parametrize("on", [*PLACES, "numpy"])
def test_running_sums_of_unsigned_elements(on: str) -> None:
    sums = list(itertools.accumulate(UNSIGNED.tolist()))
    assert value("us |> cumsum", on, int_mode="wrap")[0] == list(map(wrap, sums))
    found, (said,) = value("us |> cumsum", on)
    assert found == sums
    assert said.startswith(f"an integer that no int64 holds in `cumsum`: {sums[1]}; the")
    assert said.count("computed by Python") == 1
    with pytest.raises(OverflowError, match=f"in `cumsum`: {sums[1]}"):
        value("us |> cumsum", on, int_mode="checked")


@pytest.mark.parametrize(
    "stages",
    [
        "scan(lambda a, x: a * x)",
        "scan(lambda a, x: a * x) |> map(_ % 7)",
        "scan(lambda a, x: a * x) |> take(1)",
        "scan(lambda a, x: a * x) |> take(3)",
        "scan(lambda a, x: a * x, 1) |> last",
        "scan(lambda a, x: (a * x) % 1000003)",
        "scan(max)",
        "map(_ - 1) |> reduce(lambda a, x: (a * x) % 7)",
        "map(_ * 3 ** 20) |> scan(lambda a, x: (a + x) % 7)",
        "map(_ - 5) |> scan(lambda a, x: a * x // (a - x))",
        "map(lambda x: (x, x)) |> reduce(lambda s, x: (s[0] * x[0], s[1] + 1))",
        "enumerate |> scan(lambda s, p: (s[0] + p[0], s[1] * p[1]))",
        "reduce(lambda a, x: a * x)",
    ],
)
def test_checked_steps_are_told_on_numpy_as_by_a_loop(stages: str) -> None:
    def found(on: str) -> str:
        session = Session({"xs": [2**40] * 9}, Options(on=on, int_mode="checked", baseline=False, quiet=True))
        try:
            return repr(session.run_cell(f"xs |> {stages}").value)
        except ArithmeticError as error:
            return f"{type(error).__name__}: {error}"

    assert found("numpy") == found("simd")
