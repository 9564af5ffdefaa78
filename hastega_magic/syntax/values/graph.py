"""What the symbolic evaluation of a function works on: values, its path condition, what must not be lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, cast

import numpy as np

from hastega_magic.errors import NOWHERE, NotCompilable, Span
from hastega_magic.ir.expr import Expr, conjunction, const, is_const, made_like, make, python_of, truth
from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.contained import Where, is_small, variable_of
from hastega_magic.syntax.values import mixed
from hastega_magic.syntax.values.beside_floats import beside_float, beside_infinity
from hastega_magic.syntax.values.branches import (
    both,
    choice,
    eager,
    may_raise,
    may_warn,
    numeric,
    opposite,
    partly,
)
from hastega_magic.syntax.values.environment import Environment
from hastega_magic.syntax.values.store import Store
from hastega_magic.syntax.values.values import (
    BOOLS_BESIDE_NUMPY,
    Known,
    Listed,
    Partly,
    Record,
    Sized,
    Symbolic,
    is_none,
    known,
    located,
    number,
    opened,
)
from hastega_magic.types import BOOL, FLOAT, INT, Complex, Composite, Either

Inline = Callable[["Graph", Any, Sequence[Symbolic], Mapping[str, Symbolic]], Symbolic]

NUMPY_NUMBER: Any = (np.number, np.bool_)
_FOLDED = frozenset({BOOL, INT, FLOAT})
_LARGEST_SHIFT = 4096
_OF_INTS = frozenset({"add", "sub", "mul", "neg", "pos", "abs", "shl", "shr", "pow"})
"""Operators that make ints of Python's bools, and bools, or TypeErrors, of NumPy's."""
_OF_BITS = frozenset({"shl", "shr", "and", "or", "xor"})
_DIVISIONS = frozenset({"truediv", "floordiv", "mod"})
"""Those that raise for False, where NumPy warns."""


@dataclass
class Graph:
    """The state of one lowering. `path`: under which condition the code being read runs (None: always).

    `effects` collects nodes that Python evaluates and that may raise, each with its path; `spans` the places in the
    cell that nodes come from. `place`: the innermost place in the cell that is being evaluated.
    """

    env: Environment
    inline: Inline
    path: Expr | None = None
    effects: list[tuple[Expr | None, Expr]] = field(default_factory=list[tuple[Expr | None, Expr]])
    active: list[object] = field(default_factory=list[object])
    spans: dict[Expr, tuple[Span, ...]] = field(default_factory=dict[Expr, "tuple[Span, ...]"])
    place: Span = NOWHERE
    numpy: bool = False
    """Whether NumPy's numbers, elements of captured arrays, take part: what is computed with them is NumPy's too."""
    ufuncs: bool = False
    """Whether NumPy's numbers of other kinds do: what ufuncs give, and captured ones."""
    of_bools: bool = False
    """Whether bools are taken for ints, as Python's are: NumPy's are negated, joined or refused instead."""
    of_tuples: bool = False
    """Whether tuples are compared with numbers, from which they differ: NumPy's compare themselves with each item."""
    rounds: bool = False
    """Whether floats are rounded to digits, which NumPy's do otherwise."""
    written: int = 0
    """Turns of longer loops that have been written out."""
    recursions: int = 0
    """Calls of functions by themselves so far."""
    lists: int = 0
    """How often names that stand for captured lists were looked up."""
    whole: bool = False
    """Whether slices are not cut off at the end of their list, so that they have a known number of items."""
    store: Store = field(default_factory=Store)
    halves: dict[int, tuple[object, tuple[Known, ...]]] = field(
        default_factory=dict[int, "tuple[object, tuple[Known, ...]]"]
    )
    """By identity of what is captured and holds complex numbers: itself, and the arrays of their two parts."""
    _fallible: dict[Expr, bool] = field(default_factory=dict[Expr, bool])

    def captured(self, where: Where, value: object, name: str) -> Symbolic:
        """What a name around the function stands for; a number that keeps changing is a parameter."""
        self.ufuncs = self.ufuncs or issubclass(type(value), NUMPY_NUMBER)
        varying: Collection[Where] = getattr(self.env, "varying", ())
        if not varying:
            return located(value, name, where)
        parameter: Any = cast(Any, self.env).parameter
        if is_small(value) and where in map(variable_of, varying):
            return opened(parameter, where, value, name)
        return parameter(where, value) or located(value, name, where)

    def looked_up(self, value: Symbolic) -> Symbolic:
        """The value that a name around the function stands for, once more; of lists that is counted."""
        held: object = value.value if isinstance(value, Known) else None
        if type(held) is list:
            self.lists += 1
            self._reads(cast(object, held), 1)
        return value

    def read_by_item(self, value: object) -> None:
        """The captured list that was looked up is read by an item alone, which other lists of its type have, too."""
        self._reads(value, -1)

    def lists_read(self) -> Mapping[int, int]:
        """How often each captured list was looked up so far other than for an item, by identity."""
        return dict(self._lists or ())

    def read_again(self, before: Mapping[int, int]) -> None:
        """Count as if nothing had been looked up since."""
        if self._lists is not None:
            self._lists.clear()
            self._lists.update(before)

    def _reads(self, value: object, times: int) -> None:
        if self._lists is not None:
            self._lists[id(value)] += times

    @property
    def _lists(self) -> Counter[int] | None:
        return getattr(self.env, "lists", None)

    @contextmanager
    def whole_slices(self, wanted: bool = True) -> Generator[None]:
        """Where a list is built of what is read meanwhile, slices have to have all of their items."""
        before, self.whole = self.whole, self.whole or wanted
        try:
            yield
        finally:
            self.whole = before

    def note(self, value: Symbolic, span: Span) -> None:
        """The value is computed here, unless it is an element as given or came from a place within."""
        if isinstance(value, Composite):
            for part in value:
                self.note(part, span)
        if isinstance(value, Expr) and value.op not in ("param", "const") and span != NOWHERE:
            known = self.spans.get(value, ())
            if not any(each.within(span) for each in known):
                self.spans[value] = (*known, span)

    def make(self, op: str, *args: Symbolic) -> Expr:
        """The operator over numbers; of constants a constant, unless Python would raise."""
        try:
            operands = [number(arg) for arg in args]
            taken = operands[-1:] if op in _DIVISIONS else operands if op in _OF_INTS else ()
            if taken and all(node.type is BOOL for node in taken):
                self.of_bools = True
            decided = beside_infinity(op, operands)
            if decided is not None:
                self.keep(tuple(operands))
                if not self._tells_types:
                    return decided
                compared = next(each for each in operands if each.type.is_integral)
                return make("eq" if decided.value else "ne", compared, compared)  # a bool of the same kind
            known = None if self._tells_types else beside_float(op, operands)
            node = make(op, *operands) if known is None else known
        except OverflowError:
            raise NotCompilable("an integer constant is too large for a float") from None
        except NotCompilable:  # Python raises, and names the types of the operands
            of_bools = op in _OF_BITS and any(isinstance(arg, Expr) and arg.type is BOOL for arg in args)
            if of_bools and (getattr(self.env, "numpy_numbers", False) or self.numpy or self.ufuncs):
                raise NotCompilable(BOOLS_BESIDE_NUMPY) from None
            raise
        return self._fold(node)

    def _fold(self, node: Expr) -> Expr:
        types = {node.type, *(arg.type for arg in node.args)}
        if not all(arg.op == "const" for arg in node.args) or not types <= _FOLDED:
            return node
        values: list[Any] = [arg.value for arg in node.args]
        if node.op in ("shl", "wrapping_shl") and values[1] > _LARGEST_SHIFT:
            return node
        found = python_of(node)
        return node if found is None else const(found, node.type)

    def counted(self, node: Expr) -> Expr:
        """A number where an int has to stand: an index, a bound, a number of times."""
        if node.type is BOOL:
            self.only_python("a bool in the place of an int")
            self.of_bools = True
        return node

    def truth(self, value: Symbolic) -> Expr:
        """bool(value)."""
        if isinstance(value, Complex):
            return self.make("or", *(truth(number(part)) for part in value))
        if isinstance(value, Either):
            return choice(value.test, truth(value.high), truth(value.low))
        held = value.value if isinstance(value, Known) else None
        if isinstance(value, tuple) or isinstance(held, (Listed, Record)):
            return const(bool(held.items if isinstance(held, (Listed, Record)) else value))
        if is_none(value):
            return const(False)
        if isinstance(held, Sized):
            return self.make("gt", held.length, const(0))
        if isinstance(value, Partly) and numeric(value.value) and not value.unbound:
            return both(value.present, self.truth(value.value))
        node = number(value)
        return const(bool(node.value)) if node.op == "const" else truth(node)

    def own(self, node: Expr) -> Expr:
        """A number that `int`, `float`, `bool` or `not` makes one of Python's own; marked where there are others."""
        return make("own", node) if node.op != "const" and self._tells_types else node

    @property
    def _tells_types(self) -> bool:
        """Whether there are NumPy's numbers beside Python's own: a condition is not its True or False then."""
        return getattr(self.env, "scalars", None) is not None

    def only_python(self, what: str) -> None:
        """NotCompilable where numbers are NumPy's, of which this makes Python's own, or something else again."""
        if self._tells_types:
            raise NotCompilable(f"{what} of NumPy's numbers is left to NumPy")

    def negation(self, condition: Expr) -> Expr:
        """The opposite of a condition."""
        return self.make("not", condition)

    def fallible(self, node: Expr) -> bool:
        """Whether evaluating the node may raise, or warn."""
        scalars = getattr(self.env, "scalars", None) is not None
        stack = [node]
        while stack:
            top = stack[-1]
            missing = [arg for arg in top.args if arg not in self._fallible]
            if missing:
                stack += missing
                continue
            stack.pop()
            alone = may_raise(top) or (scalars and may_warn(top))
            self._fallible[top] = alone or any(self._fallible[arg] for arg in top.args)
        return self._fallible[node]

    def rename(self, new: Mapping[Expr, Expr]) -> None:
        """Nodes have become others: these come from the same places."""
        for old, node in new.items():
            if old is not node and old in self.spans:
                known = self.spans.get(node, ())
                self.spans[node] = (*known, *(span for span in self.spans[old] if span not in known))

    def keep(self, value: Symbolic) -> None:
        """Python evaluates this value here, used or not: what it may raise is an effect."""
        if isinstance(value, Either):
            self.keep(value.test)
            for part, condition in ((value.high, value.test), (value.low, opposite(value.test))):
                with self.under(condition):
                    self.keep(part)
        elif isinstance(value, tuple):
            for part in value:
                self.keep(part)
        elif isinstance(value, Partly):
            with self.under(value.present):
                self.keep(value.value)
        elif isinstance(value, Expr) and self.fallible(value) and (self.path, value) not in self.effects:
            self.effects.append((self.path, value))

    @contextmanager
    def under(self, condition: Expr) -> Generator[None]:
        """What is evaluated meanwhile is evaluated only where the condition holds."""
        outer = self.path
        if outer is None or is_const(condition):
            self.path = outer if is_const(condition) else condition
        elif eager(condition):
            self.path = conjunction([outer, condition])
        else:  # the condition itself is evaluated only on the outer path
            self.path = make("select", outer, condition, const(False))
        try:
            yield
        finally:
            self.path = outer

    def both(self, first: Expr, then: Callable[[], Expr]) -> Expr:
        """Python's `and` of conditions: the second is evaluated only where the first holds."""
        if first.op == "const":
            return then() if first.value else first
        self.keep(first)
        with self.under(first):
            second = then()
            self.keep(second)
        if eager(second):
            return self.make("and", first, second)
        return self.make("select", first, second, first if self._tells_types else const(False))

    def either(self, first: Expr, then: Callable[[], Expr]) -> Expr:
        """Python's `or` of conditions."""
        if first.op == "const":
            return first if first.value else then()
        self.keep(first)
        with self.under(self.negation(first)):
            second = then()
            self.keep(second)
        if eager(second):
            return self.make("or", first, second)
        return self.make("select", first, first if self._tells_types else const(True), second)

    def choose(self, condition: Expr, yes: Symbolic, no: Symbolic) -> Symbolic:
        """One of two values of the same shape."""
        if condition.op == "const":
            return yes if condition.value else no
        if isinstance(yes, Complex) != isinstance(no, Complex) and not is_none(yes) and not is_none(no):
            raise NotCompilable("the result would be complex for some elements and something else for others")
        if isinstance(yes, (Expr, Either)) and isinstance(no, (Expr, Either)):
            return self._one_number(condition, yes, no)
        if isinstance(yes, tuple) and isinstance(no, tuple) and len(yes) == len(no) and type(yes) is type(no):
            pairs = zip(yes, no, strict=True)
            return made_like(yes, [self.choose(condition, left, right) for left, right in pairs])
        if (isinstance(yes, tuple) and isinstance(no, (Expr, tuple))) or (
            isinstance(no, tuple) and isinstance(yes, Expr)
        ):
            raise NotCompilable("the result would be a tuple for some elements and something else for others")
        if isinstance(yes, Known) and isinstance(no, Known):
            held = self._one_held(condition, yes, no)
            if held is not None:
                return held
        found = partly(self, "the result", condition, yes, no)
        return self.make("select", condition, yes, no) if found is None else found

    def _one_held(self, condition: Expr, yes: Known, no: Known) -> Symbolic | None:
        """One of two objects: the same one, or records or lists, whose items are chosen; None for others."""
        if yes.value is no.value and yes.where == no.where:
            return yes
        one, other = yes.value, no.value
        if isinstance(one, Record) and isinstance(other, Record) and one.kind is other.kind:
            items = cast("tuple[Symbolic, ...]", self.choose(condition, one.items, other.items))
            return Known(Record(one.kind, items), yes.name)
        if isinstance(one, Listed) and isinstance(other, Listed):
            return self._one_list(condition, one, other)
        return None

    def _one_list(self, condition: Expr, yes: Listed, no: Listed) -> Symbolic:
        ones, others = yes.items, no.items
        if len(ones) != len(others):
            raise NotCompilable("a list has different lengths for different elements")
        found = self.store.new(cast("tuple[Symbolic, ...]", self.choose(condition, ones, others)))
        for each in (yes, no, found.value):
            cast(Listed, each).shared = True
        return found

    def _one_number(self, condition: Expr, yes: Expr | Either, no: Expr | Either) -> Symbolic:
        if isinstance(yes, Expr) and isinstance(no, Expr):
            alike = mixed.rank(yes.type) == mixed.rank(no.type)
            if alike or getattr(self.env, "scalars", None) is not None:
                return self.make("select", condition, yes, no)
        return mixed.chosen(condition, yes, no)


__all__ = ["Graph", "Inline", "Known", "Symbolic", "eager", "known", "number"]
