"""A loop printed once with holes reads, filled in by a cell, as if it were printed for that cell."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import battery
import grammar
import numpy as np
import pytest
from hypothesis import given

from hastega_magic.compiler.loops import cached_loops, clear_cache
from hastega_magic.errors import Span
from hastega_magic.ir.origins import placed
from hastega_magic.ir.printer import print_fused, print_kernel
from hastega_magic.ir.template import Filling, Template
from hastega_magic.passes import fuse
from hastega_magic.session import Options, Session

PLAIN = Options(baseline=False)
FUNCTIONS = """\
def collatz(n):
    k = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        k += 1
    return k
def nested(n):
    s = 0
    for i in range(n % 5):
        for j in range(i):
            s += i * j
    return s
"""


def elsewhere(loop):
    """The written loop as another cell would have it: other names, and its code some lines below."""
    down = {
        node: tuple(Span(span.line + 3, span.col, span.end_line + 3, span.end_col) for span in spans)
        for node, spans in loop.spans.items()
    }
    return replace(
        loop,
        sources=tuple(replace(each, name=f"rows[{k}, :]") for k, each in enumerate(loop.sources)),
        tables=tuple(
            replace(each, name="t") for each in loop.tables
        ),  # names that several share are no names
        outputs=tuple(
            replace(each, name="" if k else "later", sink=replace(each.sink, span=Span(9 + k, 0, 9 + k, 1)))
            for k, each in enumerate(loop.outputs)
        ),
        spans=down,
    )


def printed(form, now):
    """The form with the present cell's names and places, printed anew."""
    named = replace(form, sources=now.sources, tables=now.tables, spans=placed(form.origins, now.spans))
    outputs = getattr(form, "outputs", None)
    if outputs is None:
        return print_kernel(named)
    pairs = zip(outputs, now.outputs, strict=True)
    return print_fused(replace(named, outputs=tuple(replace(a, name=b.name, sink=b.sink) for a, b in pairs)))


def check():
    """Every form of every loop that is known."""
    for loop in cached_loops():
        for now in (loop.written, elsewhere(loop.written)):
            filling = Filling(now)
            for form in (loop.written, *(state.loop for _, state in loop.steps)):
                template = Template.of_fused(form)
                text = template.text(filling)
                assert text == printed(form, now)
                bare = [line for line, _ in template.plain(filling)]
                assert [line.partition("; line")[0].rstrip() for line in text.splitlines()] == bare
            for body in loop.bodies.values():
                assert Template.of_kernel(body.kernel).text(filling) == printed(body.kernel, now)


@battery.examples(60)
@given(
    grammar.pipelines(grammar.int_expressions(), ("sum", "min", "argmax", "cumsum", "to_list")),
    battery.int_sources,
)
def test_any_pipeline(text, source):
    clear_cache()
    names = {"source": source, "other": list(reversed(source)), "table": list(range(8)), "math": math}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            Session(names).run_cell(f"found = {text}", options=PLAIN)
        except (ArithmeticError, ValueError, LookupError, TypeError):
            return
    check()


@pytest.mark.parametrize(
    "text",
    [
        "xs |> map(lambda i: a[i % 5] + b[i % 5] + len(b)) |> max",  # tables
        "xs |> zip(fs, xs) |> map(lambda x, y, z: x * y + z) |> sum",
        "cs |> map(lambda z: z * z) |> sum",  # sources in parts
        "range(50) |> map(collatz)\nys = range(50) |> map(nested)\nt = ys |> filter(lambda y: y > 2) |> count",
        "fs |> scan(lambda s, x: 0.5 * s + x, 0.0)",
        "xs |> reduce(lambda s, x: s - x, 0)",
        "xs |> map(lambda x: x << 60) |> sum",  # of two words
        "fs |> window(3) |> map(lambda a, b, c: a + b + c)",
    ],
)
@pytest.mark.parametrize("on", ["simd", "opencl"])
def test_all_that_a_line_may_tell(text, on):
    clear_cache()
    session = Session({
        "xs": np.arange(1, 300), "fs": np.linspace(0, 1, 300), "cs": np.linspace(0, 1, 300) * 1j,
        "a": np.arange(5), "b": np.arange(7),
    })  # fmt: skip
    session.run_cell(FUNCTIONS + text, options=Options(on=on, baseline=False))
    assert cached_loops()
    check()


def test_cells_that_differ_in_names_are_fused_once(monkeypatch):
    made = []
    begun = fuse._Part.run

    def run(part):
        made.append(part)
        return begun(part)

    monkeypatch.setattr(fuse._Part, "run", run)
    cell = "ys = range(1, 100) |> map(lambda x: x * 77)\ns = ys |> filter(lambda y: y % 3 == 0) |> sum"
    session = Session({})
    session.run_cell(cell, options=PLAIN)
    assert len(made) == 2
    (pipeline,) = session.run_cell(
        cell.replace("100", "120").replace("ys", "zs"), options=PLAIN
    ).report.pipelines
    assert len(made) == 2
    assert pipeline.name == "zs, s"
    assert "source range(1, 120): range int [1, 119]" in pipeline.code.fused
    assert session.namespace["s"] == sum(x * 77 for x in range(1, 120) if x * 77 % 3 == 0)
    # Elsewhere in the cell it is another one: its places are.
    session.run_cell("\n" + cell, options=PLAIN)
    assert len(made) == 4
