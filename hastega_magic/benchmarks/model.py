"""The plain data of the benchmarks: a workload, somebody who runs it, and a row of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, field

from hastega_magic.records import dataclass


def _nothing(n: int) -> dict[str, object]:
    del n
    return {}


def _no_preparation() -> None:
    return None


@dataclass(frozen=True)
class Workload:
    """One fact to measure: a cell for hastega, and the same work as a program of each peer.

    `cell(n)` is the text of the cell, `result` the name it leaves behind.  `inputs(n)` makes the
    names that cell and peers start from (arrays, lists); making them is never timed.

    `programs` maps a peer's name (see `peers.PEERS`) to a program text in its language.  For the
    Python-based peers the text defines `run(...)`; its parameters are chosen by name among `n`,
    `threads`, `out` (an array of `n` x `out`), the inputs, and what an optional, untimed
    `setup(...)` in the same text returns.  For C it defines
    `void run(int64_t n, int threads, const void **in, void *out)`, `in` being the input arrays
    in the order of `inputs`.

    `called`: hastega has a second row, the same statements in a function that is called, as the peers are.

    `backend` is where hastega runs it unless the command line says otherwise ("": parallel).

    `out` is the dtype of the result array, "" where the result is no array; a scalar of a C
    program is written to `out` as `scalar`.  `tolerance` is the largest relative difference that
    still counts as equal (0: exactly equal).  `sample` is how many elements pure Python gets.
    """

    name: str
    doc: str
    cell: Callable[[int], str]
    result: str
    n: int
    programs: Mapping[str, str]
    inputs: Callable[[int], Mapping[str, object]] = _nothing
    group: str = ""
    out: str = ""
    scalar: str = "int64"
    tolerance: float = 0.0
    sample: int = 1_000_000
    backend: str = ""
    called: bool = False


@dataclass(frozen=True)
class Entrant:
    """Somebody ready to run a workload.

    `run()` does the whole work once and returns the result; only this is timed.  `prepare()` is
    called before it, untimed.  `n` is how many elements `run` handles: fewer than the workload's
    where the time will be extrapolated.  `kernel()` gives the seconds that the last run spent in
    native code, None where that is not known.
    """

    name: str
    n: int
    threads: int
    run: Callable[[], object]
    prepare: Callable[[], None] = field(default=_no_preparation)
    kernel: Callable[[], float | None] | None = None
    note: str = ""


@dataclass(frozen=True)
class Row:
    """One line of the table and one object of the JSON.

    Times are seconds; None where nothing was measured (`note` says why).  `ratio` is this peer's
    median over hastega's median of the same interleaved run: above 1, hastega is faster.
    `equal` is None where there was no result to compare.
    """

    workload: str
    peer: str
    n: int
    threads: int
    median_s: float | None
    min_s: float | None
    max_s: float | None
    ratio: float | None
    equal: bool | None
    note: str

    def to_dict(self) -> dict[str, object]:
        """The row as the JSON object of the design, same keys, same order."""
        return asdict(self)


def untimed(workload: str, peer: str, n: int, threads: int, note: str, *, equal: bool | None = None) -> Row:
    """A row without times, saying why there are none."""
    return Row(workload, peer, n, threads, None, None, None, None, equal, note)
