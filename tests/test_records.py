"""Records against the standard dataclasses of the same text, and when their methods are written."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import sys
import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, astuple, field, fields, is_dataclass, replace
from math import nan
from typing import Any, ClassVar

import pytest

from hastega_magic.records import cached_property, changed, dataclass, written

Made = dict[str, Any]


def _classes(dataclass: Callable[..., Any]) -> Made:
    @dataclass
    class Open:
        """Changes."""

        kinds: ClassVar[int] = 3
        x: int
        y: float = 0.5
        many: list[int] = field(default_factory=list)
        hidden: int = field(default=1, compare=False, repr=False)
        inner: dict[str, int] = field(default_factory=dict, init=False)
        fixed: int = field(default=7, init=False)

    @dataclass(frozen=True)
    class Frozen:
        """Does not."""

        x: int
        name: str = "n"
        unhashed: list[int] = field(default_factory=list, hash=False)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError(self.x)

        @cached_property
        def double(self) -> int:
            return 2 * self.x

    @dataclass(frozen=True)
    class Below(Frozen):
        """Has more."""

        z: int = 3

    @dataclass(frozen=True)
    class Empty:
        """Has nothing."""

    @dataclass(frozen=True)
    class One:
        """Has one."""

        x: object

    @dataclass(frozen=True, eq=False)
    class Itself:
        """Is equal to itself alone."""

        x: int

    @dataclass(frozen=True, repr=False)
    class Silent:
        """Shows itself otherwise."""

        x: int

        def __repr__(self) -> str:
            return "silent"

    @dataclass(frozen=True)
    class Own:
        """Compares as it will."""

        x: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __hash__(self) -> int:
            return 5

    @dataclass(frozen=True)
    class OwnEq:  # noqa: PLW1641  the decorator adds it
        """Compares as it will, and is hashed by its fields."""

        x: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, OwnEq)

    @dataclass(frozen=True, slots=True)
    class Slots:
        """Has no dictionary."""

        x: int

    @dataclass
    class Below2(Open):
        """Names a field of its base again, which keeps its default, and what is made has its place."""

        y: float
        last: list[int] = field(default_factory=list, init=False)

    @dataclass(frozen=True)
    class Slotted(Slots):
        """Has a dictionary beside the slots of its base."""

        many: list[int] = field(default_factory=list)

    @dataclass
    class Named:
        """Names that the text of `__init__` has, too."""

        self: int
        _1: int
        _0: str = "_1"
        _made_: list[int] = field(default_factory=list)
        _set_: int = 3

    @dataclass
    class Told:
        """Is told of what is assigned."""

        x: list[int] = field(default_factory=list)
        y: int = 1

        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, (name, value))

    class Plain(Open):
        """No dataclass itself, and its `__init__` goes on to that of one."""

        def __init__(self) -> None:
            super().__init__(4, many=[1])

    return {name: kind for name, kind in locals().items() if isinstance(kind, type)}


RECORDS, STANDARD = (_classes(each) for each in (dataclass, dataclasses.dataclass))
MADE: list[Callable[[Made], Any]] = [
    lambda c: c["Open"](1),
    lambda c: c["Open"](1, 2.0, [3], hidden=4),
    lambda c: c["Open"](x=1, many=[]),
    lambda c: c["Frozen"](1, "m"),
    lambda c: c["Frozen"](x=1, unhashed=[1]),
    lambda c: c["Below"](1, z=4),
    lambda c: c["Empty"](),
    *(
        [lambda c: c["One"](nan)] if sys.version_info < (3, 13) else []
    ),  # standard ones do not equal themselves since
    lambda c: c["One"](c["One"]("s")),
    lambda c: c["Itself"](1),
    lambda c: c["Silent"](1),
    lambda c: c["Own"](1),
    lambda c: c["OwnEq"](1),
    lambda c: c["Slots"](1),
    lambda c: c["Plain"](),
    lambda c: c["Below2"](1, inner={}),
    lambda c: c["Slotted"](1),
    lambda c: c["Slotted"](1, many=[2]),
    lambda c: c["Named"](1, 2),
    lambda c: c["Named"](self=1, _1=2, _made_=[3]),
    lambda c: c["Named"](1),
    lambda c: c["Open"](),
    lambda c: c["Open"](1, 2, 3, 4, 5),
    lambda c: c["Open"](1, inner={}),
    lambda c: c["Frozen"](-1),
    lambda c: c["Frozen"](1, nothing=2),
]


def _tried(do: Callable[[], object]) -> object:
    try:
        return do()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error)


def _facts(make: Callable[[Made], Any], classes: Made) -> list[object]:
    found = _tried(lambda: make(classes))
    if isinstance(found, tuple):
        return list(found)
    record: Any = found
    twin, name = make(classes), next((each.name for each in fields(record)), "x")
    facts: list[Callable[[], object]] = [
        lambda: repr(record),
        lambda: record == twin,
        lambda: record == copy.copy(record),
        lambda: record != twin,
        lambda: record == 1,
        lambda: hash(record) == hash(twin),
        lambda: type(record).__hash__ is None,
        lambda: asdict(record),
        lambda: astuple(record),
        lambda: type(record).__match_args__,
        lambda: str(inspect.signature(type(record))),
        lambda: type(record).__init__.__qualname__,
        lambda: replace(record, **{name: 11}) == replace(twin, **{name: 11}),
        lambda: repr(replace(record, **{name: 11})),
        lambda: setattr(record, name, 12),
        lambda: setattr(record, "another", 12),
        lambda: delattr(record, name),
        lambda: sorted(getattr(record, "__dict__", ())),
        lambda: record.double,
        lambda: is_dataclass(type(record)) and is_dataclass(record),
    ]
    return [_tried(each) for each in facts]


@pytest.mark.parametrize("make", MADE)
def test_records_are_as_standard_ones(make: Callable[[Made], Any]) -> None:
    assert _facts(make, RECORDS) == _facts(make, STANDARD)


@dataclass(frozen=True)
class Pair:
    """Two numbers."""

    x: int
    y: int = 2


@dataclass
class Chain:
    """May hold itself."""

    next: object = None


def test_they_are_pickled_matched_and_shown_within_themselves() -> None:
    assert pickle.loads(pickle.dumps(Pair(1))) == Pair(1)
    match Pair(1):
        case Pair(x, y):
            assert (x, y) == (1, 2)
    chain = Chain()
    chain.next = chain
    assert repr(chain) == "Chain(next=...)"


def test_a_frozen_record_refuses() -> None:
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        Pair(1).x = 3  # pyright: ignore[reportAttributeAccessIssue]
    assert changed(Pair(1), x=3) == Pair(3)


def test_methods_are_written_when_they_are_looked_up() -> None:
    @dataclass(frozen=True)
    class Late:
        """Nobody has made one yet."""

        x: int

    assert inspect.isfunction(vars(written(dataclass(type("Now", (), {}))))["__init__"])
    before = vars(Late)["__init__"]
    assert not inspect.isfunction(before)
    assert Late(1).x == 1
    assert inspect.isfunction(vars(Late)["__init__"])
    assert not inspect.isfunction(vars(Late)["__hash__"])
    assert {Late(1)} == {Late(1)}
    assert inspect.isfunction(vars(Late)["__hash__"])


def test_what_has_taken_the_place_of_a_method_stays() -> None:
    @dataclass
    class Kind:
        """Two threads look up its method at once, or somebody puts another there meanwhile."""

        x: int

    written = vars(Kind)["__init__"]
    Kind.__init__ = lambda self, x: setattr(self, "x", -x)
    record = Kind(1)
    assert record.x == -1
    written.__get__(record, Kind)(2)
    assert record.x == 2
    assert Kind(1).x == -1


@pytest.mark.parametrize(
    "made",
    [lambda c: c["Below2"](1), lambda c: c["Told"]([5]), lambda c: c["Told"](), lambda c: c["Named"](1, 2)],
)
def test_fields_are_assigned_as_by_standard_ones(made):
    own, standard = (list(vars(made(each)).items()) for each in (RECORDS, STANDARD))
    assert own == standard


def test_two_threads_compute_a_property_of_two_objects_at_once():
    inside, go = threading.Event(), threading.Event()

    class Slow:
        def __init__(self, waits: bool) -> None:
            self.waits, self.computed = waits, 0

        @cached_property
        def value(self) -> int:
            """A number."""
            self.computed += 1
            if self.waits:
                inside.set()
                go.wait(60)
            return 5

    first, second = Slow(True), Slow(False)
    thread = threading.Thread(target=lambda: first.value)
    thread.start()
    assert inside.wait(60)
    asker = threading.Thread(target=lambda: second.value, daemon=True)
    asker.start()
    asker.join(60)
    assert vars(second).get("value") == 5
    go.set()
    thread.join()
    assert (first.value, second.value, first.computed, second.computed) == (5, 5, 1, 1)
    assert Slow.value.__doc__ == "A number."
