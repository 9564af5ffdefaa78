"""Columns of other libraries: pandas and polars Series, Arrow arrays, plain and chunked, read where they lie.

None of these libraries is imported: their objects say where their memory is, by NumPy's interface or by Arrow's
(`runtime/arrow.py`). Their elements are Python's numbers, those that `to_list` and `to_pylist` give.

    one piece of bool bytes, ints or float64     a NumPy array over the very memory
    several pieces, Arrow's bits, float32        `Pieces`: made into arrays when a loop asks, a stretch at a time

An element that is missing is no number: `NullsError` says how many there are, and what to write instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast, overload

import numpy as np
import numpy.typing as npt

from hastega_magic.errors import HastegaError, NotCompilable
from hastega_magic.frames import reraise_signal
from hastega_magic.records import dataclass
from hastega_magic.runtime import arrow
from hastega_magic.runtime.special_methods import has
from hastega_magic.types import STORAGES

AnyArray = npt.NDArray[Any]

_STRETCH = 4096
"""Elements that become Python objects at a time."""

_FORMS = {
    "pandas": ("fillna", "dropna"), "polars": ("fill_null", "drop_nulls"), "pyarrow": ("fill_null", "drop_null"),
}  # fmt: skip
"""How missing elements are replaced, and left out."""


class NullsError(HastegaError, ValueError):
    """A source has missing elements; one sentence with their number and a form that works."""

    def _render_traceback_(self) -> list[str]:
        return [f"NullsError: {self}", *getattr(self, "__notes__", ())]


_FRAMES = {
    "pandas": "goes through the names of its columns",
    "polars": "goes through its columns, one Series after the other",
}
"""What iterating over a DataFrame gives."""


def names_alone(data: object) -> str:
    """What is said of an object that gives the names of what it holds, where its values may be meant; "" of others."""
    kind = type(data)
    if issubclass(kind, dict):
        return "a dict goes through its keys: `d.values() |> ...` goes through its values, `d.items()` through both"
    gives = _FRAMES.get(kind.__module__.partition(".")[0]) if kind.__name__ == "DataFrame" else None
    return f"a DataFrame {gives}: `df['name'] |> ...` goes through the values of one" if gives else ""


def not_read(data: object) -> str:
    """Why Python alone can give the elements of an object, and what of a DataFrame is read."""
    return names_alone(data) or f"the source is a {type(data).__name__}, whose elements only Python can give"


@dataclass(frozen=True)
class Part:
    """A stretch of memory: `count` elements; of `bits`, eight in a byte, the first is bit `first`."""

    memory: AnyArray
    count: int
    bits: bool = False
    first: int = 0

    def read(self, start: int, stop: int) -> AnyArray:
        """Elements `start` to `stop` in the type that they have there; bits as bools in new memory."""
        if not self.bits:
            return self.memory[start:stop]
        low, high = self.first + start, self.first + stop
        loose = np.unpackbits(self.memory[low // 8 : -(-high // 8)], bitorder="little")
        return loose[low % 8 : low % 8 + stop - start].view(np.bool_)


class Pieces(Sequence[object]):
    """Numbers of one type in several stretches, or in a type that loops do not read: a sequence of Python numbers."""

    def __init__(self, parts: Sequence[Part], dtype: npt.DTypeLike) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._parts = [part for part in parts if part.count]
        self._starts = np.cumsum([0, *(part.count for part in self._parts)]).tolist()

    def __len__(self) -> int:
        return self._starts[-1]

    def array(self, start: int, stop: int) -> AnyArray:
        """Elements `start` to `stop`, 0 <= start <= stop <= len: new memory unless they lie in one part as they are."""
        first = max(0, int(np.searchsorted(self._starts, start, side="right")) - 1)
        found: list[AnyArray] = []
        for part, origin in zip(self._parts[first:], self._starts[first:], strict=False):
            if origin >= stop:
                break
            found.append(part.read(max(start - origin, 0), min(stop - origin, part.count)))
        if len(found) == 1:
            return found[0].astype(self.dtype, copy=False)
        whole = np.empty(stop - start, self.dtype)
        at = 0
        for each in found:
            whole[at : at + len(each)] = each
            at += len(each)
        return whole

    @overload
    def __getitem__(self, index: int) -> object: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[object]: ...
    def __getitem__(self, index: int | slice) -> Any:
        """A number; or a stretch, in new memory as an array where it has a step."""
        if not isinstance(index, slice):
            place = range(len(self))[index]
            return self.array(place, place + 1).item()
        places = range(len(self))[index]
        if places.step != 1:
            low, high = (places[-1], places[0]) if places.step < 0 else (places.start, places.stop)
            if not places:
                return np.empty(0, self.dtype)
            return self.array(min(low, high), max(low, high) + (places.step < 0))[:: places.step]
        start, stop = places.start, max(places.start, places.stop)
        parts = zip(self._parts, self._starts, strict=False)
        cut = [
            _cut(part, max(start - at, 0), min(stop - at, part.count))
            for part, at in parts
            if at < stop and at + part.count > start
        ]
        return Pieces(cut, self.dtype)

    def __iter__(self) -> Iterator[object]:
        for start in range(0, len(self), _STRETCH):
            yield from self.array(start, min(start + _STRETCH, len(self))).tolist()

    def tolist(self) -> list[object]:
        """All elements as Python numbers."""
        return list(self)


def _cut(part: Part, start: int, stop: int) -> Part:
    if part.bits:
        return Part(part.memory, stop - start, True, part.first + start)
    return Part(part.memory[start:stop], stop - start)


def is_columnar(data: object) -> bool:
    """Whether it is a Series, an index or an array of pandas, one of polars or Arrow (of any library), or `Pieces`."""
    if type(data) in (list, tuple, range, np.ndarray, dict, set, str):
        return False
    if isinstance(data, Pieces):
        return True
    match _library(data):
        case "numpy":
            return False
        case "pandas":
            # Of its class: a frame has columns of any name.
            return hasattr(type(data), "isna") and hasattr(type(data), "dtype")
        case "polars":
            return hasattr(data, "dtype") and has(data, "__arrow_c_stream__")
        case _:
            if not arrow.is_exported(data):
                return False
            return (hasattr(data, "type") or hasattr(data, "dtype")) and has(data, "__len__")


def may_give_numbers(data: object) -> bool:
    """Whether the object's library is one whose objects may (`gives_numbers`); asks the object for nothing."""
    return _library(data) in ("pandas", "polars")


