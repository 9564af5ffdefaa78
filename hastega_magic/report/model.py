"""The report as plain data: what a cell did, and the JSON that every display reads.

The field names and their nesting are an interface (`application/vnd.hastega.report+json`, schema 1). All
classes are frozen; sequences are tuples here and lists in the JSON. Times are seconds, sizes are bytes,
spans are `[line, column, end_line, end_column]` (lines from 1, columns from 0) in the text of the cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from hastega_magic.records import dataclass
from hastega_magic.report.costs import Cost, Model
from hastega_magic.report.measured import Repeated, Split, Tuning

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

SCHEMA = 1
MIME = "application/vnd.hastega.report+json"

PHASES = (
    "load", "device",
    "parse", "infer", "fuse", "codegen", "compile", "convert_in", "to_device", "kernel", "from_device", "convert_out",
    "baselines",
)  # fmt: skip
"""The names a phase may have, in the order in which they happen.

Of cells, not of pipelines, are `load` (of this package), `device` (the start of OpenCL's drivers) and `baselines`.
"""

COMPILING = frozenset(PHASES[2:7])
"""The phases that a cell of the same shape does not pay again; all others are its running time."""


@dataclass(frozen=True)
class Phase:
    """A part of the elapsed time: `seconds`, and the `bytes` it moved (0: none, or none were counted).

    `python`: so many of the seconds Python ran stages itself (None: none).
    """

    name: str
    seconds: float = 0.0
    bytes: int = 0
    python: float | None = None


@dataclass(frozen=True)
class Barrier:
    """A stage that ran in Python on the whole value, and the sentence that says why."""

    stage: str
    reason: str
    span: tuple[int, ...] = ()


@dataclass(frozen=True)
class Vector:
    """What the emitted code does with vector registers.

    `lanes` elements in a register of `bits` bits, `in_flight` such vectors at once. `lanes` 0: nothing is
    known; 1: scalar code. `scalar_ops` names operations that stayed scalar. `isa` is a name such as
    "AVX-512".
    """

    lanes: int = 0
    bits: int = 0
    in_flight: int = 0
    scalar_ops: tuple[str, ...] = ()
    isa: str = ""


@dataclass(frozen=True)
class IntInfo:
    """How integers were kept exact: proved to fit, guarded, or recomputed in Python (`fell_back`)."""

    mode: str = ""
    proved: bool = False
    guarded: bool = False
    fell_back: bool = False


@dataclass(frozen=True)
class PassText:
    """One compiler pass: its name, a sentence about it, and the printed IR after it."""

    name: str
    doc: str = ""
    text: str = ""


@dataclass(frozen=True)
class Code:
    """Listings of one fused group. `llvm` is what was compiled, `asm` what the machine runs.

    `not_run` names those that are shown for comparison alone: no back end ran them in the cell (None: all ran).
    """

    pipeline: str = ""
    fused: str = ""
    passes: tuple[PassText, ...] = ()
    llvm: str = ""
    asm: str = ""
    opencl: str = ""
    not_run: tuple[str, ...] | None = None


@dataclass(frozen=True)
class GraphNode:
    """A box of the pipeline's picture.

    `kind` is source, stage, sink, result or barrier; -1: number not known.
    """

    id: str
    kind: str = "stage"
    label: str = ""
    type: str = ""
    range: str = ""
    elements: int = -1
    bytes: int = -1
    reason: str = ""


@dataclass(frozen=True)
class GraphEdge:
    """An arrow from one node's id to another's, with what flows along it."""

    source: str
    target: str
    label: str = ""


@dataclass(frozen=True)
class Graph:
    """A directed graph of stages."""

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()


@dataclass(frozen=True)
class GraphPair:
    """The pipeline before and after fusion."""

    before: Graph = Graph()
    after: Graph = Graph()


@dataclass(frozen=True)
class Baseline:
    """Another way to compute the same, and what it took.

    `seconds` is for the whole size; where `extrapolated`, it was scaled up from a run over `elements`
    elements. `equal`: the result was compared with ours and is the same. `note` may say more ("equal to
    2e-15").
    """

    backend: str
    seconds: float = 0.0
    spread: tuple[float, ...] = ()
    elements: int = 0
    extrapolated: bool = False
    equal: bool = False
    phases: tuple[Phase, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class LaneStep:
    """A value, or what becomes of one, on the first vector.

    `line`: in `code.fused`, from 1; 0: none. `values`: a short text for each lane; `active`: whether the lane takes
    part, as a filter left it in and there is an element.
    """

    line: int = 0
    text: str = ""
    values: tuple[str, ...] = ()
    active: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Lanes:
    """One vector of the loop, on the first elements of the source. `total`: steps there are, shown or not."""

    lanes: int = 0
    steps: tuple[LaneStep, ...] = ()
    total: int = 0


@dataclass(frozen=True)
class PipelineReport:
    """One group of pipelines that were compiled together, such as two that share a source."""

    name: str = ""
    span: tuple[int, ...] = ()
    stages: tuple[str, ...] = ()
    loops: int = 0
    barriers: tuple[Barrier, ...] = ()
    backend: str = ""
    device: str = ""
    threads: int = 0
    elements: int = 0
    vector: Vector = Vector()
    integers: IntInfo = field(default=IntInfo(), metadata={"key": "int"})
    code: Code = Code()
    links: tuple[Json, ...] = ()
    phases: tuple[Phase, ...] = ()
    cached: bool = False
    baselines: tuple[Baseline, ...] = ()
    # Optional, beyond the fixed interface. `elements_out`: elements that the array results hold together. `foremost`:
    # of `why`, of options and of which run figures are. `overlapped`: seconds in which running phases ran at once.
    graph: GraphPair = GraphPair()
    why: tuple[str, ...] = ()
    foremost: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    elements_out: int | None = None
    instructions: Mapping[str, int] = field(default_factory=dict[str, int])
    overlapped: float = 0.0
    # None: each loop ran once.
    repeated: Repeated | None = None
    # None: nothing was compared; no compiled loop ran.
    model: Model | None = None
    lanes: Lanes | None = None
    # None: one back end computed it; nothing was tuned.
    split: Split | None = None
    tuning: Tuning | None = None
    # None: no compiled loop ran.
    cost: Cost | None = None
    # The name of the exception that ended it; None where it gave its results.
    raised: str | None = None
    # In a notebook: what was cut, and how much of it there is; None where all is there.
    cut: Mapping[str, int] | None = None

    def count(self, part: str) -> int:
        """How many stages, barriers or warnings there are, shown or cut."""
        return (self.cut or {}).get(part, len(getattr(self, part)))

    def seconds(self, compiling: bool = False) -> float:
        """The running time in seconds, transfers and conversions included; `compiling`: that before."""
        total = sum(p.seconds for p in self.phases if (p.name in COMPILING) == compiling)
        return total if compiling else max(0.0, total - self.overlapped)


@dataclass(frozen=True)
class CellInfo:
    """The cell's text and options, and what concerns it as a whole. `measurable`: a loop of it can be run again."""

    source: str = ""
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    phases: tuple[Phase, ...] = ()
    warnings: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    measurable: bool | None = None


@dataclass(frozen=True)
class Report:
    """What one cell did. `schema` is that of the data it was read from; `to_dict` always writes `SCHEMA`."""

    cell: CellInfo = CellInfo()
    pipelines: tuple[PipelineReport, ...] = ()
    schema: int = SCHEMA

    def to_dict(self) -> dict[str, Json]:
        """The report as JSON-ready dicts, lists, str, int, float and bool."""
        from hastega_magic.report.encoding import encode

        return {
            "schema": SCHEMA,
            "cell": encode(self.cell),
            "pipelines": [encode(p) for p in self.pipelines],
        }

    def published(self) -> dict[str, Json]:
        """`to_dict` as notebooks keep it, at most about 145 kB of JSON: what is longer is cut, and says so."""
        from hastega_magic.report import publish

        return publish.published(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Report:
        """Read a report.

        Unknown keys are dropped, missing or ill-typed ones take their defaults; never raises.
        """
        from hastega_magic.report import codec

        return codec.decode(data)

    def to_text(self, width: int = 100) -> str:
        """The text/plain form: verdict, barriers, phases and baselines, folded at `width` columns."""
        from hastega_magic.report.text import render_text

        return render_text(self, width)

    def to_html(self, full: bool = False) -> str:
        """The text/html form, a fragment without script or style element; `full` leaves no listing cut."""
        from hastega_magic.report.html import render_html

        return render_html(self, full=full)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_mimebundle_(self, **_: object) -> dict[str, Json]:
        """What a notebook shows where a report is the value of a cell."""
        return {MIME: self.published(), "text/html": self.to_html(), "text/plain": self.to_text()}

    def to_page(self) -> str:
        """A complete HTML document with uncut listings."""
        from hastega_magic.report.page import render_page

        return render_page(self)
