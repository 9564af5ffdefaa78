"""The printed forms, as short snapshots."""

from hastega_magic.errors import Span
from hastega_magic.interval import Interval
from hastega_magic.ir.expr import const, leaf, make
from hastega_magic.ir.fused import Effect, Fused, Output
from hastega_magic.ir.kernel import TROUBLE, VIOLATED, Accumulate, Assume, Guard, Kernel, Store
from hastega_magic.ir.pipeline import FIRST_PARAMETER, Fn, Pipeline, Sink, Source, Stage, Table
from hastega_magic.ir.printer import print_expr, print_fused, print_kernel, print_lines, print_pipeline
from hastega_magic.ir.schedule import Schedule
from hastega_magic.types import INT, STORAGES

X = leaf("load", INT, 0)
XS = Source("xs", "range", INT, Interval(1, 99))
TABLE = Table("t", STORAGES["int64"])
PRODUCT = make("mul", X, const(3))
EVEN = make("eq", make("mod", PRODUCT, const(2)), const(0))
SPANS = {PRODUCT: (Span(3, 4, 3, 9), Span(5, 0, 5, 1))}
RANGES = {X: Interval(1, 99), PRODUCT: Interval(3, 297), EVEN.args[0]: Interval(0, 1)}


def test_fused():
    looked_up = make("gather", leaf("table", INT, 0), X)
    fused = Fused(
        (XS,),
        (TABLE,),
        (
            Output("ys", Sink("array"), (PRODUCT, X)),
            Output("total", Sink("sum", "sum", Span(6, 0, 6, 3)), PRODUCT, EVEN),
        ),
        (Effect(looked_up, EVEN),),
        RANGES,
        SPANS,
    )
    assert (
        print_fused(fused)
        == """\
fused
  source xs: range int [1, 99]
  table t: int64 int
  %0: int [1, 99] = load xs
  %1: int [3, 297] = mul %0, 3                                    ; lines 3, 5
  %2: int [0, 1] = mod %1, 2
  %3: bool = eq %2, 0
  %4: int = gather @t, %0
  evaluate %4 where %3
  ys = array (%1, %0)
  total = sum %1 where %3                                         ; line 6
"""
    )
    lines = print_lines(fused)
    assert "\n".join(text for text, _ in lines) + "\n" == print_fused(fused)
    assert [node for _, node in lines if node is not None] == [X, PRODUCT, EVEN.args[0], EVEN, looked_up]


def test_kernel():
    kernel = Kernel(
        (XS,),
        (),
        (
            Assume(X, Interval(0, 63), VIOLATED),
            Guard(make("eq", X, const(0)), "operands of `%`"),
            Accumulate("add", PRODUCT, EVEN, wide=True),
            Store(0, PRODUCT, None),
            Assume(X, Interval(0, 7), TROUBLE),
        ),
        Schedule(8, 4, stream=True),
        RANGES,
        SPANS,
    )
    assert (
        print_kernel(kernel)
        == """\
kernel: 8 lanes × 4 in flight, blocks of 4096, up to 4 claimed at a time, streaming stores
  source xs: range int [1, 99]
  loop
    %0: int [1, 99] = load xs
    assume %0 in [0, 63], otherwise the next variant
    %1: bool = eq %0, 0
    guard %1: operands of `%`
    %2: int [3, 297] = mul %0, 3                                    ; lines 3, 5
    %3: int [0, 1] = mod %2, 2
    %4: bool = eq %3, 0
    accumulate add %2 in two words where %4
    store 0, %2
    assume %0 in [0, 7], otherwise Python
"""
    )
    assert print_lines(kernel)[3] == ("    %0: int [1, 99] = load xs", X)


def test_pipeline():
    p = leaf("param", INT, 0)
    inverse = make("floordiv", const(1), p)
    fn = Fn(p, make("add", p, const(1)), ((None, inverse),), "lambda x: x + 1", Span(2, 0, 2, 9))
    positive = Fn(p, make("gt", p, const(0)), (), "lambda x: x > 0")
    zipped = Source("zs", "array", INT, None, STORAGES["int32"], "strided")
    pipeline = Pipeline(
        "ys",
        XS,
        (
            Stage("map", "map(...)", Span(2, 0, 2, 9), fn),
            Stage("filter", "filter(...)", fn=positive),
            Stage("zip", "zip(zs)", sources=(zipped,)),
            Stage("enumerate", "enumerate(5)", number=5),
        ),
        Sink("array"),
    )
    assert (
        print_pipeline(pipeline)
        == """\
pipeline ys
  source xs: range int [1, 99]
  map lambda x: x + 1                                           ; line 2
    %0: int = param 0
    %1: int = floordiv 1, %0
    %2: int = add %0, 1
    evaluate %1
    return %2
  filter lambda x: x > 0
    %0: int = param 0
    %1: bool = gt %0, 0
    return %1
  zip zs: array int32 strided int
  enumerate from 5
  array
"""
    )


def test_captured_numbers_that_change_have_the_users_names():
    numbers = [leaf("param", INT, FIRST_PARAMETER + slot) for slot in range(3)]
    sources = [Source(name, "array", INT, None, STORAGES["int64"], "scalar") for name in ("k", "n", "n")]
    p = leaf("param", INT, 0)
    result = make("mul", make("add", make("mul", p, numbers[0]), numbers[1]), numbers[2])
    stage = Stage("map", "map(...)", fn=Fn(p, result, (), "lambda x: ..."))
    parameters = tuple(zip(numbers, sources, strict=True))
    text = print_pipeline(Pipeline("ys", XS, (stage,), Sink("array"), parameters=parameters))
    assert "%0: int = param 0\n" in text
    assert "= param k\n" in text
    assert "= param captured1\n" in text
    assert "= param captured2\n" in text


def test_expressions():
    assert print_expr(make("add", X, const(1.5))).splitlines() == [
        "%0: int = load source0",
        "%1: float = int_to_float %0",
        "%2: float = add %1, 1.5",
    ]
    assert print_expr(const(True)) == "True"


def test_sources_of_one_name_are_told_apart():
    two = Fused((XS, XS), (), (Output("", Sink("sum"), make("add", X, leaf("load", INT, 1))),))
    text = print_fused(two)
    assert "load source0" in text
    assert "load source1" in text
    assert "_ = sum %2" in text
