"""Captured numbers that keep changing, in functions of the value so far and an element."""

import pytest
from outcomes import compiled

from hastega_magic.session import Options, Session

pytestmark = pytest.mark.usefixtures("nothing_compiled")

QUIET = Options(baseline=False, quiet=True)


@pytest.mark.parametrize("on", ["parallel", "simd", "opencl"])
@pytest.mark.parametrize(
    "stages",
    [
        "scan(lambda a, x: max(a, x - k))",
        "scan(lambda a, x: (a * k + x) % 1009, 7)",
        "reduce(lambda a, x: a * k + x, 0.5)",
        "reduce(lambda a, x: a * 0.5 + x * k, 0.5)",
        "map(lambda x: x * k) |> scan(lambda a, x: min(a, x) + k)",
        "scan(lambda a, x: abs(a - k) + (x if x > k else j))",
    ],
)
def test_functions_in_order_are_given_it(stages, on):
    """In cells on every back end: further values compile nothing, and give what a session gives that knows but them."""
    session = Session({"zs": range(5000), "j": 1}, Options(on=on, baseline=False, quiet=True))
    counted = []
    for k in (3, 4, 5, 6, 9, 2, 17):
        session.namespace["k"] = k
        session.run_cell(f"t = zs |> {stages}")
        counted.append(compiled())
        alone = Session({"zs": range(5000), "j": 1, "k": k}, Options(on="python", quiet=True))
        alone.run_cell(f"t = zs |> {stages}")
        found, expected = session.namespace["t"], alone.namespace["t"]
        assert type(found) is type(expected)
        if hasattr(expected, "tolist"):
            assert found.dtype == expected.dtype
            found, expected = found.tolist(), expected.tolist()
        assert found == expected
    assert len(set(counted[1:])) == 1


@pytest.mark.parametrize("k", [0.25, 0.9, 1, 3])
def test_rows_have_the_bits_that_they_have_without_runs_before(k):
    """A scan that multiplies and adds is computed in rows, or in order: whichever it would be for this number alone."""
    stages = "scan(lambda a, x: a * (1 - k) + x * k)"
    fs = [x * 0.37 for x in range(3000)]
    for on in ("parallel", "opencl"):
        session = Session({"fs": fs}, Options(on=on, baseline=False))
        for each in (0.5, 0.75, 3, 0.6, 2, k):
            session.namespace["k"] = each
            session.run_cell(f"t = fs |> {stages}")
        alone = Session({"fs": fs, "k": k}, QUIET)
        alone.run_cell(f"t = fs |> {stages}")
        assert session.namespace["t"].tolist() == alone.namespace["t"].tolist()
        (told,) = [
            each.data["text"] for each in session.last.trace.events if "`k`" in str(each.data.get("text"))
        ]
        assert "given it from outside" in told


def test_a_function_that_is_one_of_rows_for_some_numbers_alone_is_compiled_anew():
    session = Session({"fs": [x * 0.37 for x in range(3000)]}, Options(baseline=False))
    for each in (0.5, 0.25, 3, 0.75):
        session.namespace["k"] = each
        session.run_cell("t = fs |> scan(lambda a, x: a * 0.5 + x if k < 1 else max(a, x))")
    (told,) = [each.data["text"] for each in session.last.trace.events if "`k`" in str(each.data.get("text"))]
    assert "all the same" in told
