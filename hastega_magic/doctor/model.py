"""What an examination finds, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Literal

from hastega_magic.records import dataclass

CPU_BACKENDS = ("python", "numpy", "simd", "parallel")
"""Back ends that work wherever the declared dependencies are installed."""

Level = Literal["error", "warning"]
State = Literal["works", "fails", "absent"]
Area = Literal["packages", "cpu", "opencl"]


@dataclass(frozen=True)
class Trial:
    """What came of running a small loop on a back end. "absent": it is not installed."""

    backend: str
    state: State
    text: str


@dataclass(frozen=True)
class Problem:
    """Something that is wrong. "error": a back end that has to work does not, and this is why or may be.

    `mend` is what to type into a shell, in order; empty where no command helps.
    """

    id: str
    area: Area
    text: str
    mend: tuple[str, ...] = ()
    level: Level = "warning"


@dataclass(frozen=True)
class Table:
    """Facts for people. `head` is empty, or as long as each row."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    head: tuple[str, ...] = ()


@dataclass(frozen=True)
class Examination:
    """All of it. `needed` are the back ends that had to work; `facts` is plain data for JSON."""

    needed: tuple[str, ...]
    ok: bool
    problems: tuple[Problem, ...]
    trials: tuple[Trial, ...]
    tables: tuple[Table, ...]
    facts: Mapping[str, object]

    def to_dict(self) -> dict[str, object]:
        """The JSON that `--json` prints: {"schema": 1, "ok", "needed", "problems", "trials", "facts"}."""
        return {
            "schema": 1,
            "ok": self.ok,
            "needed": list(self.needed),
            "problems": [asdict(each) for each in self.problems],
            "trials": [asdict(each) for each in self.trials],
            "facts": dict(self.facts),
        }


__all__ = ["CPU_BACKENDS", "Area", "Examination", "Level", "Problem", "State", "Table", "Trial"]
