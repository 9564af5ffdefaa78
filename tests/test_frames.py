"""Tracebacks in plain scripts: the user's frames alone, unless the package is at fault."""

import dis
import traceback

import pytest

from hastega_magic import hastega, pipe
from hastega_magic.compiler.driver import Driver
from hastega_magic.errors import PACKAGE
from hastega_magic.frames import joined, without_ours
from hastega_magic.session import Options, Session

XS = list(range(1000))


def inverse(x):
    return 10 // (x - 500)


def drawn():
    yield from XS
    raise ValueError("no more")


def listed(xs):
    return [inverse(x) for x in xs]


def total(xs):
    return sum(inverse(x) + y for x in xs for y in xs)


def wrapped(xs):
    try:
        return [inverse(x) for x in xs]
    except ZeroDivisionError as error:
        raise ValueError("zero") from error


def places(function, *args):
    """Function and line of each frame below this one, those of what the exception came from first."""
    with pytest.raises(Exception, match=r".") as raised:
        function(*args)
    error, found = raised.value, []
    while error is not None:
        walked = traceback.extract_tb(error.__traceback__)
        found = [*((each.filename, each.lineno, each.name) for each in walked), *found]
        error = error.__cause__ or error.__context__
    return [each for each in found if each[2] != "places"]


def largest(xs):
    return max(x for x in xs if x > len(XS))


@pytest.mark.parametrize("function", [listed, total, wrapped, largest])
def test_a_decorated_function_has_the_frames_that_it_has_without(function):
    decorated = hastega(function)
    for _ in range(3):
        assert places(decorated, XS) == places(function, XS)


@pytest.mark.parametrize(
    ("run", "last"),
    [
        (lambda: pipe(XS).map(inverse).sum(), "inverse"),
        (lambda: pipe(XS).map(inverse).to_array(), "inverse"),
        (lambda: list(pipe(XS).map(inverse)), "inverse"),
        (lambda: pipe(XS, on="numpy").map(inverse).sum(), "inverse"),
        (lambda: pipe(XS).apply(inverse).sum(), "inverse"),
        (lambda: pipe(drawn()).map(lambda x: x + 1).sum(), "drawn"),
        (lambda: pipe([]).max(), "<lambda>"),
        (lambda: pipe(XS, strict=True).apply(len).run(), "<lambda>"),
        (lambda: pipe([2**62], int_mode="checked").map(lambda x: x * 4).sum(), "<lambda>"),
        (lambda: pipe([2**62], int_mode="checked").map(lambda x: x * 4).to_array(), "<lambda>"),
        (lambda: pipe([2**62], int_mode="checked").map(lambda x: x * 4).explain(), "<lambda>"),
        (lambda: pipe([2**62, 2**62], int_mode="checked").scan(lambda a, x: a * x, 1).run(), "<lambda>"),
        (lambda: pipe([2**70], int_mode="checked").map(lambda x: x + 1).sum(), "<lambda>"),
        (lambda: pipe(["a"]).sum(), "<lambda>"),
        (lambda: pipe([]).argmin(), "<lambda>"),
        (lambda: pipe([]).mean(), "<lambda>"),
        (lambda: pipe(XS).map(), "<lambda>"),
    ],
)
def test_a_pipe_has_none_of_ours(run, last):
    for _ in range(3):
        walked = places(run)
        assert walked[-1][2] == last
        assert not [file for file, _, _ in walked if file.startswith(PACKAGE)]


def test_an_error_of_the_package_keeps_its_frames(monkeypatch):
    monkeypatch.setattr(Driver, "run_alone", None)
    walked = places(lambda: pipe(XS).map(inverse).sum())
    assert walked[-1][0].startswith(PACKAGE)
    assert len([file for file, _, _ in walked if file.startswith(PACKAGE)]) > 2


def test_an_assertion_of_the_package_keeps_its_frames(monkeypatch):
    names = {}
    exec(
        compile("def run_alone(*args):\n    raise AssertionError('not so')", f"{PACKAGE}x.py", "exec"), names
    )
    monkeypatch.setattr(Driver, "run_alone", names["run_alone"])
    walked = places(lambda: pipe(XS).map(inverse).sum())
    assert walked[-1][2] == "run_alone"


