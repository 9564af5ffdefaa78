"""Expressions inside functions, evaluated over graph nodes: one method per kind of expression."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import cast

from hastega_magic.errors import NOWHERE, NotCompilable
from hastega_magic.ir.expr import Expr, is_const
from hastega_magic.syntax import complex_numbers
from hastega_magic.syntax.arithmetic import BINARY, COMPARE, UNARY, power
from hastega_magic.syntax.calls import call, check
from hastega_magic.syntax.functions import FunctionSyntax, described
from hastega_magic.syntax.graph import (
    Graph,
    Known,
    Nested,
    Poison,
    Symbolic,
    captured_tuple,
    eager,
    known,
    number,
)
from hastega_magic.syntax.pipe import is_pipe
from hastega_magic.types import BOOL, Complex

_NO_ARRAYS: tuple[type[object], ...] = (dict, str, bytes, set, frozenset)

_SENTENCES: dict[type[ast.expr], str] = {
    ast.List: "a list is built",
    ast.Dict: "a dict is built",
    ast.Set: "a set is built",
    ast.JoinedStr: "a string is built",
    ast.ListComp: "a comprehension inside a function is not compiled yet",
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
    path: Expr | None = None
    enclosing: Frame | None = None
    _captured: dict[str, Symbolic] = field(default_factory=dict[str, Symbolic])

    @property
    def in_cell(self) -> bool:
        """Whether the function's text is the cell being run."""
        return self.syntax.filename == self.graph.env.filename

    def lookup(self, name: str) -> Symbolic:
        """The value of a name: local, of an enclosing function, global, or built in."""
        if name in self.names:
            found = self.names[name]
            if isinstance(found, Poison):
                raise NotCompilable(found.reason)
            return found
        if self.enclosing is not None:
            return self.enclosing.lookup(name)
        if name not in self._captured:
            self._captured[name] = self._capture(name)
        return self._captured[name]

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
                raise NotCompilable(error.reason.text, self.syntax.places.span(node)) from None
            raise
        finally:
            place, self.graph.place = self.graph.place, outer
        if not isinstance(node, ast.Name):  # a name is where a value is used, not where it comes from
            self.graph.note(value, place)
        return value

    def _condition(self, node: ast.expr) -> Expr:
        match node:
            case ast.BoolOp(op=op, values=[first, *rest]):
                join = self.graph.both if isinstance(op, ast.And) else self.graph.either
                result = self.condition(first)
                for value in rest:
                    result = join(result, lambda value=value: self.condition(value))
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
            case ast.Tuple(elts=items):
                return tuple(self.evaluate(item) for item in items)
            case ast.Subscript(value=value, slice=index):
                return self._subscript(self.evaluate(value), index)
            case ast.Attribute(value=value, attr=attribute):
                return self._attribute(self.evaluate(value), attribute, node)
            case ast.Call():
                return self._call(node)
            case ast.Lambda():
                return self.nested(node, "lambda")
            case ast.NamedExpr(target=target, value=value):
                if self.graph.path is not self.path:
                    raise NotCompilable("an assignment inside a condition is not compiled yet")
                result = self.names[target.id] = self.evaluate(value)
                self.graph.keep(result)
                return result
            case _:
                sentence = _SENTENCES.get(type(node), "an expression of this kind is not compiled")
                raise NotCompilable(sentence)

    def nested(self, node: ast.Lambda | ast.FunctionDef, name: str) -> Known:
        """A function that is defined here; its defaults are evaluated now, its other names when it is called."""
        arguments = node.args
        if arguments.vararg or arguments.kwarg:
            raise NotCompilable(f"`{name}` takes any number of arguments (*args or **kwargs)")
        positional = [*arguments.posonlyargs, *arguments.args]
        given = list(zip(reversed(positional), reversed(arguments.defaults), strict=False))
        given += [
            (arg, default)
            for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if default is not None
        ]
        defaults = {arg.arg: self.evaluate(default) for arg, default in given}
        return Known(Nested(node, self, defaults), name)

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
                if isinstance(value, Complex):
                    return complex_numbers.unary(self.graph, UNARY[type(op)], value)
                return self.graph.make(UNARY[type(op)], value)
            case ast.BoolOp(op=op, values=[first, *rest]):
                return self._short_circuit(isinstance(op, ast.And), first, rest)
            case ast.BoolOp():
                raise NotCompilable("an operator without operands")
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self._comparison(self.evaluate(left), ops, comparators)

    def _constant(self, value: object) -> Symbolic:
        if isinstance(value, (bool, int, float, complex)):
            return known(value, repr(value))
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
                other = self.evaluate(value)
                graph.keep(other)
            result = self._operand(is_and, goes_on, result, other)
        return result

    def _operand(self, is_and: bool, goes_on: Expr, result: Symbolic, other: Symbolic) -> Symbolic:
        graph = self.graph
        bools = isinstance(result, Expr) and isinstance(other, Expr) and result.type is other.type is BOOL
        if bools and eager(number(other)):
            return graph.make("and" if is_and else "or", result, other)
        return graph.choose(goes_on, other, result)

    def _comparison(self, left: Symbolic, ops: Sequence[ast.cmpop], others: Sequence[ast.expr]) -> Expr:
        graph = self.graph
        if type(ops[0]) not in COMPARE:
            is_in = isinstance(ops[0], (ast.In, ast.NotIn))
            raise NotCompilable(f"`{'in' if is_in else 'is'}` is not compiled yet")
        right = self.evaluate(others[0])
        if complex_numbers.is_complex(left, right):
            result = number(complex_numbers.binary(graph, COMPARE[type(ops[0])], left, right))
        elif isinstance(left, tuple) or isinstance(right, tuple):
            raise NotCompilable("tuples are compared")
        else:
            result = graph.make(COMPARE[type(ops[0])], left, right)
        if len(ops) == 1:
            return result
        graph.keep(right)
        return graph.both(result, lambda: self._comparison(right, ops[1:], others[1:]))

    def _conditional(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Symbolic:
        graph = self.graph
        condition = self.condition(test)
        graph.keep(condition)
        if condition.op == "const":
            return self.evaluate(body if condition.value else orelse)
        with graph.under(condition):
            yes = self.evaluate(body)
            graph.keep(yes)
        with graph.under(graph.negation(condition)):
            no = self.evaluate(orelse)
            graph.keep(no)
        return graph.choose(condition, yes, no)

    def _subscript(self, value: Symbolic, index: ast.expr) -> Symbolic:
        items = captured_tuple(value)
        if items is not None and (isinstance(index, ast.Slice) or is_const_index(self.evaluate(index))):
            return self._part(items, index)
        if isinstance(value, tuple) and not isinstance(value, Complex):
            return self._part(value, index)
        if isinstance(value, Known):
            if isinstance(index, (ast.Slice, ast.Tuple)):
                raise NotCompilable(f"a slice of `{value.name}` is taken")
            place = self.evaluate(index)
            if isinstance(value.value, _NO_ARRAYS):
                raise NotCompilable(f"`{value.name}` is {described(value.value)}, not an array of numbers")
            return self.graph.item(value, number(place))
        raise NotCompilable("a number is subscripted")

    def _part(self, items: tuple[Symbolic, ...], index: ast.expr) -> Symbolic:
        """An element or a slice of a tuple, by constants; what is left out was evaluated all the same."""
        self.graph.keep(items)
        if isinstance(index, ast.Slice):
            bounds = [part and self._constant_index(part) for part in (index.lower, index.upper, index.step)]
            return items[slice(*bounds)]
        place = self._constant_index(index)
        if not -len(items) <= place < len(items):
            raise NotCompilable("a tuple is subscripted beyond its end")
        return items[place]

    def _constant_index(self, node: ast.expr) -> int:
        place = self.evaluate(node)
        if not is_const_index(place):
            raise NotCompilable("a tuple is subscripted with something that is no constant")
        return cast(int, cast(Expr, place).value)

    def _attribute(self, value: Symbolic, attribute: str, node: ast.expr) -> Symbolic:
        if isinstance(value, Known) and isinstance(value.value, ModuleType):
            name = f"{value.name}.{attribute}"
            try:
                return known(getattr(value.value, attribute), name)
            except AttributeError:
                raise NotCompilable(f"`{name}` does not exist") from None
        if attribute in ("real", "imag") and isinstance(value, (Expr, Complex)):
            return complex_numbers.attribute(self.graph, value, attribute)
        text = self.syntax.places.segment(node)
        raise NotCompilable(f"the attribute `{text}` is read, and only those of modules are compiled")

    def _call(self, node: ast.Call) -> Symbolic:
        callee = node.func
        if isinstance(callee, ast.Attribute):
            owner = self.evaluate(callee.value)
            if (
                isinstance(owner, (Expr, Complex))
                and callee.attr == "conjugate"
                and not node.args + node.keywords
            ):
                return complex_numbers.conjugate(self.graph, owner)
            if not (isinstance(owner, Known) and isinstance(owner.value, ModuleType)):
                name = self.syntax.places.segment(callee)
                raise NotCompilable(f"the method `{name}` is called: observation prevents optimisation")
        function = self.evaluate(callee)
        check(function)
        args = [self.evaluate(arg) for arg in node.args]
        if any(keyword.arg is None for keyword in node.keywords):
            raise NotCompilable("`**` in a call is not compiled yet")
        kwargs = {keyword.arg or "": self.evaluate(keyword.value) for keyword in node.keywords}
        for value in (*args, *kwargs.values()):
            self.graph.keep(value)
        return call(self.graph, function, args, kwargs)


def is_const_index(value: Symbolic) -> bool:
    """Whether the value is an integer constant."""
    return isinstance(value, Expr) and is_const(value) and value.type.is_integral


def binary(graph: Graph, op: ast.operator, left: Symbolic, right: Symbolic) -> Symbolic:
    """The operator over two values; tuples may be concatenated."""
    if complex_numbers.is_complex(left, right) and type(op) in (*BINARY, ast.Pow):
        return complex_numbers.binary(graph, BINARY.get(type(op), "pow"), left, right)
    if isinstance(op, ast.Pow):
        return power(graph, number(left), number(right))
    if isinstance(op, ast.Add) and isinstance(left, tuple) and isinstance(right, tuple):
        return left + right
    if type(op) not in BINARY:
        raise NotCompilable("`@` is not compiled")
    return graph.make(BINARY[type(op)], left, right)
