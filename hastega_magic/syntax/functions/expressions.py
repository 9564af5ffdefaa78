"""Expressions inside functions, evaluated over graph nodes: one method per kind of expression."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import field
from types import FunctionType, ModuleType
from typing import TypeVar, cast

import numpy as np

from hastega_magic.errors import NOWHERE, NotCompilable
from hastega_magic.ir.expr import Expr
from hastega_magic.records import dataclass
from hastega_magic.syntax.operations import library, lists, texts
from hastega_magic.syntax.operations.comparisons import comparison
from hastega_magic.syntax.operations.mappings import built
from hastega_magic.syntax.operations.operators import binary, unary
from hastega_magic.syntax.reading.functions import FunctionSyntax
from hastega_magic.syntax.reading.pipe import is_pipe
from hastega_magic.syntax.values.branches import implied, merged, opposite
from hastega_magic.syntax.values.graph import Graph, eager
from hastega_magic.syntax.values.values import (
    NONE,
    Known,
    Nested,
    Partly,
    Poison,
    ReadTooEarly,
    Symbolic,
    known,
    number,
    required,
)
from hastega_magic.types import BOOL

_T = TypeVar("_T")

_SENTENCES: dict[type[ast.expr], str] = {
    ast.Set: "a set is built",
    ast.JoinedStr: "a string is built",
    ast.SetComp: "a comprehension inside a function is not compiled yet",
    ast.DictComp: "a comprehension inside a function is not compiled yet",
    ast.GeneratorExp: "a generator inside a function is not compiled yet",
    ast.Starred: "`*` in a call or a tuple is not compiled yet",
}

_CONSTANTS: dict[type[object], str] = {str: "a string", bytes: "a bytes object"}


@dataclass
class Frame:
    """A function being read: its locals so far, and where its other names come from."""

    graph: Graph
    function: FunctionType
    syntax: FunctionSyntax
    names: dict[str, Symbolic]
    enclosing: Frame | None = None
    own: frozenset[str] = frozenset()
    """Variables of an inner function, which are not the outer one's of the same name even before they have a value."""
    cells: dict[str, str] = field(default_factory=dict[str, str])
    """Variables that inner functions assign, by the key under which the store has them."""
    _captured: dict[str, Symbolic] = field(default_factory=dict[str, Symbolic])

    @property
    def in_cell(self) -> bool:
        """Whether the function's text is the cell being run."""
        return self.syntax.filename == self.graph.env.filename

    @property
    def inner(self) -> bool:
        """Whether it is one of ours that stands for a function of Python's."""
        return self.function.__module__ == library.__name__

    def within(self, names: dict[str, Symbolic], own: frozenset[str] = frozenset()) -> Frame:
        """A frame of its own inside this one, which sees its names, but those that are the inner one's `own`."""
        return Frame(self.graph, cast(FunctionType, self.function), self.syntax, names, self, own)

    def lookup(self, name: str) -> Symbolic:
        """The value of a name: local, of an enclosing function, global, or built in."""
        if name in self.cells:
            return self._read(name, self.graph.store.read(self.cells[name]))
        if name in self.names:
            return self._read(name, self.names[name])
        if name in self.own:
            raise NotCompilable(f"the name `{name}` is read before it is assigned")
        if self.enclosing is not None:
            return self.enclosing.lookup(name)
        if name not in self._captured:
            self._captured[name] = self._capture(name)
        return self.graph.looked_up(self._captured[name])

    def bind(self, name: str, value: Symbolic) -> None:
        """Give a name a value; the variable may be that of an outer function."""
        key = self.cells.get(name)
        if key is None:
            self.names[name] = value
        else:
            self.graph.store.write(key, value)

    def assigns(self, names: frozenset[str]) -> None:
        """These names are variables of an outer function, which is being read too."""
        for name in names:
            outer = self.enclosing
            while outer is not None and name not in outer.cells:
                outer = outer.enclosing
            if outer is None:
                raise NotCompilable(
                    "a variable of an outer function is assigned: observation prevents optimisation"
                )
            self.cells[name] = outer.cells[name]

    def share(self, names: frozenset[str]) -> None:
        """Functions inside assign these names: their values stand in the store, also those that are there now."""
        for name in names:
            key = self.cells[name] = self.graph.store.key(name)
            nothing = Poison(f"`{name}` is read before it is assigned")
            self.graph.store.write(key, self.names.pop(name, nothing))

    def _read(self, name: str, value: Symbolic) -> Symbolic:
        """A local name's value. Where it may have none, Python raises; where it may be None, the path may tell."""
        if isinstance(value, Poison):
            raise (ReadTooEarly if value.early else NotCompilable)(value.reason)
        if not isinstance(value, Partly):
            return value
        if implied(self.graph.path, value.present):
            return value.value
        if value.unbound:
            found = required(value.value, value.present)
            self.graph.keep(found)
            return found
        return (
            NONE
            if implied(self.graph.path, opposite(value.present))
            else Partly(value.present, value.value, False, name)
        )

    def _capture(self, name: str) -> Symbolic:
        code = self.function.__code__
        if name in code.co_freevars:
            cell = (self.function.__closure__ or ())[code.co_freevars.index(name)]
            try:
                return self.graph.captured(("cell", id(code), name), cell.cell_contents, name)
            except ValueError:
                raise NotCompilable(f"the name `{name}` has no value yet") from None
        if name in code.co_varnames or name in code.co_cellvars:
            raise NotCompilable(f"the name `{name}` is read before it is assigned")
        names: dict[str, object] = getattr(self.function, "__globals__", {})
        built_in: dict[str, object] = getattr(self.function, "__builtins__", {})
        for scope in (names, built_in):
            if name in scope:
                return self.graph.captured(("global", id(scope), name), scope[name], name)
        raise NotCompilable(f"the name `{name}` is not defined")

    def evaluate(self, node: ast.expr) -> Symbolic:
        """The value of an expression; its node is noted to come from the expression's place in the cell."""
        return self._placed(node, self._evaluate)

    def peek(self, node: ast.expr) -> Symbolic | None:
        """What an expression will be when it is evaluated; of a call, of what it calls; None of methods."""
        names, lists = dict(self.names), self.graph.lists_read()
        try:
            if not isinstance(node, ast.Call):
                return self.evaluate(node)
            if not isinstance(node.func, ast.Attribute):
                return self.evaluate(node.func)
            owner = self.evaluate(node.func.value)
            is_module = isinstance(owner, Known) and isinstance(owner.value, ModuleType)
            return self.evaluate(node.func) if is_module else None
        finally:
            self.names = names
            self.graph.read_again(lists)

    def condition(self, node: ast.expr) -> Expr:
        """bool() of an expression; `and`, `or` and `not` in it need only the truth of their operands."""
        return cast(Expr, self._placed(node, self._condition))

    def _placed(self, node: ast.expr, rule: Callable[[ast.expr], Symbolic]) -> Symbolic:
        """What a function of another text computes is placed where the cell calls it."""
        outer = self.graph.place
        if self.in_cell:
            self.graph.place = self.syntax.places.span(node)
        try:
            value = rule(node)
        except NotCompilable as error:
            if error.reason.span == NOWHERE and self.in_cell:
                raise type(error)(error.reason.text, self.syntax.places.span(node)) from None
            raise
        finally:
            place, self.graph.place = self.graph.place, outer
        if not isinstance(node, ast.Name):  # a name is where a value is used, not where it comes from
            self.graph.note(value, place)
        return value

    def _condition(self, node: ast.expr) -> Expr:
        match node:
            case ast.BoolOp(op=op, values=[first, *rest]):
                result = self.condition(first)
                for value in rest:
                    result = self.joined(
                        isinstance(op, ast.And), result, lambda value=value: self.condition(value)
                    )
                return result
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.graph.negation(self.condition(operand))
            case _:
                value = self._evaluate(node)
                self.graph.keep(value)
                return self.graph.truth(value)

    def _evaluate(self, node: ast.expr) -> Symbolic:
        match node:
            case ast.Name(id=name):
                return self.lookup(name)
            case ast.Constant(value=value):
                return self._constant(value)
            case ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.Compare():
                return self._operation(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._conditional(test, body, orelse)
            case ast.Dict():
                return built(self, node)
            case ast.List():
                return lists.display(self, node)
            case ast.ListComp():
                return lists.comprehension(self, node)
            case ast.Tuple(elts=items):
                return lists.spliced(self, items)
            case ast.Subscript(value=value, slice=index):
                from hastega_magic.syntax.operations.subscripts import subscript

                before = self.graph.lists
                owner = self.evaluate(value)
                by_name = isinstance(value, ast.Name) and self.graph.lists > before
                return subscript(self, owner, index, by_name)
            case ast.Attribute(value=value, attr=attribute):
                from hastega_magic.syntax.operations.calling import attribute_of

                return attribute_of(self, self.evaluate(value), attribute, node)
            case ast.Call():
                from hastega_magic.syntax.operations.calling import called

                return called(self, node)
            case ast.Lambda():
                return self.nested(node, "lambda")
            case ast.NamedExpr(target=target, value=value):
                result = self.evaluate(value)
                self.bind(target.id, result)
                self.graph.keep(result)
                return result
            case _:
                sentence = _SENTENCES.get(type(node), "an expression of this kind is not compiled")
                raise NotCompilable(sentence)

    def joined(self, is_and: bool, first: Expr, then: Callable[[], Expr]) -> Expr:
        """`first and then()`, or with `or`, over conditions; the second is evaluated where the first leaves it open."""
        join = self.graph.both if is_and else self.graph.either
        return self.only_where(first if is_and else opposite(first), lambda: join(first, then))

    def only_where(self, condition: Expr, evaluate: Callable[[], _T]) -> _T:
        """What is evaluated only under a condition gives names values only there."""
        before, self.names = self.names, dict(self.names)
        result = evaluate()
        after, self.names = self.names, before
        if any(before.get(name) is not value for name, value in after.items()):
            self.names = merged(self.graph, condition, after, before)
        return result

    def nested(self, node: ast.Lambda | ast.FunctionDef, name: str) -> Known:
        """A function that is defined here; its defaults are evaluated now, its other names when it is called."""
        arguments = node.args
        if arguments.kwarg:
            raise NotCompilable(f"`{name}` takes any number of named arguments (**kwargs)")
        positional = [*arguments.posonlyargs, *arguments.args]
        first = len(positional) - len(arguments.defaults)
        given = list(zip(positional[first:], arguments.defaults, strict=True))
        given += [
            (arg, default)
            for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if default is not None
        ]
        defaults: dict[str, Symbolic] = {}
        for arg, default in given:
            defaults[arg.arg] = self.evaluate(default)
            self.graph.keep(defaults[arg.arg])  # which may raise, whether the function is called or not
        return Known(Nested(node, self, defaults), name)

    def _gives_numpy_bool(self, node: ast.expr, value: Symbolic) -> bool:
        """Whether the value is a NumPy bool, as the call of a ufunc gives it: `~` of one is `not`."""
        if not isinstance(node, ast.Call) or not isinstance(value, Expr) or value.type is not BOOL:
            return False
        callee = self.peek(node)
        return isinstance(callee, Known) and isinstance(callee.value, np.ufunc)

    def _operation(self, node: ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare) -> Symbolic:
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                if is_pipe(node):
                    raise NotCompilable("a pipeline inside a function is not compiled yet")
                return binary(self.graph, op, self.evaluate(left), self.evaluate(right))
            case ast.UnaryOp(op=ast.Not()):
                return self.graph.own(self._condition(node))
            case ast.UnaryOp(op=op, operand=operand):
                value = self.evaluate(operand)
                if isinstance(op, ast.Invert) and self._gives_numpy_bool(operand, value):
                    return self.graph.own(self.graph.negation(number(value)))
                return unary(self.graph, op, value)
            case ast.BoolOp(op=op, values=[first, *rest]):
                return self._short_circuit(isinstance(op, ast.And), first, rest)
            case ast.BoolOp():
                raise NotCompilable("an operator without operands")
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                if (found := texts.compared(self, node)) is not None:
                    return found
                return comparison(self, self.evaluate(left), ops, comparators)

    def _constant(self, value: object) -> Symbolic:
        if isinstance(value, (bool, int, float, complex)):
            return known(value, repr(value))
        if value is None:
            return NONE
        kind = _CONSTANTS.get(type(value), str(value))
        raise NotCompilable(f"{kind} takes part, and only numbers are compiled")

    def _short_circuit(self, is_and: bool, first: ast.expr, rest: Sequence[ast.expr]) -> Symbolic:
        """`and` and `or` give one of their operands."""
        graph = self.graph
        result = self.evaluate(first)
        for value in rest:
            condition = graph.truth(result)
            goes_on = condition if is_and else graph.negation(condition)
            graph.keep(result)
            if goes_on.op == "const":
                if not goes_on.value:
                    return result
                result = self.evaluate(value)
                continue
            with graph.under(goes_on):
                other = self.only_where(goes_on, lambda value=value: self.evaluate(value))
                graph.keep(other)
            result = self._operand(is_and, goes_on, result, other)
        return result

    def _operand(self, is_and: bool, goes_on: Expr, result: Symbolic, other: Symbolic) -> Symbolic:
        graph = self.graph
        bools = isinstance(result, Expr) and isinstance(other, Expr) and result.type is other.type is BOOL
        if bools and eager(number(other)):
            return graph.make("and" if is_and else "or", result, other)
        return graph.choose(goes_on, other, result)

    def _conditional(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Symbolic:
        graph = self.graph
        condition = self.condition(test)
        graph.keep(condition)
        if condition.op == "const":
            return self.evaluate(body if condition.value else orelse)
        before, self.names = self.names, dict(self.names)
        with graph.under(condition):
            yes = self.evaluate(body)
            graph.keep(yes)
        names, self.names = self.names, dict(before)
        with graph.under(opposite(condition)):
            no = self.evaluate(orelse)
            graph.keep(no)
        self.names = merged(graph, condition, names, self.names)
        return graph.choose(condition, yes, no)
