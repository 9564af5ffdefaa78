"""Pipelines made into calls that bind or run them, wherever they stand in a statement.

Arguments of stages stay ordinary Python, evaluated by Python where they stand: a lambda is a real closure.

    total = xs |> map(lambda x: a * x) |> sum
    __hastega_bind__(7, xs, (None, (lambda x: a * x,), {}), (None, (), {}))
"""

from __future__ import annotations

import ast

from hastega_magic.errors import CellSyntaxError, Span
from hastega_magic.records import dataclass
from hastega_magic.syntax.doubts import doubts
from hastega_magic.syntax.ordinary.parts import Ordinary
from hastega_magic.syntax.ordinary.recognise import is_consumed, recognised
from hastega_magic.syntax.ordinary.trailing import mark_class
from hastega_magic.syntax.ordinary.variables import AROUND, note_variables
from hastega_magic.syntax.reading.literals import uncallable, wrong_literal
from hastega_magic.syntax.reading.names import binds, parameters_of, reads
from hastega_magic.syntax.reading.pipe import is_pipe, spine
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.reading.trees import Transformer
from hastega_magic.syntax.site import BIND, RUN, Site, StageSite, new_site_id
from hastega_magic.syntax.stages import STAGES, function_argument

_NO_FUNCTIONS = (
    ast.Constant,
    ast.JoinedStr,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.Set,
    ast.Compare,
    ast.GeneratorExp,
)
"""Expressions that no function comes out of."""


@dataclass(frozen=True)
class Plain:
    """A statement for Python. `shown`: values of expressions in it are to be displayed; not those in functions."""

    node: ast.stmt
    shown: bool = False


@dataclass(frozen=True)
class PipelineStatement:
    """`target = pipeline`, or a pipeline alone (target None). `node` is the same for Python to run alone."""

    target: str | None
    site: Site
    node: ast.stmt
    shown: bool = False


