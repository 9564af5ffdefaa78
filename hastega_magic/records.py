"""Records: dataclasses that are made in a tenth of the time, and frozen ones with some fields changed.

The standard decorator writes up to six methods of a class as text and compiles them: 0.2 seconds for the classes that a
first cell meets, which makes no record of half of them. Here a method is written when it is first looked up.

Records are equal as tuples of their fields are, as standard ones were up to 3.12: with the very same NaN they are.
"""

from __future__ import annotations

import abc
import builtins
import dataclasses
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields, is_dataclass
from functools import cache, partial
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType, MemberDescriptorType
from typing import Any, ClassVar, Generic, Self, TypeVar, cast, dataclass_transform, get_origin, overload

T = TypeVar("T")
Own = TypeVar("Own")
V = TypeVar("V")


class cached_property(Generic[Own, V]):  # noqa: N801  as in functools
    """An attribute that is computed when it is first asked for, by several threads perhaps, and kept with the object.

    That of functools has a lock up to Python 3.11, one for all objects, which a process forked meanwhile finds taken.
    """

    def __init__(self, compute: Callable[[Own], V]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, owned: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, owned: Own, owner: type | None = None) -> V: ...
    def __get__(self, owned: Own | None, owner: type | None = None) -> V | Self:
        if owned is None:
            return self
        found = vars(owned)[self.name] = self.compute(owned)
        return found


@overload
@dataclass_transform(field_specifiers=(field, Field))
def dataclass(kind: type[T], /) -> type[T]: ...
@overload
@dataclass_transform(field_specifiers=(field, Field))
def dataclass(
    *, frozen: bool = False, eq: bool = True, repr: bool = True, slots: bool = False
) -> Callable[[type[T]], type[T]]: ...
def dataclass(
    kind: type[Any] | None = None,
    /,
    *,
    frozen: bool = False,
    eq: bool = True,
    repr: bool = True,  # noqa: A002  its name in the standard decorator
    slots: bool = False,
) -> Any:
    """The standard decorator of this name. `fields`, `replace`, `asdict` and patterns know what it makes.

    Without fields that `__init__` alone has (`InitVar`), and those that can be given by keyword only.
    """
    if kind is None:
        return partial(dataclass, frozen=frozen, eq=eq, repr=repr, slots=slots)
    if slots:  # another class takes its place, which the standard one knows how to make
        return dataclasses.dataclass(frozen=frozen, eq=eq, repr=repr, slots=True)(kind)
    own = set(vars(kind))
    if "__eq__" in own and vars(kind)["__hash__"] is None:
        own.remove("__hash__")  # Python has put that there
    _collect(kind)
    methods: dict[str, object] = {"__init__": _Written(kind, "__init__", _frozen_init if frozen else _init)}
    if repr:
        methods["__repr__"] = _shown
    if eq:
        methods["__eq__"] = _comparing(kind)
        methods["__hash__"] = _Written(kind, "__hash__", _hash) if frozen else None
    if frozen:
        methods["__setattr__"], methods["__delattr__"] = _refusing(kind)
    for name in methods.keys() - own:
        setattr(kind, name, methods[name])
    return kind


@dataclasses.dataclass(init=False, eq=False, repr=False)
class _Standard:
    """What the standard decorator leaves in a class of which it writes no method."""

    field: int


_OF_STANDARD = {
    name: vars(_Standard)[name] for name in ("__dataclass_params__", "__replace__") if name in vars(_Standard)
}
_MARK = "_field_type"
_REAL: object = attrgetter(_MARK)(fields(_Standard)[0])
"""How a field is marked that is no class variable."""


def _collect(kind: type[Any]) -> None:
    """Note the fields as the standard decorator does, which takes most of its time to ask what annotations mean."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__[1:]):
        found.update(vars(base).get("__dataclass_fields__", {}))
    for name, type_ in inspect.get_annotations(kind).items():
        if _is_of_class(type_):
            continue
        default: Any = getattr(kind, name, MISSING)
        if isinstance(default, MemberDescriptorType):  # of a base that has slots
            default = MISSING
        each: Any = cast("object", default) if isinstance(default, Field) else field(default=default)
        each.name, each.type, each.kw_only = name, type_, False
        setattr(each, _MARK, _REAL)
        if each.default.__class__.__hash__ is None:
            raise ValueError(f"mutable default {type(each.default)} for field {name}: use default_factory")
        found[name] = each
        if each is default:
            if each.default is MISSING:
                delattr(kind, name)
            else:
                setattr(kind, name, each.default)
    kind.__dataclass_fields__ = found
    for name, value in _OF_STANDARD.items():
        setattr(kind, name, value)
    if "__match_args__" not in vars(kind):
        kind.__match_args__ = tuple(each.name for each in found.values() if each.init)
    abc.update_abstractmethods(kind)


def _is_of_class(annotation: object) -> bool:
    """Whether it says `ClassVar`, as text or not."""
    if isinstance(annotation, str):
        return annotation.partition("[")[0].rpartition(".")[2] == "ClassVar"
    return annotation is ClassVar or get_origin(annotation) is ClassVar


def written(kind: type[T]) -> type[T]:
    """The class with its `__init__` written at once: for records that are first made when a cell runs again."""
    vars(kind)["__init__"].__get__(None, kind)
    return kind


class _Written:
    """A method that takes its own place in the class when it is first looked up."""

    def __init__(self, kind: type[Any], name: str, write: Callable[[type[Any]], Any]) -> None:
        self._kind, self._name, self._write = kind, name, write

    def __get__(self, record: object, kind: type[Any] | None = None) -> Any:
        made = self._kind
        method = self._write(made)
        method.__module__, method.__qualname__ = made.__module__, f"{made.__qualname__}.{self._name}"
        if vars(made).get(self._name) is self:
            setattr(made, self._name, method)
        return method.__get__(record, kind)


class _Made:
    """Stands for what a field's factory makes."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Made()
