"""What shows warnings while a cell runs is gone once it is over, in whatever order cells end."""

import gc
import threading
import warnings
import weakref

import pytest

from hastega_magic.session import Options, Session

OPTIONS = Options(on="simd", baseline=False, quiet=True)


@pytest.fixture(autouse=True)
def shown_as_before(monkeypatch):
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)


class _Held:
    pass


def test_cells_of_two_threads_that_end_in_the_order_they_began():
    before, began, goes_on = warnings.showwarning, threading.Event(), threading.Event()
    held = _Held()
    first = Session({"began": began, "goes_on": goes_on, "held": held}, OPTIONS)
    known = weakref.ref(held)
    other = threading.Thread(target=first.run_cell, args=("began.set()\ngoes_on.wait()\n",))
    other.start()
    began.wait()
    Session({"goes_on": goes_on, "other": other}, OPTIONS).run_cell("goes_on.set()\nother.join()\n")
    assert warnings.showwarning is before
    del first, held, other
    gc.collect()
    assert known() is None


def test_a_cell_that_is_over_and_comes_back():
    """As the end of a `catch_warnings` brings it that a thread entered while the cell ran."""
    before = warnings.showwarning
    session = Session({"warnings": warnings, "held": _Held()}, OPTIONS)
    known = weakref.ref(session.namespace["held"])
    session.run_cell("caught = warnings.catch_warnings()\ncaught.__enter__()\n")
    session.namespace["caught"].__exit__(None, None, None)
    del session
    gc.collect()
    assert known() is None
    Session({}, OPTIONS).run_cell("a = 1\n")
    assert warnings.showwarning is before


@pytest.mark.filterwarnings("always::ResourceWarning")
@pytest.mark.parametrize("on", ["python", "simd"])
@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("a = 1\ntotal = open(path) |> map(int) |> sum", 2),
        ("total = open(path) |> map(int) |> sum\nb = 1\nc = [b] |> sum", 1),
        ("total = [1] |> zip(open(path)) |> count\nb = 1", 1),
        ("def total():\n    return open(path) |> map(int) |> sum\na = 1\ntotal()", 2),
    ],
)
def test_a_file_that_is_a_source_is_let_go_of_at_its_pipeline(tmp_path, monkeypatch, cell, line, on):
    (tmp_path / "numbers.txt").write_text("1\n2\n")
    places = []
    monkeypatch.setattr(warnings, "showwarning", lambda *told: places.append(told[1:4]))
    session = Session({"path": tmp_path / "numbers.txt"}, Options(on=on, baseline=False, quiet=True))
    for _ in range(2):
        session.run_cell(cell, "<the cell>")
    assert places == [(ResourceWarning, "<the cell>", line)] * 2
