"""`for` statements at the top of a cell: loops do them, and leave all variables as Python's turns leave them."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from hastega_magic.compiler.fastpath import searching
from hastega_magic.compiler.fastpath.for_statements import ForStatement
from hastega_magic.session import Options, Session
from tests.decorator.conftest import loops  # noqa: F401

QUIET = Options(quiet=True, baseline=False)
N = 5000
GIVEN = {
    "xs": [x * 7919 % 1001 - 500 for x in range(N)],
    "ys": [x / 8 for x in range(N + 3)],
    "ints": array.array("q", range(N)),
    "doubles": np.arange(N) / 4,
    "n": N,
}


def after(text: str, *earlier: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """The variables when the cells have run, which are those of Python."""
    given = GIVEN if names is None else names
    ours, pythons = dict(given), dict(given)
    session = Session(ours, QUIET)
    for cell in (*earlier, text):
        session.run_cell(cell)
        exec(cell, pythons)
    found = {name: value for name, value in ours.items() if not name.startswith("__")}
    expected = {name: value for name, value in pythons.items() if not name.startswith("__")}
    assert {n: (type(v).__name__, repr(v)) for n, v in found.items() if not callable(v)} == {
        n: (type(v).__name__, repr(v)) for n, v in expected.items() if not callable(v)
    }
    assert found.keys() == expected.keys()
    return ours


DONE = {
    "adds": "total = 0\nfor x in xs:\n    total += x * x % 7\n",
    "ranges": "total = 0\nfor i in range(3, n, 2):\n    total += i * i % 7\n",
    "floats": "total = 0.0\nfor y in ys:\n    total += y / 3\n",
    "collects": "out = []\nfor x in xs:\n    if x % 3:\n        out.append(x * x % 11)\n",
    "dict": "d = {}\nfor i, x in enumerate(xs):\n    d[i] = x * x\n",
    "computed": "total = 0\nfor x in xs:\n    y = x * x % 7\n    z = y + 1\n    if z > 3:\n        total += z\n",
    "chosen": "total = 0\nfor x in xs:\n    if x > 0:\n        y = x\n    else:\n        y = -x\n    total += y\n",
    "enumerated": "total = 0\nfor i, x in enumerate(xs, 4):\n    total += i * x\n",
    "zipped": "total = 0.0\nfor x, y in zip(xs, ys):\n    total += x * y\n",
    "numbered pairs": "total = 0.0\nfor i, (x, y) in enumerate(zip(xs, ys), True):\n    total += x * y - i\n",
    "backwards": "best = 0\nfor x in reversed(xs):\n    best = max(best, x * x)\n",
    "several": "a, b = 0, 1\nfor x in xs:\n    a, b = b, (a + x) % 1009\n",
    "array": "total = 0\nfor x in ints:\n    total += x * 3\n",
    "tables": "total = 0\nfor i in range(n):\n    total += xs[i] * i\n",
    "passed over": "out = []\nfor x in xs:\n    if x % 3:\n        continue\n    y = x * x\n    out.append(y)\n",
    "in a branch": "total = 0\nfor x in xs:\n    if x < -490:\n        y = x * x\n        total += y\n",
    "further and further": "total = 0\nfor i, x in enumerate(xs):\n    y = x * 2\n    if x % 5:\n        continue\n"
    "    z = y + i\n    if z < 900:\n        w = z * z\n        total += w\n",
    "never": "total = 0\nfor x in xs:\n    y = x * 2\n    if y == 77:\n        z = y + 1\n        total += z\n",
    "inside": "if n > 3:\n    total = 0\n    for x in xs:\n        total += x * x\n",
    "turns inside": "total = 0\nfor x in xs:\n    k = 0\n    while k * k < x:\n        k += 1\n    total += k\n",
    "stores": "out = [0] * n\nfor i, x in enumerate(xs):\n    y = x * 2\n    if y > 0:\n        out[i] = y + 1\n",
    "stores in tables": "import numpy as np\nt = np.zeros((9, 400))\nfor k in range(9):\n    for i in range(400):\n"
    "        w = k * i\n        t[k, i] = w + 1\n",
    "stores in place": "xs = [*xs]\nfor i in range(len(xs)):\n    xs[i] += i\n",
    "stores in an array": "out = doubles * 0\nfor i in range(1, n - 1):\n    out[i] = doubles[i - 1] + doubles[i]\n",
    "placeholder's name": "total = 0\nfor _ in range(n):\n    total += 3\n",
    "tried": "try:\n    total = 0\n    for x in xs:\n        total += 7 // (x * x + 1)\nexcept ZeroDivisionError:\n"
    "    total = -1\n",
}


@pytest.mark.parametrize("text", DONE.values(), ids=DONE)
def test_loops_do_it(text, loops):  # noqa: F811
    after(text)
    assert len(loops) == 1


def test_an_inner_statement_is_a_loop_for_each_turn_of_the_outer_one(loops):  # noqa: F811
    after("total = 0\nfor k in range(4):\n    for x in xs:\n        total += x * k % 5\n")
    assert len(loops) == 4


LEFT = {
    "read by a function": "total = 0\ndef show():\n    return total\nfor x in xs:\n    total += x * 2\n",
    "a value of some turn": "total = 0\nfor x in xs:\n    if x > 490:\n        y = x\n    total += x * 2\n",
    "twice": "total = 0\nfor x in xs:\n    y = x * x\n    if y > 9:\n        total += y\n        y = 3\n",
    "annotated": "total = 0\nfor x in xs:\n    y: int = x * 2\n    total += y\n",
    "an iterator": "total = 0\nfor x in iter(xs):\n    total += x * 2\n",
    "stored and read": "out = [0] * n\ndef show():\n    return out[0]\nfor i in range(n):\n    out[i] = show() + i\n",
    "stored at other places": "out = [0] * n\nfor i in range(n):\n    out[i * 7 % n] = i\n",
    "seen before": "out = []\nkept = out\nfor i in range(n):\n    out.append(len(kept) * 2)\n",
    "no list": "out = set()\nfor x in xs:\n    out.append(x * 2) if x > 900 else None\n",
    "an index": "out = [0] * 1000\nfor i in range(n):\n    out[i % 1000] = i\n",
    "deleted": "total = 0\nfor x in xs:\n    total += x * 2\ndel x\n",
}


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT)
def test_what_is_pythons(text, loops):  # noqa: F811
    after(text)
    assert loops == []


EARLIER = {
    "a number": "for x in xs:\n    total += x\n",
    "a value of some turn": "for x in xs:\n    if x > 490:\n        y = x\n    total += x * 2\n",
    "handed to a function": "out = []\nsee()\nfor x in xs:\n    out.append(x * 2)\n",
    "grown since": "d = {}\ngrow()\nfor i, x in enumerate(xs):\n    d[x % 50] = i\n",
    "seen by a property": "out = []\nobserver.sees\nfor x in xs:\n    out.append(x * 2)\n",
}


@pytest.mark.parametrize("text", EARLIER.values(), ids=EARLIER)
def test_variables_of_earlier_cells_are_handed_on_and_filled(text, loops):  # noqa: F811
    """Whoever holds what is filled sees it filled."""
    after(
        text,
        "total, y, seen = 5, 0, []\n",
        "def see():\n    seen.append(out)\ndef grow():\n    d[77] = 5\n"
        "class Observer:\n    @property\n    def sees(self):\n        see()\n"
        "    def __repr__(self):\n        return 'observer'\nobserver = Observer()\n",
    )
    assert len(loops) == 1


GONE = {
    "deleted": "total = 0\nkill()\nfor x in xs:\n    total += x * x\n",
    "another type": "total = 'a'\nfor x in xs:\n    total += x * x\n",
    "a tuple": "out = ()\nfor x in xs:\n    out.append(x * x)\n",
    "nothing": "for x in xs:\n    other.append(x * x)\n",
    "in the middle": "total = 0\nfor x in xs:\n    y = x * 2\n    if x % 2:\n        y += 1\n"
    "    total += 1 // (y - 600)\n",
    "raised": "for i in range(20000):\n    y = i * i\n    z = 0\n    if i % 2:\n        z = y % 7\n"
    "    if z + i > 15000:\n        raise ValueError(i)\n",
}


@pytest.mark.parametrize("text", GONE.values(), ids=GONE)
def test_errors_leave_what_python_leaves(text, monkeypatch):
    monkeypatch.setattr(searching, "COMPILED_AFTER", 0.0)
    monkeypatch.setattr(searching, "_LEAST", 0.0)
    ours, pythons = dict(GIVEN), dict(GIVEN)
    killer = "def kill():\n    global total\n    del total\n"
    session, raised = Session(ours, QUIET), []
    session.run_cell(killer)
    exec(killer, pythons)
    for run in (session.run_cell, lambda text: exec(text, pythons)):
        with pytest.raises(Exception) as info:  # noqa: PT011  whatever it is
            run(text)
        raised.append(f"{info.type} {info.value}")
    assert raised[0] == raised[1]
    numbers = ({n: v for n, v in names.items() if type(v) in (int, str, tuple)} for names in (ours, pythons))
    assert next(numbers) == next(numbers)
    assert ours.keys() == pythons.keys()


def test_a_turn_far_from_the_end_is_not_looked_for_again(loops):  # noqa: F811
    text = "total = 0\nfor x in range(100_000):\n    if x < 9:\n        y = x * 2\n        total += y\n"
    names: dict[str, Any] = {}
    session = Session(names, QUIET)
    for times in range(1, 4):
        session.run_cell(text, "<far>")
        assert {name: names[name] for name in ("total", "x", "y")} == {"total": 72, "x": 99_999, "y": 16}
        assert len(loops) == 1, times
        names["y"] = 0


def test_functions_that_lie_in_modules_see_each_turn(loops):  # noqa: F811
    after(
        "total = 0\nfor x in xs:\n    total = (total + f(x)) % 1000003\n",
        "import types\nhere = types.ModuleType('here')\ndef g(v):\n    return v + total\nhere.g = g\n"
        "def f(v):\n    return here.g(v)\n",
        names=GIVEN | {"total": 0},
    )
    assert loops == []


SEES = {
    "variable": "def f(v):\n    return v * 2 + total\n",
    "element": "def f(v):\n    return v * 2 + x\n",
    "further on": "def g(v):\n    return v + total\ndef f(v):\n    return g(v)\n",
}


@pytest.mark.parametrize("helper", SEES.values(), ids=SEES)
def test_functions_of_earlier_cells_see_each_turn(helper, loops):  # noqa: F811
    text = "total = 0\nfor x in xs[:400]:\n    total += f(x) % 7\n"
    after(text, helper)
    assert loops == []
    after(text, "def f(v):\n    return v * 2\n")
    assert len(loops) == 1


def test_functions_of_earlier_cells_see_what_is_collected(loops):  # noqa: F811
    text = "out = []\nfor x in xs:\n    out.append(f(x))\n"
    after(text, "def f(v):\n    return v + len(out)\n")
    assert loops == []


def test_an_element_that_raises_leaves_what_python_leaves(loops):  # noqa: F811
    ours, pythons = {"xs": [*range(900, -100, -1)]}, {"xs": [*range(900, -100, -1)]}
    text = "total = 0\nfor x in xs:\n    y = x * 2\n    total += 7 // x\n"
    for run in (lambda: Session(ours, QUIET).run_cell(text), lambda: exec(text, pythons)):
        with pytest.raises(ZeroDivisionError):
            run()
    assert {n: ours[n] for n in ("total", "x", "y")} == {n: pythons[n] for n in ("total", "x", "y")}
    assert loops == []


def test_nothing_to_go_through_gives_no_variable_a_value():
    assert "x" not in after("total = 0\nfor x in []:\n    total += x * 2\n")
    assert "x" not in after("total = 0\nfor x in range(n, 0):\n    total += x * 2\n")


SEARCHES = {
    "break": "for d in range(2, 10**6):\n    if (10**9 + 7) % d == 0:\n        break\nelse:\n    d = 0\n",
    "found": "for i, x in enumerate(xs):\n    y = x * x\n    if y == 249001 and i > 9:\n        z = i\n        break\n",
}


@pytest.mark.parametrize("text", SEARCHES.values(), ids=SEARCHES)
def test_searches(text, monkeypatch):
    monkeypatch.setattr(searching, "COMPILED_AFTER", 0.0)
    monkeypatch.setattr(searching, "_LEAST", 0.0)
    after(text)


def test_a_search_through_numbers_of_more_and_more_digits_goes_on(monkeypatch):
    """Each power of two is another loop, which is no sign of code that changes from run to run."""
    parts: list[bool | None] = []
    looked = searching.Search._any

    def noted(self: Any, *given: Any) -> bool | None:
        parts.append(looked(self, *given))
        return parts[-1]

    monkeypatch.setattr(searching.Search, "_any", noted)
    monkeypatch.setattr(searching, "COMPILED_AFTER", 0.0)
    names: dict[str, Any] = {}
    Session(names, QUIET).run_cell("for d in range(2, 2**28):\n    if d * d == 7:\n        break\n")
    assert names["d"] == 2**28 - 1
    assert len(parts) > 12
    assert not any(each is None for each in parts)


def test_an_interrupt_leaves_the_variables_as_they_were(monkeypatch):
    def interrupted(self: ForStatement, *_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ForStatement, "_tried", interrupted)
    names = dict(GIVEN)
    with pytest.raises(KeyboardInterrupt):
        Session(names, QUIET).run_cell("total = 0\nfor x in xs:\n    total += x * 2\n")
    assert names["total"] == 0
    assert "x" not in names


def test_the_report_tells_of_it():
    session = Session(dict(GIVEN), Options(baseline=False))
    session.run_cell("total = 0\nfor x in xs:\n    total += x * x % 7\n")
    assert session.last_report is not None
    (pipeline,) = session.last_report.pipelines
    assert (pipeline.name, pipeline.loops, pipeline.barriers) == ("line 2", 1, ())


@pytest.mark.parametrize("shows", ["all", "last", "last_expr", "last_expr_or_assign", "none"])
def test_whatever_is_displayed(shows, loops, capsys):  # noqa: F811
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "hastega_magic")
    shell.ast_node_interactivity = shows
    shell.user_ns.update(GIVEN)
    done = shell.run_cell("%%hastega --quiet --no-baseline\ntotal = 0\nfor x in xs:\n    total += x * x\n")
    done.raise_error()
    assert shell.user_ns["total"] == sum(x * x for x in GIVEN["xs"])
    assert len(loops) == 1
    assert capsys.readouterr().out == ""


def test_what_is_pythons_is_no_error_with_strict():
    session = Session(dict(GIVEN), Options(quiet=True, baseline=False, strict=True))
    session.run_cell("for x in xs[:300]:\n    total = str(x)\n")
    assert session.namespace["total"] == "-84"
