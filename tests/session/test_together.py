"""Blocks of elements that Python computes: stage after stage they are what one element after the other gives."""

import math
import warnings

import numpy as np
import pytest

from hastega_magic.compiler.python.elements import Elements
from hastega_magic.compiler.python.stagewise import kept_of
from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.ir.columns import Columns
from hastega_magic.session import Options, Session

N = 300
SPACE = {
    "math": math,
    "np": np,
    "big": 10**17,
    "xs": np.arange(N) * 10**16,
    "fs": np.linspace(-3, 3, N),
    "singles": np.linspace(-3, 3, N).astype(np.float32),
    "table": np.arange(N) * 10**15,
    "shared": np.array([1, 2**62, 3]),
}
PIPELINES = [
    "xs |> map(lambda x: x * 1000 + int(math.sin(x) * 5))",
    "xs |> map(lambda x: (x * 1000, math.exp(x * 1e-18)))",
    "xs |> map(lambda x: x * 1000 if x % 3 else int(math.log(x + 1.0)))",
    "xs |> map(lambda x: int(math.log(x)) * x if x else x) |> filter(lambda y: y % 2 == 0)",
    "xs |> filter(lambda x: math.cos(x) > 0) |> map(lambda x: x * x)",
    "xs |> zip(fs) |> map(lambda x, f: x * 1000 + int(math.tanh(f) * 9))",
    "xs |> enumerate |> map(lambda i, x: x * i * 100 + int(math.sqrt(i) ** 0.7))",
    "xs |> zip(singles) |> map(lambda x, f: (x * 1000, np.exp(f)))",
    "xs |> zip(singles) |> map(lambda x, f: x * 1000 + int(math.sin(f) * 1e9))",
    "xs |> map(lambda x: shared[x % 3] * x)",
    "xs |> map(lambda x: table[x % 300] * x + int(math.atan(x)))",
    "xs |> map(lambda x: x * x) |> map(lambda y: y - big) |> filter(lambda y: math.sin(y % 10) < 0.5)",
    "xs |> map(lambda x: x ** 2 * x) |> map(lambda y: (y, y % 7)) |> map(lambda y, r: y * r)",
    "xs |> map(lambda x: complex(math.cos(x), x * x))",
    "range(300) |> enumerate(5) |> map(lambda i, x: i * x * big + round(math.exp(x * 0.01)))",
    "xs |> map(lambda x: 2.0 ** (x % 60) + x * x)",
    "xs |> map(lambda x: max(x * x, 5) - int(math.hypot(x, 3.0)))",
    "fs |> map(lambda f: int(f * 5e18)) |> to_list",
    "fs |> map(lambda f: round(f * 5e18) // 2 + 1 if f < 2 else math.floor(f * 4e18)) |> to_list",
]  # fmt: skip


def shown(value):
    """Its text, which of ints may have any length."""
    return hex(value) if type(value) is int else repr(value)


def outcome(text, space, **options):
    session = Session(dict(space), Options(on="simd", baseline=False, quiet=True, **options))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            value = session.run_cell(text).value
        except Exception as error:
            value = type(error), str(error), getattr(error, "__notes__", [])
    return shown(value), [str(each.message) for each in told if each.category is IntegerOverflowWarning]


def one_by_one(monkeypatch):
    monkeypatch.setattr(
        Elements, "through", lambda self, first, last: kept_of(map(self.at, range(first, last)))
    )


@pytest.mark.parametrize(
    ("text", "mode"),
    [*((text, "exact") for text in PIPELINES), *((text, "checked") for text in PIPELINES[::2])],
)
def test_as_one_after_the_other(monkeypatch, text, mode):
    np.set_printoptions(threshold=10**6)
    found = outcome(text, SPACE, int_mode=mode)
    one_by_one(monkeypatch)
    assert outcome(text, SPACE, int_mode=mode) == found


@pytest.mark.parametrize("mode", ["exact", "checked"])
@pytest.mark.parametrize("bad", [0, 150, N - 1])
@pytest.mark.parametrize(
    "function", ["math.log(x - k)", "math.exp(1 / (x - k))", "(x - k) ** -0.5 * 0", "1 // (x - k)"]
)
def test_what_raises_is_told_alike(monkeypatch, function, bad, mode):
    text = f"xs |> map(lambda x: x * 1000) |> map(lambda x: x + int({function}))"
    space = SPACE | {"k": int(SPACE["xs"][bad]) * 1000}
    found = outcome(text, space, int_mode=mode)
    one_by_one(monkeypatch)
    assert outcome(text, space, int_mode=mode) == found


