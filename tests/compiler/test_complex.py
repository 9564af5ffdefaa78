"""Complex numbers: what CPython computes with them, bit by bit; complex64 as NumPy's scalars have it."""

from __future__ import annotations

import itertools
import math
import sys

import battery
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.decorator import hastega
from hastega_magic.ir.scan import running_sums
from hastega_magic.ops import OPS
from hastega_magic.runtime.python import as_result

RNG = np.random.default_rng(7)
# Two blocks: the interpreter, to which they are given too, takes its time over each element.
MANY = RNG.normal(size=4_301) + 1j * RNG.normal(size=4_301)
NAMES = {
    "zs": MANY, "ws": MANY[::-1] * 3, "narrow": MANY.astype(np.complex64), "big": MANY.astype(">c16"),
    "xs": MANY.real.copy(), "items": MANY[:300].tolist(), "none": MANY[:0], "one": MANY[:1],
    "ns": np.arange(-50, 50), "k": 2 - 1j, "table": MANY[:100].copy(), "coefficients": (1j, 2 - 1j, 0.5 + 0j),
}  # fmt: skip

FUNCTIONS = """
def escape(c):
    z = 0
    for n in range(60):
        if abs(z) > 2:
            return n
        z = z * z + c
    return 60

def newton(z):
    while abs(z * z * z - 1) > 1e-9:
        z = z - (z ** 3 - 1) / (3 * z ** 2)
    return z

def horner(z):
    total = 0
    for c in coefficients:
        total = total * z + c
    return total

def upper(z):
    if z.imag < 0:
        return z.conjugate()
    return z if z else 1j
"""

EXACT = (
    "zs |> map(lambda z: z * z + 1j)",
    "zs |> zip(ws) |> map(lambda a, b: a / b * k - b)",
    "zs |> map(lambda z: z ** 3 - z ** -2 + z ** 0 + z.conjugate() * z.real + z.imag) |> to_list",
    "items |> map(lambda z: -z / (z - 1)) |> to_list",
    "xs |> map(lambda x: complex(x, 0.5)) |> map(escape)",
    "zs |> map(newton)",
    "zs |> map(horner) |> map(upper)",
    "zs |> filter(lambda z: abs(z) > 1 and z != 2j)",
    "big |> map(lambda z: z + 1) |> first",
    "zs |> step(3) |> reverse |> map(lambda z: z * 2) |> last",
    "zs |> window(2) |> map(lambda a, b: b - a)",
    "zs |> take(4_300) |> chunk(4) |> map(lambda part: sum(part))",
    "zs |> enumerate |> map(lambda n, z: (n * z, complex(z.imag)))",
    "zs |> filter(lambda z: z.real > 0) |> count",
    "ns |> map(lambda n: table[n] * n + table[0])",
    "none |> map(lambda z: z * z)",
    "none |> sum",
    "none |> prod",
    "one |> map(abs) |> to_list",
    "zs |> any",
    "zs |> all",
    "narrow |> map(lambda z: z * z / (z + 1) * k - 1.5)",
    "narrow |> map(lambda z: abs(z) + z.real) |> to_list",
    "zs |> scan(lambda a, z: a * 0.5 + z, 0j)",
    "zs |> filter(lambda z: z.real > 0) |> scan(lambda a, z: a / 2 - z)",
    "zs |> scan(lambda a, z: a if abs(a) > abs(z) else z)",
    "xs |> scan(lambda a, x: a * 0.9j + x, 1j)",
    "narrow |> scan(lambda a, z: a * z - 1)",
    "zs |> map(lambda z: z / abs(z)) |> reduce(lambda a, z: a * z, 1)",
    "zs |> reduce(lambda a, z: a + abs(z), 0.0)",
    "narrow |> reduce(lambda a, z: z - a, 0j)",
    "one |> reduce(lambda a, z: a + z, 0)",
    "one |> scan(lambda a, z: a * z)",
)
ROUNDED = (
    "zs |> sum",
    "zs |> mean",
    "items |> filter(lambda z: z.real > 0) |> sum",
    "zs |> map(lambda z: z / abs(z)) |> prod",
    "zs |> dot(ws)",
    "narrow |> map(lambda z: z / 3) |> mean",
    "y = zs |> map(lambda z: z * 2)\nt = y |> filter(lambda z: z.imag > 0) |> sum\nt",
)


