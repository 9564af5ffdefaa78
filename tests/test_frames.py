"""Tracebacks in plain scripts: the user's frames alone, unless the package is at fault."""

import traceback

import pytest

from hastega_magic import hastega, pipe
from hastega_magic.compiler.driver import Driver
from hastega_magic.errors import PACKAGE

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