def test_functions_with_bits_of_their_own_go_over_all_elements_at_once(monkeypatch):
    at, calls = Elements.at, []
    monkeypatch.setattr(Elements, "at", lambda self, index: calls.append(index) or at(self, index))
    value, told = outcome("xs |> map(lambda x: x * 1000 + int(math.sin(x) * 5)) |> to_list", SPACE)
    assert len(calls) == len(told) == 1
    xs = SPACE["xs"].tolist()
    assert value == repr([x * 1000 + int(math.sin(x) * 5) for x in xs])


@pytest.mark.parametrize("mode", ["exact", "checked"])
@pytest.mark.parametrize("first", [0, 63, 64, 319, 320, 1343, 1344, 2999])
def test_the_first_that_leaves_64_bits_is_found_wherever_it_is(monkeypatch, first, mode):
    xs = np.arange(3000)
    xs[first::7] += 2**60
    text = "xs |> filter(lambda x: x >= 0) |> map(lambda x: x * 64 - 1) |> to_list"
    found = outcome(text, {"xs": xs}, int_mode=mode)
    assert f"element {first} of xs" in repr(found)
    one_by_one(monkeypatch)
    assert outcome(text, {"xs": xs}, int_mode=mode) == found


def test_little_is_gone_through_once_more_to_find_it(monkeypatch):
    """Stages that cannot leave 64 bits over these elements are not looked at, others as far as there is one."""
    looked, of = [], Columns.of
    monkeypatch.setattr(
        Columns, "of", lambda self, node, places: looked.append(len(places)) or of(self, node, places)
    )
    space = {"xs": list(range(1, 3001))}
    value, _ = outcome("xs |> filter(lambda x: x % 2) |> prod", space)
    assert value == shown(math.prod(range(1, 3001, 2)))
    assert not looked
    value, (told,) = outcome("xs |> map(lambda x: x ** 30) |> sum", space)
    assert value == shown(sum(x**30 for x in range(1, 3001)))
    assert "element 4 of xs" in told
    assert max(looked) == 64


@pytest.mark.parametrize(
    ("sink", "python"),
    [
        ("prod", math.prod),
        ("sum", sum),
        ("prod(start=-3)", lambda xs: math.prod(xs, start=-3)),
        ("sum(5)", lambda xs: sum(xs, 5)),
        ("reduce(lambda a, b: a * b)", math.prod),
        ("reduce(lambda a, b: a + b, 2**70)", lambda xs: sum(xs, 2**70)),
        ("mean", lambda xs: sum(xs) / len(xs)),
    ],
)
@pytest.mark.parametrize("count", [1, 2, 3, 100, 4096, 4097])
def test_sums_and_products_beyond_128_bits(sink, python, count):
    xs = [(-3) ** 39 - number for number in range(count)]
    value, _ = outcome(f"xs |> map(lambda x: x ** 5 if x else x) |> {sink}", {"xs": xs})
    assert value == shown(python([x**5 for x in xs]))


@pytest.mark.parametrize("on", ["parallel", "numpy"])
@pytest.mark.parametrize(
    ("stages", "number"),
    [
        ("drop(1)", 3), ("step(3)", 3), ("reverse", 3), ("drop(1) |> step(2)", 3), ("drop_while(_ < 2)", 3),
        ("take(4) |> reverse", 3), ("map(_ + 0) |> drop(2)", 3),
    ],
)  # fmt: skip
def test_the_number_is_the_element_s_in_its_source(stages, number, on):
    session = Session({"xs": [1, 2, 3, 5, 7]}, Options(on=on, baseline=False, quiet=True))
    with pytest.raises(ZeroDivisionError) as raised:
        session.run_cell(f"xs |> {stages} |> map(lambda x: 1 // (x - 5))")
    assert any(f"element {number} of xs, which is 5," in note for note in raised.value.__notes__)


@pytest.mark.parametrize(
    "stages",
    ["map(lambda x: x * 4) |> last", "drop(1) |> map(lambda x: x * 4) |> first", "drop(1) |> map(_ * 4)"],
)
def test_so_where_an_integer_leaves_64_bits(stages):
    _, (told,) = outcome(f"xs |> {stages}", {"xs": [1, 2**62]})
    assert "element 1 of xs, which is 4611686018427387904" in told


def test_a_stage_behind_that_python_runs_names_its_element_too():
    session = Session({"xs": [-5, 1, 1000]}, Options(on="parallel", baseline=False, quiet=True))
    with pytest.raises(TypeError) as raised:
        session.run_cell("xs |> map(lambda x: 1 / (x - 1000)) |> map(lambda x: x << 5) |> sum")
    assert any("element 0" in note and "`map(lambda x: x << 5)`" in note for note in raised.value.__notes__)
