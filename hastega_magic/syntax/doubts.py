"""What the text of a pipeline hardly means as Python reads it: it keeps that meaning, and the report has a sentence.

xs |> filter(_ > 1 & _ < 5)    Python compares `1 & _`: did you mean `_ > 1 and _ < 5`?
xs |> sum(_)                   begins with the variable `_`: did you mean `|> sum`?
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from hastega_magic.syntax.reading.names import parameters_of, reads
from hastega_magic.syntax.reading.pipe import is_pipe
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.site import Doubt

_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="
}  # fmt: skip
_WORDS: Mapping[type[ast.operator], tuple[str, str]] = {ast.BitAnd: ("&", "and"), ast.BitOr: ("|", "or")}

_WRITTEN = re.compile(r"&|\|(?!>)")
"""Without such an operator there is no comparison to doubt."""

_LONGEST = 60
"""A form that is longer is not shown."""


def doubts(stages: Iterable[ast.expr], text: Text, own: Collection[str]) -> Iterator[Doubt]:
    """Each doubtful part of stages that are not rewritten yet; `own`: names of the user's."""
    for stage in stages:
        yield from _of_start(stage, own)
        if _WRITTEN.search(text.segment(stage)):
            said = (_of_comparison(*each, text) for each in _comparisons(stage))
            yield from (Doubt("comparison", each) for each in said if each)


def _of_start(stage: ast.expr, own: Collection[str]) -> Iterator[Doubt]:
    """Where the sum or the count is to begin: at `_`, in which a notebook has the last value that it has shown."""
    match stage:
        case ast.Call(ast.Name("sum" | "enumerate" as name), [ast.Name("_")], []) if not {"_", name} & set(
            own
        ):
            yield Doubt(
                "start",
                f"`{name}(_)` begins with the variable `_`, in notebooks the last value shown, for it takes no "
                f"function of the element: did you mean `|> {name}`?",
            )
        case _:
            pass


def _comparisons(stage: ast.expr) -> Iterator[tuple[ast.Compare, frozenset[str]]]:
    """Those of the stage itself, and of no pipeline in it, with the parameters of the functions around each."""
    left: list[tuple[ast.AST, frozenset[str]]] = [(stage, frozenset())]
    while left:
        node, names = left.pop()
        if (
            isinstance(node, ast.Compare)
            and len(node.ops) > 1
            and all(type(op) in _COMPARISONS for op in node.ops)
        ):
            yield node, names
        elif isinstance(node, ast.Lambda):
            names = names.union(parameters_of(node))
        left += [(each, names) for each in ast.iter_child_nodes(node) if not is_pipe(each)]


def _of_comparison(node: ast.Compare, names: frozenset[str], text: Text) -> str | None:
    """What is said of a comparison with `&` or `|` between two that were meant to be of their own."""
    operands = [node.left, *node.comparators]
    found = [
        (place, each)
        for place, each in enumerate(operands[1:-1], 1)
        if isinstance(each, ast.BinOp)
        and type(each.op) in _WORDS
        and _is_bare(operands[place - 1], each, text)
    ]
    if not any(_is_mistaken(node, place, each, names) for place, each in found):
        return None
    place, first = found[0]
    operator, word = _WORDS[type(first.op)]
    comparison = _COMPARISONS[type(node.ops[place - 1])]
    meant, ends = word, (operands[0], operands[-1])
    if len(text.segment(node)) <= _LONGEST and not any(
        isinstance(each, ast.BinOp) and type(each.op) in _WORDS for each in ends
    ):
        meant = _apart(node, [each for _, each in found], text)
    compared = " ".join(text.segment(first).split())
    said = f"`{operator}` binds tighter than `{comparison}`, so that `{compared}` is compared here"
    return f"{said}: did you mean `{meant}`?"


def _is_bare(before: ast.expr, operand: ast.expr, text: Text) -> bool:
    """Whether it stands in no parentheses of its own: nobody writes these without knowing what they say."""
    start, end = text.span(before), text.span(operand)
    between = start._replace(line=start.end_line, col=start.end_col, end_line=end.line, end_col=end.col)
    return "(" not in text.cut(between)


def _is_mistaken(node: ast.Compare, place: int, middle: ast.BinOp, names: frozenset[str]) -> bool:
    """Whether `a < b & c < d` says nothing sensible as `a < (b & c) < d`, which `low < x & mask < high` does.

    `names`: what changes from element to element.
    """
    before, after = [node.left, *node.comparators][place - 1 : place + 2 : 2]
    left, right = middle.left, middle.right
    ordered = not isinstance(node.ops[place - 1], (ast.Eq, ast.NotEq))
    if ast.dump(left) == ast.dump(right):  # 1 < x & x < 5
        return True
    if reads(before) & reads(right) & names:
        # x > 1 & x < 5; but x == mask & x != 0 asks whether all bits of x are in the mask.
        return ordered or ast.dump(before) != ast.dump(right)
    numbers = [isinstance(each, ast.Constant) for each in (before, left, right, after)]
    if numbers != [False, True, False, True]:
        return False
    assert isinstance(left, ast.Constant)
    return ordered or left.value == 0  # x > 1 & y > 2; x % 2 == 0 & y % 2 == 0


def _apart(node: ast.Compare, middles: Iterable[ast.BinOp], text: Text) -> str:
    """The comparisons as they were meant, with words between them."""
    whole = text.span(node)
    line, col = whole.line, whole.col
    found = ""
    for each in middles:
        operator, word = _WORDS[type(each.op)]
        left, right = text.span(each.left), text.span(each.right)
        closing, _, opening = text.cut(
            left._replace(line=left.end_line, col=left.end_col, end_line=right.line, end_col=right.col)
        ).partition(operator)
        piece = text.cut(whole._replace(line=line, col=col, end_line=left.end_line, end_col=left.end_col))
        found += f"{piece}{closing.rstrip()} {word} {opening.lstrip()}"
        line, col = right.line, right.col
    return " ".join((found + text.cut(whole._replace(line=line, col=col))).split())


__all__ = ["doubts"]
