"""Subscripts into captured arrays of several dimensions and lists of lists."""

import math

import numpy as np
import pytest

from hastega_magic.session import Options, Session
from tests.compiler.battery import BIG, assert_interpreted, assert_like_python, one_loop, run, same

RANDOM = np.random.default_rng(5)
INTS = np.array([[0, 1, -1, 2**31 - 1], [BIG, -BIG - 1, 2**53 + 1, 61], [-(2**31), 7, -7, 2**62]])
FLOATS = np.array(
    [[0.0, -0.0, 5e-324, 1.5], [math.inf, -math.inf, math.nan, -2.5], [1e308, -1e-308, 0.1, 3.0]]
)
NAMES = {
    "xs": list(range(48)),
    "edges": [-49, -13, -4, -3, -1, 0, 1, 2, 3],
    "ints": INTS,
    "floats": FLOATS,
    "cube": RANDOM.normal(size=(2, 3, 4)),
    "z": RANDOM.normal(size=(3, 2)) + 1j,
    "rows": [[1, 2, 3], [4, 5, BIG], [-7, 8, 9]],
    "nested": ((0.5, -0.0), [math.inf, 2.5]),
    "pairs": ((1, 0.5), (2, 0.25), (3, -0.0)),
    "coefficients": [1.5, -2.0, 0.25],
    "long": list(range(100)),
    "table": {0: 5, 1: 0.5, True + 1: -0.0, -3: BIG},
    "colours": {0: (1, 2.0), 1: (3, math.inf), 2: (5, -0.0)},
}  # fmt: skip
LAYOUTS = {
    "dense": lambda a: a.copy(),
    "transposed": np.asfortranarray,
    "turned": lambda a: a[::-1, ::-1],
    "strided": lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
    "swapped": lambda a: a.astype(a.dtype.newbyteorder(">")),
}
CELLS = [
    "xs |> map(lambda x: ints[x // 16, x % 4]) |> to_list",
    "xs |> map(lambda x: (floats[x // 16][x % 4], floats[x // 16 - 3, x % 4 - 4])) |> to_list",
    "xs |> map(lambda x: cube[x % 2, x % 3, x % 4] + cube[x % 2][x % 3, x % 4] - cube[(x % 2, x % 3)][-1])",
    "xs |> map(lambda x: z[x % 3, x % 2] * 2)",
    "xs |> map(lambda x: rows[x % 3][x % 3 - 3] * 3 + rows[1][0]) |> to_list",
    "xs |> map(lambda x: nested[x % 2][-(x % 2)]) |> to_list",
    "xs |> map(lambda x: pairs[x % 3][1] * pairs[x % 3][0]) |> to_list",
    "xs |> map(lambda x: ints.shape[0] * x + ints.size + ints.ndim + len(ints) + len(ints[x % 3]) + len(rows[0]))",
    "xs |> map(lambda x: sum(floats[x % 1]) + max(v for v in cube[0, x % 3])) |> to_list",
    "xs |> map(lambda x: sum(rows[x % 3]) + sum(min(row) for row in rows)) |> to_list",
    "xs |> map(lambda x: sum(coefficients) * x + max(coefficients) + sum(long)) |> to_list",
    "xs |> map(lambda x: (table[x % 3], {1: x, 1.0: -x, 2.5: 7, False: 1}.get(x % 3, 0.25))) |> to_list",
    "xs |> map(lambda x: colours[x % 3][x % 2] + len(colours)) |> to_list",
    "xs |> map(lambda x: sum(k * v for k, v in {1: x, 2: 3}.items()) + sum(table.values())) |> to_list",
    "xs |> map(lambda x: table.get(x - 3.0, -1) if x / 2 in table else {0: 1}[0]) |> to_list",
    "xs |> map(lambda x: 1 if table.get(x) is None else 0) |> sum",
    "edges |> filter(lambda x: -3 <= x < 3) |> map(lambda x: ints[x, -4] // 3) |> to_list",
    "edges |> map(lambda x: ints[x, 0] if -3 <= x < 3 else -1) |> sum",
]


@pytest.mark.parametrize(
    ("cell", "on"), [*((cell, "parallel") for cell in CELLS), *((cell, "opencl") for cell in CELLS[1:9:3])]
)
def test_as_python_has_it(cell, on):
    ran = assert_like_python(cell, NAMES, on=on)
    assert [each["barriers"] for each in ran.report["pipelines"]] == [[]]
    if on == "parallel" and "z[" not in cell:
        assert_interpreted(ran)


@pytest.mark.parametrize("name", ["bool", "int8", "uint16", "int64", "uint64", "float32", "float64"])
def test_every_type_and_layout(name):
    with np.errstate(all="ignore"):
        source = (
            np.where(np.isfinite(FLOATS), FLOATS, 1).astype(name) if name[0] in "bu" else INTS.astype(name)
        )
    arrays = {layout: made(source) for layout, made in LAYOUTS.items()}
    items = ", ".join(f"{layout}[x // 4, x % 4], {layout}[x // 4 - 3][x % 4 - 4]" for layout in LAYOUTS)
    assert_like_python(f"xs |> map(lambda x: ({items})) |> to_list", {"xs": range(12), **arrays}, quiet=True)


