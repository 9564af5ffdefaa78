"""How a loop was shared among back ends, repeated, and which schedules of it were tried: plain data of the report."""

from __future__ import annotations

from hastega_magic.records import dataclass


@dataclass(frozen=True)
class Share:
    """What one back end computed of a loop that several did: so many `elements`, in `seconds`.

    `failed`: what went wrong with the rest of what was meant for it; the CPU then computed that.
    """

    backend: str
    device: str = ""
    threads: int = 0
    elements: int = 0
    seconds: float = 0.0
    failed: str = ""


@dataclass(frozen=True)
class Split:
    """A loop that several back ends computed at once.

    `by`: what their shares were found by ("measured", "predicted" or "probed"). `waited`: the part of their time
    together, from 0 to 1, in which they had nothing to do but to wait for the last of them.
    """

    parts: tuple[Share, ...] = ()
    by: str = ""
    waited: float = 0.0


@dataclass(frozen=True)
class Repeated:
    """Loops that ran so many times, as `--repeat` asks: the pipeline's time is made of their medians.

    `spread`: what it would be with the fastest and the slowest run of each.
    """

    runs: int = 0
    spread: tuple[float, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A schedule that was tried: `seconds` is the median of its runs, `spread` the fastest and the slowest.

    `note` says why it has no time, where it has none.
    """

    schedule: str
    seconds: float = 0.0
    spread: tuple[float, ...] = ()
    chosen: bool = False
    note: str = ""


@dataclass(frozen=True)
class Tuning:
    """A search for the fastest schedule: `tried` begins with the compiler's own, over `elements` elements.

    `possible`: how many there were to try. `earlier`: when it was measured (a date), if that was in another run; then
    `tried` holds the compiler's own and the chosen one alone. `ended`: "complete", "time" or "interrupted".
    """

    tried: tuple[Candidate, ...] = ()
    possible: int = 0
    elements: int = 0
    seconds: float = 0.0
    limit: float = 0.0
    ended: str = ""
    earlier: str = ""

    @property
    def gain(self) -> float:
        """How many times as fast as the compiler's own schedule the chosen one was; 0.0: not known."""
        best = next((each for each in self.tried if each.chosen), None)
        if best is None or best.seconds <= 0:
            return 0.0
        return self.tried[0].seconds / best.seconds


__all__ = ["Candidate", "Repeated", "Share", "Split", "Tuning"]
