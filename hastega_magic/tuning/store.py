"""A file of one machine's findings: replaced as a whole, under a lock, so that several kernels lose nothing.

What cannot be read is ignored and what cannot be written is kept in memory; `said` then tells so in a sentence.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

Json = dict[str, Any]


@dataclass
class Store:
    """The file. `said`: what was wrong with it, in a sentence; "" where nothing is."""

    file: Path
    said: str = ""
    _memory: Json = field(default_factory=dict[str, Any])

    def read(self) -> Json:
        """Everything in it; {} where there is nothing that can be read."""
        if self._memory:
            return dict(self._memory)
        try:
            data = json.loads(self.file.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            self.said = f"{self.file} cannot be read ({error.strerror}) and is ignored"
            return {}
        except (ValueError, RecursionError):
            self.said = f"{self.file} is damaged and is ignored"
            return {}
        if not isinstance(data, dict):
            self.said = f"{self.file} holds something else than findings and is ignored"
            return {}
        return cast("Json", data)

    def update(self, change: Callable[[Json], Json]) -> bool:
        """Replace the content by what `change` makes of it; False where it is kept in memory alone."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self.file.parent / "lock"):
                _replace(self.file, json.dumps(change(self.read()), allow_nan=False))
        except OSError as error:
            self._memory = change(self.read())
            self.said = (
                f"{self.file} cannot be written ({error.strerror}): findings are kept until this process ends"
            )
            return False
        self._memory = {}
        return True


@contextmanager
def _locked(file: Path) -> Generator[None]:
    with file.open("ab") as handle:
        try:
            import fcntl
        except ImportError:  # a system without it: replacing a file is atomic all the same
            yield
            return
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _replace(file: Path, text: str) -> None:
    number, name = tempfile.mkstemp(prefix=file.name, suffix=".new", dir=file.parent)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as handle:
            handle.write(text)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


__all__ = ["Json", "Store"]
