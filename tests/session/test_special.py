"""Sources whose class says what they are, and not the object itself, which may answer to any name."""

import enum

import pytest

from hastega_magic.session import Options, Session


def run(text, on="parallel", **space):
    return Session(space, Options(baseline=False, on=on)).run_cell(text)


class Attributes(dict):
    __getattr__ = dict.get


class Refusing:
    def __init__(self, xs):
        self.xs = xs

    def __iter__(self):
        return iter(self.xs)

    def __getattr__(self, name):
        raise RuntimeError(name)


class Answering(list):
    def __getattr__(self, name):
        return lambda *_, **__: 42


@pytest.mark.parametrize("on", ["parallel", "numpy", "python"])
@pytest.mark.parametrize("kind", [Attributes, Refusing, Answering])
def test_what_an_object_is_its_class_tells(kind, on):
    """The object itself may answer to any name."""
    xs = kind({1: 2, 3: 4} if kind is Attributes else [1, 2, 3])
    assert run("xs |> map(lambda x: x + 1) |> to_list", on, xs=xs).value == [x + 1 for x in xs]
    assert run("xs |> sum", on, xs=xs).value == sum(xs)
    assert run("[1, 5] |> zip(xs) |> to_list", on, xs=xs).value == [*zip([1, 5], xs, strict=False)]
    with pytest.raises(TypeError, match="'Refusing' object is not iterable"):
        run("x |> sum", on, x=type("Refusing", (), {"__getattr__": Refusing.__getattr__})())


@pytest.mark.parametrize("on", ["parallel", "numpy", "python"])
def test_what_the_class_of_a_class_has_is_not_the_object_s(on):
    one = enum.Enum("Colour", "RED").RED  # whose class can be gone through, and has a length
    with pytest.raises(TypeError, match="not iterable") as raised:
        run("x |> map(lambda x: 1) |> to_list", on, x=one)
    assert "a single Colour" in raised.value.__notes__[0]


@pytest.mark.parametrize("on", ["parallel", "numpy", "python"])
def test_a_class_without_a_module_is_none_of_python_s(on):
    names = {}  # no `__name__`, so that the class says that it is of the builtins
    exec(
        "class Ending:\n    def __iter__(self):\n        yield from (1, 2, 3)\n        raise ValueError('more')",
        names,
    )
    names["xs"] = names["Ending"]()
    session = Session(names, Options(on=on, baseline=False))
    session.run_cell("found = xs |> take(2) |> to_list, xs |> step(2) |> any")
    assert names["found"] == ([1, 2], True)
