"""A piece of ordinary code in parts: what it calls, its functions, its operands, and the stages that it is."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, cast

from hastega_magic.errors import Span
from hastega_magic.frames import CALLEES
from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.grid_stores import GridStores
from hastega_magic.syntax.ordinary.refused import check_source
from hastega_magic.syntax.ordinary.rewriting import NoPipeline, function_of, item, placed
from hastega_magic.syntax.ordinary.stores import Stores
from hastega_magic.syntax.ordinary.trailing import Root, is_constant, roots
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.site import Site, StageSite

FEW = 256
"""Over fewer elements Python is faster than a call of compiled code."""

FEW_PLACES = 2048
"""The same of several `for` clauses, whose sources are laid out first, where little is done with an element."""

FEWEST_PLACES = 128
"""The same where much is."""


def too_few(count: int) -> str:
    """Why nothing is tried over fewer elements than so many."""
    return f"there are fewer than {count} elements: Python is faster"


IS_FEW = too_few(FEW)

FUNCTIONS, OPERANDS = "__hastega_functions__", "__hastega_operands__"
"""Names of the parts, behind those of the callees, in the code that Python runs instead."""

ROWS = "__hastega_rows__"
"""Of whether rows are tried there, each by itself."""


UNWRITTEN = "hastega_unwritten"
"""An attribute of expressions that do not stand in the text as they are."""


@dataclass(frozen=True)
class Step:
    """A stage: its name, and where its arguments are: ("function", n), ("operand", n), or, of places, ("nest", 0)."""

    stage: str
    arguments: tuple[tuple[str, int], ...] = ()


Made = ast.Lambda | ast.FunctionDef
"""A function that stands for code of the user's."""

Given = tuple[str, int]
"""Where a value is: ("operand", n), or ("function", n) for what function n gives, called without arguments."""


@dataclass(frozen=True)
class Column:
    """What one name of a clause goes through: items of something, its "columns", or a "count" (from `given` on).

    Or a "field" of its items: that of the number `place`, where each has so many as are in `fields`.
    """

    kind: str
    given: Given | None = None
    backwards: bool = False
    place: int = 0
    fields: int = 0


@dataclass(frozen=True)
class Clause:
    """A `for`: its names, and a column for each; `within`: the function of a range that depends on other names.

    `reads`: which names these are, by their number among all.
    """

    names: tuple[str, ...]
    columns: tuple[Column, ...] = ()
    within: int | None = None
    reads: tuple[int, ...] = ()


@dataclass(frozen=True)
class Nest:
    """The clauses from the outermost on.

    builtins   a function that gives what Python's functions are called in inner clauses, and what they must be
    numbers    a function that gives the variables whose values are computed with there
    sequences  a function that gives those of which items, stretches or lengths are taken
    lengths    which of the sequences have their length among the names, behind those of the clauses
    place      where the inner clauses stand
    held       which items of the sequences have their own lengths taken: the number of the sequence, and of the item
    """

    clauses: tuple[Clause, ...]
    builtins: tuple[int, tuple[object, ...]]
    numbers: int
    sequences: int
    lengths: tuple[int, ...]
    place: ast.expr = field(compare=False)
    held: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class HandsOn:
    """What a `for` statement gives variables.

    initial   the operand that is what they were before; None where elements are collected
    names     which they are
    last      whether what it goes through gives its variables their last values, too
    breaks    whether loops inside may end before they have gone through all they could
    backwards how often its elements are gone through from their end when it is over
    into      the operand that gives what elements are added to, or stored into; None where they make something new
    stores    where they are stored; `reads`: the operand that gives the variables of these, and what else turns read
    ends      whether the last outer turn is Python's
    """

    initial: int | None
    names: tuple[str, ...]
    last: bool
    breaks: bool = False
    backwards: int = 0
    into: int | None = None
    stores: Stores | GridStores | None = None
    reads: int | None = None
    ends: bool = False


