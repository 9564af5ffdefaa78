"""Attributes of captured objects that are read without code of the user's: of instances, classes and named tuples."""

from __future__ import annotations

from types import FunctionType, MemberDescriptorType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple, cast

from hastega_magic.records import dataclass

ABSENT: Any = object()


class _Single(NamedTuple):
    only: int


_GENERIC: tuple[Any, ...] = (
    object.__getattribute__,
    cast(Any, tuple).__getattribute__,
    SimpleNamespace.__getattribute__,
)
_FIELD = cast("type[Any]", type(vars(_Single)["only"]))
_HEAP = 1 << 9
"""The flag of classes that are no part of the interpreter."""


@dataclass(frozen=True)
class Method:
    """A function of an instance's class."""

    function: FunctionType


def has_plain(owner: Any) -> bool:
    """Whether attributes of the object may be read here."""
    if is_disguised(owner):
        return False
    if isinstance(owner, type):
        return type(owner) is type and is_made(owner)
    kind = cast("type[Any]", type(owner))
    return (is_made(kind) or kind is SimpleNamespace) and kind.__getattribute__ in _GENERIC


_mro_of = type.__dict__["__mro__"].__get__
_dict_of = type.__dict__["__dict__"].__get__
_flags_of = type.__dict__["__flags__"].__get__
"""Of classes whatever their own class has to say."""


def is_disguised(value: object) -> bool:
    """Whether asking what an object is runs code of the user's: `isinstance` looks for `__class__`.

    So proxies pretend to be what they stand for, and modules that are loaded late are loaded.
    """
    kind = type(value)
    if not _flags_of(kind) & _HEAP:
        return False
    made = (_dict_of(each) for each in _mro_of(kind) if _flags_of(each) & _HEAP)
    return any("__class__" in each or _is_own(each.get("__getattribute__", _SLOT)) for each in made)


_SLOT = object.__getattribute__


def _is_own(getter: object) -> bool:
    """Whether it is no slot of a class that is written in C."""
    return type(getter) is not type(_SLOT)


def of_module(module: ModuleType, name: str) -> Any:
    """What a module holds by a name; ABSENT for what it would have to compute, or its class has."""
    found = _of_class(type(module), name)
    return module.__dict__.get(name, ABSENT) if found is ABSENT else ABSENT


def is_made(kind: type[Any]) -> bool:
    """Whether a `class` statement, or what does the same, has made the class."""
    return bool(kind.__flags__ & _HEAP)


def plain(owner: Any, name: str) -> Any:
    """The attribute's value, or a Method; ABSENT where reading it might run code, or fails."""
    if not has_plain(owner):
        return ABSENT
    if isinstance(owner, type):
        found = _of_class(owner, name)
        if issubclass(type(found), staticmethod):
            return found.__func__
        return found if type(found) is FunctionType or not _binds(found) else ABSENT
    found = _of_class(cast("type[Any]", type(owner)), name)
    if issubclass(type(found), (MemberDescriptorType, _FIELD)):
        return _held(found, owner)
    if hasattr(cast(Any, type(found)), "__set__") or hasattr(cast(Any, type(found)), "__delete__"):
        return ABSENT
    held: Any = fields_of(owner)
    if type(held) is dict and name in held:
        return cast(Any, held)[name]
    if type(found) is FunctionType:
        return Method(found)
    return ABSENT if _binds(found) else found


def fields_of(owner: object) -> Any:
    """What an object keeps its attributes in; nothing if it has only slots."""
    try:
        return object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}


def _held(place: Any, owner: object) -> Any:
    """What stands in a slot; ABSENT if nothing does, for which `getattr` would ask the class's `__getattr__`."""
    try:
        return place.__get__(owner)
    except AttributeError:
        return ABSENT


def is_named_tuple(kind: Any) -> bool:
    """Whether it is a class that `collections.namedtuple` or `typing.NamedTuple` made, as it was made."""
    if not isinstance(kind, type) or kind.__bases__ != (tuple,) or "_fields" not in vars(kind):
        return False
    new: Any = cast(Any, kind).__new__
    untouched = "__init__" not in vars(kind) and "__getattribute__" not in vars(kind)
    if not untouched or not str(getattr(new, "__globals__", {}).get("__name__", "")).startswith(
        "namedtuple_"
    ):
        return False
    fields = cast("tuple[str, ...]", vars(kind)["_fields"])
    return all(_is_field(vars(kind).get(name), place) for place, name in enumerate(fields))


def _is_field(found: Any, place: int) -> bool:
    return isinstance(found, _FIELD) and found.__reduce__()[1][0] == place


def parts_of_named_tuple(kind: Any) -> tuple[object, ...]:
    """What such a class makes its tuples with, and reads them with."""
    fields = cast("tuple[str, ...]", kind._fields)
    new: Any = kind.__new__
    own: Any = kind.__dict__
    return (
        new,
        getattr(new, "__defaults__", None),
        own.get("__init__"),
        own.get("__getattribute__"),
        fields,
        *map(own.get, fields),
    )


def _binds(value: Any) -> bool:
    return hasattr(cast(Any, type(value)), "__get__")


def _of_class(kind: type[Any], name: str) -> Any:
    for each in kind.__mro__:
        if name in vars(each):
            return vars(each)[name]
    return ABSENT


__all__ = [
    "ABSENT",
    "Method",
    "fields_of",
    "has_plain",
    "is_made",
    "is_named_tuple",
    "parts_of_named_tuple",
    "plain",
]
