import ast
import sys

import pytest

from hastega_magic.errors import Span
from hastega_magic.syntax.cell import plan
from hastega_magic.syntax.reading.names import binds, reads
from hastega_magic.syntax.reading.pipe import parse
from hastega_magic.syntax.rewriter import PipelineStatement, Plain
from hastega_magic.syntax.site import BIND, RUN
from hastega_magic.syntax.stages import suggest


def test_the_design_cell():
    text = """p, mu = 6_700_417, 22
ys = (range(1, 0x2000001)
      |> map(lambda x: mu * x * (x + 1) % p)
      |> map(lambda x: mu * x * (x + 1) % p))
total = ys |> filter(lambda y: y % 2 == 0) |> sum
"""
    first, ys, total = plan(text).items
    assert isinstance(first, Plain)
    assert isinstance(ys, PipelineStatement)
    assert (ys.target, total.target) == ("ys", "total")
    assert ys.site.source_text == "range(1, 0x2000001)"
    assert (ys.site.source_name, total.site.source_name) == (None, "ys")
    assert [stage.name for stage in total.site.stages] == ["filter", "sum"]
    assert total.site.stages[0].text == "filter(lambda y: y % 2 == 0)"
    assert total.site.stages[1].span == Span(5, 46, 5, 49)
    assert ys.site.span == Span(2, 6, 4, 44)
    assert ys.site.text == text[text.index("range") : text.index(")\ntotal")]
    call = total.site.bind_expression.body
    assert ast.unparse(call) == (
        f"{BIND}({total.site.id}, ys, (None, (lambda y: y % 2 == 0,), {{}}), (None, (), {{}}))"
    )
    assert ast.unparse(total.node) == f"total = {ast.unparse(call).replace(BIND, RUN)}"


def kinds(text, **options):
    return [
        (type(item).__name__, getattr(item, "target", None), item.shown)
        for item in plan(text, **options).items
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("xs |> sum", [("PipelineStatement", None, True)]),
        ("xs |> sum;", [("PipelineStatement", None, False)]),
        ("xs |> sum ; # quiet", [("PipelineStatement", None, False)]),
        ("xs |> sum; 3", [("PipelineStatement", None, False), ("Plain", None, True)]),
        ("x", [("Plain", None, True)]),
        ("x = xs |> sum", [("PipelineStatement", "x", False)]),
        ("x: int = xs |> sum", [("PipelineStatement", "x", False), ("Plain", None, False)]),
        ("x.y = xs |> sum", [("Plain", None, False)]),
        ("a = b = xs |> sum", [("Plain", None, False)]),
        ("a, b = xs |> sum", [("Plain", None, False)]),
        ("a, b = xs |> sum, xs |> min", [("Plain", None, False)]),
        ("(xs |> sum) + 1", [("Plain", None, True)]),
        ("print(xs |> sum)", [("Plain", None, True)]),
        ("if a: b = xs |> sum", [("Plain", None, False)]),
        ("(y := xs |> sum)", [("Plain", None, True)]),
        ("x += xs |> sum", [("Plain", None, False)]),
        ("", []),
        ("# nothing", []),
    ],
)
def test_statements(text, expected):
    assert kinds(text) == expected


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="evaluated where somebody asks for it")
def test_the_annotation_is_evaluated_after_the_value(cell):
    order = []
    namespace = cell("x: note('type') = note('source') |> sum", note=order.append)
    assert order == ["source", "type"]
    assert "x" in namespace["__annotations__"]


def test_arguments_are_evaluated_where_they_stand(cell):
    namespace = cell(
        """k = 3
def f(xs, k):
    return [x |> map(lambda v: v * k) |> zip(xs |> map(_ + k)) for x in [xs]]
f('source', 5)
""",
    )
    inner, outer = namespace["ran"]
    assert inner[1] == outer[1] == "source"
    assert outer[2][1][0](2) == 10
    assert inner[2][1][0](2) == 7
    assert outer[3] == (None, (None,), {})  # the fixture's run gives None
    assert {inner[0], outer[0]} <= set(namespace["plan"].sites)


