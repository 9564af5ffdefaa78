"""What becomes one loop, and what must not."""

from __future__ import annotations

import battery
import numpy as np
import pytest

from hastega_magic.compiler.groups import FUSED
from hastega_magic.session import Options, Session

XS = {"xs": np.arange(-500, 9000), "fs": np.linspace(-1, 1, 5000), "k": 3}


def loops(text, **names):
    ran = battery.run(text, {**XS, **names})
    assert ran.error is None
    return ran, len(ran.executions)


ONE_LOOP = {
    "vertical": "xs |> map(lambda x: x + 1) |> filter(lambda x: x % 2) |> map(lambda x: x * x) |> sum",
    "several results over one array": "a = xs |> min\nb = xs |> max\nc = xs |> sum\nd = xs |> count\n(a, b, c, d)",
    "a result and its sum": "ys = xs |> map(lambda x: x * 2)\nt = ys |> sum\n(ys.tolist(), t)",
    "over sources of one length": "a = xs |> sum\nb = zs |> map(lambda z: z + 1) |> max\n(a, b)",
    "zip": "xs |> zip(zs) |> map(lambda x, z: x - z) |> sum",
    "enumerate": "xs |> enumerate(5) |> map(lambda i, x: i * x) |> sum",
    "take and drop": "xs |> drop(3) |> take(100) |> map(lambda x: x + 1) |> sum",
    "a filter, then its sum": "ys = xs |> filter(lambda x: x > 5)\nt = ys |> sum\n(len(ys), t)",
    "a chain of results": "a = xs |> map(lambda x: x + 1)\nb = a |> map(lambda x: x * 2)\n"
                          "c = b |> filter(lambda x: x % 3 == 0)\n"
                          "(int(a[0]), int(b[0]), int(c[0]))",
    "a captured scalar": "t = xs |> map(lambda x: x * k) |> sum\nt",
    "a function of the cell": "def f(x):\n    y = x * x\n    return y + k if x > 0 else y - k\nxs |> map(f) |> sum",
    "a table": "xs |> map(lambda x: table[x % 4]) |> sum",
    "any and all": "a = xs |> any\nb = xs |> all\n(a, b)",
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_LOOP)
def test_one_loop(name):
    names = {"zs": np.arange(9500), "table": [1, 5, 2, 7]}
    ran, count = loops(ONE_LOOP[name], **names)
    assert count == 1
    assert all(pipeline["loops"] == 1 and not pipeline["barriers"] for pipeline in ran.report["pipelines"])
    assert battery.close(ran.value, battery.python(ONE_LOOP[name], {**XS, **names}).value)


SEVERAL = {
    "other lengths": ("a = xs |> sum\nb = fs |> sum\n(a, b)", 2),
    "a variable read between": ("a = xs |> sum\nm = a + 1\nb = xs |> map(lambda x: x + m) |> max\n(a, m, b)", 2),
    "a function that reads a result": ("t = xs |> sum\nys = xs |> map(lambda x: x + t)\nint(ys[0])", 2),
    "an argument that is a result": ("n = xs |> filter(lambda x: x > 8990) |> count\nys = xs |> take(n)\nlen(ys)", 2),
    "enumerate after a filter": ("xs |> filter(lambda x: x % 2) |> enumerate |> map(lambda i, x: i + x) |> sum", 2),
    "take after a filter": ("xs |> filter(lambda x: x % 2) |> take(5) |> sum", 2),
    "the name is used again": ("a = xs |> map(lambda x: x + 1)\na = a |> map(lambda x: x * 2)\nb = a |> sum\nb", None),
    "the array is changed between": ("a = xs |> sum\nxs[0] = 10**6\nb = xs |> sum\n(a, b)", 2),
    "a barrier": ("xs |> map(lambda x: x + 1) |> tap(len) |> map(lambda x: x * 2) |> sum", 2),
    "a function with a side effect": ("xs |> map(lambda x: x + 1) |> map(lambda x: seen.append(x) or x) |> sum", None),
}  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL)
def test_what_must_not_fuse(name):
    text, expected = SEVERAL[name]
    ran, count = loops(text, xs=XS["xs"].copy(), seen=[])
    assert battery.close(ran.value, battery.python(text, {**XS, "xs": XS["xs"].copy(), "seen": []}).value)
    if expected is not None:
        assert count == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("xs |> tap(len) |> sum", "observation prevents optimisation"),
        ("xs |> map(lambda x: print() or x)", "observation prevents optimisation"),
        ("xs |> take(2) |> map(str)", "str"),
        ("xs |> sorted", "no stage"),
        ("xs |> take(3) |> map(lambda x: [x])", "a list is built"),
    ],
)
def test_barriers_say_why(text, words):
    ran, _ = loops(text)
    reasons = [each["reason"] for pipeline in ran.report["pipelines"] for each in pipeline["barriers"]]
    assert any(words in reason for reason in reasons), reasons


