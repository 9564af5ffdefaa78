"""Statements inside functions: branches, loops and returns, evaluated over graph nodes.

`if` evaluates both branches, each under its condition, and chooses between what they leave in names. What follows a
`return`, `break` or `continue` that some elements take is evaluated under the condition that they did not. Loops over a
few known items are written out; all others become nodes (ir/loop.py).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import field
from typing import cast

from hastega_magic.errors import NOWHERE, NotCompilable
from hastega_magic.ir.expr import Expr, const
from hastega_magic.records import dataclass
from hastega_magic.syntax.functions.cases import match_statement
from hastega_magic.syntax.functions.expressions import Frame
from hastega_magic.syntax.functions.iterate import MANY, Items, items_of
from hastega_magic.syntax.operations import lists
from hastega_magic.syntax.operations.operators import binary
from hastega_magic.syntax.values.branches import Names, both, choice, either, merged
from hastega_magic.syntax.values.dimensions import whole
from hastega_magic.syntax.values.store import kept_in
from hastega_magic.syntax.values.values import FALSE, NONE, TRUE, Known, Poison, Symbolic, members, required

_SENTENCES: dict[type[ast.stmt], str] = {
    ast.With: "`with` runs code that cannot be compiled",
    ast.Try: "`try` is not compiled",
    ast.Global: "it declares a global variable, which others see: observation prevents optimisation",
    ast.Import: "`import` inside a function is not compiled",
    ast.ImportFrom: "`import` inside a function is not compiled",
}

_WRITTEN = 256
"""Turns of longer loops that are written out in one function, as they fill lists."""


@dataclass
class Exits:
    """How elements leave a loop's turn, or the function: conditions with names as they are then, or values."""

    breaks: list[tuple[Expr, Names]] = field(default_factory=list[tuple[Expr, Names]])
    continues: list[tuple[Expr, Names]] = field(default_factory=list[tuple[Expr, Names]])


