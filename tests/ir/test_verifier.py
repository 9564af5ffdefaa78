"""Each rule of the verifier has something that breaks it."""

from dataclasses import replace

import pytest

from hastega_magic.interval import INT64, Interval
from hastega_magic.ir.expr import Expr, const, leaf, make
from hastega_magic.ir.fused import Effect, Fused, Output
from hastega_magic.ir.kernel import Accumulate, Assume, Guard, Kernel, Store
from hastega_magic.ir.pipeline import Fn, Pipeline, Sink, Source, Stage, Table
from hastega_magic.ir.schedule import Schedule
from hastega_magic.ir.verifier import VerificationError, verify_fused, verify_kernel, verify_pipeline
from hastega_magic.types import BOOL, FLOAT, FLOAT32, FLOAT64, INT, STORAGES

X, F = leaf("load", INT, 0), leaf("load", FLOAT, 1)
XS = Source("xs", "range", INT, Interval(0, 9))
FS = Source("fs", "array", FLOAT64, None, STORAGES["float64"])
TABLE = Table("t", STORAGES["int64"])
POSITIVE = make("gt", X, const(0))
SUM = make("add", X, const(1))
FUSED = Fused(
    (XS, FS),
    (TABLE,),
    (
        Output("ys", Sink("array"), (SUM, make("sqrt", F)), POSITIVE),
        Output("total", Sink("sum"), make("gather", leaf("table", INT, 0), X)),
    ),
    (Effect(make("floordiv", const(1), X), POSITIVE),),
)
RANGES = {
    X: Interval(0, 9), const(1): Interval(1, 1), const(0): Interval(0, 0), SUM: Interval(1, 10),
    FUSED.outputs[1].value: Interval(-5, 5), FUSED.effects[0].node: Interval(0, 1),
}  # fmt: skip
KERNEL = Kernel(
    (XS, FS), (TABLE,),
    (Assume(X, Interval(0, 5), 1), Guard(POSITIVE, "why"),
     Accumulate("add", SUM, POSITIVE, True), Store(0, SUM, None)),
    Schedule(8, 4),
)  # fmt: skip
P = leaf("param", INT, 0)
PIPELINE = Pipeline(
    "ys",
    XS,
    (
        Stage("map", "m", fn=Fn(P, make("add", P, const(1)))),
        Stage("filter", "f", fn=Fn(P, make("gt", P, const(0)))),
    ),
    Sink("sum"),
)


def raw(op, args, type_, value=None):
    """A node that `make` would not build."""
    return Expr(op, args, type_, value)


def fused(value, mask=None, sink="array", **changes):
    return replace(FUSED, outputs=(Output("out", Sink(sink), value, mask),), effects=(), **changes)


def cyclic():
    node = raw("neg", (X,), INT)
    node.args = (node,)
    return node


