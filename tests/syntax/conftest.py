"""A compiler's environment for tests, cells that can be run, and graphs evaluated by the interpreter."""

import array
import ast
import itertools
import linecache
from collections.abc import Callable

import numpy as np
import pytest

from hastega_magic.errors import CellSyntaxError, NotCompilable
from hastega_magic.interval import Interval
from hastega_magic.ir.expr import flatten, map_value
from hastega_magic.ir.interpreter import evaluate
from hastega_magic.ir.pipeline import Fn, Source, Table
from hastega_magic.syntax.cell import plan
from hastega_magic.syntax.functions.lower import lower, parameters
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.rewriter import PipelineStatement
from hastega_magic.syntax.site import BIND, RUN
from hastega_magic.types import FLOAT, INT, STORAGES, Either

_numbers = itertools.count()


class Env:
    """Describes ranges, arrays and lists; keeps the objects behind the tables."""

    def __init__(self, filename: str = "<none>") -> None:
        self.filename = filename
        self.tables = []
        self.objects = []

    def _storage(self, value):
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.name in STORAGES:
            return STORAGES[value.dtype.name], None
        if isinstance(value, array.array):
            return self._storage(np.asarray(value))
        if isinstance(value, (list, tuple)) and value and all(type(item) is int for item in value):
            return STORAGES["int64"], INT
        if isinstance(value, (list, tuple)) and value and all(type(item) is float for item in value):
            return STORAGES["float64"], FLOAT
        raise NotCompilable("not an array of numbers")

    def table(self, name, value):
        storage, type_ = self._storage(value)
        if not any(known is value for known in self.objects):
            self.objects.append(value)
            self.tables.append(Table(name, storage, id(value)))
        slot = next(slot for slot, known in enumerate(self.objects) if known is value)
        return slot, type_ or storage.scalar

    def source(self, value):
        if isinstance(value, range):
            return Source("range", "range", INT, Interval(value[0], value[-1]), length=len(value))
        storage, type_ = self._storage(value)
        return Source(
            "array", "array", type_ or storage.scalar, None, storage, key=id(value), length=len(value)
        )

    def number(self, name, value, type_, length):
        return Source(name, "array", type_, None, STORAGES["float64"], "scalar", id(value), length)

    def run(self, fn: Fn, *args):
        """What the graph gives for these numbers: effects first, as Python would meet them."""
        values = dict(zip(flatten(fn.params), args, strict=True))

        def leaves(node):
            if node.op == "param":
                return values[node]
            table = self.objects[node.value]
            return len(table) if node.op == "length" else list(table)

        for condition, node in fn.effects:
            if condition is None or evaluate([condition], leaves)[condition]:
                evaluate([node], leaves)
        found = evaluate(flatten(fn.result), leaves)
        return _shown(map_value(lambda node: found[node], fn.result))


def _shown(value):
    """A number of two types as the one that it is."""
    if isinstance(value, Either):
        return value.high if value.test else value.low
    return tuple(map(_shown, value)) if isinstance(value, tuple) else value


@pytest.fixture
def env():
    return Env()


@pytest.fixture(scope="session")
def cell() -> Callable[..., dict]:
    """Runs a cell; its namespace holds the arguments of the calls made for pipelines: "bound" and "ran"."""

    def run(text: str, **names):
        filename = f"<test cell {next(_numbers)}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        namespace = {"bound": [], "ran": [], "filename": filename, **names}
        namespace[BIND] = lambda *args: namespace["bound"].append(args)
        namespace[RUN] = lambda *args: namespace["ran"].append(args)
        planned = plan(text, filename)
        namespace["plan"] = planned
        for item in planned.items:
            if isinstance(item, PipelineStatement):
                exec(compile(item.site.bind_expression, filename, "eval"), namespace)
            else:
                exec(compile(ast.Module([item.node], []), filename, "exec"), namespace)
        return namespace

    return run


@pytest.fixture
def stages_of():
    """The source and the bound stages of a cell's last pipeline statement."""

    def bound(namespace):
        number, source, *rest = namespace["bound"][-1]
        sites = namespace["plan"].sites[number].stages
        return source, [BoundStage(site, *given) for site, given in zip(sites, rest, strict=True)]

    return bound


@pytest.fixture(scope="session")
def graph(cell):
    """The environment and the lowered function of a text, as in `graph("lambda x: x", INT)`."""

    def make(text: str, *types, predicate=False, **names):
        namespace = cell(text if text.lstrip().startswith(("def", "@")) else f"f = {text}", **names)
        env = Env(namespace["filename"])
        structure = types[0] if len(types) == 1 else types
        return env, lower(namespace["f"], parameters(structure), env, predicate=predicate)

    return make


@pytest.fixture
def complaint():
    """The message and the text under the caret of the error that reading a cell gives."""

    def read(text: str, **options):
        with pytest.raises(CellSyntaxError) as caught:
            plan(text, **options)
        error = caught.value
        assert error.text in text.split("\n")
        return error.msg, error.lineno, error.text[error.offset - 1 : error.end_offset - 1]

    return read
