"""Scans that multiply by a captured number which keeps changing: one loop for all of its values, and the same bits."""

import itertools

import numpy as np
import pytest
from outcomes import compiled

from hastega_magic.ir.scan import running_affine
from hastega_magic.session import Options, Session
from tests.compiler.battery import assert_interpreted, assert_like_python, on_target, run, run_in, some

pytestmark = pytest.mark.usefixtures("nothing_compiled")

XS = np.random.default_rng(0).normal(size=3 * 4096 + 5)

AVERAGES = {
    "lambda a, x: k * x + (1 - k) * a": (lambda k: 1 - k, lambda x, k: k * x),
    "lambda a, x: a + (x - a) * k": (lambda k: 1 - k, lambda x, k: x * k),
    "lambda a, x: x * x - a / (k + 1)": (lambda k: -1 / (k + 1), lambda x, k: x * x),
    "lambda a, x: a + 2 / (n + 1) * (x - a)": (lambda k: 1 - 2 / 9, lambda x, k: 2 / 9 * x),
    "lambda a, x: a * k * k + x * (1 / n)": (lambda k: k * k, lambda x, k: x * (1 / 8)),
}


def changed(cell, **options):
    """What the cell does after other values of its numbers, and how many loops were compiled for the last ones."""
    session = Session({"xs": XS}, Options(**{"baseline": False, "on": "parallel", **options}))
    for k, n in ((0.5, 3), (0.375, 5), (0.125, 6), (0.3, 8)):
        session.namespace.update(k=k, n=n)
        before, ran = compiled(), run_in(session, cell)
    return ran, compiled() - before


@pytest.mark.parametrize("text", AVERAGES)
def test_every_back_end_and_width_gives_the_bits_of_the_constant(text):
    factor, offset = AVERAGES[text]
    wanted = running_affine(offset(XS, 0.3), factor(0.3), 0.5)
    assert wanted is not None
    cell = f"xs |> scan({text}, 0.5)"
    for options in (
        {"threads": 3},
        {"on": "simd"},
        {"width": 1},
        {"width": 4},
        {"width": 16},
        {"on": "opencl"},
    ):
        ran, more = changed(cell, **options)
        assert (more, ran.error, ran.warnings) == (0, None, [])
        assert ran.value.tobytes() == wanted.tobytes(), options
    for name in ("avx2", "sse2"):
        with on_target(name):
            assert changed(cell)[0].value.tobytes() == wanted.tobytes(), name


@pytest.mark.parametrize("text", AVERAGES)
@pytest.mark.parametrize("start", ["", ", 0.5"])
def test_the_interpreter_agrees(text, start):
    # Two blocks: the interpreter takes its time over each element.
    assert_interpreted(changed(f"xs |> take(4_301) |> scan({text}{start})")[0])


@pytest.mark.parametrize(
    ("k", "text", "start"),
    some(itertools.product(
        [0.25, 1.0, 0.0, -0.5, 3.0, 1e-6, -1, float("nan"), float("inf")],
        ["a * k + x", "a - a / k + x", "a + x * k", "-(a * k) - x"],
        ["", ", 2.0"],
    )),
)  # fmt: skip
def test_in_rows_or_in_order_as_the_number_has_it(k, text, start):
    """Whichever it would be for this number alone, behind others and before them; what it raises too."""
    cell = f"xs |> take(5000) |> scan(lambda a, x: {text}{start})"
    session = Session({"xs": XS}, Options(baseline=False, on="parallel"))
    for each in (0.75, 0.5, 3.5, 0.25, k, 0.625, k):
        session.namespace["k"] = each
        ran, alone = run_in(session, cell), run(cell, {"xs": XS, "k": each})
        assert type(ran.error) is type(alone.error)
        if alone.error is None:
            assert np.array_equal(ran.value, alone.value, equal_nan=True)
        else:
            assert str(ran.error) == str(alone.error)


CELLS = (
    "y = xs |> scan(lambda a, x: a * 0.9 + (x if x > n else 0.3))",
    "y = xs |> scan(lambda a, x: a * (0.9 if n > 0.5 else 0.8) + x)",
    "y = xs |> scan(lambda a, x: a * 0.9 + (x if x > k else 1 / k))",
    "y = xs |> scan(lambda a, x: (a * 0.9 + x) if int(k * 4) > 1 else a - x)",
    "y = xs |> scan(lambda a, x: abs(k) * a + x)\nz = xs |> drop(2) |> map(lambda w: w * k)",
    "y = xs |> scan(lambda a, x: abs(k) * a + x)\nz = xs |> map(lambda w: w * k)",
    "y = xs |> scan(lambda a, x: a * 0.3 + x)\nz = xs |> scan(lambda a, x: a * n + x)",
    "y = xs |> scan(lambda a, x: a * k + x)\nz = xs |> scan(lambda a, x: a * n + x)",
)


@pytest.mark.parametrize(
    ("cell", "on"), [*((cell, "simd") for cell in CELLS), *((cell, "opencl") for cell in CELLS[::2])]
)
def test_results_do_not_hang_on_what_ran_before(cell, on):
    """Also where only other values of the numbers make rows of it, or another statement of the cell is given them."""
    session = Session({"xs": XS}, Options(baseline=False, quiet=True, on=on))
    for k, n in ((0.3, 1), (0.5, 0), (0.25, 2), (0.4, 3), (1.5, 1), (0.3, 0)):
        alone = Session({"xs": XS, "k": k, "n": n}, Options(baseline=False, quiet=True, on=on))
        session.namespace.update(k=k, n=n)
        for each in (session, alone):
            each.run_cell(cell)
        for name in {"y", "z"} & alone.namespace.keys():
            assert np.array_equal(session.namespace[name], alone.namespace[name], equal_nan=True), (
                name,
                k,
                n,
            )


def test_the_kernel_is_shown_with_what_it_multiplies_by():
    ran, _ = changed("xs |> scan(lambda a, x: a * k + x)")
    text = ran.report["pipelines"][0]["code"]["passes"][-1]["text"]
    assert "added to" in text
    assert "times the last" in text


@pytest.mark.parametrize(
    "text",
    ["(a * 0.0 + x) + 0.5 * a", "(a - a + x) + 0.5 * a", "0.5 * a + x * (a * 0.0)", "a * 0.5 + (a - a) * x"],
)
def test_what_vanishes_from_a_product_still_depends_on_the_value_so_far(text):
    names = {"xs": (XS[:3000] * 8).round()}
    assert_like_python(f"xs |> scan(lambda a, x: {text}, 1.0)", names, equal=np.allclose, quiet=True)