def test_unknown_callees_and_all_argument_forms(cell, stages_of):
    def f():
        raise AssertionError

    namespace = cell(
        "xs |> f |> f(1, *b, k=2, **d) |> o.real(3) |> (lambda v: v)(4) |> (f)",
        xs=0,
        f=f,
        b=[5, 6],
        d={"z": 1},
        o=1j,
    )
    source, stages = stages_of(namespace)
    assert source == 0
    assert [(s.callee, s.args, s.kwargs) for s in stages[:3]] == [
        (f, (), {}),
        (f, (1, 5, 6), {"k": 2, "z": 1}),
        (0.0, (3,), {}),
    ]
    assert stages[3].callee(9) == 9
    assert stages[4].callee is f
    assert [s.site.known for s in stages] == [False] * 5
    assert [s.site.name for s in stages] == ["f", "f", "o.real", "lambda v: v", "f"]


def test_nested_pipelines_have_their_own_sites():
    planned = plan("a |> zip(b |> map(c |> take(2) |> to_list)) |> sum")
    assert sorted(site.text for site in planned.sites.values()) == [
        "a |> zip(b |> map(c |> take(2) |> to_list)) |> sum",
        "b |> map(c |> take(2) |> to_list)",
        "c |> take(2) |> to_list",
    ]
    assert [site.bind_expression is None for site in planned.sites.values()] == [True, True, False]


def test_a_source_may_hold_a_bar_and_a_pipe():
    (item,) = plan("y = a | b |> f | c |> g").items
    assert ast.unparse(item.site.source).startswith(f"{RUN}(")
    assert ast.unparse(item.site.source).endswith("| c")
    assert [stage.name for stage in item.site.stages] == ["g"]


def test_shadowed_names():
    def known(text, **options):
        return [stage.known for stage in next(iter(plan(text, **options).sites.values())).stages]

    assert known("x |> map(f) |> take(3)") == [True, True]
    assert known("x |> map(f) |> take(3, 4)", shadowed=["take"]) == [True, False]
    assert known("def take(a): pass\nx |> take") == [False]
    assert known("from toolz import take\nx |> take") == [False]
    assert known("take = lambda a: a\nx |> take") == [False]
    assert known("def f(min): return x |> min") == [False]
    assert known("def f():\n  def min(a): pass\n  return x |> min") == [False]
    assert known("count = x |> count") == [True]
    assert known("def f(min): pass\nx |> min") == [True]


class TestPlaceholder:
    @pytest.mark.parametrize(
        ("argument", "at_three"),
        [
            ("_", 3),
            ("22 * _ * (_ + 1) % 61", 20),
            ("(_, _ + 1)", (3, 4)),
            ("f=_ - 1", 2),
            ("[_ for a in (1, 2)]", [3, 3]),
        ],
    )
    def test_becomes_a_function(self, cell, stages_of, argument, at_three):
        _, (stage,) = stages_of(cell(f"0 |> map({argument})"))
        function = stage.args[0] if stage.args else stage.kwargs["f"]
        assert function(3) == at_three

    @pytest.mark.parametrize("argument", ["lambda _: _ + 1", "f(lambda _: _)", "[_ for _ in (1, 2)]", "f"])
    def test_belongs_to_functions_written_out(self, cell, stages_of, argument):
        f = object()
        _, (stage,) = stages_of(cell(f"0 |> map({argument})", f=f if argument == "f" else lambda g: g))
        if argument == "f":
            assert stage.args[0] is f
        elif callable(stage.args[0]):
            assert stage.args[0](1) in (1, 2)
        else:
            assert stage.args[0] == [1, 2]

    def test_is_the_inner_pipelines_own(self, cell):
        namespace = cell("0 |> map(_ * (5 |> map(_ + 1)))")
        outer = namespace["bound"][0][2][1][0]
        with pytest.raises(TypeError):
            outer(2)  # 2 * None, since the fixture's run gives None
        assert namespace["ran"][0][2][1][0](7) == 8

    def test_is_an_ordinary_name_elsewhere(self, cell, stages_of):
        _, stages = stages_of(cell("_ |> zip(_) |> take(_) |> f(_)", _=4, f=abs))
        assert [stage.args for stage in stages] == [(4,), (4,), (4,)]

    def test_not_for_functions_of_two_values(self, complaint):
        message, _, under = complaint("xs |> reduce(_ + _)")
        assert "two values" in message
        assert under == "_ + _"