@pytest.mark.parametrize("on", ["parallel", "opencl"])
@pytest.mark.parametrize(
    ("cell", "element"),
    [
        ("xs |> map(lambda x: ints[x, 0])", 3),
        ("xs |> map(lambda x: ints[-x, 0])", 4),
        ("xs |> map(lambda x: ints[0, x])", 4),
        ("xs |> map(lambda x: ints[1][x * 2])", 2),
        ("xs |> map(lambda x: (ints[x // 9], x)[1])", 27),
        ("xs |> map(lambda x: rows[x // 9][x // 4])", 12),
        ("xs |> map(lambda x: cube[1, x // 20, x // 20])", None),
        ("xs |> map(lambda x: cube[1, x // 9, 0])", 27),
        ("xs |> map(lambda x: ints[0, x * 2**40])", 1),
        ("xs |> map(lambda x: table[x // 4])", 12),
    ],
)
def test_each_index_is_looked_at_on_its_own(cell, element, on):
    ran = assert_like_python(cell, NAMES, on=on)
    assert isinstance(ran.error, LookupError) is (element is not None)
    assert element is None or f"element {element} of xs" in ran.notes


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("xs |> map(lambda x: len(ints[x % 3, 1:])) |> to_list", "slice of `ints`"),
        ("xs |> map(lambda x: len(ints[x > 3])) |> to_list", "mask"),
        ("xs |> map(lambda x: ragged[x % 2][0]) |> to_list", "type list"),
        ("xs |> map(lambda x: several[x % 2][0]) |> to_list", "these types"),
        ("xs |> map(lambda x: subclass[0, x % 4]) |> to_list", "Subclass"),
        ("xs |> map(lambda x: rows[x % 3, 1]) |> to_list", "subscripted with a tuple"),
        ("xs |> map(lambda x: ints[x, 0, 1]) |> to_list", "fewer dimensions"),
    ],
)
def test_what_is_left_to_python(cell, words):
    class Subclass(np.ndarray):
        """An array that may do as it likes."""

    names = {**NAMES, "ragged": [[1], [2, 3]], "several": [[1], [0.5]], "subclass": INTS.view(Subclass)}
    ran = assert_like_python(cell, names)
    assert words in str(ran.report) or (ran.error and not ran.executions)


STENCILS = """
def blur(p):
    i, j = divmod(p, w)
    if 0 < i < h - 1 and 0 < j < w - 1:
        return (image[i - 1, j] + image[i + 1][j] + image[i, j - 1] + image[i, j + 1] + image[i, j]) / 5
    return image[i, j]

def life(p):
    i, j = p // w, p % w
    n = sum(cells[(i + a) % h][(j + b) % w] for a in (-1, 0, 1) for b in (-1, 0, 1)) - cells[i, j]
    return int(n == 3 or (n == 2 and cells[i, j] == 1))

"""


@pytest.mark.parametrize("on", ["parallel", "opencl"])
@pytest.mark.parametrize("name", ["blur", "life"])
def test_stencils(name, on):
    h, w = 23, 31
    names = {"h": h, "w": w, "image": RANDOM.normal(size=(h, w)), "cells": RANDOM.integers(0, 2, (h, w))}
    ran = assert_like_python(f"{STENCILS}range(h * w) |> map({name}) |> to_list", names, on=on)
    assert len(ran.executions) == 1


def test_gathers_are_in_vectors():
    names = {"w": 9, "image": RANDOM.normal(size=(9, 9)), "xs": np.arange(81)}
    ran = run("xs |> map(lambda p: image[p // w, p % w] * 2)", names, on="simd", quiet=False)
    assert same(list(ran.value), list(names["image"].ravel() * 2))
    one_loop(ran)
    listings = str(ran.report)
    assert "@llvm.masked.gather" in listings


FORM = """
def total():
    return range(6) |> map(lambda x: {}) |> sum

found = []
for turn in range(9):
    found.append(total())
    change(turn)
"""


@pytest.mark.parametrize(
    "read", ["a[x % 2, x % 3]", "a[x // 3][x % 3] + len(a)", "m[x % 2][x % 3]", "a.shape[0] * x"]
)
def test_what_is_changed_between_runs_is_noticed(read):
    def change(turn):
        if turn == 2:
            a[1, 2] = m[1][2] = 50
        if turn == 4:
            a.shape = (3, 2)
            m[0] = [7, 8, 9]
        if turn == 5:
            a.shape = (2, 3)
            m[1][:] = [1, 2]
            m[1].append(9)

    values = []
    for where in ("python", "parallel"):
        a, m = np.arange(6).reshape(2, 3), [[1, 2, 3], [4, 5, 6]]
        session = Session({"a": a, "m": m, "change": change}, Options(on=where, baseline=False, quiet=True))
        try:
            session.run_cell(FORM.format(read))
            values.append(session.namespace["found"])
        except IndexError as error:
            values.append((session.namespace["found"], str(error)))
    assert values[0] == values[1]