def test_many_statements_are_several_loops():
    text = "y0 = xs |> map(lambda x: x + 1)\n"
    text += "\n".join(f"y{k} = y{k - 1} |> map(lambda x: x + {k})\nt{k} = y{k} |> sum" for k in range(1, 40))
    ran, count = loops(f"{text}\n(int(y39[0]), t39, t3)")
    assert count == -(-79 // FUSED)
    total, length = int(XS["xs"].sum()), len(XS["xs"])
    assert ran.value == (-500 + 781, total + 781 * length, total + 7 * length)


def test_side_effects_happen_once_and_in_order():
    seen = []
    battery.run("xs |> map(lambda x: seen.append(x) or x) |> take(3)", {"xs": range(10), "seen": seen})
    assert seen == [0, 1, 2]


def test_no_fuse_runs_every_stage_alone():
    ran = battery.run("xs |> map(lambda x: x + 1) |> map(lambda x: x * 2) |> sum", XS, fuse=False)
    assert len(ran.executions) == 3
    assert ran.value == int(((XS["xs"] + 1) * 2).sum())


def test_threads_that_no_few_blocks_wake_are_not_counted():
    for length, threads in ((16 * 4096, 1), (16 * 4096 + 1, 3)):
        ran = battery.run("xs |> map(_ + 1) |> sum", {"xs": range(length)}, threads=3, on="parallel")
        assert ran.executions[0].threads == threads
    slow = "xs |> map(lambda x: sum(1 for i in range(x % 7))) |> sum"
    assert battery.run(slow, {"xs": range(2 * 4096)}, threads=3, on="parallel").executions[0].threads == 2


def test_the_same_shape_is_compiled_once():
    text = "xs |> map(lambda x: x * 12345 + 77) |> sum"
    battery.run(text, {"xs": np.arange(10)})
    ran = battery.run(text, {"xs": np.arange(20)})
    assert ran.executions[0].cached
    assert ran.value == sum(x * 12345 + 77 for x in range(20))


def test_a_changed_constant_is_another_loop():
    for k in (2, 3, True, 2.0, -0.0, 0.0, 0):
        ran = battery.run("xs |> map(lambda x: x * k)", {"xs": [1, -2, 5], "k": k})
        assert battery.same(ran.value.tolist(), [x * k for x in (1, -2, 5)])


def test_windows_ask_ahead_for_an_array_once():
    ones = {f"y{number}": np.ones(9000) for number in range(5)}
    added = "map(lambda a, b, c, d, e: a + b + c + d + e)"
    asked = []
    for text in (f"y0 |> window(5) |> {added}", f"y0 |> zip(y1, y2, y3, y4) |> {added}"):
        session = Session(dict(ones), Options(on="simd", baseline=False))
        session.run_cell(f"t = {text}")
        asked.append(session.last_report.pipelines[0].code.llvm.count("call void @llvm.prefetch"))
    assert asked[0] > 0
    assert asked[1] == 5 * asked[0]