@pytest.mark.parametrize(
    ("text", "under", "words"),
    [
        ("xs |> map", "map", "needs 'f'"),
        ("xs |> map(f, g)", "map(f, g)", "takes 1 argument, 2 given"),
        ("xs |> filter(f) |> sum(1, 2)", "sum(1, 2)", "at most 1 argument, 2 given"),
        ("xs |> count(1)", "count(1)", "takes no arguments, 1 given"),
        ("xs |> min(1)", "min(1)", "takes its arguments by name alone: min(key=..., default=...)"),
        ("xs |> prod(0)", "prod(0)", "takes its argument by name alone: prod(start=...)"),
        ("xs |> map(1, 2, 3)", "map(1, 2, 3)", "takes 1 argument, 3 given: map(f)"),
        ("xs |> take(m=1)", "take(m=1)", "no argument 'm'"),
        ("xs |> take(1, n=1)", "take(1, n=1)", "twice"),
        ("xs |> zip", "zip", "needs 'other'"),
        ("xs |> reduce(f, 1, 2)", "reduce(f, 1, 2)", "at most 2"),
        ("def f():\n  return xs |> take", "take", "needs 'n'"),
        ("xs |> 3", "3", "a stage is a name or a call"),
        ("xs |> 'f'", "'f'", "a stage is a name or a call"),
        ("xs |> 3 + 4", "3 + 4", "a stage is a name or a call"),
        ("xs |> -4 |> sum", "-4", "a stage is a name or a call"),
        ("xs |> f'{a}' + 'b'", "f'{a}' + 'b'", "a stage is a name or a call"),
        ("xs |> _ + 1", "_ + 1", "where a stage takes a function: write `map(_ + 1)`"),
        ("xs |> (2 * -_) |> sum", "2 * -_", "write `map(2 * -_)`"),
        ("return xs |> f", "return xs |> f", "'return' outside function"),
        ("for x in y:\n  z = xs |> f\nbreak", "break", "'break' outside loop"),
    ],
)
def test_what_can_be_seen_to_be_wrong(complaint, text, under, words):
    message, _, shown = complaint(text)
    assert words in message
    assert shown == under


@pytest.mark.parametrize(
    "text",
    [
        "xs |> take(*a)",
        "xs |> take(**a)",
        "xs |> min(key=f, default=0)",
        "xs |> zip(a, b, c)",
        "xs |> reduce(f, init=0)",
        "xs |> enumerate(start=1)",
        "xs |> prod(start=2)",
        "xs |> tap(print)",
        "await f(xs |> sum)",
    ],
)
def test_what_may_be_right(text):
    assert plan(text).items


def test_suggestions():
    assert suggest("fliter") == "filter"
    assert suggest("mpa") == "map"
    assert suggest("enumerat") == "enumerate"
    assert suggest("quux") is None
    assert suggest("filter") is None


def test_places_count_characters_not_bytes():
    (item,) = plan("é = 'ßß' |> map(lambda ö: ö)").items
    assert item.site.span == Span(1, 4, 1, 28)
    assert item.site.stages[0].text == "map(lambda ö: ö)"


@pytest.mark.parametrize("stage", ["map(lambda x: x + 1)", "map(_ + 1)", "map(inner |> sum)"])
def test_a_thousand_stages_are_no_deeper_than_one(stage):
    chain = "\n".join([f"  |> {stage}"] * 1000)
    (item,) = plan(f"ys = (xs\n{chain})").items
    assert isinstance(item, PipelineStatement)
    assert len(item.site.stages) == 1000
    assert {each.text for each in item.site.stages} == {stage}
    function = f"def f(xs):\n return (xs\n{chain})"
    assert isinstance(plan(function).items[0], Plain)
    tree = parse(function)
    assert "f" in binds(tree)
    assert "xs" not in reads(tree)
    assert ("inner" in reads(tree)) == ("inner" in stage)
