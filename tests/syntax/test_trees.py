"""Trees of texts that several threads read at once, where CPython 3.11 confuses one parse with another."""

import ast
import gc
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from hastega_magic.syntax.reading.trees import copied, parsed

TEXT = "r = f(lambda v: v * 3 + 2)\n" * 4
EXPECTED = ast.dump(ast.parse(TEXT))


class Finalised:
    """Dies in the midst of a parse, as it is part of a cycle, and gives way to other threads there."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        for _ in range(30):
            pass


@pytest.fixture(autouse=True)
def often() -> Iterator[None]:
    """Collections and changes of thread, far more often than they would be."""
    switching, collecting = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    yield
    sys.setswitchinterval(switching)
    gc.set_threshold(*collecting)


def in_threads(*works: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def test_threads_that_parse_at_once() -> None:
    found: list[str] = []

    def ours() -> None:
        for _ in range(100):
            for _ in range(5):
                Finalised()
            try:
                found.append(ast.dump(parsed(TEXT)))
            except SystemError as error:
                found.append(str(error))

    def theirs() -> None:
        for _ in range(20):
            try:
                ast.parse(TEXT)
            except SystemError:
                continue

    in_threads(ours, ours, ours, theirs)
    assert found == [EXPECTED] * 300


def test_what_the_parser_raises_is_raised() -> None:
    with pytest.raises(SyntaxError, match="was never closed") as raised:
        parsed("f(", "mine.py")
    assert raised.value.filename == "mine.py"


def test_copies_are_trees_of_their_own_at_any_depth() -> None:
    text = "f(" + " + ".join(["x"] * 2000) + ", y=lambda z, *, k=None: [k for k in z if k])"
    tree = parsed(text)
    made = copied(tree)

    def nodes(tree: ast.AST) -> list[tuple[type[ast.AST], object, object]]:
        return [
            (type(each), getattr(each, "lineno", 0), getattr(each, "col_offset", 0))
            for each in ast.walk(tree)
        ]

    assert nodes(made) == nodes(tree)
    shared = {id(each) for each in ast.walk(made)} & {id(each) for each in ast.walk(tree)}
    assert shared == {id(each) for each in ast.walk(tree) if not (each._fields or each._attributes)}


def test_what_hangs_on_words_that_all_trees_share_is_not_copied() -> None:
    """IPython's tracebacks note the parent of each node of a file, `ast.Load` among them."""
    mark = object()
    tree = ast.parse("if a < -b and not c: pass", mode="exec")
    words = [each for each in ast.walk(tree) if not (each._fields or each._attributes)]
    made = copied(tree)
    for word in words:
        word.parent = mark  # pyright: ignore[reportAttributeAccessIssue]
    try:
        again = copied(made)
    finally:
        for word in words:
            vars(word).pop("parent", None)
    assert {type(each) for each in words} == {ast.Load, ast.Lt, ast.USub, ast.And, ast.Not}
    assert ast.dump(again, include_attributes=True) == ast.dump(tree, include_attributes=True)
    assert not any(hasattr(each, "parent") for each in ast.walk(again))
    assert isinstance(tree.body[0], ast.If)
    assert isinstance(again.body[0], ast.If)
    assert again.body[0].body[0] is not tree.body[0].body[0]  # a statement without parts has a place