def test_well_formed_programs_pass():
    verify_fused(FUSED)
    verify_fused(replace(FUSED, ranges=RANGES))
    verify_fused(replace(FUSED, ranges=RANGES | {const(2**64): INT64}))
    verify_fused(replace(FUSED, outputs=(FUSED.outputs[0],) * 2))  # a name may be assigned twice
    verify_kernel(KERNEL)
    verify_kernel(replace(KERNEL, ranges=RANGES))
    verify_pipeline(PIPELINE)
    zs = Source("zs", "array", FLOAT32, None, STORAGES["float32"])
    pair = (leaf("param", INT, 0), (leaf("param", INT, 1), leaf("param", FLOAT32, 2)))
    stages = (
        Stage("zip", "zip(zs)", sources=(zs,)),
        Stage("enumerate", "enumerate"),
        Stage("map", "map", fn=Fn(pair, pair[1][1])),
    )
    verify_pipeline(Pipeline("", XS, stages, Sink("mean")))


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (fused(raw("nonsense", (X,), INT)), "no operator nonsense"),
        (fused(raw("add", (X,), INT)), "takes 2 operands"),
        (fused(raw("add", (X, F), FLOAT)), "operand 0 is"),
        (fused(raw("add", (X, X), FLOAT)), "is ScalarType.FLOAT"),
        (fused(raw("shl", (F, F), INT)), "integers"),
        (fused(raw("const", (), INT, 1.5)), "1.5 is no"),
        (fused(raw("const", (), INT, True)), "True is no"),
        (fused(leaf("load", INT, 7)), "loads from no source"),
        (fused(leaf("load", FLOAT32, 1)), "its source is not"),
        (fused(leaf("index", FLOAT)), "index is"),
        (fused(leaf("table", INT, 3)), "no table"),
        (fused(leaf("length", INT, 3)), "length of no table"),
        (fused(make("gather", leaf("table", FLOAT, 0), X)), "its table is not"),
        (fused(raw("add", (leaf("table", INT, 0), X), INT)), "first operand of gather"),
        (fused(raw("gather", (X, X), INT)), "first operand of gather"),
        (fused(leaf("param", INT, 0)), "parameter of no function"),
        (fused(leaf("somewhere", INT, 0)), "no leaf somewhere"),
        (fused(X, mask=X), "not BOOL"),
        (fused((X, X), sink="sum"), "not tuples"),
        (fused(X, sink="median"), "no sink median"),
        (fused(cyclic()), "operand of itself"),
        (replace(FUSED, effects=(Effect(X, SUM),)), "not BOOL"),
        (replace(FUSED, ranges={X: Interval(0, 9)}), "has no range"),
        (replace(FUSED, ranges=RANGES | {SUM: Interval(3, 2)}), "empty"),
        (replace(FUSED, ranges=RANGES | {const(1): Interval(2, 3)}), "not in its range"),
        (replace(FUSED, sources=(replace(XS, type=FLOAT), FS)), "a range of"),
        (replace(FUSED, sources=(XS, replace(FS, type=FLOAT32))), "float64 is no"),
    ],
)
def test_broken_loops(broken, words):
    with pytest.raises(VerificationError, match=words):
        verify_fused(broken)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schedule": Schedule(8, 3)}, "do not divide"),
        ({"schedule": Schedule(8, 0)}, "computes no elements"),
        ({"schedule": Schedule(8, 4, grain=0)}, "negative or empty"),
        ({"body": (Accumulate("median", SUM, None),)}, "no accumulation median"),
        ({"body": (Accumulate("mul", SUM, None, wide=True),)}, "no sum of integers"),
        ({"body": (Accumulate("add", F, None, wide=True),)}, "no sum of integers"),
        ({"body": (Accumulate("xor", F, None),)}, "accumulate xor"),
        ({"body": (Accumulate("add", SUM, SUM),)}, "not BOOL"),
        ({"body": (Guard(SUM, "why"),)}, "not BOOL"),
        ({"body": (Store(0, SUM, SUM),)}, "not BOOL"),
        ({"body": (Store(1, SUM, None),)}, "slots"),
        ({"body": (Store(0, SUM, None), Store(0, X, None))}, "slots"),
        ({"body": (Assume(SUM, Interval(0, 1), 1),)}, "no integer source"),
        ({"body": (Assume(X, Interval(0, 1), 7),)}, "reports 7"),
        ({"body": (Assume(X, Interval(1, 0), 1),)}, "empty"),
        ({"body": (Store(0, leaf("param", INT, 0), None),)}, "parameter"),
        ({"sources": (replace(XS, kind="result"), FS)}, "is a result"),
        ({"ranges": {X: Interval(9, 0)}}, "empty"),
    ],
)
def test_broken_kernels(changes, words):
    with pytest.raises(VerificationError, match=words):
        verify_kernel(replace(KERNEL, **changes))


Q = leaf("param", BOOL, 0)


@pytest.mark.parametrize(
    ("stages", "words"),
    [
        ((Stage("map", "m"),), "no function"),
        ((Stage("fold", "w"),), "no stage fold"),
        ((Stage("window", "w"),), "a window of 0"),
        ((Stage("map", "m", fn=Fn(Q, Q)),), "takes"),
        ((Stage("map", "m", fn=Fn((P, P), P)),), "appears twice"),
        ((Stage("map", "m", fn=Fn((P,), P)),), "takes"),
        ((Stage("map", "m", fn=Fn(X, X)),), "is no parameter"),
        ((Stage("map", "m", fn=Fn(P, leaf("param", INT, 9))),), "parameter of no function"),
        ((Stage("map", "m", fn=Fn(P, P, ((P, P),))),), "not BOOL"),
        ((Stage("filter", "f", fn=Fn(P, P)),), "not BOOL"),
        ((Stage("map", "m", fn=Fn(P, make("gather", leaf("table", INT, 0), P))),), "no table"),
        ((Stage("enumerate", "e"),), "not tuples"),
    ],
)
def test_broken_pipelines(stages, words):
    with pytest.raises(VerificationError, match=words):
        verify_pipeline(replace(PIPELINE, stages=stages))