LEFT_SINCE_3_14 = {
    "zs |> take(4_300) |> chunk(4) |> map(lambda part: sum(part))",
    "zs |> map(lambda z: z / abs(z)) |> reduce(lambda a, z: a * z, 1)",
    "one |> reduce(lambda a, z: a + z, 0)",
    "none |> reduce(lambda a, z: a + z, 0)",
}
"""Since then a real number stays one beside a complex one, and `sum` keeps what rounding loses of each part."""


def not_left(text):
    if sys.version_info >= (3, 14) and text in LEFT_SINCE_3_14:
        pytest.skip("left to Python since 3.14")


def about(a, b):
    """Equal up to rounding; of complex64, NumPy's own sums are of 32 bits."""
    narrow = isinstance(a, np.complex64) or isinstance(b, np.complex64)
    return battery.close(complex(a), complex(b), 1e-3 if narrow else 1e-10)


@pytest.mark.parametrize(
    ("text", "name"),
    [(text, "parallel") for text in (*EXACT, *ROUNDED)]
    + [
        (text, "items")
        for text in (
            *EXACT[1:8:2],
            EXACT[10],
            EXACT[14],
            EXACT[21],
            *EXACT[23:28:2],
            *EXACT[28:32],
            *ROUNDED[:2],
        )
    ]
    + [(EXACT[0], "groups"), (EXACT[23], "groups"), (ROUNDED[6], "groups")],
)
def test_as_in_python(text, name):
    not_left(text)
    cell = FUNCTIONS + text
    with battery.in_form(name):
        equal = battery.same if text in EXACT else about
        ran = battery.assert_like_python(cell, NAMES, equal, threads=3, quiet=True)
        for pipeline in ran.report["pipelines"]:
            assert pipeline["barriers"] == []
            assert pipeline["loops"] == 1
        turns = any(
            function in text for function in ("escape", "newton")
        )  # which the interpreter takes its time over
        if name == "parallel" and not turns and len(ran.executions[-1].fused.outputs) == 1:
            ran.executions[:] = ran.executions[-1:]
            ran.tables[:] = ran.tables[-1:]
            kind = ran.executions[0].fused.outputs[0].sink.kind
            if kind not in ("first", "last"):
                battery.assert_interpreted(ran, battery.same)


expressions = st.recursive(
    st.sampled_from(("z", "z", "z.real", "z.imag", "2", "1j", "-0.0", "(1.5-2j)", "complex(math.inf, 0.0)")),
    lambda term: st.one_of(
        st.tuples(term, st.sampled_from("+-*/"), term).map("({0[0]} {0[1]} {0[2]})".format),
        st.tuples(term, st.sampled_from(("0", "1", "2", "3", "-1", "-2", "7"))).map(
            "(complex({0[0]}) ** {0[1]})".format
        ),
        term.map("(-{})".format),
        term.map("abs({})".format),
        term.map("{}.conjugate()".format),
        st.tuples(term, term, term).map("(complex({0[0]}) if {0[1]} == {0[2]} else complex({0[1]}))".format),
        st.tuples(term, term).map("(complex({0[0]}) if {0[1]} else 1j)".format),
    ),
    max_leaves=5,
)


@pytest.mark.parametrize("name", ["parallel", "items"])
def test_any_expression(name):
    @battery.examples(60 if name == "parallel" else 12)
    @given(text=expressions, source=battery.complex_sources)
    def wide(text, source):
        battery.assert_like_python(f"zs |> map(lambda z: {text})", {"zs": source}, quiet=True)

    with battery.in_form(name):
        wide()


@battery.examples(25)
@given(text=expressions, values=st.lists(battery.complexes, min_size=1, max_size=20))
def test_any_expression_over_complex64(text, values):
    with np.errstate(all="ignore"):
        source = np.array(values).astype(np.complex64)
    text = text.replace("complex(", "(").replace("(math.inf, 0.0)", "2")
    battery.assert_like_python(f"zs |> map(lambda z: {text})", {"zs": source}, quiet=True)


@battery.examples(300)
@given(a=battery.floats, b=battery.floats)
def test_the_absolute_value_is_cpythons(a, b):
    row = OPS["complex_abs"]
    if "approximate" in row.traits:
        pytest.skip("this C library has another hypot")
    try:
        wanted = abs(complex(a, b))
    except OverflowError as error:
        with pytest.raises(OverflowError, match=str(error)):
            row.python(a, b)
        return
    assert battery.same(row.python(a, b), wanted)