KEPT = ValueError("kept")


def raises_what_it_keeps(x):
    if x == 500:
        raise KEPT
    return x


def told(function):
    """Notes and traceback of an exception that is raised several times, as it is after each."""
    KEPT.__traceback__, found = None, []
    for _ in range(3):
        try:
            function(XS)
        except ValueError as error:
            walked = [(each.name, each.lineno) for each in traceback.extract_tb(error.__traceback__)]
            found.append((hasattr(error, "__notes__"), walked))
    return found


def test_an_exception_that_the_user_keeps_is_as_python_leaves_it():
    def function(xs):
        return [raises_what_it_keeps(x) for x in xs]

    assert told(hastega(function)) == told(function)


def marked(error):
    """What a traceback marks of the user's text: function, lines and columns of each frame."""
    walked = traceback.extract_tb(joined(without_ours(error.__traceback__)))
    return [
        (each.name, each.lineno, each.end_lineno, each.colno, each.end_colno)
        for each in walked
        if each.filename.startswith("<")
    ]


RAISING = (
    "sum(x for x in bad(3))",
    "sum((x for x in xs), 1 // n)",
    "[x + 1 for x in range(1 // n)]",
    "max((x for x in xs), key=bad(1))",
    "list(map(lambda x: x, bad(2)))",
    "sum(x * y for x, y in zip(xs, bad(1)))",
    "[x + missing for x in xs if x in [y for y in bad(1)]]",
    "sum(x for x in enumerate(xs, 'a'))",
    "max(x for x in xs if x > 9999)",
    "sum(\n    x\n    for x in bad(\n        3\n    )\n)",
    "[sum(y for y in bad(x)) for x in xs]",
    "sum(" + "\n" * 300 + "x for x in bad(3))",
    "sum([x for x in xs]) + sum(x for x in bad(3))",
)


@pytest.mark.parametrize("text", RAISING)
@pytest.mark.parametrize("form", ["t = {}", "def f():\n    u = sum(x for x in xs)\n    return u + {}\nf()"])
def test_what_is_marked_is_what_python_marks(text, form):
    def bad(*given):
        raise ValueError("bad")

    names = {"bad": bad, "xs": [1, 2, 3] * 1000, "n": 0}
    cell = form.format(text)
    with pytest.raises(Exception, match=r".") as raised:
        exec(compile(cell, "<plain>", "exec"), dict(names))
    expected = marked(raised.value)
    for on in ("simd", "python"):
        session = Session(dict(names), Options(on=on, baseline=False, quiet=True))
        for _ in range(2):
            with pytest.raises(type(raised.value)) as found:
                session.run_cell(cell)
            assert marked(found.value) == expected


def test_code_with_more_places_can_be_listed():
    session = Session({}, Options(quiet=True))
    session.run_cell("def f(xs):\n    return sum(x\n\n               for x in xs), [y for y in xs]\n")
    code = session.namespace["f"].__code__
    assert [each.opname for each in dis.get_instructions(code)][-1] == "NOP"
    assert len([*code.co_positions()]) == len(code.co_code) // 2


def named(module, source, **names):
    """The function `f` that the source defines in a module of that name."""
    scope = {"__name__": module, **names}
    exec(source, scope)
    return scope["f"]


@pytest.mark.parametrize("library", ["pyopencl", "pyopencl.cache", "llvmlite.binding.ffi"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_shows_no_frames_of_back_ends_libraries(library, error):
    """Ours calls a library that compiles, and this one of Python's; an error of theirs shows where it was raised."""

    def users():
        called()

    raising = named("tempfile", "def f():\n    raise error", error=error)
    compiling = named(library, "def f():\n    raising()", raising=raising)
    called = named("hastega_magic.runtime", "def f():\n    compiling()", compiling=compiling)
    with pytest.raises(error) as raised:
        users()
    interrupted = error is KeyboardInterrupt
    shown = without_ours(raised.value.__traceback__, interrupted, first=1)
    assert [each.tb_frame.f_globals["__name__"] for each in shown] == [
        __name__,
        *([] if interrupted else [library, "tempfile"]),
    ]
