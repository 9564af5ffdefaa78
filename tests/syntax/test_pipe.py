import ast
import contextlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.errors import CellSyntaxError
from hastega_magic.syntax.reading.pipe import ends_with_semicolon, is_pipe, parse
from hastega_magic.syntax.reading.text import scan


def shape(text):
    """The expression with every operator in parentheses and pipes as `>`."""

    def write(node):
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                sign = {"BitOr": "|", "BitXor": "^", "BitAnd": "&", "Add": "+"}[type(op).__name__]
                return f"({write(left)} {'>' if is_pipe(node) else sign} {write(right)})"
            case ast.Compare(left=left, comparators=[right]):
                return f"[{write(left)} cmp {write(right)}]"
            case ast.Expr(value=value) | ast.Assign(value=value):
                return write(value)
            case _:
                return ast.unparse(node)

    return write(parse(text).body[-1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x |> f", "(x > f)"),
        ("x |> f |> g", "((x > f) > g)"),
        ("x|>f", "(x > f)"),
        ("a | b", "(a | b)"),
        ("a | b |> f", "((a | b) > f)"),
        ("a |> f | b", "((a > f) | b)"),
        ("a + b |> f", "((a + b) > f)"),
        ("a ^ b |> f", "((a ^ b) > f)"),
        ("a |> f < b", "[(a > f) cmp b]"),
        ("(a | (b |> f)) | c", "((a | (b > f)) | c)"),
        ("a | ((b) |> f)", "(a | (b > f))"),
        ("(a # |> no\n |> f)", "(a > f)"),
        ("a \\\n |> f", "(a > f)"),
    ],
)
def test_binds_like_a_bar_and_to_the_left(text, expected):
    assert shape(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "xs\n|> f\n|> g",
        "xs\n    |> f\n  |> g",
        "xs  # the source\n\n  # a comment with |> in it\n\n  |> f  # more\n # end\n  |> g # last",
        "xs\r\n  |> f\r\n  |> g",
        "xs |> f\n\t|> g",
    ],
)
def test_a_line_may_begin_with_a_pipe(text):
    assert shape(text) == "((xs > f) > g)"


def test_continuation_keeps_every_place():
    tree = parse("def h(ä):\n    return ä  # é\n\n      |> f(1)\n        # |>\n   |> g\ny = 'é' |> k")
    outer = tree.body[0].body[0].value
    assert (outer.right.lineno, outer.right.col_offset, outer.right.end_col_offset) == (6, 6, 7)
    assert (outer.left.right.lineno, outer.left.right.col_offset) == (4, 9)
    assert is_pipe(tree.body[1].value)
    assert tree.body[1].value.right.col_offset == len("y = 'é' |> ".encode())


@pytest.mark.parametrize(
    "literal",
    ['"a |> b"', "'''a\n|> b'''", 'f"{x:|>10}"', "rb'|>'", "'it\\'s |> b'", '"""\\""" |> c"""', "u'|>'"],
)
def test_strings_are_left_alone(literal):
    value = parse(f"{literal} |> f").body[0].value
    assert is_pipe(value)
    assert ast.dump(value.left) == ast.dump(ast.parse(literal).body[0].value)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="a string's own quotes end it there")
@pytest.mark.parametrize(
    "literal",
    [
        'f"{d["a |> b"]}"',
        'f"{\'"\'}"',
        "f'{'a' 'b'}|>'",
        'f"{\n  x  # a |> \'b\n}"',
        'f"{x!r:>{len("|>")}}"',
        "f'{f\"{f'{1}'}\"}'",
        "f'''{\n'''|>''' }'''",
        r"rf'\{x['{']}'",
        "f'{{ {x:{'}'}}'",
        r"f'\N{COLON}{x['\'']}'",
        "f'{(lambda y: {y: y['{']})}|>'",
    ],
)
def test_strings_in_the_fields_of_strings_are_left_alone(literal):
    value = parse(f"{literal} |> f").body[0].value
    assert is_pipe(value)
    assert ast.dump(value.left) == ast.dump(ast.parse(literal).body[0].value)
    assert [each.text for each in scan(literal)] == [literal]


@pytest.mark.parametrize("start", ["f'{", "f'{x", "f'{x:", "f'{x['", "f'{{", "f'\\N{", 'f"{a["b"}"'])
def test_a_string_that_has_no_end_ends_with_its_line(start):
    text = f"{start}\ny |> f"
    assert "".join(each.text for each in scan(text)) == text
    assert [each.line for each in scan(text) if each.kind == "pipe"] == [2]


def test_strings_that_only_the_parser_knows_are_left_alone():
    # After `else` and without a blank, this is still a string.
    assert parse("y = 1 if x else'a |> b'").body[0].value.orelse.value == "a |> b"


def test_other_operators_with_these_signs():
    assert shape("a |b") == "(a | b)"
    assert isinstance(parse("a |= 3").body[0], ast.AugAssign)
    assert isinstance(parse("def f() -> int: pass").body[0], ast.FunctionDef)


def test_a_cell_magic_in_the_first_line_counts_as_blank():
    tree = parse("%%hastega --on simd\nxs |> f")
    assert tree.body[0].lineno == 2
    assert is_pipe(tree.body[0].value)