@pytest.mark.parametrize("length", [0, 1, 7, 4_095, 4_097, 20_001])
def test_lengths_and_threads(length):
    zs = np.resize(MANY, length)
    battery.assert_like_python("zs |> map(lambda z: z * z)", {"zs": zs}, threads=3, quiet=True)
    ran = battery.run("zs |> filter(lambda z: z.imag > 0) |> map(lambda z: z / 2)", {"zs": zs}, threads=3)
    assert battery.same(ran.value, as_result([z / 2 for z in zs.tolist() if z.imag > 0], zs))


def test_series():
    pandas = pytest.importorskip("pandas")
    ran = battery.assert_like_python("zs |> map(lambda z: z * 2j + 1)", {"zs": pandas.Series(MANY)})
    battery.one_loop(ran)


def test_sums_have_the_same_bits_everywhere():
    battery.assert_same_bits_everywhere("zs |> map(lambda z: z * 1.1) |> sum", NAMES)


class TestRunningSums:
    @pytest.mark.parametrize("name", ["zs", "narrow", "big"])
    def test_are_those_of_each_part(self, name):
        """The same bits on any number of threads and lanes."""
        zs = NAMES[name]
        for options in (
            {"threads": 1},
            {"threads": 3},
            {"width": 1},
            {"width": 4},
            {"on": "opencl", "width": 4},
        ):
            if "on" in options:
                pytest.importorskip("pyopencl")
            ran = battery.run(f"{name} |> cumsum", NAMES, **options)
            assert ran.value.real.tobytes() == running_sums(zs.real.astype(zs.real.dtype.name)).tobytes()
            assert ran.value.imag.tobytes() == running_sums(zs.imag.astype(zs.real.dtype.name)).tobytes()
            battery.one_loop(ran)
        if name == "zs":
            battery.assert_interpreted(ran, battery.same)

    @pytest.mark.parametrize(
        "text",
        [
            "zs |> cumsum",
            "zs |> filter(lambda z: z.real > 0) |> cumsum",
            "ns |> map(lambda n: n * 1j) |> cumsum",
        ],
    )
    def test_are_about_those_of_python(self, text):
        battery.assert_like_python(
            text, NAMES, lambda a, b: np.allclose(a, b, rtol=1e-10, atol=1e-10), threads=3
        )

    @pytest.mark.skipif(sys.version_info >= (3, 14), reason="where the imaginary part begins at -0.0")
    def test_begin_at_zero(self):
        ran = battery.assert_like_python("zs |> cumsum", {"zs": np.array([complex(-0.0, -0.0), 1j])})
        assert math.copysign(1, ran.value[0].imag) == 1


@pytest.mark.parametrize(
    "text", ["none |> reduce(lambda a, z: a + z, 0)", "none |> scan(lambda a, z: a * z, 1j)"]
)
def test_running_values_of_no_elements(text):
    not_left(text)
    assert battery.assert_like_python(text, NAMES).report["pipelines"][0]["barriers"] == []


def test_running_values_beside_other_results():
    cell = "a = zs |> cumsum\nb = zs |> scan(lambda t, z: t - z, 0j)\nc = zs |> sum\nd = zs |> map(abs)\n(a, b, c, d)"
    ran = battery.run(cell, NAMES, threads=3)
    assert len(ran.executions) == 1
    a, b, c, d = ran.value
    assert np.allclose(a, np.cumsum(MANY))
    assert battery.same(
        b, as_result(list(itertools.accumulate(MANY.tolist(), lambda t, z: t - z, initial=0j))[1:], MANY)
    )
    assert about(c, sum(MANY.tolist()))
    assert battery.same(d, as_result([abs(z) for z in MANY.tolist()], MANY))


def test_many_blocks_of_running_values():
    zs = np.resize(MANY, 131 * 4096 + 5)
    for threads in (1, 3):
        ran = battery.run("zs |> cumsum", {"zs": zs}, on="parallel", threads=threads)
        assert ran.value.imag.tobytes() == running_sums(zs.imag.copy()).tobytes()
        ran = battery.run(
            "zs |> scan(lambda a, z: a * 0.5j + z, 1)", {"zs": zs}, on="parallel", threads=threads
        )
        wanted = itertools.accumulate(zs.tolist(), lambda a, z: a * 0.5j + z, initial=1)
        assert battery.same(ran.value, np.array(list(wanted)[1:]))


