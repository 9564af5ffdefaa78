import ast
import functools
import math
import operator
import sys
from collections import defaultdict

import numpy as np
import pytest

from hastega_magic.errors import NotCompilable, Span
from hastega_magic.runtime import python as runtime_python
from hastega_magic.syntax.reading import functions
from hastega_magic.syntax.reading.functions import ast_of, definition_of, spreads
from hastega_magic.syntax.reading.pipe import parse
from hastega_magic.syntax.site import TRY, WORTH


def test_lambdas_on_one_line_are_told_apart(cell):
    texts = ["lambda x: x + 1", "lambda x: x + 2", "lambda x: (lambda y: x + y)", "lambda: 0", "lambda: 0"]
    functions = cell(f"fs = [{', '.join(texts)}]")["fs"]
    assert [ast_of(f).text for f in functions] == texts
    if sys.version_info[:2] != (3, 12):  # which knows no places of constants
        assert ast_of(functions[3]).span != ast_of(functions[4]).span
    assert ast_of(functions[2](3)).text == "lambda y: x + y"


def test_equal_functions_of_two_cells_keep_their_places(cell):
    first = cell("f = lambda x: x + 1")["f"]
    second = cell("ff = 0; f = lambda x: x + 1")["f"]
    assert ast_of(first).span == Span(1, 4, 1, 19)
    assert ast_of(second).span == Span(1, 12, 1, 27)
    assert ast_of(first) is ast_of(first)


def test_a_text_is_read_once_for_all_functions_that_are_to_be_changed(cell, monkeypatch):
    read = []
    monkeypatch.setattr(functions, "parse", lambda text: read.append(text) or parse(text))
    names = cell(
        "import math\ndef f(x):\n    return x\nasync def g(x):\n    return x\nh = lambda x: x\nx = [0]"
    )
    f, g, h = (definition_of(names[each]) for each in "fgh")
    assert len(read) == 1
    assert f.imports == g.imports == h.imports == ("math",)
    again = definition_of(names["f"]).node
    before = ast.dump(again, include_attributes=True)
    f.node.body[0].value.id = "changed"
    assert ast.dump(again, include_attributes=True) == before
    assert ast.dump(definition_of(names["f"]).node, include_attributes=True) == before
    assert ast.dump(ast_of(names["f"]).node, include_attributes=True) == before


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("f = lambda x: x + 1\nx |> map(lambda x: x + 2)", False),
        ("def f(x):\n    return x + 1\nx |> map(_ + 2) |> sum", False),
        ("f = lambda x: x |> sum", True),
        ("def f(a=x |> sum):\n    return a", True),
        ("f = lambda x: x + 1\nxs = [x]\nsum(y + 1 for y in xs)", True),
    ],
)
def test_a_cell_is_read_again_only_where_its_functions_were_rewritten(cell, monkeypatch, text, again):
    read: list[str] = []
    f = cell(text, x=5, **{TRY: lambda *given: None, WORTH: defaultdict(lambda: lambda *given: True)})["f"]
    monkeypatch.setattr(functions, "parse", lambda text: read.append(text) or parse(text))
    assert ast_of(f).text in text
    assert bool(read) is again


def test_definitions(cell):
    namespace = cell('''def plain(x):
    """Doc with |> in it."""
    return x

def keep(f): return f

@keep
@keep
def decorated(x, /, y: int = 2, *, z=3) -> int:
    return (x
        + y)

def outer(k):
    def inner(x): return x * k
    return inner
inner = outer(3)
nothing = lambda x: None
''')
    assert ast_of(namespace["plain"]).node.name == "plain"
    assert ast_of(namespace["decorated"]).span.line == 9
    assert ast_of(namespace["inner"]).text == "def inner(x): return x * k"
    assert ast_of(namespace["nothing"]).text == "lambda x: None"


def test_functions_of_cells_with_pipelines(cell, stages_of):
    namespace = cell("%%hastega\nys = 0 |> map(_ + 1) |> map(_ + 1) |> map(lambda x: x + 1)\n")
    _, stages = stages_of(namespace)
    found = [ast_of(stage.args[0]) for stage in stages]
    assert [syntax.text for syntax in found] == ["_ + 1", "_ + 1", "lambda x: x + 1"]
    assert [syntax.span.col for syntax in found] == [14, 28, 42]
    assert {syntax.span.line for syntax in found} == {2}
    assert {syntax.filename for syntax in found} == {namespace["filename"]}


def test_functions_of_files():
    assert ast_of(spreads).node.name == "spreads"
    assert ast_of(ast_of).text.startswith("def ast_of(")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def f(x): yield x", "generator"),
        ("async def f(x): return x", "asynchronous"),
        ("def f(**xs): return xs", "any number"),
        ("f = lambda **k: k", "any number"),
        ("class A:\n  def m(self): pass\nf = A().m", "`m` is a method"),
        ("class f: pass", "not a function"),
        ("f = abs", "not a function"),
        ("f = eval('lambda x: x')", "not known|has changed"),  # Python 3.13 knows the text of `python -c`
        ("f = 3", "`int` is an int, not a function"),
    ],
)
def test_what_has_no_tree(cell, text, words):
    with pytest.raises(NotCompilable, match=words):
        ast_of(cell(text)["f"])


def test_a_text_that_has_changed_is_noticed(cell):
    import linecache

    namespace = cell("f = lambda x: x + 1")
    other = "f = (lambda x: x + 1, (3, 4))"
    linecache.cache[namespace["filename"]] = (len(other), None, [other], namespace["filename"])
    with pytest.raises(NotCompilable, match="has changed"):
        ast_of(namespace["f"])


@pytest.mark.parametrize(
    ("function", "width", "expected"),
    [
        (lambda x: x, 2, False),
        (lambda x, y: x, 2, True),
        (lambda x, y: x, 3, False),
        (lambda x, y=1: x, 2, False),
        (lambda x, y, z=1: x, 2, True),
        (lambda x, y, z=1: x, 3, True),
        (lambda *x: x, 2, False),
        (operator.add, 2, True),
        (operator.neg, 2, False),
        (np.add, 2, True),
        (np.sqrt, 2, False),
        (math.copysign, 2, True),
        (divmod, 2, True),
        (max, 2, False),
        (abs, 2, False),
        (functools.partial(lambda x, y, z: x, 1), 2, True),
        (3, 2, False),
        (float, 2, False),
        (pow, 2, True),
        (math.sqrt, 2, False),
    ],
)
def test_spreading(function, width, expected):
    assert spreads(function, width) is expected
    if callable(function):
        assert runtime_python.spreads(function, width) is expected
