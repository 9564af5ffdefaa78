"""Texts that say what a function does: `mode == "mean"`, a default, an attribute, an argument."""

import functools
import math

import pytest

from hastega_magic.session import Options, Session
from tests.compiler.battery import assert_like_python, one_loop, run

DEFINED = """
MODE, OTHER = "half", "double"
class Chosen:
    mode = "half"
chosen = Chosen()
def scaled(x, mode="double"): return x * 2 if mode == "double" else x / 2 if mode != "same" else x
def twice(x, mode): return scaled(scaled(x, mode), mode=mode)
"""
FUNCTIONS = [
    "lambda x: x + 1 if MODE == 'half' else x - 1",
    "lambda x: x + 1 if 'double' != OTHER else x - 1",
    "lambda x: x + 1 if chosen.mode in ('half', OTHER) else x",
    "lambda x: x if MODE not in {'a', 'b'} else x + 1",
    "lambda x, mode='same': scaled(x, mode)",
    "scaled",
    "lambda x: scaled(x, 'half') + scaled(x, mode='same')",
    "lambda x: twice(x, 'double')",
    "partial(scaled, mode='half')",
    "lambda x: x > 1 and MODE == 'half'",
]
SOURCES = {"list": [3, -1, 4, 0], "floats": [0.5, -0.0, math.inf], "empty": []}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_known_texts(function, source):
    names = {"xs": SOURCES[source], "partial": functools.partial}
    one_loop(assert_like_python(f"{DEFINED}xs |> map({function}) |> to_list", names))


@pytest.mark.parametrize(
    "function",
    [
        "lambda x: x if MODE < 'i' else x + 1",
        "lambda x: len(MODE) + x",
        "lambda x: x if 'a' in MODE else x + 1",
        "lambda x: x == 'half'",
        "lambda x: x in ('half', 3)",
        "lambda x: x + 'a'",
        "lambda x: max(x, 'a')",
        "lambda x: scaled(x, 'a', 'b')",
        "lambda x: (lambda mode: x if mode is MODE else x + 1)('half')",
        "lambda x: (lambda mode: x if mode else x + 1)('')",
        "lambda x: {'half': x, 'double': 2}[MODE]",
        "lambda x: (lambda mode: mode)('half')",
        "lambda x: int('7', base=8) + x",
    ],
)
def test_others_are_pythons(function):
    assert_like_python(f"{DEFINED}xs |> map({function}) |> to_list", {"xs": SOURCES["list"]})


def test_another_text_in_each_turn():
    text = (
        f"{DEFINED}for MODE in turns:\n    chosen.mode = OTHER = MODE\n"
        "    found.append([(xs |> map(lambda x: scaled(x, MODE)) |> sum), (xs |> map(scaled) |> sum),\n"
        "        (xs |> map(lambda x: 2 if chosen.mode == 'same' else 3) |> sum),\n"
        "        (xs |> map(lambda x, mode=MODE: x if mode == 'same' else 3) |> sum)])"
    )
    names = {
        "xs": [1, 2, 3],
        "found": [],
        "turns": ["half", "same", "double"[:3] + "ble", "xsame"[1:]] * 3,
    }
    Session(names, Options(baseline=False, quiet=True, on="simd")).run_cell(text)
    expected = {"half": [3.0, 12, 9, 9], "same": [6, 12, 6, 6], "double": [12, 12, 9, 9]}
    assert names["found"] == [expected[mode] for mode in names["turns"]]


def test_ordinary_code():
    text = "MODE = 'half'\n[x / 2 if MODE == 'half' else x for x in xs]"
    assert run(text, {"xs": list(range(5000))}).value == [x / 2 for x in range(5000)]
