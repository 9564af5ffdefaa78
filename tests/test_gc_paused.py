"""Imports without looking for garbage."""

from __future__ import annotations

import gc
import itertools
import sys
from types import ModuleType

import pytest
from interrupting import interrupted

from hastega_magic.gc_paused import uncollected


@pytest.mark.parametrize(("frozen", "old"), [(0, True), (375, True), (50_000, False)])
def test_what_was_imported_is_old_unless_somebody_froze_objects(
    monkeypatch: pytest.MonkeyPatch, frozen: int, old: bool
) -> None:
    """CPython 3.12 freezes some hundred objects at its start; who is to fork freezes all."""
    called: list[str] = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: frozen)
    monkeypatch.setattr(gc, "freeze", lambda: called.append("freeze"))
    monkeypatch.setattr(gc, "unfreeze", lambda: called.append("unfreeze"))

    def imports() -> None:
        assert not gc.isenabled()
        monkeypatch.setitem(sys.modules, "imported_here", ModuleType("imported_here"))

    uncollected(imports)
    assert gc.isenabled()
    assert called == (["freeze", "unfreeze"] if old else [])


def test_nothing_becomes_old_where_nothing_was_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be garbage of the user's that nobody looks for."""
    monkeypatch.setattr(gc, "freeze", lambda: pytest.fail("frozen"))
    uncollected(lambda: None)
    assert gc.isenabled()


def test_who_collects_no_garbage_goes_on_so() -> None:
    """An interpreter in which it is switched off."""
    gc.disable()
    try:
        uncollected(lambda: None)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_garbage_is_looked_for_again_wherever_ctrl_c_comes() -> None:
    """Also where it comes as the objects of imported modules become old, which must not leave them frozen."""
    gc.collect()
    frozen = gc.get_freeze_count()

    def imports() -> None:
        sys.modules[f"imported_{place}"] = ModuleType("imported")

    for place in itertools.count():
        came = interrupted(lambda: uncollected(imports), place)
        sys.modules.pop(f"imported_{place}", None)
        assert gc.isenabled(), place
        assert gc.get_freeze_count() == frozen, place
        if came is None:
            break
    assert place > 20