def callables_bound(statement: ast.stmt) -> frozenset[str]:
    """Stage names that the statement makes functions of the user's own."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
            names = binds(statement)
        case ast.Assign(value=ast.Lambda()):
            names = binds(statement)
        case _:
            return frozenset()
    return names & STAGES.keys()


def _targets(node: ast.expr) -> frozenset[str]:
    """The names that a comprehension binds."""
    generators: list[ast.comprehension] = getattr(node, "generators", [])
    return frozenset[str]().union(*(binds(each.target) for each in generators))


class Rewriter(Transformer):
    """Replaces every pipeline by a call; collects the sites.

    `functions`: those it has seen; `rewritten`: whether a pipeline stands in one of them.
    """

    def __init__(self, text: Text, filename: str, shadowed: frozenset[str]) -> None:
        self.text = text
        self.filename = filename
        self.shadowed = shadowed
        self.sites: dict[int, Site] = {}
        self.ordinary: dict[int, Ordinary] = {}
        self.lasting: set[int] = set()
        self.functions: list[ast.FunctionDef | ast.Lambda] = []
        self.rewritten = False
        self.refused: dict[Span, str] = {}
        self._depth = 0
        self._each = False
        self._moving: frozenset[str] = frozenset()

    def statement(self, node: ast.stmt) -> list[Plain | PipelineStatement]:
        """The items of a top-level statement."""
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if is_pipe(value):
                site, node.value = self._site(value, bind=True)
            case ast.AnnAssign(target=ast.Name(id=target), value=value, simple=1) if is_pipe(value):
                site, call = self._site(value, bind=True)
                assign = ast.copy_location(ast.Assign([node.target], call), node)
                node.value = None  # Python evaluates the annotation after the value
                return [PipelineStatement(target, site, assign), Plain(self.visit(node))]
            case ast.Expr(value=value) if is_pipe(value):
                target = None
                site, node.value = self._site(value, bind=True)
            case _:
                return [Plain(self.visit(node))]
        return [PipelineStatement(target, site, node)]

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        return self._site(node, bind=False)[1] if is_pipe(node) else self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._ordinary(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._ordinary(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._ordinary(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._ordinary(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return self._ordinary(node)

    def _ordinary(self, node: ast.expr) -> ast.AST:
        """A comprehension, or a call that consumes one, as a call that may run it as a pipeline."""
        found = (
            None if self._each else recognised(node, self.text, self.visit, self.generic_visit, self._refuse)
        )
        if found is None:
            # Perhaps when the cell is over.
            later = isinstance(node, ast.GeneratorExp) and not is_consumed(node)
            self._depth += later
            try:
                return self._loop(node, _targets(node))
            finally:
                self._depth -= later
        self._keep(found[0])
        return found[1]

    def _keep(self, found: Ordinary) -> None:
        number = found.site.id
        self.ordinary[number] = found
        if self._depth:
            self.lasting.add(number)

    def _refuse(self, node: ast.expr, reason: str) -> None:
        """Why ordinary code is no pipeline: of the largest piece that is none."""
        span = self.text.span(node)
        if not any(span.within(known) for known in self.refused):
            self.refused[span] = reason

    def visit_For(self, node: ast.For) -> ast.AST:
        """A `for` statement of a function, as one that may be a pipeline."""
        if not hasattr(node, AROUND):
            return self._loop(node, binds(node))
        from hastega_magic.syntax.ordinary.for_statements import looped
        from hastega_magic.syntax.ordinary.searching import sought

        names = binds(node)
        found = sought(node, self.text, self.visit, lambda loop: self._loop(loop, names)) or looped(
            node, self.text, self.visit, lambda loop: self._loop(loop, names), self._refuse
        )
        if found is None:
            return self._loop(node, names)
        self._keep(found[0])
        return found[1]

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.AST:
        return self._loop(node, binds(node))

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._loop(node, binds(node))

    def _loop(self, node: ast.AST, names: frozenset[str]) -> ast.AST:
        outer, self._moving = self._moving, self._moving | names
        try:
            return self.generic_visit(node)
        finally:
            self._moving = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        mark_class(node)
        return self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> ast.AST:
        """Parameters and inner functions hide the stages of their names."""
        if not isinstance(node, ast.AsyncFunctionDef):
            self.functions.append(node)
        if not isinstance(node, ast.Lambda):
            note_variables(node)
        outer = self.shadowed
        body = [] if isinstance(node, ast.Lambda) else node.body
        inner = [callables_bound(statement) for statement in body]
        self.shadowed = outer.union(STAGES.keys() & set(parameters_of(node)), *inner)
        self._depth += 1
        try:
            return self.generic_visit(node)
        finally:
            self._depth -= 1
            self.shadowed = outer

    def _site(self, node: ast.BinOp, bind: bool) -> tuple[Site, ast.Call]:
        """The site of a chain of pipes, and the call that runs it."""
        self.rewritten |= self._depth > 0
        pipes = spine(node)
        source = pipes[0].left
        span, source_span = self.text.span(node), self.text.span(source)
        source_text = self.text.cut(source_span)
        name = source.id if isinstance(source, ast.Name) else None
        doubtful = tuple(doubts((pipe.right for pipe in pipes), self.text, self._moving | self.shadowed))
        source = self.visit(source)
        stages = [self._stage(pipe.right) for pipe in pipes]
        number = new_site_id()
        place = ast.copy_location(ast.Constant(number), node)
        arguments: list[ast.expr] = [place, source, *(display for _, display in stages)]
        run = self._call(RUN, arguments, node)
        expression = ast.Expression(self._call(BIND, arguments, node)) if bind else None
        sites = tuple(stage for stage, _ in stages)
        site = Site(
            number, self.text.cut(span), span, source_text, sites, name, source, expression, source_span,
            self._moving, doubtful,
        )  # fmt: skip
        self.sites[number] = site
        return site, run

    def _call(self, name: str, arguments: list[ast.expr], node: ast.expr) -> ast.Call:
        call = ast.Call(ast.copy_location(ast.Name(name, ast.Load()), node), arguments, [])
        return ast.copy_location(call, node)

    def _stage(self, step: ast.expr) -> tuple[StageSite, ast.expr]:
        """The stage, and the tuple (callee or None, args, kwargs) as code."""
        span, text = self.text.span(step), self.text.segment(step)
        call = step if isinstance(step, ast.Call) else None
        callee = step if call is None else call.func
        known = self._is_stage(callee)
        name = callee.id if isinstance(callee, ast.Name) else self.text.segment(callee)
        if known:
            self._check_arguments(name, call, span)
        elif isinstance(callee, ast.Subscript) and self._is_stage(callee.value):
            message = f"a stage's arguments stand in parentheses: `{self.text.segment(callee.value)}(...)`"
            raise CellSyntaxError(message, self.text.text, span, self.filename)
        elif (behind := self._behind_stage(step)) is not None:
            message = f"`{behind}` stands behind the stage alone: put the pipeline in parentheses, or write `|>` again"
            raise CellSyntaxError(message, self.text.text, span, self.filename)
        elif message := uncallable(callee, text):
            raise CellSyntaxError(message, self.text.text, span, self.filename)
        args = call.args if call else []
        keywords = call.keywords if call else []
        # Each new node gets its place here: a pass over the whole tree for those that lack one takes longer.
        keys: list[ast.expr | None] = [
            ast.copy_location(ast.Constant(keyword.arg), step) if keyword.arg else None
            for keyword in keywords
        ]
        function: ast.expr = ast.copy_location(ast.Constant(None), step) if known else self.visit(callee)
        positional = ast.Tuple([self._argument(arg) for arg in args], ast.Load())
        named = ast.Dict(keys, [self._argument(keyword.value) for keyword in keywords])
        parts = [ast.copy_location(part, step) for part in (positional, named)]
        display = ast.copy_location(ast.Tuple([function, *parts], ast.Load()), step)
        fixed = all(
            isinstance(each, ast.Constant) for each in (*args, *(keyword.value for keyword in keywords))
        )
        return StageSite(name, text, span, known, fixed), display

    def _is_stage(self, node: ast.expr) -> bool:
        """Whether it is the name of a stage, and nothing of the user's."""
        return isinstance(node, ast.Name) and node.id in STAGES and node.id not in self.shadowed

    def _behind_stage(self, step: ast.expr) -> str | None:
        """The text behind a stage that Python takes for a part of it: in `map(f).sum()` and `sum / 2` its end."""
        node = step
        if isinstance(node, ast.BinOp):
            while isinstance(node, ast.BinOp):
                node = node.left
            name = node.func if isinstance(node, ast.Call) else node
            stage = self._is_stage(name)
            return self.text.segment(step)[len(self.text.segment(node)) :].strip() if stage else None
        while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
            inner = node.func if isinstance(node, ast.Call) else node.value
            name = inner.func if isinstance(inner, ast.Call) else inner
            if not isinstance(node, ast.Call) and isinstance(name, ast.Name):
                called = isinstance(inner, ast.Call)
                stage = called and self._is_stage(name)
                return self.text.segment(step)[len(self.text.segment(inner)) :].strip() if stage else None
            node = inner
        return None

    def _argument(self, node: ast.expr) -> ast.expr:
        """A stage's argument. What runs for each element is too short to be a pipeline of its own."""
        outer, self._each = self._each, self._each or isinstance(node, ast.Lambda)
        try:
            return self.visit(node)
        finally:
            self._each = outer

    def _check_arguments(self, name: str, call: ast.Call | None, span: Span) -> None:
        args, keywords = (call.args, call.keywords) if call else ([], [])
        starred = any(isinstance(arg, ast.Starred) for arg in args)
        if starred or any(keyword.arg is None for keyword in keywords):
            return  # only running it will tell
        complaint = STAGES[name].complaint(len(args), [keyword.arg or "" for keyword in keywords])
        if len(args) == 1 and not keywords and self._is_function(args[0], name, complaint is not None):
            from hastega_magic.syntax.foreign_names import of_a_function

            written = of_a_function(name, self.text.segment(args[0]))
            complaint = f"{name} takes no function: write `{written}`" if written else complaint
        if complaint and len(args) > 1 and name in ("filter", "take_while", "drop_while"):
            complaint = self._as_one(name, args) or complaint
        if complaint:
            raise CellSyntaxError(complaint, self.text.text, span, self.filename)
        function = function_argument(STAGES[name], call) if call else None
        none = isinstance(function, ast.Constant) and function.value is None
        if isinstance(function, _NO_FUNCTIONS) and not none:
            form = "with `_` for the element, or as `lambda x: ...`"
            if name in ("reduce", "scan"):
                form = "as `lambda total, x: ...`"
            swapped = len(args) == 2 and isinstance(args[1], ast.Lambda)
            complaint = f"{name} takes a function: write it {form}"
            complaint = f"{name} takes its function first: `{name}(f, init)`" if swapped else complaint
            raise CellSyntaxError(complaint, self.text.text, self.text.span(function), self.filename)
        wrong = wrong_literal(name, call) if call else None
        if wrong is not None:
            raise CellSyntaxError(wrong[1], self.text.text, self.text.span(wrong[0]), self.filename)

    def _as_one(self, name: str, args: list[ast.expr]) -> str | None:
        """How several conditions over `_` are written as one function; None for other arguments."""
        bodies = [arg.body if isinstance(arg, ast.Lambda) else arg for arg in args]
        if not all(isinstance(body, ast.Compare) and "_" in reads(body) for body in bodies):
            return None
        return f"{name} takes one function: write `{name}({' and '.join(map(self.text.segment, bodies))})`"

    def _is_function(self, node: ast.expr, stage: str, refused: bool) -> bool:
        """Whether an argument is written as a function; `refused`: the stage takes no such argument at all.

        `_` alone may be the last value that was shown, as a number of elements may be computed from it; in a loop
        over `_` it is the loop's.
        """
        if isinstance(node, ast.Lambda) or (refused and "_" in reads(node)):
            return True
        number = (stage in ("take", "drop") and not isinstance(node, ast.Compare)) or "_" in self._moving
        return not number and not isinstance(node, ast.Name) and "_" in reads(node)


__all__ = ["PipelineStatement", "Plain", "callables_bound"]
