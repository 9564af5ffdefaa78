"""Traces to render: a full one of the logistic map, and one with a barrier, a fallback and hostile text."""

from __future__ import annotations

from pathlib import Path

from hastega_magic.report import Report, build_report
from hastega_magic.trace import Trace

DATA = Path(__file__).parent / "data"
N = 33_554_432
SOURCE = """\
p, mu = 6_700_417, 22
ys = (range(1, 0x2000001)
      |> map(lambda x: mu * x * (x + 1) % p)
      |> map(lambda x: mu * x * (x + 1) % p))
total = ys |> filter(lambda y: y % 2 == 0) |> sum
"""
STEP = "map(lambda x: mu * x * (x + 1) % p)"
PASSES = {
    "infer": (
        "Give every value a type and a range.",
        """\
%0: int [1, 33554432] = source range(1, 33554433)
%1: int [0, 6700416] = map %0: 22 * x * (x + 1) % 6700417
%2: int [0, 6700416] = map %1: 22 * x * (x + 1) % 6700417
ys = result %2
%3: int [0, 6700416] = filter %2: x % 2 == 0
total: int [0, 224826657079296] = sum %3""",
    ),
    "simplify": (
        "Rewrite expressions by rules that hold for their kinds.",
        """\
%0: int [1, 33554432] = source range(1, 33554433)
%1: int [0, 6700416] = map %0: 22 * (x * x + x) % 6700417
%2: int [0, 6700416] = map %1: 22 * (x * x + x) % 6700417
ys = result %2
%3: int [0, 6700416] = filter %2: x & 1 == 0
total: int [0, 224826657079296] = sum %3""",
    ),
    "fuse": (
        "Put all stages over the same source into one loop.",
        """\
fused over %0 = range(1, 33554433):
  %1: int [0, 6700416] = 22 * (%0 * %0 + %0) % 6700417
  %2: int [0, 6700416] = 22 * (%1 * %1 + %1) % 6700417
  %m: bool = %2 & 1 == 0
  store ys, %2
  accumulate total += %2 where %m""",
    ),
    "schedule": (
        "Choose vector width, vectors in flight, threads and block.",
        """\
fused over %0 = range(1, 33554433), lanes 8, in flight 4, threads 2, block 4096:
  %1: int [0, 6700416] = 22 * (%0 * %0 + %0) % 6700417
  %2: int [0, 6700416] = 22 * (%1 * %1 + %1) % 6700417
  %m: bool = %2 & 1 == 0
  store ys, %2 streaming
  accumulate total += %2 where %m""",
    ),
}


def _node(name: str, kind: str, label: str, **more: object) -> dict[str, object]:
    return {"id": name, "kind": kind, "label": label, **more}


def _graphs() -> dict[str, object]:
    big = {"elements": N, "bytes": 8 * N}
    before = {
        "nodes": [
            _node(
                "0", "source", "range(1, 33554433)", type="int64", range="[1, 33554432]", elements=N, bytes=0
            ),
            _node("1", "stage", STEP, type="int64", range="[0, 6700416]", **big),
            _node("2", "stage", STEP, type="int64", range="[0, 6700416]", **big),
            _node("3", "result", "ys", type="int64", range="[0, 6700416]", **big),
            _node("4", "stage", "filter(lambda y: y % 2 == 0)"),
            _node("5", "sink", "sum"),
            _node("6", "result", "total", type="int", range="[0, 224826657079296]"),
        ],
        "edges": [
            ["0", "1", "int64 [1, 33554432]"],
            ["1", "2", "int64 [0, 6700416]"],
            ["2", "3", "int64 [0, 6700416]"],
            ["2", "4", "int64 [0, 6700416]"],
            ["4", "5", "int64 [0, 6700416], masked"],
            ["5", "6", "int [0, 224826657079296]"],
        ],
    }
    loop = (
        "one loop over range(1, 33554433)\n  map   22·(x² + x) mod 6700417\n  map   22·(x² + x) mod 6700417"
    )
    after = {
        "nodes": [
            _node("f", "stage", loop + "\n  mask  x & 1 == 0\n  store ys\n  sum   total"),
            _node("a", "result", "ys", type="int64", range="[0, 6700416]", **big),
            _node("b", "result", "total", type="int", range="[0, 224826657079296]"),
        ],
        "edges": [["f", "a", "int64 [0, 6700416]"], ["f", "b", "int"]],
    }
    return {"before": before, "after": after}


def _model() -> dict[str, object]:
    def row(backend: str, a: float, b: float, *sizes: int) -> dict[str, object]:
        points = [[n, (a * n + b) * 1.02] for n in sizes]
        return {"backend": backend, "phases": [{"name": "kernel", "a": a, "b": b}], "points": points}

    return {
        "n": [256, 4096, 65_536, 1_048_576],
        "rows": [
            row("parallel", 4.4e-10, 9e-5, 256, 4096, 65_536, 1_048_576),
            row("numpy", 9.3e-9, 2e-5, 256, 4096, 65_536),
            row("python", 7.2e-7, 2e-6, 256, 4096),
        ],
        "crossings": [
            {"faster": "numpy", "than": "python", "n": 25.3},
            {"faster": "parallel", "than": "python", "n": 122.3},
            {"faster": "parallel", "than": "numpy", "n": 7901.0},
        ],
    }