@dataclass(frozen=True)
class Ordinary:
    """A piece of ordinary code as a pipeline.

    site       its text, span and stages
    expected   the callables that it must be about, for the pipeline to be what it means
    steps      the stages, with their arguments by place
    made       functions that stand for expressions of it, by place; the others are the user's own
    after      what becomes of the pipeline's value (None: it is the result)
    keys       what of the value will be keys of what is made of it behind the code (None: nothing)
    later      functions that give the operands that Python evaluates when an iterator has been made: number n of them
               is operand -1 - n
    roots      a function that gives the variables that have to hold something of their own for these, and what
    asked      which of the values that are looked at before it is tried are iterated over
    strict     its sources are to have as many elements each
    depth      by so many `for` more than one it goes through the numbers of rows, one row after the other
    apart      its functions take its elements apart at once: whether these are tuples or lists is all the same
    picks      the pipeline's value is the number of the element that the code gives
    sources    which of the operands are iterated over; `backwards` those that are from their end
    start      the operand that a sum begins with (None: 0)
    nest       the `for` clauses, if there are several: the pipeline then goes through their places
    cut        its value is cut into rows: as long as the last clause, or as those whose numbers it goes through
    windows    its elements are neighbours, two at a time
    few_places of several clauses, or where its value is cut, over fewer places than this Python is faster
    hands_on   what a statement gives its variables; None of an expression
    seeks      it is a statement that goes through its elements until a turn ends it
    shared     variables that its turns give values and that functions defined elsewhere may read
    """

    site: Site
    expected: tuple[object, ...]
    steps: tuple[Step, ...]
    made: Mapping[int, Made] = field(default_factory=dict[int, Made], compare=False)
    after: Callable[[Any], Any] | None = None
    sources: tuple[int, ...] = (0,)
    backwards: frozenset[int] = frozenset()
    start: int | None = None
    nest: Nest | None = None
    keys: Callable[[Any], Collection[object]] | None = None
    later: tuple[int, ...] = ()
    roots: tuple[int, tuple[Root, ...]] | None = None
    asked: tuple[int, ...] = ()
    picks: bool = False
    strict: bool = False
    depth: int = 0
    apart: bool = False
    cut: bool = False
    few_places: int = FEW_PLACES
    windows: bool = False
    hands_on: HandsOn | None = None
    seeks: bool = False
    shared: frozenset[str] = frozenset()

    @property
    def few(self) -> int:
        """Over fewer elements than this Python is faster."""
        return self.few_places if self.cut or self.nest is not None else FEW