@dataclass
class Flow:
    """A function's body on its way.

    `returns`: conditions with values, in the order of the text; `left`: what the store holds at each.
    """

    frame: Frame
    name: str
    predicate: bool
    base: Expr | None
    returns: list[tuple[Expr, Symbolic]] = field(default_factory=list[tuple[Expr, Symbolic]])
    left: list[Names] = field(default_factory=list[Names])
    loops: list[Exits] = field(default_factory=list[Exits])

    # The function

    def run(self, body: Sequence[ast.stmt]) -> Symbolic:
        """What the function returns."""
        with self.frame.graph.store.running(self.frame):
            falls = self.block(body)
            if falls is not FALSE:
                nothing = FALSE if self.predicate else Known(None, f"what `{self.name}` returns")
                self._leaves(falls, nothing)
            if not self.returns:
                raise NotCompilable(f"`{self.name}` never returns")
            self.frame.names.update(self.kept())
            return self.returned(self.returns)

    def _leaves(self, condition: Expr, value: Symbolic) -> None:
        self.returns.append((condition, value))
        self.left.append(kept_in(self.frame.names))

    def kept(self) -> Names:
        """What lists and variables hold as the function (or the turn) returns, by the condition that it does."""
        conditions = [condition for condition, _ in reversed(self.returns)]
        result, *others = reversed(self.left)
        for condition, names in zip(conditions[1:], others, strict=True):
            result = self.merged(condition, names, result)
        return result

    def returned(self, returns: Sequence[tuple[Expr, Symbolic]]) -> Symbolic:
        """The value of the first return whose condition holds; the last one's holds then."""
        (_, result), *others = reversed(returns)
        for condition, value in others:
            result = value if condition is TRUE else self.frame.graph.choose(condition, value, result)
        return result

    def taken(self) -> Expr:
        """The condition under which the code being read runs, given that the function (or the turn) does."""
        path = self.frame.graph.path
        return TRUE if path is None or path is self.base else path

    # Blocks

    def block(self, statements: Sequence[ast.stmt]) -> Expr:
        """The condition under which control reaches the end of the statements."""
        falls = TRUE
        for statement in statements:
            if falls is FALSE:
                break
            if falls is TRUE:
                falls = self.statement(statement)
            else:
                with self.frame.graph.under(falls):
                    then = self.statement(statement)
                falls = both(falls, then)
        return falls

    def statement(self, statement: ast.stmt) -> Expr:
        """Evaluate a statement; the condition under which control goes on behind it."""
        try:
            return self._statement(statement)
        except NotCompilable as error:
            if error.reason.span == NOWHERE and self.frame.in_cell:
                raise type(error)(error.reason.text, self.frame.syntax.places.span(statement)) from None
            raise

    def _statement(self, statement: ast.stmt) -> Expr:
        match statement:
            case ast.Return(value=value):
                return self._return(value)
            case ast.If(test=test, body=body, orelse=orelse):
                return self._if(test, body, orelse)
            case ast.For() | ast.While():
                return self._loop(statement)
            case ast.Match():
                return match_statement(self, statement)
            case ast.Raise():
                self._left_to_python(FALSE)
                return FALSE
            case ast.Break():
                self.loops[-1].breaks.append((self.taken(), dict(self.frame.names)))
                return FALSE
            case ast.Continue():
                self.loops[-1].continues.append((self.taken(), dict(self.frame.names)))
                return FALSE
            case _:
                self._simple(statement)
                return TRUE

    def _simple(self, statement: ast.stmt) -> None:
        """A statement behind which control always goes on."""
        frame = self.frame
        match statement:
            case ast.Assign(value=ast.expr() as value) | ast.AnnAssign(value=ast.expr() as value):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                result = _assigned(frame, targets, value)
                frame.graph.keep(result)
                for target in targets:
                    assign(frame, target, result)
            case ast.AugAssign():
                self._augmented(statement)
            case ast.FunctionDef(name=name):
                if statement.decorator_list:
                    raise NotCompilable("a decorated function is defined inside the function")
                frame.bind(name, frame.nested(statement, name))
            case ast.Assert(test=test):
                if __debug__:
                    self._left_to_python(frame.condition(test))
            case ast.Delete(targets=targets):
                for target in targets:
                    _deleted(frame, target)
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Nonlocal() | ast.AnnAssign():
                pass
            case ast.Expr(value=value):
                frame.graph.keep(frame.evaluate(value))
            case _:
                raise NotCompilable(_SENTENCES.get(type(statement), "this statement is not compiled"))

    def _augmented(self, statement: ast.AugAssign) -> None:
        """`a += b`, of lists in their place."""
        frame, graph = self.frame, self.frame.graph

        def changed(old: Symbolic) -> Symbolic:
            result = binary(graph, statement.op, old, frame.evaluate(statement.value))
            graph.note(result, frame.syntax.places.span(statement) if frame.in_cell else graph.place)
            graph.keep(result)
            return result

        target = statement.target
        if isinstance(target, ast.Subscript):
            lists.change_item(frame, target, changed)
        elif not isinstance(target, ast.Name):
            assign(frame, target, ())
        elif (held := lists.listed(frame.lookup(target.id))) is None:
            frame.bind(target.id, changed(frame.lookup(target.id)))
        elif isinstance(statement.op, ast.Add):
            lists.extend(graph, held, frame.evaluate(statement.value))
        else:
            raise NotCompilable("a list is changed by an operator other than `+=`")

    def _left_to_python(self, unless: Expr) -> None:
        """Elements for which the condition does not hold are evaluated by Python, which raises."""
        if unless is not TRUE:
            self.frame.graph.keep(required(TRUE, unless))

    def _return(self, value: ast.expr | None) -> Expr:
        frame = self.frame
        if value is None:
            self._leaves(self.taken(), FALSE if self.predicate else NONE)
            return FALSE
        result = frame.condition(value) if self.predicate else frame.evaluate(value)
        frame.graph.keep(result)
        self._leaves(self.taken(), result)
        return FALSE

    def _if(self, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> Expr:
        graph, frame = self.frame.graph, self.frame
        condition = frame.condition(test)
        graph.keep(condition)
        if condition.op == "const":
            return self.block(body if condition.value else orelse)
        before = dict(frame.names)
        with graph.under(condition):
            yes = self.block(body)
        names, frame.names = frame.names, before
        with graph.under(graph.negation(condition)):
            no = self.block(orelse)
        if no is FALSE:
            frame.names = names
        elif yes is not FALSE:
            frame.names = self.merged(condition, names, frame.names)
        return choice(condition, yes, no)

    # Loops

    def _loop(self, statement: ast.For | ast.While) -> Expr:
        if isinstance(statement, ast.While):
            return self._turns(statement, None)
        fills = self._fills(statement)
        with self.frame.graph.whole_slices(fills):
            items, check = lists.walked(self.frame, lambda: items_of(self.frame, statement.iter))
        known = items.known
        if known is None and items.certain and fills and self.has_room(len(items.range)):
            known = tuple(items.item(const(place)) for place in items.range)
        falls = self._turns(statement, items) if known is None else self._written_out(statement, known)
        check()
        return falls

    def _fills(self, statement: ast.For) -> bool:
        """Whether turns put something into a list that is built here."""
        for node in ast.walk(statement):
            if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                owner = node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = node.func.value
            else:
                continue
            while isinstance(owner, ast.Subscript):
                owner = owner.value
            if isinstance(owner, ast.Name) and lists.listed(self.frame.names.get(owner.id)) is not None:
                return True
        return False

    def has_room(self, turns: int) -> bool:
        """Whether so many more turns may be written out."""
        graph = self.frame.graph
        graph.written += turns
        return turns <= MANY and graph.written <= _WRITTEN

    def _written_out(self, statement: ast.For, items: Sequence[Symbolic]) -> Expr:
        """A turn after the other."""
        exits = Exits()
        goes_on = TRUE
        for item in items:
            if goes_on is FALSE:
                break
            if goes_on is TRUE:
                goes_on = self.turn(statement, item, exits)
            else:
                with self.frame.graph.under(goes_on):
                    then = self.turn(statement, item, exits)
                goes_on = both(goes_on, then)
        return self.after(statement, goes_on, exits)

    def turn(self, statement: ast.For | ast.While, item: Symbolic | None, exits: Exits) -> Expr:
        """One turn; the condition under which it ends without `break` or `return`."""
        if isinstance(statement, ast.For) and item is not None:
            assign(self.frame, statement.target, item)
        self.loops.append(Exits(exits.breaks))
        falls = self.block(statement.body)
        for condition, names in self.loops.pop().continues:
            self.frame.names = names if falls is FALSE else self.merged(condition, names, self.frame.names)
            falls = either(falls, condition)
        return falls

    def after(self, statement: ast.For | ast.While, ends: Expr, exits: Exits) -> Expr:
        """What follows the loop: its `else`, for elements that did not break, and those that did."""
        falls = ends
        if statement.orelse and ends is not FALSE:
            with self.frame.graph.under(ends):
                falls = both(ends, self.block(statement.orelse))
        for condition, names in exits.breaks:
            self.frame.names = names if falls is FALSE else self.merged(condition, names, self.frame.names)
            falls = either(falls, condition)
        return falls

    def _turns(self, statement: ast.For | ast.While, items: Items | None) -> Expr:
        from hastega_magic.syntax.functions.turns import Turns  # which evaluates bodies with this module

        return Turns(self, statement, items).evaluate()

    def merged(self, condition: Expr, yes: Names, no: Names) -> Names:
        """Names after a branch."""
        return merged(self.frame.graph, condition, yes, no)


def _deleted(frame: Frame, target: ast.expr) -> None:
    if not isinstance(target, ast.Name):
        raise NotCompilable("something other than a name is deleted: observation prevents optimisation")
    frame.lookup(target.id)
    frame.bind(target.id, Poison(f"`{target.id}` has been deleted"))


def assign(frame: Frame, target: ast.expr, value: Symbolic) -> None:
    """Bind the target's names."""
    match target:
        case ast.Name(id=name):
            frame.bind(name, value)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            parts = _unpack(frame, value)
            parts, targets = _without_star(frame, parts, targets)
            if len(parts) != len(targets):
                raise NotCompilable(f"{len(parts)} values are unpacked into {len(targets)} names")
            for part, item in zip(targets, parts, strict=True):
                assign(frame, part, item)
        case ast.Subscript():
            lists.assign_item(frame, target, value)
        case _:
            raise NotCompilable("an attribute is assigned: observation prevents optimisation")


def _assigned(frame: Frame, targets: Sequence[ast.expr], value: ast.expr) -> Symbolic:
    """The value that is assigned; of an iterable that is unpacked at once, as in `a, b = map(f, t)`, all items."""
    if len(targets) == 1 and isinstance(targets[0], (ast.Tuple, ast.List)):
        if isinstance(value, ast.GeneratorExp):
            return lists.comprehension(frame, value)
        if isinstance(value, ast.Call) and lists.is_iterable(frame, value):
            return lists.every(frame, value)
    return frame.evaluate(value)


def _without_star(
    frame: Frame, parts: tuple[Symbolic, ...], targets: Sequence[ast.expr]
) -> tuple[tuple[Symbolic, ...], Sequence[ast.expr]]:
    """Values and targets one to one: a starred name gets the list of what is left for it."""
    at = next((place for place, each in enumerate(targets) if isinstance(each, ast.Starred)), None)
    if at is None or len(parts) < len(targets) - 1:
        return parts, targets
    behind = len(parts) - (len(targets) - 1 - at)
    starred = cast(ast.Starred, targets[at])
    rest = frame.graph.store.new(parts[at:behind])
    return (*parts[:at], rest, *parts[behind:]), [*targets[:at], starred.value, *targets[at + 1 :]]


def _unpack(frame: Frame, value: Symbolic) -> tuple[Symbolic, ...]:
    items = members(value)
    part = whole(value) if items is None else None
    if part is not None and part.shape[0] <= MANY:
        return tuple(part.item(frame.graph, const(place)) for place in range(part.shape[0]))
    if items is None:
        raise NotCompilable("something that is no tuple is unpacked")
    return items