def _lanes() -> dict[str, object]:
    def step(line: int, text: str, *values: str) -> dict[str, object]:
        return {"line": line, "text": text, "values": list(values), "active": [bool(v) for v in values]}

    steps = [
        step(1, "%0: int [1, 33554432] = load range(1, 33554433)", "1", "2", "3", "4"),
        step(5, "%m: bool = eq %2, 0", "True", "True", "False", "True"),
        step(6, "total = sum %2 where %m", "43560", "386232", "", "4268880"),
    ]
    return {"lanes": 4, "steps": steps, "total": 3}


def logistic_trace() -> Trace:
    """The cell of the first example, first run."""
    trace = Trace()
    trace.add("cell", source=SOURCE, options={"on": "parallel", "int": "exact"})
    trace.next_group()
    stages = ["range(1, 0x2000001)", STEP, STEP, "ys", "filter(lambda y: y % 2 == 0)", "sum"]
    trace.add("group", name="ys, total", span=[2, 0, 5, 49], stages=stages)
    trace.add("graph", **_graphs())
    llvm, asm = (DATA / "logistic.ll").read_text(), (DATA / "logistic.s").read_text()
    passes = [{"name": name, "doc": doc, "text": text} for name, (doc, text) in PASSES.items()]
    trace.add("code", pipeline=PASSES["infer"][1], fused=PASSES["fuse"][1], passes=passes, llvm=llvm, asm=asm)
    trace.add("run", backend="parallel", device="Xeon, 2 cores", threads=2, elements=N, loops=1, cached=False)
    mix = {"vector": 68, "scalar": 1, "memory": 4, "branch": 1}
    trace.add("vector", lanes=8, bits=512, in_flight=4, scalar_ops=[], instructions=mix, isa="AVX-512")
    trace.add("int", mode="exact", proved=True, guarded=False, fell_back=False)
    for name, seconds, size in (
        ("parse", 0.0011, 0),
        ("infer", 0.0009, 0),
        ("fuse", 0.0004, 0),
        ("codegen", 0.0016, 0),
        ("compile", 0.0157, 0),
        ("kernel", 0.0100, 8 * N),
        ("kernel", 0.0048, 0),
        ("convert_out", 0.000012, 8),
    ):
        trace.add("phase", name=name, seconds=seconds, bytes=size)
    trace.add(
        "baseline", backend="python", seconds=24.1, spread=[23.9, 24.4], elements=41_000,
        extrapolated=True, equal=True, phases=[],
    )  # fmt: skip
    trace.add(
        "baseline", backend="numpy", seconds=0.312, spread=[0.309, 0.320], elements=N,
        extrapolated=False, equal=True, phases=[],
    )  # fmt: skip
    trace.add("model", **_model())
    trace.add("lanes", **_lanes())
    trace.add(
        "why",
        text="Integers proved to fit: x in [0, 6700416] after the first mod, so x·x + x < 2⁵²: "
        "52-bit multiply-add is exact.",
    )
    return trace


def troubled_trace() -> Trace:
    """Two groups: one with a barrier and hostile text, one whose integers overflowed."""
    trace = Trace()
    trace.add("cell", source="…", options={})
    trace.next_group()
    evil = "map(lambda s: s + \"</pre><script>alert(1)</script>\u202e\" + '<b>')"
    trace.add("group", name="zs", span=[1, 0, 3, 1], stages=["xs", "tap(print)", evil])
    nodes = [
        _node("x", "source", "xs", type="int64", elements=5, bytes=40),
        _node(
            "t",
            "barrier",
            "tap(print)",
            reason="it looks at every value, so the stages before must finish first",
        ),
        _node("m", "stage", evil),
        _node("z", "result", "zs", elements=5),
    ]
    edges = [["x", "t", ""], ["t", "m", ""], ["m", "z", ""]]
    trace.add("graph", before={"nodes": nodes, "edges": edges}, after={"nodes": nodes, "edges": edges})
    trace.add("barrier", stage="tap(print)", reason="it looks at every value", span=[2, 3, 2, 13])
    trace.add("run", backend="parallel", device="cpu", threads=1, elements=5, loops=2, cached=True)
    trace.add("phase", name="kernel", seconds=2.1e-6, bytes=80)
    trace.next_group()
    trace.add("group", name="big 🚀", span=[4, 0, 4, 20], stages=["range(10)", "map(lambda x: x ** 40)"])
    trace.add("run", backend="parallel", device="cpu", threads=1, elements=10, loops=1, cached=False)
    trace.add("int", mode="exact", proved=False, guarded=True, fell_back=True)
    trace.add(
        "warning",
        text="map(lambda x: x ** 40): element 3 (value 3) needs more than 64 bits; recomputed exactly.",
    )
    trace.add("phase", name="kernel", seconds=0.0021, bytes=0)
    trace.add(
        "baseline", backend="numpy", seconds=0.0001, spread=[], elements=10, extrapolated=False,
        equal=False, phases=[],
    )  # fmt: skip
    trace.add(
        "baseline", backend="python", seconds=0.0011, spread=[0.001, 0.0012], elements=10,
        extrapolated=False, equal=True, phases=[],
    )  # fmt: skip
    return trace


def logistic() -> Report:
    return build_report(logistic_trace())


def troubled() -> Report:
    return build_report(troubled_trace())
