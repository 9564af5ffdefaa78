"""Functions of a module that name themselves or their class, and functions that are decorated twice."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import linecache
import math
import subprocess
import sys
import traceback
from types import ModuleType

import pytest

from hastega_magic import hastega, pipe

TEXT = """
from hastega_magic import hastega

@hastega
def halved(xs):
    return xs if len(xs) < 300 else halved([x + 1 for x in xs][: len(xs) // 2])

halved.limit = 7

@hastega
def limited(xs):
    return [x for x in xs if x * 2 < limited.limit]

limited.limit = 7

class Scale:
    factor = 3

    @hastega
    def by(self, xs):
        return [x * Scale.factor for x in xs]

    @hastega
    def __hidden(self, xs):
        return [x * self.__class__.factor for x in xs]

    def hidden(self, xs):
        return self.__hidden(xs)

    @staticmethod
    @hastega
    def shrunk(xs):
        return Scale.shrunk([x for x in xs if x > 5]) if len(xs) > 10 else [x + 1 for x in xs]
"""


@pytest.fixture
def module(tmp_path) -> ModuleType:
    path = tmp_path / "of_its_own.py"
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("of_its_own", path)
    made = importlib.util.module_from_spec(spec)
    sys.modules["of_its_own"] = made
    spec.loader.exec_module(made)
    yield made
    del sys.modules["of_its_own"]


def test_a_function_calls_itself(module):
    xs = list(range(1000))
    assert module.halved(xs) == [x + 2 for x in xs[:250]]
    assert module.limited([1, 2, 3, 4]) == [1, 2, 3]


def test_a_method_names_its_class(module):
    scale = module.Scale()
    assert scale.by([1, 2]) == [3, 6]
    assert scale.hidden([1, 2]) == [3, 6]
    assert module.Scale.shrunk(list(range(12))) == [7, 8, 9, 10, 11, 12]


def twice(xs):
    return [x * 2 for x in xs]


def test_a_decorated_function_is_decorated_anew():
    once = hastega(twice)
    again = hastega(once, on="simd")
    assert again([1, 2, 3]) == once([1, 2, 3]) == [2, 4, 6]
    assert again.__wrapped__ is twice
    assert again.explain is not once.explain


def test_a_decorated_function_without_options_is_itself():
    once = hastega(twice)
    once([1.5, 2.5])
    assert hastega(once) is once
    assert hastega(once).explain().to_dict() == once.explain().to_dict()
    assert hastega(once).explain().to_dict()["pipelines"]


def test_a_wrapper_around_a_decorated_function_is_no_such():
    once = hastega(twice)

    @hastega
    @functools.wraps(once)
    def wrapper(xs):
        return [x for x in once(xs) if x > 2]

    assert wrapper([1, 2, 3]) == [4, 6]


def looking(xs):
    """Looks at itself."""
    ys = [x + 1 for x in xs]
    frame = sys._getframe()

    class Inner:
        zs = tuple(x * 2 for x in xs)

        def total(self):
            return [x for x in xs if x > 0]

    def one(x):
        return x

    names = (
        sorted(frame.f_locals),
        sorted(dir()),
        Inner.__qualname__,
        Inner.total.__qualname__,
        one.__qualname__,
    )
    return ys, names, Inner.zs, Inner().total()


def test_locals_and_qualified_names_are_those_that_were_written():
    xs = list(range(400))
    made = hastega(looking)
    expected, found = looking(xs), made(xs)
    assert [str(each) for each in found] == [str(each) for each in expected]
    assert made.explain().pipelines[0].loops == 1
    assert made.__closure__ is None
    assert made.__code__.co_freevars == ()

    def inside(xs):
        return looking.__name__, [-x for x in xs], (lambda: 0).__qualname__

    assert hastega(inside)(xs) == inside(xs)


class Same:
    def Same(self, xs):  # noqa: N802
        return [x * 2 for x in xs], self.__name

    __name = 5


def test_a_method_that_is_called_as_its_class():
    made = hastega(Same.Same)
    assert made(Same(), range(300)) == Same().Same(range(300))
    assert made.__qualname__ == made.__code__.co_qualname == "Same.Same"


def test_the_line_of_a_comprehension_of_several_lines():
    def inverse(xs):
        return [
            1 // x
            for x in xs
        ]  # fmt: skip

    places = []
    for function in (inverse, hastega(inverse)):
        with pytest.raises(ZeroDivisionError) as caught:
            function(range(300))
        frames = traceback.extract_tb(caught.value.__traceback__)
        places.append([next(each.lineno for each in frames if each.name == "inverse"), frames[-1].lineno])
    assert places[0][-1] == places[1][-1] == places[1][0] + 1
    if sys.version_info < (3, 12):  # from then on a comprehension has no frame of its own in Python
        assert places[0] == places[1]


EDITED = (
    "def one(x): return x + {k}\ntwo = lambda x: x * {k}\ndef comp(xs): return [x * {k} + 1 for x in xs]\n"
)


def test_a_file_that_was_edited_since_is_not_taken_for_what_python_runs(tmp_path, monkeypatch):
    path = tmp_path / "edited_since.py"
    path.write_text(EDITED.format(k=3))
    monkeypatch.syspath_prepend(tmp_path)
    edited_since = importlib.import_module("edited_since")
    path.write_text(EDITED.format(k=55))
    xs = list(range(300))
    for function in (edited_since.one, edited_since.two):
        assert pipe(xs, on="simd").map(function).to_list() == list(map(function, xs))
        [barrier] = pipe(xs).map(function).explain().pipelines[0].barriers
        assert "has changed since it was defined" in barrier.reason
    assert hastega(edited_since.comp, on="simd")(xs) == edited_since.comp(xs)
    del sys.modules["edited_since"]
    linecache.clearcache()
    again = importlib.import_module("edited_since")
    made = hastega(again.comp, on="simd")
    assert made(xs) == again.comp(xs) == [x * 55 + 1 for x in xs]
    assert made.explain().pipelines[0].loops == 1
    assert pipe(xs, on="simd").map(again.one).explain().pipelines[0].barriers == ()
    del sys.modules["edited_since"]


def test_strings_that_are_the_functions_name_stay():
    @hastega
    def total(xs):
        return {"total": sum(x * 2 for x in xs)}, "total"

    class Outer:
        class Inner:
            @hastega
            def by(self, xs):
                return "Inner.by", [x + 1 for x in xs]

    assert total(range(300)) == ({"total": 89_700}, "total")
    assert Outer.Inner().by(range(300)) == ("Inner.by", list(range(1, 301)))


def test_functions_of_one_line_are_told_apart():
    deeper, behind = (
        [str, (hastega(lambda xs: [x + 1 for x in xs]))][1], hastega(lambda xs: [x + 2 for x in xs])
    )  # fmt: skip
    with_default = hastega(lambda xs, key=lambda x: x + 1: sum(key(x) * 2 for x in xs))
    xs = list(range(300))
    assert (deeper(xs)[0], behind(xs)[0]) == (1, 2)
    assert with_default(xs) == sum((x + 1) * 2 for x in xs)
    assert all(each.explain().pipelines[0].loops == 1 for each in (deeper, behind, with_default))


WITHOUT_COLUMNS = """
from hastega_magic import hastega, pipe

xs = list(range(300))
made = [hastega(lambda xs: [x + 1 for x in xs]), hastega(lambda xs: [x + 2 for x in xs])]
assert [each(xs)[0] for each in made] == [1, 2]
added = [lambda x: x + 1, lambda x: x + 2]
assert [pipe(xs, on="simd").map(each).first() for each in added] == [1, 2]
alone = hastega(lambda xs: [x + 3 for x in xs])
assert alone(xs)[0] == 3 and alone.explain().pipelines[0].loops == 1
"""


def test_functions_of_one_line_are_not_mixed_up_where_python_keeps_no_columns(tmp_path):
    path = tmp_path / "without_columns.py"
    path.write_text(WITHOUT_COLUMNS)
    subprocess.run([sys.executable, "-X", "no_debug_ranges", path], check=True)


def test_a_module_that_is_read_anew_is_compiled_anew(tmp_path, monkeypatch):
    """Python keeps the text of a file that somebody has asked for."""
    path = tmp_path / "read_anew.py"
    path.write_text(EDITED.format(k=3))
    monkeypatch.syspath_prepend(tmp_path)
    module, xs = importlib.import_module("read_anew"), list(range(300))
    for k in (3, 55):
        path.write_text(EDITED.format(k=k))
        importlib.reload(module)
        made = hastega(module.comp, on="simd")
        assert made(xs) == [x * k + 1 for x in xs]
        assert made.explain().pipelines[0].loops == 1
        for function in (module.one, module.two):
            assert pipe(xs, on="simd").map(function).to_list() == list(map(function, xs))
            assert pipe(xs, on="simd").map(function).explain().pipelines[0].barriers == ()
    del sys.modules["read_anew"]


_IMPORTING = """
try:
    import math
except ImportError:
    math = None
from hastega_magic import hastega, pipe

@hastega
def piped(xs):
    s = sum(x * x for x in xs)
    return s + pipe(xs, strict=True).map(lambda x: math.sqrt(x)).sum()

@hastega
def nested(xs):
    def root(x):
        return math.floor(math.sqrt(x)) + 1
    return pipe(xs, strict=True).map(root).sum() + sum(xs[0:0])
"""


def test_functions_inside_that_call_an_imported_module_are_found(tmp_path, monkeypatch):
    """Python compiles such calls in another way where the text around imports the module."""
    (tmp_path / "importing.py").write_text(_IMPORTING)
    monkeypatch.syspath_prepend(tmp_path)
    module, xs = importlib.import_module("importing"), list(range(300))
    assert module.piped(xs) == pytest.approx(sum(x * x for x in xs) + sum(map(math.sqrt, xs)))
    assert module.nested(xs) == sum(math.isqrt(x) + 1 for x in xs)
