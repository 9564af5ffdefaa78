"""From pipelines to loaded machine code, by structure: the same shape is compiled once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from hastega_magic.compiler.backends import Backend, Program, backend_of
from hastega_magic.compiler.choice import schedule_store
from hastega_magic.compiler.choice.schedule_store import Finding
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.reporting.links import Lines, Shown
from hastega_magic.errors import NotCompilable, WideConstant
from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, Value, flatten
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.kernel import Assume, Kernel
from hastega_magic.ir.origins import themselves
from hastega_magic.ir.pipeline import Pipeline
from hastega_magic.ir.schedule import UNTUNED, Tuned
from hastega_magic.lru import LruCache
from hastega_magic.passes.infer import Leaves
from hastega_magic.passes.pipelines import ANALYSIS, CPU, FUSE, Pass, State
from hastega_magic.passes.recurrence import carried_fit
from hastega_magic.passes.schedule import STREAMED
from hastega_magic.passes.variants import Variants
from hastega_magic.records import cached_property, changed, dataclass
from hastega_magic.runtime.sources import Column
from hastega_magic.runtime.tables import TableColumn
from hastega_magic.syntax.reading.depth import calls_left
from hastega_magic.trace import Trace


@dataclass
class Body:
    """One variant as loaded code, and what was made of it to be shown."""

    kernel: Kernel
    program: Program
    backend: Backend
    lines: Mapping[str, Lines] | None = None
    shown: Shown | None = None
    _assembly: str | None = None

    @property
    def assembly(self) -> str:
        """Its assembly, made when first asked for; empty where the back end shows none."""
        if self._assembly is None:
            self._assembly = self.backend.assembly(self.program)
        return self._assembly


@dataclass
class CompiledLoop:
    """A fused loop; variants become machine code when they are first needed.

    `written`: the loop before the passes that change it; `steps`: the state after each of these. `located`: the text
    of its variants has debug locations.
    """

    state: State
    fast_math: bool
    backend: Backend
    written: Fused
    steps: Sequence[tuple[Pass, State]]
    located: bool = True
    structure: str = ""
    """What tells the loop from others on any back end, the same in every process."""
    tuning_key: str = ""
    """What findings about its schedule are kept under, for the options that it was last searched with."""
    finding: Finding | None = None
    """What is known of its schedule, if it was tuned."""
    bodies: dict[int, Body] = field(default_factory=dict[int, Body])
    pictures: dict[str, object] = field(default_factory=dict[str, object])
    """What was made of it to be looked at, by kind."""
    key: str = ""
    """The hash of its structure, the same in every process."""
    first: int = 0
    """The variant to begin with: a later one where most blocks of an earlier run left what the first assumes."""
    sampled: bool = False
    """Whether a sample of the arrays decided that; `misled`: whether one has told nothing of what most blocks hold."""
    misled: bool = False

    @cached_property
    def place(self) -> bytes:
        """Where the cache has it, once it has."""
        return bytes.fromhex(self.key)

    @property
    def fused(self) -> Fused:
        """The simplified loop."""
        return self.state.loop

    @property
    def variants(self) -> Variants:
        """Its bodies, before lowering."""
        assert self.state.variants is not None
        return self.state.variants

    @cached_property
    def checks_carried(self) -> bool:
        """Whether integers that go from one element to the next are checked, where they do not wrap around."""
        return not carried_fit(self.fused, self.state.leaves)

    def begin(self, columns: Sequence[Column]) -> int:
        """The variant to begin with: an earlier one than was learned where a sample of the arrays is as it assumes."""
        self.sampled = False
        for number, body in enumerate(() if self.misled else self.variants.bodies[: self.first]):
            if all(_seems_within(columns, each) for each in body.assumes):
                self.first, self.sampled = number, True
                break
        return self.first

    def learn(self, number: int) -> None:
        """Begin with this variant from now on, unless other data would get other bits by that."""
        self.misled = self.misled or self.sampled
        if not self.variants.ordered or number < len(self.variants.bodies) - 1:
            self.first = number

    def body(self, number: int, trace: Trace) -> Body:
        """Loaded code of a variant."""
        if number not in self.bodies:
            with trace.phase("codegen"):
                state = replace(self.state, variant=number)
                for each in CPU:
                    state = each.run(state)
                assert state.kernel is not None
                kernel = replace(state.kernel, located=self.located)
                text = self.backend.generate(kernel, self.fast_math)
            with trace.phase("compile"):
                program = self.backend.load(state.kernel, text, self.fast_math)
                # Another thread's stays if it was sooner: somebody may hold a function of its code.
                self.bodies.setdefault(number, Body(state.kernel, program, self.backend))
        return self.bodies[number]


_SAMPLED = 64
"""Elements of an array that are looked at."""


def _seems_within(columns: Sequence[Column], assume: Assume) -> bool:
    slot = assume.load.value
    assert isinstance(slot, int)
    data = columns[slot].data
    if not isinstance(data, np.ndarray) or not len(data):
        return False
    some = data[:: len(data) // _SAMPLED | 1]
    return int(some.min()) in assume.interval and int(some.max()) in assume.interval


_CACHE: OrderedDict[bytes, CompiledLoop] = OrderedDict()
_CACHE_SIZE = 1024
"""Loops, of some 0.1 MB each; a cell that has more is compiled anew in each of its runs."""
_TOO_DEEP: LruCache[bytes, int] = LruCache(256)
"""Loops whose analysis went deeper than so many calls, which were left to it."""
_NESTED = "the expressions of an element are nested too deeply for its compiler"
_ENDS_MATTER: set[bytes] = set()
"""Shapes that only the very ends of a range prove, so that these belong to the key."""


def cached_loops() -> list[CompiledLoop]:
    """What the cache holds, the most recently used last."""
    return list(_CACHE.values())


def clear_cache() -> None:
    """Forget all compiled loops."""
    _CACHE.clear()


def still_cached(compiled: CompiledLoop) -> bool:
    """Whether a search by its structure would find this loop; it is then the one that was used last."""
    if _CACHE.get(compiled.place) is not compiled:
        return False
    if schedule_store.found(compiled.tuning_key) != compiled.finding:
        return False
    _CACHE.move_to_end(compiled.place)
    return True


def compile_loop(
    pipelines: Sequence[Pipeline],
    tables: Sequence[TableColumn],
    options: Options,
    trace: Trace,
    backend: Backend | None = None,
    near: bool = False,
) -> tuple[CompiledLoop, Fused, bool]:
    """The compiled loop, the pipelines as fused now (with this cell's sources and names), and whether it was known.

    NotCompilable if it has no machine form. `backend`: the one that the options name, if it is known already. `near`:
    results stay in the caches, whatever their size.
    """
    backend = backend or backend_of(options)
    state = changed(_fused(pipelines, tables, options, backend, trace), near=near)
    shape = _structure(state, options, exact=False)
    exact = shape.digest() in _ENDS_MATTER
    structure = _structure(state, options, exact) if exact else shape
    compiled, cached = _known_or_analysed(structure, exact, state, options, backend, trace)
    settled = cached or exact or compiled.variants.fits
    if not settled and any(each.kind == "range" for each in state.loop.sources):
        _ENDS_MATTER.add(shape.digest())
        structure = _structure(state, options, exact=True)
        compiled, cached = _known_or_analysed(structure, True, state, options, backend, trace)
    if not cached:
        _CACHE[compiled.place] = compiled
        while len(_CACHE) > _CACHE_SIZE:
            _CACHE.popitem(last=False)
    return compiled, state.loop, cached


def _fused(
    pipelines: Sequence[Pipeline],
    tables: Sequence[TableColumn],
    options: Options,
    backend: Backend,
    trace: Trace,
) -> State:
    """The pipelines as one loop, of which nothing is inferred yet."""
    for each in tables:
        if each.data.dtype.hasobject:
            raise WideConstant(f"`{each.table.name}` holds integers beyond 64 bits")
    state = State(
        tuple(pipelines),
        tuple(each.table for each in tables),
        Leaves(()),
        options.int_mode,
        backend.target,
        options.width or None,
    )
    with trace.phase("fuse"):
        state = FUSE.run(state)
        return changed(state, large=min(each.length for each in state.loop.sources) >= STREAMED)


def _known_or_analysed(
    structure: hashlib.blake2b,
    exact: bool,
    state: State,
    options: Options,
    backend: Backend,
    trace: Trace,
) -> tuple[CompiledLoop, bool]:
    """The loop of this structure, with what is found out about its schedule by now, and whether the cache has it."""
    searched = tuning_key(structure.hexdigest(), state.large, options, backend)
    finding = schedule_store.found(searched) if schedule_store.something() else None
    tuned = UNTUNED if finding is None else finding.tuned
    key = _key(structure, state, options, backend, tuned)
    cached = key in _CACHE
    if cached:
        _CACHE.move_to_end(key)
        compiled = _CACHE[key]
    else:
        state = replace(state, leaves=_leaves(state, exact), tuned=tuned)
        compiled = _analysed(state, key, options, backend, trace)
        compiled.key, compiled.structure = key.hex(), structure.hexdigest()
    compiled.tuning_key, compiled.finding = searched, finding
    return compiled, cached


def _leaves(state: State, exact: bool) -> Leaves:
    """What the sources and tables may hold. `exact`: up to the very ends of ranges."""
    sources = [each.interval for each in state.loop.sources]
    limits = [each.storage.limits for each in state.tables]
    return Leaves(
        tuple(sources if exact else map(_rounded, sources)),
        tuple(None if each is None else Interval(*each) for each in limits),
    )


def _analysed(state: State, key: bytes, options: Options, backend: Backend, trace: Trace) -> CompiledLoop:
    """NotCompilable where its expressions are nested too deeply for the calls that are left."""
    if (room := _TOO_DEEP.get(key)) is not None and calls_left() <= room:
        raise NotCompilable(_NESTED)
    try:
        return _analyse(state, options, backend, trace)
    except RecursionError:
        _TOO_DEEP.put(key, calls_left())
        raise NotCompilable(_NESTED) from None


def _analyse(state: State, options: Options, backend: Backend, trace: Trace) -> CompiledLoop:
    with trace.phase("infer"):
        written = replace(state.loop, origins=themselves(state.loop.roots()))
        state = replace(state, fused=written)
        steps: list[tuple[Pass, State]] = []
        for each in ANALYSIS:
            if each is not FUSE:
                state = each.run(state)
                steps.append((each, state))
    return CompiledLoop(state, options.fast_math, backend, written, steps, not options.quiet)


def _rounded(interval: Interval | None) -> Interval | None:
    """The enclosing power-of-two interval, so that loops over similar ranges share their code."""
    if interval is None or interval.lo is None or interval.hi is None or not interval.fits_int64:
        return interval
    bits = max(interval.hi, ~interval.lo, 15).bit_length()
    return Interval(-(1 << bits) if interval.lo < 0 else 0, (1 << bits) - 1)


def _key(structure: hashlib.blake2b, state: State, options: Options, backend: Backend, tuned: Tuned) -> bytes:
    hasher, how = structure.copy(), "" if tuned == UNTUNED else tuned
    hasher.update(f"{options.width} {state.large} {state.near} {backend.code} {how}".encode())
    return hasher.digest()


def tuning_key(structure: str, large: bool, options: Options, backend: Backend) -> str:
    """What a finding holds for: the loop, sizes like this one, where it runs, and what the user left to be decided."""
    limits = f"{options.width} {options.threads} {options.device_memory}"
    return f"{structure} {large} {backend.tuned_as} {limits}"


def _structure(state: State, options: Options, exact: bool) -> hashlib.blake2b:
    """A hash of what the loop computes, wherever it runs. `exact`: for ranges of these very ends."""
    loop = state.loop
    hasher = hashlib.blake2b(digest_size=16)

    def add(*nodes: Expr | None) -> None:
        for node in nodes:
            hasher.update(b"-" if node is None else node.digest)

    for source in loop.sources:
        interval = source.interval if exact else _rounded(source.interval)
        beside = " beside" if source.beside else ""
        hasher.update(
            f"{source.kind} {source.type} {interval} {source.storage} {source.layout}{beside};".encode()
        )
    for table in loop.tables:
        hasher.update(f"{table.storage};".encode())
    for output in loop.outputs:
        hasher.update(f"{output.sink.kind} {_shape(output.value)};".encode())
        add(*flatten(output.value), output.mask, *((None,) if output.init is None else flatten(output.init)))
        for pair in output.given:
            add(*pair)
        if output.sink.fn is not None:
            hasher.update(f"{_shape(output.sink.fn.result)};".encode())
            add(*flatten(output.sink.fn.result))
            for pair in output.sink.fn.effects:
                add(*pair)
    for effect in loop.effects:
        add(effect.node, effect.mask)
    hasher.update(f"{options.int_mode} {options.fast_math} ".encode())
    return hasher


def _shape(value: Value) -> str:
    """How the numbers of an element are put together: a complex number is not a pair, `(x,)` is not `x`."""
    return "." if isinstance(value, Expr) else f"{type(value).__name__}({''.join(map(_shape, value))})"