@pytest.mark.parametrize(
    "text", ["zs |> scan(lambda a, z: a + 1 / z, 0j)", "zs |> reduce(lambda a, z: a / z, 1j)"]
)
@pytest.mark.parametrize("name", ["parallel", "items"])
def test_a_step_that_raises(text, name):
    zs = MANY.copy()
    zs[4_200] = 0
    with battery.in_form(name):
        ran = battery.assert_like_python(text, {"zs": zs})
    assert type(ran.error) is ZeroDivisionError


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("zs |> map(lambda z: 1 / (z - z))", ZeroDivisionError),
        ("zs |> map(lambda z: complex(z.real * 1e200) ** 2)", OverflowError),
        ("zs |> map(lambda z: abs(complex(1e308, 1.7e308)))", OverflowError),
        ("zs |> map(lambda z: z > 1)", TypeError),
        ("zs |> map(lambda z: z // 2)", TypeError),
        ("zs |> max", TypeError),
        ("zs |> map(lambda z: ~z)", TypeError),
        ("zs |> map(lambda z: math.sqrt(z))", TypeError),
    ],
)
def test_what_raises(text, error):
    ran = battery.assert_like_python(text, NAMES)
    assert type(ran.error) is error


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("zs |> map(lambda z: z ** z)", "whole constants up to 100"),
        ("zs |> map(lambda z: z ** math.nan)", "whole constants up to 100"),
        ("zs |> map(lambda z: z if z.real > 0 else 1.0)", "complex for some elements"),
        ("zs |> scan(lambda a, z: -a + z, 0)", "begin with 0j"),
        ("zs |> reduce(lambda a, z: (z, z))", "gives a tuple"),
        ("zs |> scan(lambda a, z: z.real)", "another type than the elements have"),
        ("zs |> zip(ws) |> cumsum", "of tuples is left to Python"),
        ("ns |> map(lambda n: 1j / table[n])", "as NumPy's complex numbers are"),
        ("narrow |> map(lambda z: z ** 5)", "powers of complex64"),
        ("narrow |> zip(xs) |> map(lambda z, x: z * x)", "of 32 and of 64 bits"),
        ("narrow |> map(lambda z: complex(z * 0.5, z - 4))", "discards the imaginary part"),
    ],
)
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_what_is_left_to_python_says_why(text, reason):
    ran = battery.assert_like_python(text, NAMES)
    (barrier,) = ran.report["pipelines"][0]["barriers"]
    assert reason in barrier["reason"]


def test_a_report_names_the_type():
    ran = battery.run("zs |> map(lambda z: z * z) |> sum", NAMES)
    code = ran.report["pipelines"][0]["code"]
    assert "source zs: array complex128 complex" in code["pipeline"]
    assert "zs.real" in code["fused"]
    assert "z * z" in {link["text"] for link in ran.report["pipelines"][0]["links"]}
    shown = ran.report["pipelines"][0]["lanes"]["steps"][-1]["values"][0]
    assert complex(shown) == pytest.approx(MANY[0] * MANY[0], rel=1e-4)
    assert (
        "shufflevector <16 x double>" in code["llvm"]
        or ran.executions[0].compiled.bodies[0].kernel.schedule.lanes != 8
    )


@hastega
def squares(zs):
    return [z * z for z in zs if z.imag > 0]


def test_decorated_functions():
    zs = MANY.tolist()
    found = squares(zs)
    assert found == [z * z for z in zs if z.imag > 0]
    assert set(map(type, found)) == {complex}
    assert math.isfinite(abs(found[0]))


@pytest.mark.parametrize("sink", ["sum", "mean", "var", "filter(lambda z: z != 1) |> sum"])
def test_powers_of_negative_numbers(sink):
    session = battery.Session({}, battery.Options(baseline=False))
    cell = f"xs |> map(lambda x: (-8.0) ** x) |> {sink}"
    for xs in ([1.0, 2.0], [2.0, 4.0, 1.0], [1.0, 0.5, 2.0], [2.0, 1.0]):
        session.namespace["xs"] = xs
        found, wanted = battery.run_in(session, cell), battery.python(cell, {"xs": xs})
        assert found.error is None
        assert battery.close(found.value, wanted.value), xs
