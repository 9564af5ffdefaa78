"""What `min` and `max` are given by name: a default for where nothing is left, and a key with `_`."""

import math

import numpy as np
import pytest

from hastega_magic.session import Options, Session
from tests.compiler.battery import assert_like_python, one_loop, python, run

SOURCES = {
    "list": [3, -1, 4, 1, -5, 9, 2],
    "bools": np.array([True, False, True]),
    "bytes": np.arange(20000).astype(np.uint8),
    "floats": np.sin(np.arange(20001.0)),
    "narrow": np.array([0.5, math.nan, -1.5], np.float32),
    "odd": [math.nan, -0.0, 0.0, 2.5],
    "empty": [],
    "no floats": np.array([]),
    "one": range(7, 8),
}
DEFAULTS = ["0", "None", "-0.5", "'none'", "2j", "2**70", "math.nan"]


@pytest.mark.parametrize("default", DEFAULTS)
@pytest.mark.parametrize("source", SOURCES)
def test_where_nothing_is_left(source, default):
    names = {"xs": SOURCES[source]}
    for stages in (
        f"min(default={default})",
        f"filter(lambda x: x > 2) |> max(default={default})",
        f"filter(lambda x: x > 200) |> min(default={default})",
        f"map(lambda x: x + 1) |> filter(lambda x: x < -7) |> max(default={default}, key=None)",
    ):
        one_loop(assert_like_python(f"xs |> {stages}", names))


@pytest.mark.parametrize(
    "options", [{"int_mode": "wrap"}, {"int_mode": "checked"}, {"on": "numpy"}, {"on": "opencl"}]
)
def test_in_every_mode(options):
    for source, least in (("bytes", 300), ("bytes", 4), ("floats", 2), ("narrow", 7), ("empty", 0)):
        text, names = f"xs |> filter(lambda x: x > {least}) |> max(default=2**70)", {"xs": SOURCES[source]}
        found, expected = run(text, names, **options), python(text, names)
        assert (type(found.value), found.value) == (type(expected.value), expected.value)


def test_where_python_evaluates_blocks():
    for least in (2**70, 2**90):
        text = f"xs |> map(lambda x: x * 2**64) |> filter(lambda x: x > {least}) |> min(default=-1)"
        assert_like_python(text, {"xs": list(range(9000))})
    found = assert_like_python("xs |> filter(lambda x: 10 // x > 100) |> min(default=-1)", {"xs": [1, 0]})
    assert isinstance(found.error, ZeroDivisionError)


def test_without_a_default_python_raises():
    for key in ("", "key=None"):
        found = assert_like_python(f"xs |> filter(lambda x: x > 99) |> min({key})", {"xs": [1, 2]})
        assert isinstance(found.error, ValueError)


def test_in_turns():
    """Elements are left in some turns, and what there is instead is another one in each."""
    names = {"xs": SOURCES["list"], "found": []}
    text = "for k in range(40):\n    found.append((xs |> filter(lambda x: x > k % 14) |> max(default=-k)))"
    Session(names, Options(baseline=False, quiet=True, on="simd")).run_cell(text)
    assert names["found"] == [9 if k % 14 < 9 else -k for k in range(40)]


@pytest.mark.parametrize("source", ["list", "bytes", "floats", "one"])
@pytest.mark.parametrize("stage", ["max(key=_ % 3)", "min(key=-_)", "max(default=0, key=(_ + 1) * (_ - 1))"])
def test_the_placeholder_in_a_key(source, stage):
    one_loop(assert_like_python(f"xs |> {stage}", {"xs": SOURCES[source]}))
    [before, key] = stage.split("key=")
    written = run(f"xs |> {before}key=lambda y: {key.replace('_', 'y')}", {"xs": SOURCES[source]})
    assert written.value == run(f"xs |> {stage}", {"xs": SOURCES[source]}).value


def test_a_default_beside_a_key():
    for source in ("list", "empty", "no floats"):
        assert_like_python("xs |> min(default=-1, key=lambda x: -x)", {"xs": SOURCES[source]})
