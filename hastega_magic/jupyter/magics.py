"""The magics: `%%hastega` runs its cell, `%hastega` answers questions about it."""

from __future__ import annotations

import importlib
import inspect
import logging
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import leading_indent  # pyright: ignore[reportUnknownVariableType]
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand
from traitlets import Bool, Enum, Float, Int, List, TraitError, Unicode, validate
from traitlets.config import Config

from hastega_magic.compiler.options import INT_MODES, Options
from hastega_magic.errors import HastegaError
from hastega_magic.errors import UsageError as OptionError
from hastega_magic.gc_paused import uncollected
from hastega_magic.interrupts import put_off
from hastega_magic.jupyter import arguments, commands
from hastega_magic.jupyter.awaiting import hearing
from hastega_magic.jupyter.bodiless import NONE
from hastega_magic.jupyter.everywhere import AWAITED, PLAIN, Everywhere, awaits
from hastega_magic.jupyter.progress import Bar
from hastega_magic.jupyter.tracebacks import HidingOurs, cell_error, show_without_ours
from hastega_magic.progress import listening
from hastega_magic.runtime import warmup

if TYPE_CHECKING:
    from hastega_magic.compiler.comparing.kept import Kept
    from hastega_magic.jupyter.panel import Panel
    from hastega_magic.jupyter.shell import Shell
    from hastega_magic.report import Report
    from hastega_magic.session import CellResult, Session

_Magic = TypeVar("_Magic", bound=Callable[..., Any])

_SHOWING = (
    "hastega_magic.codegen.opencl",
    "hastega_magic.report.publish",
    "hastega_magic.report.html",
    "hastega_magic.report.text",
)
"""Modules that a report needs, and not what it tells of."""


def _unindented(cell: str) -> str:
    """The cell without the indentation of its first line, as IPython takes it from cells without a magic."""
    lines = cell.splitlines(keepends=True)
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    return "".join([*lines[:first], *cast("list[str]", leading_indent(lines[first:]))])


_AHEAD = "numpy", "hastega_magic.syntax.functions.lower", "hastega_magic.compiler.execute"
"""Modules that a first cell needs, and with them others: each takes a tenth of a second at most beyond the last."""


def _ahead() -> Iterator[Callable[[], object]]:
    """What brings them, one by one, so that Ctrl-C is answered between two."""
    yield warmup.make_ready
    for name in _AHEAD:
        yield partial(importlib.import_module, name)


def _sessions() -> type[Session]:
    """The class, with what a first cell needs: NumPy and the compiler."""
    warmup.import_while_compiling(*_SHOWING)
    importlib.import_module("hastega_magic.jupyter.display")
    from hastega_magic.session import Session

    return Session


def taken(result: CellResult) -> object:
    """The value of a cell, which the session must not keep alive."""
    value, result.value = result.value, None
    return value


def _asked_for(text: Callable[[], str]) -> Callable[[_Magic], _Magic]:
    """For a magic: IPython's `?` shows a text behind its docstring, which is made when it is asked for."""

    def marked(magic: _Magic) -> _Magic:
        cast(Any, magic).getdoc = lambda: f"{inspect.getdoc(magic)}\n\n{text()}"  # IPython calls it
        return magic

    return marked


def leave_out_refused(shell: Shell) -> None:
    """Take what an option cannot be out of the shell's configuration, and log it."""
    ours = HastegaMagics.__name__
    for name, value in [*shell.config[ours].items()]:
        try:
            HastegaMagics(config=Config({ours: {name: value}}))
        except TraitError as error:
            del shell.config[ours][name]
            why = str(error).removeprefix(f"{ours}: ")
            logging.getLogger(__name__).warning("%s.%s = %r is not configured: %s", ours, name, value, why)


