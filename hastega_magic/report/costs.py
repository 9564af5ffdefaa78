"""What other back ends and other numbers of elements would take: fitted to measurements, and by the cost model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hastega_magic.records import dataclass

if TYPE_CHECKING:
    from hastega_magic.report.model import Phase


@dataclass(frozen=True)
class ModelPhase:
    """A fitted line: the phase takes `a` seconds for each element, and `b` seconds once."""

    name: str
    a: float = 0.0
    b: float = 0.0


@dataclass(frozen=True)
class ModelRow:
    """Fitted phases; `points`: elements and seconds, measured; `predicted`: what `cost` calls it, if otherwise."""

    backend: str
    phases: tuple[ModelPhase, ...] = ()
    points: tuple[tuple[float, float], ...] = ()
    predicted: str = ""

    def seconds(self, n: float) -> float:
        """The fitted time for n elements."""
        return sum(phase.a * n + phase.b for phase in self.phases)


@dataclass(frozen=True)
class Crossing:
    """From `n` elements on, the line of `faster` lies below that of `than`."""

    faster: str
    than: str
    n: float


@dataclass(frozen=True)
class Model:
    """Times for other numbers of elements, the cell's back end first. `n`: the sizes measured, in rising order."""

    n: tuple[int, ...] = ()
    rows: tuple[ModelRow, ...] = ()
    crossings: tuple[Crossing, ...] = ()


@dataclass(frozen=True)
class Predicted:
    """What a run would take on a back end (seconds), by the cost model, and what bounds it there.

    `bound`: "arithmetic", "memory", "transfer", "conversion" or "launch". The phases of a device overlap.
    """

    backend: str
    seconds: float = 0.0
    threads: int = 0
    bound: str = ""
    phases: tuple[Phase, ...] = ()


@dataclass(frozen=True)
class PredictedCurve:
    """A back end's predicted times: pairs of elements and seconds, in rising order; `measured`: those of real runs."""

    backend: str
    points: tuple[tuple[float, float], ...] = ()
    measured: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Cost:
    """The cost model's view of a loop.

    operations, bytes  of an element: what is computed, and moved between memory and registers
    bound       what bounds it on the back end that computed it, `chosen`
    because     why that one, in a sentence; "" where it was asked for
    calibrated  when the machine was measured; "" where figures are assumed
    measured    seconds that the run took
    curves      the prediction for other numbers of elements, and where one back end overtakes another
    """

    operations: float = 0.0
    bytes: float = 0.0
    bound: str = ""
    chosen: str = ""
    because: str = ""
    calibrated: str = ""
    measured: float = 0.0
    predicted: tuple[Predicted, ...] = ()
    curves: tuple[PredictedCurve, ...] = ()
    crossings: tuple[Crossing, ...] = ()