def gives_numbers(data: Any) -> bool:
    """Whether iterating over the object gives Python's own numbers, as its `to_list` does: told by its first element.

    False for objects without elements, for those that cannot be iterated over, for Arrow's arrays, which give scalars
    of their own, for sparse ones, which give what they are filled with as it is and scalars of NumPy between, and for
    what derives from a Series elsewhere: it may be gone through in its own way.
    """
    if not may_give_numbers(data) or not is_columnar(data) or not len(data):
        return False
    if hasattr(data.dtype, "fill_value"):
        return False
    try:
        first: object = data[0] if _library(data) == "polars" else next(iter(data))
    except Exception as error:  # whatever it is, Python will find it too
        reraise_signal(error)
        return False
    return type(first) in (int, float, bool)


def memory_of(data: object, name: str) -> AnyArray | Pieces:
    """The numbers of an object for which `is_columnar` holds: a view of its memory, or pieces of it.

    NullsError where elements are missing, NotCompilable where they are no numbers.
    """
    if isinstance(data, Pieces):
        return data
    if _library(data) == "pandas":
        return _of_pandas(data, name)
    exported = arrow.read(data)
    if exported.nulls:
        raise _nulls(data, name, exported.nulls, exported.bits)
    if exported.dtype.name not in STORAGES:
        raise NotCompilable(f"elements of type {exported.dtype} are not compiled")
    parts = [Part(each.memory, each.count, exported.bits, each.first) for each in exported.stretches]
    if exported.bits:
        return Pieces(parts, np.bool_)
    if len(parts) == 1:
        return widened(parts[0].memory)
    return Pieces(parts, _wide(exported.dtype))


def numbers(data: object) -> object:
    """Something whose elements are Python's numbers where the object is columnar and holds numbers; else the object.

    Arrow's arrays with missing elements, and of other types, are lists; so are those of pandas with missing ones,
    between which iterating gives NumPy's scalars.
    """
    if not is_columnar(data):
        return data
    try:
        return memory_of(data, "")
    except (NotCompilable, NullsError) as error:
        given: Any = data
        if hasattr(given, "to_pylist"):
            return given.to_pylist()
        masked = isinstance(error, NullsError) and _library(data) == "pandas"
        return given.tolist() if masked else data


def _of_pandas(data: Any, name: str) -> AnyArray | Pieces:
    dtype: Any = data.dtype
    if isinstance(dtype, np.dtype):
        if cast("np.dtype[Any]", dtype).name not in {*STORAGES, "complex128"}:
            raise NotCompilable(f"elements of type {dtype} are not compiled")
        return widened(cast(AnyArray, data.to_numpy()))
    if getattr(dtype, "kind", "O") not in "biuf":
        raise NotCompilable(f"elements of type {dtype} are not compiled")
    missing = int(data.isna().sum())
    if missing:
        raise _nulls(data, name, missing, dtype.kind == "b")
    if hasattr(dtype, "pyarrow_dtype"):
        return memory_of(getattr(data, "array", data).__arrow_array__(), name)
    return widened(cast(AnyArray, data.to_numpy(dtype=getattr(dtype, "numpy_dtype", None), copy=False)))


def widened(memory: AnyArray) -> AnyArray | Pieces:
    """Memory whose elements Python reads as its own numbers: floats of 32 bits become 64 wide as a loop reads them."""
    return Pieces([Part(memory, len(memory))], np.float64) if memory.dtype.name == "float32" else memory


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.float64) if dtype == np.float32 else dtype


def _nulls(data: object, name: str, count: int, bools: bool) -> NullsError:
    kind = type(data).__name__
    unnamed = name in ("", kind, f"the {kind}")
    subject = f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind}" if unnamed else f"`{name}`"
    text = "" if unnamed else f"({name})" if " " in name else name
    nulls, are, them = ("null", "is", "it") if count == 1 else ("nulls", "are", "them")
    told = f"{subject} holds {count} {nulls}, which {are} no number"
    if _library(data) not in _FORMS:
        return NullsError(f"{told}: fill {them} first")
    fill, drop = _FORMS[_library(data)]
    return NullsError(
        f"{told}: write `{text}.{fill}({0 if not bools else False})`, or `{text}.{drop}()` without {them}"
    )


_module_of = type.__dict__["__module__"].__get__
"""What a class was made in. It is asked like this since a class or its metaclass may have any `__module__`."""


def _library(data: object) -> str:
    try:
        module: object = _module_of(type(data))
    except AttributeError:
        return ""
    return module.partition(".")[0] if isinstance(module, str) else ""


__all__ = [
    "NullsError",
    "Part",
    "Pieces",
    "gives_numbers",
    "is_columnar",
    "may_give_numbers",
    "memory_of",
    "not_read",
    "numbers",
    "widened",
]