@magics_class
class HastegaMagics(Magics):
    """Defaults of `%%hastega`; an option in the first line of a cell goes before them."""

    on = Unicode("auto", help="What computes.").tag(config=True)
    compare = List(Unicode(), help="Back ends to measure beside the baselines.").tag(config=True)
    baseline = Bool(True, help="Whether pure Python and NumPy are timed for comparison.").tag(config=True)
    int_mode = Enum(INT_MODES, "exact", help="What happens beyond 64 bits.").tag(config=True)
    fast_math = Bool(False, help="Whether floating-point operations may be contracted.").tag(config=True)
    fuse = Bool(True, help="Whether stages and statements share loops.").tag(config=True)
    threads = Int(0, min=0, help="At most so many threads (0: all CPUs).").tag(config=True)
    width = Int(0, min=0, help="Lanes of a vector (0: what the CPU has).").tag(config=True)
    device_memory = Int(0, min=0, help="MiB of an OpenCL device to use (0: most).").tag(config=True)
    repeat = Int(1, min=1, help="How often a loop is run, to report the median.").tag(config=True)
    strict = Bool(False, help="Whether a stage that cannot be compiled is an error.").tag(config=True)
    quiet = Bool(False, help="Whether no report is shown.").tag(config=True)
    show = List(Unicode(), help="Sections to print instead of the report.").tag(config=True)
    tune = Bool(False, help="Whether the fastest schedule of each loop is searched for.").tag(config=True)
    tune_seconds = Float(2.0, min=0.1, max=600.0, help="How long such a search takes.").tag(config=True)
    widgets = Bool(False, help="Whether a panel to measure again is shown.").tag(config=True)

    @validate(*arguments.NAMES)
    def _only_what_there_is(self, proposal: Mapping[str, Any]) -> object:
        """What an option cannot be is refused where it is configured, as it is in a cell's first line."""
        name, value = proposal["trait"].name, proposal["value"]
        given: dict[str, Any] = {name: tuple(value) if name in ("compare", "show") else value}
        try:
            Options(**given)
        except OptionError as error:
            raise TraitError(f"HastegaMagics: {error}") from None
        return value

    _session: Session | None = None
    _everywhere: Everywhere | None = None
    _hooks: dict[str, object] | None = None
    _shows: Callable[[object], None]
    """How the value of the cell that runs is shown."""
    panel: Panel | None = None
    """The last one shown, which keeps what it measures."""

    @no_var_expand
    @cell_magic("hastega")  # pyright: ignore[reportUntypedFunctionDecorator]
    @_asked_for(lambda: arguments.cell_parser().format_help())
    def run_cell(self, line: str, cell: str) -> object:
        """Compile the pipelines of a cell, run it in order, show its value and its report.

        Options stand in its first line, `%%hastega --on simd`. The commands of `%hastega` answer questions.
        """
        if line in (PLAIN, AWAITED):
            return self._run_everywhere(line, cell)
        # With its first line, as the editor shows it: line numbers then agree.
        text = f"%%hastega {line}".rstrip() + "\n" + _unindented(cell)
        with self._hiding_ours():
            options = arguments.options_from(line, self._defaults())
            if cell == NONE:
                raise UsageError("%%hastega: the cell is empty: its code begins on the next line")
            return self._run(text, options)

    def _run_everywhere(self, line: str, cell: str) -> object:
        """What `%hastega on` makes of a cell that holds `|>`: its value, or what is to be awaited for it."""
        with self._hiding_ours():
            options = arguments.options_from(self.everywhere.line, self._defaults())
            if line != AWAITED:
                return self._run(cell, options, shows=False)
        return hearing(self._run_async(cell, options))

    @contextmanager
    def _hiding_ours(self) -> Generator[None]:
        """An interrupt shows no frames of this package, wherever it comes: while modules are imported, too."""
        try:
            yield
        except KeyboardInterrupt as error:
            if not hasattr(error, "_render_traceback_"):
                show_without_ours(error, self.its_shell)
            raise

    def _run(self, text: str, options: Options, shows: bool = True) -> object:
        """Run a cell. With `shows`, or with a report, its value is shown here; else it is given to the shell."""
        session, filename = self._begin(text)
        error: BaseException | None = None
        try:
            # Under `%hastega on` cells are quiet by themselves, and nobody has said that they are to be.
            with listening(None if options.quiet and shows else Bar(self.its_shell)):
                ran = session.run_cell(text, filename, options)
        except BaseException as raised:
            error, ran = raised, session.last
            if shows and isinstance(raised, SyntaxError) and awaits(text):
                raised.msg += ": a cell awaits under `%hastega on`, where it needs no `%%hastega`"
        return self._end(ran, error, options, filename, shows)

    async def _run_async(self, text: str, options: Options) -> object:
        """The same for a cell that awaits something."""
        with self._hiding_ours():
            session, filename = self._begin(text)
        error: BaseException | None = None
        try:
            ran = await session.run_cell_async(text, filename, options)
        except BaseException as raised:
            error, ran = raised, session.last
        with self._hiding_ours():
            return self._end(ran, error, options, filename, shows=False)

    def _begin(self, text: str) -> tuple[Session, str]:
        shell = self.its_shell
        # The number of this cell: IPython 8 counts on after the cell, 9 before it, and the hook knows which.
        number = shell.displayhook.prompt_count
        filename = shell.compile.cache(text, number, raw_code=text)
        session = self._started()
        from hastega_magic.jupyter.display import show_value
        from hastega_magic.jupyter.streams import Readers
        from hastega_magic.session import Showing
        from hastega_magic.syntax.cell import FUTURES

        session.memory.futures |= shell.compile.flags & FUTURES
        self._shows = partial(show_value, readers=Readers())
        session.showing = Showing(shell.ast_node_interactivity, self._shows)
        if self.panel is not None:
            self.panel.cancel()  # two at a time would share the CPUs, and tell nothing
            self.panel.wait(2.0)
        return session, filename

    def _end(
        self,
        ran: CellResult | None,
        error: BaseException | None,
        options: Options,
        filename: str,
        shows: bool,
    ) -> object:
        self._keep_hook(self.its_shell)
        self.its_shell.compile.flags |= self._started().memory.futures
        value = taken(ran) if ran is not None and error is None else None
        given = not shows and options.quiet
        try:
            if error is None:
                self._show_value(None if given else value)
            if ran is not None and not options.quiet:
                self._show_report(ran.report, error, options)
            if options.widgets and error is None:
                self._show_panel()
        except BaseException as raised:
            show_without_ours(raised, self.its_shell)  # an interrupt, while a value makes its text
            raise
        if error is not None:
            raise self._shown(error, filename, ran)
        return value if given else None

    @no_var_expand
    @line_magic("hastega")  # pyright: ignore[reportUntypedFunctionDecorator]
    @_asked_for(commands.overview)
    def run_command(self, line: str) -> None:
        """Answer a question about the last cell, the cache or this machine; `%%hastega` runs the cell below it."""
        try:
            commands.run(line, self)
        except BaseException as error:
            show_without_ours(error, self.its_shell)  # of an interrupt
            raise

    @no_var_expand
    @cell_magic("hastega_kernel")  # pyright: ignore[reportUntypedFunctionDecorator]
    def run_kernel(self, line: str, cell: str) -> None:
        """Run a kernel that was edited in the cell beside the one it came from: `%hastega edit` makes such cells."""
        from hastega_magic.jupyter.edit import run_kernel

        try:
            with listening(Bar(self.its_shell)):
                run_kernel(line, cell, self)
        except BaseException as error:
            show_without_ours(error, self.its_shell)  # what an element raises that the kernel left to Python
            raise

    @property
    def everywhere(self) -> Everywhere:
        """The switch that `%hastega on` and `off` turn."""
        if self._everywhere is None:
            self._everywhere = Everywhere(self.its_shell)
        return self._everywhere

    @property
    def its_shell(self) -> Shell:
        """The shell that the magics are registered in."""
        return cast("Shell", self.shell)

    def known(self) -> Mapping[str, Mapping[str, object]]:
        """The magics by kind and name."""
        return cast("Mapping[str, Mapping[str, object]]", self.magics)

    def report(self) -> Report:
        """The report of the last cell; UsageError before the first."""
        found = self._session.last_report if self._session is not None else None
        if found is None:
            raise OptionError("no %%hastega cell has run yet")
        return found

    def is_last(self, report: Report) -> bool:
        """Whether the report is that of the last cell."""
        return (
            self._session is not None
            and self._session.last is not None
            and self._session.last.report is report
        )

    def kept(self) -> Sequence[Kept]:
        """The compiled loops of the last cell; UsageError before the first."""
        if self._session is None or self._session.last is None:
            raise OptionError("no %%hastega cell has run in this kernel")
        return self._session.kept

    def _defaults(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in arguments.NAMES}
        return values | {name: tuple(values[name]) for name in ("compare", "show")}

    def _started(self) -> Session:
        """The session, made with the first cell."""
        if self._session is None:
            started = time.perf_counter()
            # Ctrl-C in Python's import may leave its lock taken, for which the threads that import beside it wait.
            for each in _ahead():
                put_off(partial(uncollected, each))
            self._session = put_off(lambda: uncollected(_sessions))(self.its_shell.user_ns)
            self._session.loading = time.perf_counter() - started
        return self._session

    def _keep_hook(self, shell: Shell) -> None:
        """Where functions with pipelines in them were defined, ordinary cells will call them."""
        from hastega_magic.session import RUN, TRY

        if self._hooks is None:
            self._hooks = {}
        for name in (RUN, TRY):
            hook = shell.user_ns.get(name)
            if hook is not None and hook is not self._hooks.get(name):
                self._hooks[name] = shell.user_ns[name] = HidingOurs(hook, shell)

    def _show_value(self, value: object) -> None:
        self._shows(value)

    def _show_report(self, report: Report, error: BaseException | None, options: Options) -> None:
        from hastega_magic.jupyter import display

        if error is not None and not display.ran(report):
            return
        if options.show:
            display.show_sections(report, options.show)
        else:
            display.show_report(report, self.its_shell)

    def _show_panel(self) -> None:
        shell = self.its_shell
        if getattr(shell, "kernel", None) is None:
            print("--widgets shows a panel in notebooks; here, hastega_magic.measure() does the same.")  # noqa: T201
            return
        from hastega_magic.jupyter.panel import Panel

        if self.panel is not None:
            self.panel.release()
        self.panel = Panel(self.kept(), self.report())
        self.panel.display()

    def _shown(self, error: BaseException, filename: str, ran: CellResult | None) -> BaseException:
        """The exception that the shell is to show."""
        shell = self.its_shell
        if isinstance(error, SyntaxError):
            return cell_error(error, shell)
        if isinstance(error, OptionError):
            return UsageError(f"%%hastega: {error}")
        if not isinstance(error, HastegaError):
            span = None if ran is None else ran.failed_at
            show_without_ours(error, shell, filename, None if span is None else span.line)
        return error
