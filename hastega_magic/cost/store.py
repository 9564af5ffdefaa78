"""Calibrations and what was learned, on disk: one JSON file for each machine, in the user's cache folder.

A file is replaced as a whole, under a lock, so that a reader never sees half of one and two writers lose nothing of
each other's. A file that cannot be read is ignored, and `said` tells so in a sentence; a folder that cannot be
written to leaves everything in memory.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any, cast

from hastega_magic.cost.machine import SCHEMA, Identity, Machine
from hastega_magic.frames import reraise_signal
from hastega_magic.records import dataclass

Json = dict[str, Any]


def folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where files are kept: `$XDG_CACHE_HOME/hastega`, else `~/.cache/hastega`."""
    values = os.environ if environment is None else environment
    base = values.get("XDG_CACHE_HOME", "")
    try:
        root = Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache"
    except RuntimeError:  # a user without a home
        root = Path(tempfile.gettempdir())
    return root / "hastega"


def last_calibration(place: Path, cpu: str) -> str:
    """When the newest calibration in the folder of a CPU of this name was made; "" where there is none."""
    found: list[str] = []
    try:
        files = sorted(place.glob("machine-*.json"))
    except OSError:
        return ""
    for file in files:
        try:
            machine = Machine.from_dict(_loads(file.read_bytes())["machine"])
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            reraise_signal(error)
            continue
        if machine.identity.cpu.startswith(cpu):
            found.append(machine.calibrated)
    return max(found, default="")


def damaged(place: Path) -> list[tuple[Path, str]]:
    """The files in the folder that nothing can be read from, and why: what is said of each goes on from its name.

    Calibrations of other versions are none of them.
    """
    try:
        files = sorted(place.glob("machine-*.json"))
    except OSError:
        return []
    return [(file, why) for file in files if (why := _trouble(file))]


def _trouble(file: Path) -> str:
    """Why a file is of no use; "" where it is."""
    try:
        data = _loads(file.read_bytes())
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    except (ValueError, RecursionError) as error:
        reraise_signal(error)
        return "is damaged"
    if not isinstance(data, dict):
        return "holds no calibration"
    machine: Any = cast("Json", data).get("machine")
    if machine is None or (
        isinstance(machine, dict) and cast("Json", machine).get("schema", SCHEMA) != SCHEMA
    ):
        return ""
    try:
        Machine.from_dict(cast("Json", data)["machine"])
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        reraise_signal(error)
        return f"cannot be used ({error})"
    return ""


@dataclass
class Store:
    """The file of one machine. `said`: what was wrong with it, in a sentence; "" where nothing is."""

    place: Path
    identity: Identity
    said: str = ""
    _memory: Json = field(default_factory=dict[str, Any])

    @property
    def file(self) -> Path:
        """Where it is, or would be."""
        return self.place / f"machine-{self.identity.key}.json"

    def machine(self) -> Machine | None:
        """The calibration, if there is one of this machine."""
        data = self.read().get("machine")
        if data is None:
            return None
        try:
            found = Machine.from_dict(data)
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            reraise_signal(error)
            self.said = f"the calibration in {self.file} cannot be used ({error}) and is ignored"
            return None
        if found.identity != self.identity:
            self.said = f"the calibration in {self.file} is of another machine and is ignored"
            return None
        return found

    def keep(self, machine: Machine) -> bool:
        """Store a calibration; what was learned with the one before goes. False if it is kept in memory alone."""

        def changed(data: Json) -> Json:
            return {**{key: each for key, each in data.items() if key not in ("learned", "machine")},
                    "machine": machine.to_dict()}  # fmt: skip

        return self.update(changed)

    def read(self) -> Json:
        """Everything in the file; {} where there is none that can be read."""
        if self._memory:
            return dict(self._memory)
        try:
            text = self.file.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            self.said = f"{self.file} cannot be read ({error.strerror}) and is ignored"
            return {}
        try:
            data = _loads(text)
        except (ValueError, RecursionError) as error:
            reraise_signal(error)
            self.said = f"{self.file} holds no calibration (it is damaged) and is ignored"
            return {}
        if not isinstance(data, dict):
            self.said = f"{self.file} holds no calibration and is ignored"
            return {}
        return cast("Json", data)

    def update(self, change: Callable[[Json], Json]) -> bool:
        """Replace the content by what `change` makes of it, while nobody else writes.

        False where it cannot be written: it is then kept in memory, and `said` tells why.
        """
        try:
            self.place.mkdir(parents=True, exist_ok=True)
            with _locked(self.place / "lock"):
                data = change(self.read())
                _replace(self.file, json.dumps(data, allow_nan=False))
        except (OSError, ValueError) as error:
            reraise_signal(error)
            self._memory = change(self.read())
            reason = error.strerror if isinstance(error, OSError) else error
            why = f"{self.place} cannot be written to ({reason})"
            self.said = f"{why}: figures are kept until this process ends"
            return False
        self._memory = {}
        self.said = ""
        return True


def _loads(text: bytes) -> Any:
    """JSON's value; ValueError for what is none, and for numbers that are not finite."""

    def number(digits: str) -> float:
        if not math.isfinite(found := float(digits)):
            raise ValueError(f"{digits} is no number")
        return found

    return json.loads(text, parse_constant=number, parse_float=number)


@contextmanager
def _locked(file: Path) -> Generator[None]:
    """Nobody else is in this block, in any process; the system lets go of the lock when a process ends."""
    with file.open("ab") as handle:
        try:
            import fcntl
        except ImportError:  # a system without it: replacing a file is atomic all the same
            yield
            return
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:  # closing is not enough where a process was forked meanwhile
            fcntl.flock(handle, fcntl.LOCK_UN)


def _replace(file: Path, text: str) -> None:
    """Write beside it, then rename: whoever is interrupted leaves the old one."""
    number, name = tempfile.mkstemp(prefix=file.name, suffix=".new", dir=file.parent)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as handle:
            handle.write(text)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


__all__ = ["Json", "Store", "damaged", "folder", "last_calibration"]
