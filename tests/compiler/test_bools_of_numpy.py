"""NumPy's bools: `~` of one is `not`, of Python's an int; and ints of captured arrays are NumPy's numbers."""

import functools
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from tests.compiler.battery import assert_like_python, one_loop, run

_MODULE = ModuleType("numbers_of_ours")
vars(_MODULE).update(flag=np.bool_(True), n=np.int64(7))
XS = np.array([1.0, np.nan, 3.0] * 20)
NAMES = {
    "np": np,
    "xs": XS,
    "ns": [*range(60)],
    "narrow": XS.astype(np.float32),
    "flag": np.bool_(True),
    "five": np.int64(5),
    "mask": np.array([True, False, True] * 20),
    "table": np.arange(60),
    "flags": (np.bool_(True), np.bool_(False)),
    "named": {0: np.bool_(True), 1: np.bool_(False)},
    "short": [np.float64(2.675), np.float64(1.5)],
    "partly": functools.partial(lambda n, b: ~b, b=np.bool_(True)),
    "settings": SimpleNamespace(flag=np.bool_(True)),
    "module": _MODULE,
    "image": np.arange(60).reshape(30, 2) % 3 == 0,
}

OF_BOOLS = [
    "+np.isnan(x)", "-np.isnan(x)", "abs(np.isnan(x))", "round(np.isnan(x))", "math.trunc(np.isnan(x))",
    "math.gcd(np.isnan(x), 3)", "math.ldexp(1.0, np.isnan(x))", "np.isnan(x) * np.isnan(x)", "np.isnan(x) * True",
    "sum((np.isnan(x), np.isnan(x)), False)", "np.isnan(x).real", "np.isnan(x).imag", "np.isnan(x).bit_length()",
    "(5, 6)[np.isnan(x)]", "[5, 6][np.isnan(x)]", "sum(range(np.isnan(x)))", "1 // np.isnan(x)", "1 / np.isnan(x)",
    "np.isnan(x) % np.isnan(x)", "[5, 6].pop(np.isnan(1.0))",
]  # fmt: skip


@pytest.mark.parametrize(
    "cell",
    [
        "xs |> map(np.isnan) |> filter(lambda x: ~x) |> count",
        "narrow |> filter(lambda x: ~(x > 2)) |> count",
        "ns |> filter(lambda n: ~mask[n]) |> to_list",
        "ns |> filter(lambda n: ~(table[n] > 5)) |> to_list",
        "ns |> filter(lambda n: ~image[n % 30, n % 2]) |> to_list",
        "ns |> map(lambda n: mask[n]) |> filter(lambda b: ~b) |> count",
        "ns |> filter(lambda n: ~flag) |> count",
        "ns |> map(lambda n: mask[n] + image[n % 30, 0]) |> count",
        "xs |> map(lambda x: (np.isnan(x) + np.isinf(x)) * 2) |> to_list",
        "ns |> map(lambda n: np.add(n > 5, n > 7)) |> to_list",
        "ns |> map(lambda n: round(table[n] / 1000, 2)) |> to_list",
        *(f"xs |> map(lambda x: {each}) |> to_list" for each in OF_BOOLS),
        *(
            f"xs |> map(np.isnan) |> map(lambda b: {each.replace('np.isnan(x)', 'b')}) |> to_list"
            for each in OF_BOOLS
        ),
        "xs |> map(np.isnan) |> map(lambda b: b) |> map(abs) |> to_list",
        "xs |> map(np.isnan) |> enumerate |> map(lambda i, b: i * (b - b)) |> sum",
        "xs |> map(np.isnan) |> window(2) |> map(lambda a, b: a - b) |> to_list",
        "xs |> map(np.isnan) |> scan(lambda a, b: a + b, False) |> to_list",
        "xs |> map(np.isnan) |> reduce(lambda a, b: a + b)",
        "ns |> map(lambda n: ~flags[0]) |> to_list",
        "ns |> map(lambda n: -flags[0]) |> to_list",
        "ns |> map(lambda n: (n > 3) + flags[1]) |> to_list",
        "ns |> map(lambda n: ~named[n % 2]) |> to_list",
        "ns |> map(lambda n: ~max(flags)) |> to_list",
        "ns |> map(lambda n: [~b for b in flags][0]) |> to_list",
        "ns |> map(partly) |> to_list",
        "ns |> map(lambda n, b=flags[0]: ~b) |> to_list",
        "ns |> map(lambda n: ~settings.flag) |> to_list",
        "ns |> map(lambda n: ~module.flag) |> to_list",
        "ns |> map(lambda n: (n > module.n) + (n > 3)) |> to_list",
        "ns |> map(lambda n: round(short[n > 3] + n, 2)) |> to_list",
        "ns |> map(lambda n: round(max(short) + n, 2)) |> to_list",
        "ns |> map(lambda n: round(five * n / 1000, 2)) |> to_list",
    ],
)
def test_python_computes_what_numpys_numbers_do_otherwise(cell):
    ran = run(f"{cell}\n", NAMES)
    assert ran.error is not None or ran.report["pipelines"][-1]["barriers"]
    assert_like_python(f"{cell}\n", NAMES, quiet=True)


@pytest.mark.parametrize(
    "cell",
    [
        "ns |> filter(lambda n: np.invert(n > 5)) |> to_list",
        "ns |> map(lambda n: np.invert(n)) |> to_list",
        "ns |> map(lambda n: ~n + table[n]) |> to_list",
        "ns |> map(lambda n: (n > 5) + (n > 7)) |> to_list",
        "ns |> map(lambda n: int(mask[n]) + int(image[n % 30, 0])) |> to_list",
        "xs |> filter(lambda x: not np.isnan(x)) |> sum",
        "xs |> filter(~np.isnan(_)) |> sum",
        "xs |> map(lambda x: 1 if ~np.logical_and(x > 0, x < 2) else 0) |> to_list",
        "xs |> map(lambda x: ~np.isfinite(x)) |> count",
    ],
)
def test_the_rest_is_compiled(cell):
    one_loop(run(f"{cell}\n", NAMES))
    assert_like_python(f"{cell}\n", NAMES, quiet=True)


@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")
def test_what_python_warns_of_for_each_element_is_left_to_it():
    cell = "ns |> map(lambda n: ~(n > 5)) |> to_list"
    ran = run(cell, NAMES)
    assert len(ran.report["pipelines"][0]["barriers"]) == (sys.version_info >= (3, 12))
    assert_like_python(cell, NAMES, quiet=True)
