"""Sets, dicts and deques that a stage's function changes while the pipeline goes over them: Python raises."""

import pytest

from hastega_magic import pipe
from hastega_magic.session import Options, Session

SET, DICT, DEQUE = (
    "Set changed size during iteration", "dictionary changed size during iteration", "deque mutated during iteration",
)  # fmt: skip
CASES = [
    ("s = set(range(9))", "s.add(x + 1000)", SET),
    ("s = set(range(3000))", "s.discard(x + 1)", SET),
    ("s = {x: x for x in range(9)}", "s[x + 1000] = 1", DICT),
    ("d = {x: x for x in range(3000)}\ns = d.keys()", "d[x + 5000] = 1", DICT),
    ("d = {x: x for x in range(9)}\ns = d.values()", "d[x + 1000] = 1", DICT),
    ("import types\nd = {x: x for x in range(9)}\ns = types.MappingProxyType(d)", "d[x + 1000] = 1", DICT),
    ("import collections\ns = collections.deque(range(9))", "s.append(x)", DEQUE),
]
PIPELINES = [
    "s |> map(f) |> sum",
    "s |> filter(lambda x: x % 2 == 0) |> map(f) |> to_list",  # behind a loop
    "s |> filter(f) |> map(_ * 2)",
    "range(9000) |> zip(s) |> filter(lambda i, x: x % 2 == 0) |> map(lambda i, x: f(x)) |> sum",
    "s |> scan(lambda total, x: total + f(x), 0) |> last",
    "s |> tap(str) |> map(f) |> sum",
    "0 |> (lambda _: s) |> filter(lambda x: x % 2 == 0) |> map(f) |> to_list",
]


@pytest.mark.parametrize("on", ["python", "numpy", "simd", "parallel"])
@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize(("begin", "change", "said"), CASES, ids=range(len(CASES)))
def test_python_notices_that_they_change(begin, change, said, pipeline, on):
    session = Session({}, Options(on=on, baseline=False, quiet=True))
    with pytest.raises(RuntimeError, match=said):
        session.run_cell(f"{begin}\ndef f(x):\n    {change}\n    return x + 1\nout = {pipeline}")


def test_also_when_the_pipeline_runs_again():
    seen, calls, changes = set(range(20)), [], False

    def noted(x):
        calls.append(x)
        if changes:
            seen.add(x + 1000)
        return x

    def total():
        return pipe(seen).map(noted).map(lambda x: x * 2).sum()

    assert [total() for _ in range(5)] == [380] * 5
    calls.clear()
    changes = True
    with pytest.raises(RuntimeError, match=SET):
        total()
    assert calls == [0]


def test_what_does_not_change_is_as_before():
    names = {"d": {3: 1, 1: 2}, "said": []}
    session = Session(names, Options(baseline=False, quiet=True))
    session.run_cell("out = d |> map(lambda x: said.append(x) or x) |> map(_ * 2) |> to_list")
    assert names["out"] == [6, 2]
    assert names["said"] == [3, 1]
