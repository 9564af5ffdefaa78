"""What takes milliseconds to make, and what its users can do without: made in the background, when first asked for."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Later(Generic[Made]):
    """Something that `make` makes. It is not made again in a process that is forked after that."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._asked = False
        self.made: Made | None = None
        """None until it is there."""
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def ask(self) -> Made | None:
        """It, if it is there; otherwise it will be, soon."""
        if self.made is None and not self._asked:
            self._asked = True
            # Not a daemon: a process must not end while a compiler works in it.
            maker = threading.Thread(target=self._run, name="hastega_later")
            try:
                maker.start()
            except RuntimeError:  # none can be begun now, or the process ends
                self._asked = False
            except BaseException:
                self._asked = False
                raise
        return self.made

    def _run(self) -> None:
        self.made = self._make()

    def _forked(self) -> None:
        self._asked = False  # threads are not copied


__all__ = ["Later"]
