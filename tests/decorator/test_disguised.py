"""Objects that notice being looked at, and modules that compute what they are asked for: Python's, with no question."""

from __future__ import annotations

import importlib.util
import sys
import types
import warnings
from typing import Any

import pytest

from hastega_magic import hastega, pipe

asked: list[str] = []


class Base:
    k = 3

    def __getitem__(self, place: int) -> int:
        return place

    def __len__(self) -> int:
        return 3

    def __call__(self, x: int) -> int:
        return x


class Watched(Base):
    def __getattribute__(self, name: str) -> Any:
        asked.append(name)
        return object.__getattribute__(self, name)


class Proxy(Base):
    @property
    def __class__(self) -> Any:
        asked.append("__class__")
        return int


class Answering(Base):
    def __getattr__(self, name: str) -> Any:
        asked.append(name)
        raise AttributeError(name)


class Gone(Answering):
    def __iter__(self) -> Any:
        return iter(range(300))


FUNCTIONS: list[Any] = [
    lambda xs, o: [x * pair[1] for pair in [(o, 4)] for x in xs],
    lambda xs, o: [x * (o, 4)[1] for x in xs],
    lambda xs, o: [x for x in xs if x >= 0 or o],
    lambda xs, o: [x * o.k for x in xs],
    lambda xs, o: [o[x] for x in xs],
    lambda xs, o: [x + len(o) for x in xs],
    lambda xs, o: list(map(o, xs)),
    lambda xs, o: [o(x) for x in xs],
    lambda xs, o: sum(x for x in xs if o is not None),
    lambda xs, o: [x if x >= 0 else o.other for x in xs],
    lambda xs, o: [x for x in [o] * len(xs)],  # noqa: C416
    lambda xs, o: [x in (o, 5) for x in xs],
    lambda xs, o: [x == o for x in xs],
    lambda xs, o: max(xs, key=lambda x: x if o is not None else 0),
    lambda xs, o: [x for row in [xs, xs] for x in row if o],
    lambda xs, o: [isinstance(o, int) and x for x in xs],
    lambda xs, o: [each is o for each in [o] * len(xs)],
]


@pytest.mark.parametrize("kind", [Watched, Proxy, Answering, Gone])
@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_they_are_asked_as_often_as_by_python(kind: Any, number: int) -> None:
    function, given, xs = FUNCTIONS[number], kind(), list(range(300))
    asked.clear()
    expected, questions = repr(function(xs, given)), list(asked)
    decorated = hastega(function)
    for _ in range(3):
        asked.clear()
        assert repr(decorated(xs, given)) == expected
        assert asked == questions


module: Any = types.ModuleType("module")


def by_module(xs: list[int]) -> list[int]:
    return [x * module.k for x in xs]


def test_what_a_module_computes_is_computed_again() -> None:
    decorated, xs = hastega(by_module), list(range(300))
    given = iter(range(10**6))
    module.__getattr__ = lambda name: 42
    assert decorated(xs) == by_module(xs) == [x * 42 for x in xs]
    module.k = 3
    for _ in range(3):
        assert decorated(xs) == [x * 3 for x in xs]
    del module.k
    assert decorated(xs) == [x * 42 for x in xs]
    module.__getattr__ = lambda name: next(given)
    assert decorated(xs) == [x * x for x in xs]
    assert pipe(range(300)).map(lambda x: x * module.j).to_list()[1] == 301
    del module.__getattr__
    with pytest.raises(AttributeError, match="module 'module' has no attribute 'k'"):
        decorated(xs)


def test_a_module_whose_class_computes() -> None:
    class Computing(types.ModuleType):
        @property
        def k(self) -> int:
            return rate

    made, rate = Computing("made"), 2

    def scaled(xs: list[int]) -> list[int]:
        return [x * made.k for x in xs]

    decorated, xs = hastega(scaled), list(range(300))
    assert decorated(xs)[1] == 2
    rate = 5
    assert decorated(xs)[1] == 5


def test_warnings_of_a_module_are_those_of_python() -> None:
    def old(name: str) -> int:
        warnings.warn(name, DeprecationWarning, stacklevel=2)
        return 2

    package: Any = types.ModuleType("package")
    package.__getattr__ = old

    def scaled(xs: list[int]) -> list[int]:
        return [x * package.OLD for x in xs]

    def unread(xs: list[int]) -> list[int]:
        return [x if x >= 0 else x * package.OLD for x in xs]

    for function, times in ((scaled, 300), (unread, 0)):
        decorated = hastega(function)
        for _ in range(2):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                decorated(list(range(300)))
            assert [each.filename for each in caught] == [__file__] * times


def test_a_module_that_is_loaded_late_is_not_loaded(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loaded_late.py").write_text("K = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    spec = importlib.util.find_spec("loaded_late")
    assert spec is not None
    assert spec.loader is not None
    spec.loader = importlib.util.LazyLoader(spec.loader)
    late: Any = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "loaded_late", late)
    spec.loader.exec_module(late)

    def unread(xs: list[int]) -> list[int]:
        return [x if x >= 0 else x * late.K for x in xs]

    assert hastega(unread)(list(range(300))) == list(range(300))
    assert type(late).__name__ == "_LazyModule"


holder: Any = (None, 4)
listed: Any = [4, 4, None]
named: Any = types.SimpleNamespace(a=None)


def by_tuple(xs: list[int]) -> list[int]:
    return [x * holder[1] for x in xs]


def by_list(xs: list[int]) -> list[int]:
    return [x * listed[1] for x in xs]


def by_attribute(xs: list[int]) -> list[int]:
    return [x if x >= 0 else named.a for x in xs]


@pytest.mark.parametrize("function", [by_tuple, by_list, by_attribute])
@pytest.mark.parametrize("kind", [Watched, Proxy])
def test_those_inside_others_are_not_asked(function: Any, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given, xs = kind(), list(range(300))
    monkeypatch.setattr(sys.modules[__name__], "holder", (given, 4))
    monkeypatch.setattr(sys.modules[__name__], "listed", [4, 4, given])
    monkeypatch.setattr(named, "a", given)
    decorated = hastega(function)
    asked.clear()
    for _ in range(3):
        assert decorated(xs) == function(xs)
    assert asked == []
