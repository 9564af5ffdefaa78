"""Fixtures that several modules of tests about sessions share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hastega_magic.compiler import backends, driver, groups
from hastega_magic.compiler.fastpath.brief import Brief, Run
from hastega_magic.runtime import threads, windows
from hastega_magic.runtime.loop_result import LoopResult
from tests.session.kernels import as_another_kernel

REPORTING = ("test_earlier_groups", "test_report_size", "test_stretches")
"""Modules that read listings."""


@pytest.fixture(autouse=True)
def _listed(request: pytest.FixtureRequest) -> None:
    if request.module.__name__.rpartition(".")[2] not in REPORTING:
        request.getfixturevalue("unlisted")


@pytest.fixture
def looked_for(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """How often stages were looked at to be built into a loop."""
    count: list[Any] = []
    longest = driver.Driver.longest

    def counted(self: driver.Driver, *given: Any) -> Any:
        count.append(given)
        return longest(self, *given)

    monkeypatch.setattr(driver.Driver, "longest", counted)
    return count


@pytest.fixture
def own_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A cache folder of the test's own, and no loops of others."""
    with monkeypatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path))
        as_another_kernel()
        yield
    as_another_kernel()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each attempt at a short run of a cell whether it was enough."""
    seen: list[bool] = []
    run = Brief.run

    def noted(self: Brief, *given: Any) -> Any:
        found = run(self, *given)
        seen.append(isinstance(found, Run))
        return found

    monkeypatch.setattr(Brief, "run", noted)
    monkeypatch.setattr(threads, "SOON", 10.0)  # however busy the machine is
    monkeypatch.setattr(threads, "BRIEF", 10.0)
    return seen


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of statements whose stages were looked at."""
    seen: list[str] = []
    build = driver.build_loop

    def counted(bound: Any, *args: Any) -> Any:
        seen.append(bound.name)
        return build(bound, *args)

    for module in (driver, groups):
        monkeypatch.setattr(module, "build_loop", counted)
    return seen


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Small windows; the list gets the first block of each."""
    found: list[int] = []
    usual = LoopResult.next_window

    def noted(self: LoopResult) -> bool:
        found.append(self.begin)
        return usual(self)

    monkeypatch.setattr(LoopResult, "next_window", noted)
    monkeypatch.setattr(windows, "WORDS", 64)
    monkeypatch.setattr(backends, "soon", lambda *given: None)
    return found
