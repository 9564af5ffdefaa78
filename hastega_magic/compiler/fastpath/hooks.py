"""What rewritten code calls: the pipelines of cells while they run, those in functions also when they are over.

    y = xs |> map(f)        __hastega_bind__(7, xs, (None, (f,), {}))      hands the source and the stages over
    (xs |> sum) + 1         __hastega_run__(8, xs, (None, (), {})) + 1     finds the cell of number 8, and runs it there

Several cells of a namespace may run at once, in threads or where they await something: numbers tell them apart.

Functions may be sent to other processes, with all that their code calls: what they take along is how their pipelines
are written, and not what was compiled of them.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from hastega_magic.compiler.fastpath.boxed import boxed
from hastega_magic.compiler.fastpath.cell_turns import CellTurns
from hastega_magic.compiler.fastpath.guards import Display
from hastega_magic.compiler.fastpath.handoff import taken
from hastega_magic.compiler.fastpath.looks import Known, Looks
from hastega_magic.forking import held_while_forking
from hastega_magic.lru import LruCache
from hastega_magic.syntax.site import BIND, METHODS, Site

if TYPE_CHECKING:
    from hastega_magic.compiler.fastpath.ordinary import OrdinaryCode
    from hastega_magic.compiler.fastpath.repeated import Repeated

PIPES: LruCache[tuple[object, ...], Repeated] = LruCache(64)
"""Pipelines of the explicit form, by where they are made and run. What they hold is let go of, too."""


Displayed = tuple[object, tuple[Display, ...]]
"""The source of a statement, and its stages."""


def displayed(number: int, source: object, *stages: Display) -> Displayed:
    """What the code of a statement hands over; whoever runs it knows which."""
    return source, stages


class Running:
    """A run of a cell: its pipelines by number, where they run, and its ordinary code by number.

    Whoever runs the cell holds it: where an interrupt keeps that from telling that it is over, it is gone all the same.
    """

    def __init__(
        self,
        sites: Mapping[int, Site] | None = None,
        turns: CellTurns | None = None,
        ordinary: Mapping[int, OrdinaryCode] | None = None,
    ) -> None:
        self.sites, self.turns, self.ordinary = sites or {}, turns, ordinary or {}
        self.over = False
        """Set where an interrupt cannot come between: what tells that it is over may be interrupted."""


# What loops stands in functions of its own: where Ctrl-C comes as a loop in a `with` goes on behind a condition that
# does not hold, CPython 3.13.0 leaves the lock taken.


def _users(namespace: Mapping[str, Any], hooks: Mapping[str, object]) -> dict[str, Any]:
    """What the user has under the names of the hooks; an interrupt may have left ours there."""
    there = {name: namespace[name] for name in hooks if name in namespace}
    return {name: it for name, it in there.items() if type(it) is not type(hooks[name]) or it != hooks[name]}


def _put_back(namespace: dict[str, Any], hooks: Mapping[str, object], saved: Mapping[str, Any]) -> None:
    """Take these hooks away; what the user has under their names stays."""
    users = _users(namespace, hooks)
    for name in hooks:
        if name in users:
            continue
        namespace.pop(name, None)
        if name in saved:
            namespace[name] = saved[name]


class Hooks:
    """`run` and `attempt`: a pipeline inside a larger expression or a function, and ordinary code that may be one.

    `nested`: those of all cells that stand in functions, by number.
    """

    def __init__(self, nested: dict[int, Repeated] | None = None) -> None:
        self.nested = {} if nested is None else nested
        self._running: tuple[weakref.ref[Running], ...] = ()
        self._saved: dict[str, Any] = {}
        """What the user had under the names before the first of the cells began."""
        self._changing = held_while_forking(threading.Lock())
        self.worth, self.laid = Looks(self._known), Looks(self._known, laying=True)
        self.began = set[int]()
        """`for` statements of which Python's time is taken."""

    boxed, taken = staticmethod(boxed), staticmethod(taken)

    def __reduce__(self) -> tuple[object, ...]:
        from hastega_magic.compiler.fastpath.ordinary import OrdinaryCode

        # Ordinary code holds the text of its cell, which is nobody's to send, and Python can do without it.
        pipelines = {n: each for n, each in self.nested.items() if not isinstance(each, OrdinaryCode)}
        return Hooks, (pipelines,)

    def begin(self, namespace: dict[str, Any], running: Running) -> None:
        """A cell begins, whose code finds the hooks in its namespace, and whose report tells of what it runs."""
        hooks = {BIND: displayed, **self._lasting()}
        with self._changing:
            self._running = self._others(running)
            if not self._running:
                self._saved |= _users(namespace, hooks)
            namespace.update(hooks)
            self._running = weakref.ref(running), *self._running

    def end(self, namespace: dict[str, Any], running: Running) -> None:
        """It is over: nobody reads what it would tell. With the last one that runs, the hooks leave the namespace.

        They may have left by now, with a cell that began when this one was over, and ended before this is called.
        """
        with self._changing:
            self._running = self._others(running)
            if self._running:
                return
            self._forget_looks()
            # Functions of these cells or earlier ones may hold pipelines and be called later: their hooks then stay.
            lasting = {} if self.nested else self._lasting()
            _put_back(namespace, {BIND: displayed, **lasting}, self._saved)
            self._saved = {}

    def _forget_looks(self) -> None:
        """Let go of those at code that stands in no function: no cell will run it again."""
        for looks in (self.worth, self.laid):
            for number in looks.keys() - self.nested.keys():
                looks.pop(number, None)

    def _others(self, running: Running) -> tuple[weakref.ref[Running], ...]:
        """Those that run beside this one."""
        others = [(each, each()) for each in self._running]
        return tuple(each for each, it in others if it is not None and it is not running and not it.over)

    def _lasting(self) -> dict[str, object]:
        """What code in functions calls, by name."""
        return {name: getattr(self, method) for name, method in METHODS.items()}

    def run(self, number: int, source: object, *stages: Display) -> object:
        """The value of pipeline `number` over the source."""
        for running in self._running:
            cell = running()
            if cell is not None and cell.turns is not None and number in cell.sites:
                return cell.turns.run(cell.sites[number], source, stages)
        return self.nested[number].run(source, stages)

    def attempt(
        self,
        number: int,
        callees: tuple[object, ...],
        functions: tuple[object, ...],
        operands: tuple[object, ...],
        python: Callable[..., Any],
    ) -> object:
        """The value of ordinary code, as a pipeline or by `python`."""
        code = self._ordinary(number)
        if code is None:
            return python(callees, functions, operands)
        return code.attempt(callees, functions, operands, python)

    def _known(self, number: int) -> Known | None:
        """What decides whether ordinary code is tried; None for code of another process, which is Python's."""
        found = self._ordinary(number)
        if found is None:
            return None
        assert found.code is not None
        return found.code, found.few_runs, lambda *given: self._worth(number, given)

    def _worth(self, number: int, given: tuple[object, ...]) -> bool:
        code = self._ordinary(number)
        return code is not None and code.worth(given)

    def looped(
        self,
        number: int,
        callees: tuple[object, ...],
        functions: tuple[object, ...],
        operands: tuple[object, ...],
        again: tuple[int, ...] | None,
    ) -> bool:
        """Whether a loop has done what a `for` statement does; what it hands on is laid down."""
        from hastega_magic.compiler.fastpath.for_statements import ForStatement, lay_again

        code = self._ordinary(number)
        if isinstance(code, ForStatement):
            return code.looped(callees, functions, operands, again, self.began)
        lay_again(callees, operands, again)
        return False

    def sought(
        self, number: int, callees: Any, functions: Any, operands: Any, python: Callable[..., Any]
    ) -> Iterable[object]:
        """What a `for` statement that searches goes through."""
        from hastega_magic.compiler.fastpath.searching import Search

        code = self._ordinary(number)
        if isinstance(code, Search):
            return code.sought(callees, functions, operands, python)
        return python(callees, functions, operands)

    def ended(self, number: int) -> None:
        """Python has gone through a `for` statement."""
        code: Any = self._ordinary(number)
        if code is not None:
            code.ended(self.began)

    def _ordinary(self, number: int) -> OrdinaryCode | None:
        """Ordinary code by its number; None if it is of another process."""
        for running in self._running:
            cell = running()
            if cell is not None and number in cell.ordinary:
                return cell.ordinary[number]
        return cast("OrdinaryCode | None", self.nested.get(number))


__all__ = ["PIPES", "Displayed", "Hooks", "Running", "displayed"]
