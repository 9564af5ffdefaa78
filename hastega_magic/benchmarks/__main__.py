"""The command line: `python -m hastega_magic.benchmarks [WORKLOAD ...]`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from hastega_magic.benchmarks import auto, calls, checks, harness, latency, memory, opencl, peers, table
from hastega_magic.benchmarks.model import Entrant, Row, Workload, untimed
from hastega_magic.benchmarks.workloads import WORKLOADS, members
from hastega_magic.records import dataclass
from hastega_magic.report.writable import make_output_forgiving

# Measured in processes of their own, not by the interleaving harness.
PROBES: dict[str, tuple[str, Callable[[int | None, str, int, int], list[Row]]]] = {
    "latency": ("the first and the second cell of a fresh kernel", latency.rows),
    "opencl-bandwidth": ("a sum of squares over an input on the device, beside its copy", opencl.bandwidth),
    "ordinary-calls": ("what a pipeline costs in the body of a loop, stage by stage", calls.rows),
    "memory": ("peak memory beyond the result", memory.rows),
    **checks.PROBES,
}
# Measured only where it is asked for: it takes minutes.
ASKED: dict[str, tuple[str, Callable[[int | None, str, int, int], list[Row]]]] = {
    "auto": ("what --on auto chooses, beside all back ends, and how well they are predicted", auto.rows),
}
# What the back ends are called; the session says which of them it can run.
BACKENDS = ("python", "numpy", "simd", "parallel", "opencl", "all")
DEFAULT = ("parallel",)
REPEAT = 7


@dataclass(frozen=True)
class Settings:
    """What the command line asked for; `n` None means each workload's own."""

    names: tuple[str, ...]
    n: int | None
    threads: int
    backends: tuple[str, ...]
    peers: tuple[str, ...]
    repeat: int
    json: Path | None
    idle: bool = False


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _positive(text: str) -> int:
    try:
        value = int(text.replace("_", ""), 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not positive")
    return value


def _choices(what: str, known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    def parse(text: str) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
        for name in names:
            base = name.partition(":")[0] if what == "back end" else name
            if base not in known:
                raise argparse.ArgumentTypeError(f"unknown {what} {name!r}; known: {', '.join(known)}")
        if not names:
            raise argparse.ArgumentTypeError(f"no {what} given")
        return names

    return parse


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        """One line on stderr, without the usage."""
        self.exit(2, f"benchmarks: {message}\n")


def _parser() -> argparse.ArgumentParser:
    described = [(w.name, f"{w.doc} [{table.grouped(w.n)}]") for w in WORKLOADS.values()]
    described += [(name, doc) for name, (doc, _) in (PROBES | ASKED).items()]
    groups = sorted({w.group for w in WORKLOADS.values() if w.group})
    epilog = "workloads:\n" + "\n".join(f"  {name:16} {doc}" for name, doc in described)
    epilog += f"\ngroups (all their workloads): {', '.join(groups)}"
    parser = _Parser(
        prog="python -m hastega_magic.benchmarks",
        description="Measure hastega against its peers, interleaved, each result checked for equality.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="WORKLOAD", help="default: all")
    parser.add_argument("--alone", action="store_true", help="a workload's name means it, never its group")
    parser.add_argument("--n", type=_positive, help="number of elements (default: the workload's own)")
    parser.add_argument("--threads", type=_positive, default=_cores(), metavar="T", help="default: all cores")
    parser.add_argument(
        "--backend",
        type=_choices("back end", BACKENDS),
        default=DEFAULT,
        metavar="B,...",
        help="back ends of hastega; the first is what the ratios refer to (default: parallel)",
    )
    parser.add_argument(
        "--peer",
        type=_choices("peer", tuple(peers.PEERS)),
        default=tuple(peers.PEERS),
        metavar="P,...",
        help=f"default: all of {', '.join(peers.PEERS)}",
    )
    parser.add_argument(
        "--repeat", type=_positive, default=REPEAT, metavar="R", help=f"rounds (default {REPEAT})"
    )
    parser.add_argument(
        "--idle",
        action="store_true",
        help="let the machine sleep for 20 ms before each run, and count every run",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there as JSON, too")
    return parser


def settings(arguments: Sequence[str] | None = None) -> Settings:
    """Parse a command line; SystemExit 2 with one line on stderr where it is wrong."""
    parser = _parser()
    given = parser.parse_args(arguments)
    names: list[str] = []
    for name in given.names or [*WORKLOADS, *PROBES]:
        alone = (given.alone or not given.names) and name in WORKLOADS
        found = [name] if alone or name in PROBES or name in ASKED else members(name)
        found += [probe for probe in PROBES if name == probe.partition("-")[0] != probe]
        if not found:
            groups = {w.group for w in WORKLOADS.values() if w.group}
            known = [*sorted({*WORKLOADS, *PROBES, *groups}), *ASKED]
            parser.error(f"unknown workload {name!r}; known: {', '.join(known)}")
        names += found
    if given.json is not None and not given.json.absolute().parent.is_dir():
        parser.error(f"--json: there is no folder {given.json.parent}")
    return Settings(
        tuple(dict.fromkeys(names)),
        given.n,
        given.threads,
        given.backend,
        given.peer,
        given.repeat,
        given.json,
        given.idle,
    )


def measure(workload: Workload, asked: Settings) -> list[Row]:
    """All rows of one workload: ours first, then the peers, also those that cannot run."""
    from hastega_magic.benchmarks import ours

    n = workload.n if asked.n is None else asked.n
    backends = (workload.backend,) if workload.backend and asked.backends is DEFAULT else asked.backends
    first = backends[0]
    entrants: list[Entrant] = []
    missing: list[Row] = []

    def enter(name: str, threads: int, make: Callable[[], Entrant]) -> None:
        try:
            entrants.append(make())
        except peers.Unavailable as error:
            missing.append(untimed(workload.name, name, n, threads, str(error)))
        except Exception as error:
            missing.append(untimed(workload.name, name, n, threads, harness.message(error)))

    for backend in backends:
        name = ours.label(backend, backends)
        threads = ours.used_threads(backend, asked.threads)
        enter(name, threads, partial(ours.enter, workload, n, backend, asked.threads, name))
        if not entrants:
            # The first back end is what everybody is compared with and measured against.
            return missing
        if workload.called:
            called = f"{name}:function"
            enter(called, threads, partial(ours.enter_function, workload, n, backend, asked.threads, called))
    for name in asked.peers:
        if name in workload.programs:
            peer = peers.PEERS[name]
            threads = asked.threads if peer.parallel else 1
            enter(name, threads, partial(peers.enter, peer, workload, n, asked.threads))
    reference = ours.reference(workload, first, asked.threads)
    rows = harness.compete(
        workload.name,
        entrants,
        reference,
        n=n,
        repeat=asked.repeat,
        tolerance=workload.tolerance,
        idle=asked.idle,
    )
    return rows + missing


def failed(row: Row) -> bool:
    """Whether a row means that something is wrong: hastega did not run, or results differ."""
    return row.equal is False or (row.peer.startswith("hastega") and row.median_s is None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0, or 1 where hastega failed or a result was not equal."""
    asked = settings(arguments)
    rows: list[Row] = []
    for name in asked.names:
        if name in PROBES or name in ASKED:
            found = (PROBES | ASKED)[name][1](asked.n, asked.backends[0], asked.threads, asked.repeat)
        else:
            found = measure(WORKLOADS[name], asked)
        print(table.render(found), end="\n\n", flush=True)
        rows += found
    if asked.json is not None:
        asked.json.write_text(table.to_json(rows), encoding="utf-8")
    return 1 if any(map(failed, rows)) else 0


if __name__ == "__main__":
    make_output_forgiving()
    sys.exit(main())