@dataclass
class Parts:
    """What has been found so far; the lists become the arguments of the call."""

    text: Text
    callees: list[ast.expr] = field(default_factory=list[ast.expr])
    expected: list[object] = field(default_factory=list[object])
    functions: list[ast.expr] = field(default_factory=list[ast.expr])
    operands: list[ast.expr] = field(default_factory=list[ast.expr])
    made: dict[int, Made] = field(default_factory=dict[int, Made])
    steps: list[Step] = field(default_factory=list[Step])
    places: list[tuple[str, Span]] = field(default_factory=list[tuple[str, Span]])
    sources: list[int] = field(default_factory=list[int])
    backwards: set[int] = field(default_factory=set[int])
    start: int | None = None
    nest: Nest | None = None
    later: list[int] = field(default_factory=list[int])
    roots: list[Root] = field(default_factory=list[Root])
    in_class: bool = False
    """It stands in a class, of whose variables functions know nothing."""
    picks: bool = False
    """Its value is one of the elements, and the pipeline's the number of that."""
    strict: bool = False
    """Its sources are to have as many elements each, or Python raises."""
    written: int | None = None
    """How many places several clauses have, where that is written down."""
    depth: int = 0
    """By so many `for` more than one it goes through the numbers of rows."""
    apart: bool = False
    """Its functions take its elements apart at once."""
    windows: bool = False
    """Its elements are neighbours."""
    cut: bool = False
    """Its value is the pipeline's cut into rows."""
    few_places: int = FEW_PLACES
    """Of several clauses."""
    as_they_are: bool = False
    """A variable's elements are taken as they are."""

    def callee(self, node: ast.expr, expected: object) -> ast.expr:
        """Code for a callee."""
        self.callees.append(node)
        self.expected.append(expected)
        return item(CALLEES, len(self.callees) - 1, node)

    def function(self, node: ast.expr, made: bool) -> tuple[int, ast.expr]:
        """Place of a function, and code for it."""
        self.functions.append(node)
        number = len(self.functions) - 1
        if made:
            self.made[number] = cast(ast.Lambda, node)
        return number, item(FUNCTIONS, number, node)

    def defined(self, definition: ast.FunctionDef) -> int:
        """Place of a function that stands for statements, and is defined in front of them."""
        self.functions.append(ast.Name(definition.name, ast.Load()))
        number = len(self.functions) - 1
        self.made[number] = definition
        return number

    def operand(self, node: ast.expr, source: bool = True) -> tuple[int, ast.expr]:
        """Place of an operand, and code for it; NoPipeline where it is a source of texts."""
        if source:
            check_source(node)
        self.operands.append(node)
        number = len(self.operands) - 1
        if source:
            self.sources.append(number)
        return number, item(OPERANDS, number, node)

    def is_few(self) -> bool:
        """Whether it can be seen that it goes through few elements: they, or how many, are written down."""
        if self.depth:
            return False
        if self.nest is not None:
            return self.written is not None and self.written < self.few_places
        known = [_count(self.operands[number]) for number in self.sources]
        return any(each is not None and each < FEW for each in known)

    def behind(self, node: ast.expr) -> tuple[int, ast.expr]:
        """The same of what Python evaluates when an iterator has been made; NoPipeline if it may be noticed when."""
        if is_constant(node):
            return self.operand(node, source=False)
        self.need([*roots(node)])
        if self.in_class:
            raise NoPipeline("it reads a class's variables, of which functions know nothing")
        number, _ = self.function(function_of((), node), made=True)
        self.later.append(number)
        return -len(self.later), node

    def need(self, found: list[Root]) -> None:
        """What variables have to hold; NoPipeline where functions know nothing of them."""
        if found and self.in_class:
            raise NoPipeline("it reads a class's variables, of which functions know nothing")
        self.roots += found

    def read(self, place: ast.expr) -> tuple[int, tuple[Root, ...]] | None:
        """The variables that have to hold something of their own: a function that gives them, and what."""
        if not self.roots:
            return None
        names: list[ast.expr] = [ast.Name(each.name, ast.Load()) for each in self.roots]
        code = placed(ast.Tuple(names, ast.Load()), place)
        return self.function(function_of((), code), made=True)[0], tuple(self.roots)

    def step(self, stage: str, place: ast.AST, *arguments: tuple[str, int], text: str | None = None) -> None:
        """Another stage, written at a place."""
        self.steps.append(Step(stage, arguments))
        span = self.text.span(place)
        if text is None:
            text = ast.unparse(place) if getattr(place, UNWRITTEN, False) else self.text.cut(span)
        self.places.append((f"{stage}({text})" if text else stage, span))

    def site(self, node: ast.expr | ast.stmt, number: int, text: str = "") -> Site:
        """The site of the code that has become these parts. `text`: how it is shown, if not whole."""
        stages = tuple(
            StageSite(step.stage, shown, span, known=True)
            for step, (shown, span) in zip(self.steps, self.places, strict=True)
        )
        source = self.operands[0]
        span, source_span = self.text.span(node), self.text.span(source)
        shown, name = self.text.cut(source_span), source.id if isinstance(source, ast.Name) else None
        if self.nest is not None:
            shown, name = f"the places of {shown}", None
        elif self.depth:
            shown, name = f"the numbers of {shown}", None
        return Site(number, text or self.text.cut(span), span, shown, stages, name, source, None, source_span)

    def arguments(self, site: Site, visit: Callable[[ast.expr], Any]) -> list[ast.expr]:
        """The number, callees, functions and operands as a call is given them. `visit` rewrites the user's own code."""
        functions = [
            each if number in self.made else visit(each) for number, each in enumerate(self.functions)
        ]
        operands = [visit(each) for each in self.operands]
        tuples = (ast.Tuple(each, ast.Load()) for each in (self.callees, functions, operands))
        return [ast.Constant(site.id), *tuples]

    def ordinary(
        self,
        site: Site,
        roots: tuple[int, tuple[Root, ...]] | None,
        asked: tuple[int, ...],
        after: Callable[[Any], Any] | None,
        keys: Callable[[Any], Collection[object]] | None = None,
        hands_on: HandsOn | None = None,
        seeks: bool = False,
        shared: frozenset[str] = frozenset(),
    ) -> Ordinary:
        """All that is known of the code."""
        return Ordinary(
            site, tuple(self.expected), tuple(self.steps), self.made, after, tuple(self.sources),
            frozenset(self.backwards), self.start, self.nest, keys, tuple(self.later), roots, asked, self.picks,
            self.strict, self.depth, self.apart, self.cut, self.few_places, self.windows, hands_on, seeks,
            shared,
        )  # fmt: skip


def written_places(clauses: Sequence[ast.expr]) -> int | None:
    """How many places clauses over these have, where all of them are written down."""
    counts = [_count(each) for each in clauses]
    return None if None in counts else math.prod(each for each in counts if each is not None)


def _count(source: ast.expr) -> int | None:
    """How many elements there are, where that is written down."""
    match source:
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return None if any(isinstance(each, ast.Starred) for each in items) else len(items)
        case ast.Call(func=ast.Name(id="range"), args=[*bounds], keywords=[]):
            try:
                return len(range(*(operator.index(ast.literal_eval(each)) for each in bounds)))
            except (TypeError, ValueError, OverflowError):
                return None
        case _:
            return None


__all__ = [
    "CALLEES",
    "FEW",
    "FEWEST_PLACES",
    "FEW_PLACES",
    "FUNCTIONS",
    "IS_FEW",
    "OPERANDS",
    "ROWS",
    "UNWRITTEN",
    "Clause",
    "Column",
    "Given",
    "HandsOn",
    "Made",
    "Nest",
    "Ordinary",
    "Parts",
    "Step",
    "too_few",
    "written_places",
]