# Tracebacks know by the module's name whose frames these are.
_NAMES: dict[str, object] = {
    "_set_": object.__setattr__, "_made_": _MADE, "__name__": __name__, "__builtins__": builtins,
}  # fmt: skip


def _init(kind: type[Any], assign: str = "{0}.{1} = {2}") -> Any:
    """Of most classes the number of fields alone makes a difference to the text, so that few need be compiled."""
    found = [each for each in _fields(kind) if each.init or each.default_factory is not MISSING]
    names = {f"_{number}": each.name for number, each in enumerate(found)}
    record = "self" if "self" not in names.values() else "__dataclass_self__"
    arguments, body, defaults = [record], list[str](), list[object]()
    makers: dict[str, object] = {}
    for name, each in zip(names, found, strict=True):
        value, default = name, each.default
        if each.default_factory is not MISSING:
            makers[f"_make{name}"], default = each.default_factory, _MADE
            value = f"_make{name}() if {name} is _made_ else {name}" if each.init else f"_make{name}()"
        body.append(assign.format(record, name, value))
        if each.init:
            arguments.append(name)
            if default is not MISSING:
                defaults.append(default)
            elif defaults:
                raise TypeError(f"non-default argument {each.name!r} follows default argument")
    if hasattr(kind, "__post_init__"):
        body.append(f"{record}.__post_init__()")
    code = _code(f"__init__({', '.join(arguments)})", tuple(body), names)
    method = FunctionType(code, {**_NAMES, **makers} if makers else _NAMES, "__init__", tuple(defaults))
    method.__annotations__ = {each.name: each.type for each in found if each.init} | {"return": None}
    return method


def _frozen_init(kind: type[Any]) -> Any:
    return _init(kind, "_set_({0}, {1!r}, {2})")


def _hash(kind: type[Any]) -> Any:
    compared = (each for each in _fields(kind) if (each.compare if each.hash is None else each.hash))
    names = {f"_{number}": each.name for number, each in enumerate(compared)}
    values = "".join(f"self.{name}, " for name in names)
    return FunctionType(_code("__hash__(self)", (f"return hash(({values}))",), names), _NAMES, "__hash__")


def _code(head: str, body: tuple[str, ...], names: Mapping[str, str]) -> CodeType:
    """What a method does, with names for those that the text has.

    Compiling takes a hundred times as long as that, and most classes have a number of fields that others have too.
    """
    code = _template(head, body)

    def named(found: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple([names.get(each, each) for each in found])

    return code.replace(
        co_varnames=named(code.co_varnames), co_names=named(code.co_names), co_consts=named(code.co_consts)
    )


@cache
def _template(head: str, body: tuple[str, ...]) -> CodeType:
    whole = compile(
        f"def {head}:\n  " + "\n  ".join(body or ("pass",)), "<string>", "exec", dont_inherit=True
    )
    return next(each for each in whole.co_consts if isinstance(each, CodeType))


def _fields(kind: type[Any]) -> Collection[Field[Any]]:
    """As `fields` gives them, where there is no class variable among them."""
    return kind.__dataclass_fields__.values()


def _comparing(kind: type[Any]) -> Callable[[Any, object], bool]:
    """Written as text it would be twice as fast, but which records a cell compares is seen when it runs again."""
    names = [each.name for each in _fields(kind) if each.compare]
    # Of one name it would give what is no tuple, and numbers that are not equal to themselves would differ.
    values: Callable[[Any], object] = attrgetter(*names, *names[: len(names) == 1]) if names else type

    def equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


@recursive_repr()
def _shown(self: Any) -> str:
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({shown})"


def _refusing(kind: type[Any]) -> tuple[Callable[..., None], Callable[..., None]]:
    names = frozenset(each.name for each in _fields(kind))

    def assign(self: object, name: str, value: object) -> None:
        if type(self) is kind or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(kind, self).__setattr__(name, value)

    def delete(self: object, name: str) -> None:
        if type(self) is kind or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(kind, self).__delattr__(name)

    return assign, delete


def changed(record: T, **values: Any) -> T:
    """`dataclasses.replace` at a fifth of its price, for what every run of a cell does.

    `record` is a frozen dataclass whose fields live in its `__dict__`, and whose `__post_init__`, if it has one, has
    nothing to say of the new values: it is not called. Names are not checked. What else is kept with the record, as
    cached properties, is left behind.
    """
    kind = type(record)
    made = object.__new__(kind)
    own, names = vars(record), _names(kind)
    if len(own) > len(names):
        own = {name: own[name] for name in names}
    vars(made).update(own, **values)
    return made


@cache
def _names(kind: type) -> tuple[str, ...]:
    assert is_dataclass(kind)
    return tuple(each.name for each in fields(kind))


__all__ = ["cached_property", "changed", "dataclass", "written"]
