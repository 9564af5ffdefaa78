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