@pytest.mark.parametrize(
    ("text", "line", "under", "words"),
    [
        ("xs |>", 1, "|>", "nothing stands after"),
        ("xs |>\nf", 1, "|>", "nothing stands after"),
        ("y = (xs |> )", 1, "|>", "nothing stands after"),
        ("y = 3\n|> f |>", 2, "|>", "nothing stands after"),
        ("xs |> |> f", 1, "|>", "nothing stands after"),
        ("|> map(f)", 1, "|>", "nothing stands before"),
        ("# c\n\n  |> map(f)", 3, "|>", "nothing stands before"),
        ("y = (|> f)", 1, "|>", "nothing stands before"),
        ("y = |> f", 1, "|>", "nothing stands before"),
        ("xs |> lambda x: x", 1, "lambda", "parentheses"),
        ("return |> f", 1, "|>", "between a value and a stage"),
        ("xs |>= 3", 1, "|>=", "a pipeline gives a new value"),
        ("é = 'ü'; x = = 3", 1, "=", "invalid syntax"),
        ("a = 1\nb = (1,\nc |> f", 2, "(", "never closed"),
        ("x = 1\n%time f()", 2, "%time f()", "IPython"),
        ("y = !ls", 1, "!ls", "IPython"),
        ("x = 1\n%%time\nf()", 2, "%%time", "stand above `%%hastega`, not below"),
        ("  xs |> f", 1, "xs |> f", "unexpected indent"),
        ("xs |> f(", 1, "(", "never closed"),
        ("y = 'abc", 1, "'", "unterminated string"),
        ("x = 1\n  |> f)", 2, ")", "unmatched"),
        ("b = 2\na = 'é\0'", 2, "\0", "null bytes"),
    ],
)
def test_carets(text, line, under, words):
    with pytest.raises(CellSyntaxError) as caught:
        parse(text)
    error = caught.value
    if "unexpected indent" in words:
        under = error.text[
            error.offset - 1 : error.end_offset - 1
        ]  # Python's own place, which moved with 3.12
    assert (error.lineno, error.text) == (line, text.split("\n")[line - 1])
    assert words in error.msg
    assert error.text[error.offset - 1 : error.end_offset - 1] == under


@pytest.mark.parametrize(
    "text",
    [
        "s = f'a |> b {x!z}'\n[1] |> sum",
        "[1] |> map(lambda x: f'{x +}')",
        "x = f'{' |> len",
        "x = f'{1' |> len",
    ],
)
def test_other_errors_of_f_strings_are_python_s(text):
    with pytest.raises(CellSyntaxError) as caught:
        parse(text)
    assert "f-string" in caught.value.msg
    assert "|>" not in caught.value.msg


def test_pipe_inside_an_f_string_says_so():
    with pytest.raises(CellSyntaxError, match=r"`\|>` does not work inside an f-string") as caught:
        parse("print(f'{xs |> sum}')")
    assert caught.value.offset == 13


@pytest.mark.parametrize("field", ["\n xs\n |> sum\n", "xs\n|> sum", "\n  xs |> sum"])
def test_pipe_inside_a_field_of_several_lines_says_so(field):
    with pytest.raises(CellSyntaxError, match=r"`\|>` does not work inside an f-string") as caught:
        parse(f's = f"""{{{field}}}"""')
    assert (caught.value.text or "")[(caught.value.offset or 0) - 1 :].startswith("|>")


def test_an_f_string_that_is_wrong_beside_a_pipe_has_python_s_message():
    with pytest.raises(CellSyntaxError) as caught:
        parse("ys = xs |> map(lambda x: f'{x') |> to_list")
    assert "does not work" not in caught.value.msg


def test_the_rendered_error_shows_the_users_line_alone():
    with pytest.raises(CellSyntaxError) as caught:
        parse("y = 1\nz = xs\n   |> map(f\n")
    shown = caught.value._render_traceback_()
    assert shown == [
        "  Cell line 3", "       |> map(f", "             ^", "SyntaxError: '(' was never closed",
    ]  # fmt: skip


def test_null_bytes_and_deep_nesting_are_syntax_errors():
    for text in ("x = '\0'", "(" * 5000 + ")" * 5000, "-" * 100_000 + "1"):
        with pytest.raises(CellSyntaxError):
            parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x;", True), ("x; # c\n\n", True), ("x", False), ("x # ;", False), ("';'", False), ("", False)],
)
def test_trailing_semicolon(text, expected):
    assert ends_with_semicolon(text) is expected


@given(st.text(alphabet=" \n|>'\"#()\\fx=1é", max_size=24))
def test_any_text_gives_a_tree_or_our_error(text):
    with contextlib.suppress(CellSyntaxError):
        assert isinstance(parse(text), ast.Module)


@given(st.text(alphabet=" \n|'\"#()\\fx=1é\t", max_size=24))
def test_text_without_pipes_is_read_as_python_does(text):
    try:
        expected = ast.dump(ast.parse(text), include_attributes=True)
    except (SyntaxError, ValueError):
        with pytest.raises(CellSyntaxError):
            parse(text)
    else:
        assert ast.dump(parse(text), include_attributes=True) == expected
