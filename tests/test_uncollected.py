"""Imports without looking for garbage."""

from __future__ import annotations

import gc
import sys
from types import ModuleType

import pytest

from hastega_magic.uncollected import uncollected


@pytest.mark.parametrize(("frozen", "old"), [(0, True), (375, True), (50_000, False)])
def test_what_was_imported_is_old_unless_somebody_froze_objects(
    monkeypatch: pytest.MonkeyPatch, frozen: int, old: bool
) -> None:
    """CPython 3.12 freezes some hundred objects at its start; who is to fork freezes all."""
    called: list[str] = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: frozen)
    monkeypatch.setattr(gc, "freeze", lambda: called.append("freeze"))
    monkeypatch.setattr(gc, "unfreeze", lambda: called.append("unfreeze"))
    with uncollected():
        assert not gc.isenabled()
        monkeypatch.setitem(sys.modules, "imported_here", ModuleType("imported_here"))
    assert gc.isenabled()
    assert called == (["freeze", "unfreeze"] if old else [])


def test_nothing_becomes_old_where_nothing_was_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be garbage of the user's that nobody looks for."""
    monkeypatch.setattr(gc, "freeze", lambda: pytest.fail("frozen"))
    with uncollected():
        pass
    assert gc.isenabled()


def test_who_collects_no_garbage_goes_on_so() -> None:
    """An interpreter in which it is switched off."""
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
