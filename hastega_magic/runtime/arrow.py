"""Arrow's C data interface: arrays of any library that exports them, read in place.

An object hands over a PyCapsule with a struct ArrowArray, or with a stream of such. Buffer 0 holds a bit for each
element that is not null, buffer 1 the values; both begin `offset` elements before the array does. Every NumPy array
made here keeps the struct behind it alive, and lets go of it when the last of them dies.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hastega_magic.errors import NotCompilable
from hastega_magic.records import dataclass
from hastega_magic.runtime.special_methods import has

AnyArray = npt.NDArray[Any]

_FORMATS = {
    "c": "int8", "s": "int16", "i": "int32", "l": "int64",
    "C": "uint8", "S": "uint16", "I": "uint32", "L": "uint64", "e": "float16", "f": "float32", "g": "float64",
}  # fmt: skip
_BITS = "b"

_KINDS = {
    "n": "nulls", "z": "bytes", "Z": "bytes", "vz": "bytes", "w": "bytes", "u": "strings", "U": "strings",
    "vu": "strings", "d": "decimals", "tD": "durations", "td": "dates", "tt": "times", "ts": "timestamps",
    "ti": "intervals", "+s": "records", "+m": "maps", "+u": "unions", "+r": "runs", "+": "lists",
}  # fmt: skip
"""Beginnings of formats whose elements are no numbers."""


class _Schema(ctypes.Structure):
    _fields_ = (
        ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p),
        ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p),
    )  # fmt: skip


class _Array(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p),
    )  # fmt: skip


class _Stream(ctypes.Structure):
    _fields_ = (
        ("get_schema", ctypes.c_void_p), ("get_next", ctypes.c_void_p), ("get_last_error", ctypes.c_void_p),
        ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p),
    )  # fmt: skip


_release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_next = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_error = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)
_pointer: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@dataclass(frozen=True)
class Stretch:
    """The values of one array: `memory` holds `count` of them; of bits, the bytes, the first one at bit `first`."""

    memory: AnyArray
    count: int
    first: int = 0


@dataclass(frozen=True)
class Exported:
    """What an object exported: its elements' type (`bits`: bools, eight in a byte), where they lie, missing ones."""

    dtype: np.dtype[Any]
    bits: bool
    stretches: Sequence[Stretch]
    nulls: int


class _Memory:
    """What a NumPy array is made of: an address, and whoever keeps it alive."""

    def __init__(self, address: int, count: int, dtype: str, owner: object) -> None:
        self.owner = owner
        self.__array_interface__: dict[str, Any] = {
            "shape": (count,), "typestr": np.dtype(dtype).str, "data": (address, True), "version": 3,
        }  # fmt: skip


class _Owned:
    """A struct that a stream filled in, to be released by us; others are their capsule's."""

    def __init__(self, kind: type[_Schema | _Array]) -> None:
        self.struct = kind()

    def __del__(self) -> None:
        if self.struct.release:
            _release(self.struct.release)(ctypes.addressof(self.struct))


def is_exported(data: object) -> bool:
    """Whether the object hands its memory over: told by its class, as the object may note what it is asked for."""
    return has(data, "__arrow_c_array__", "__arrow_c_stream__")


def read(data: Any) -> Exported:
    """The object's memory, without a copy; NotCompilable where its elements are no numbers."""
    try:
        if has(data, "__arrow_c_array__"):
            schema_capsule, capsule = data.__arrow_c_array__()
            schema = _Schema.from_address(_pointer(schema_capsule, b"arrow_schema"))
            arrays = [(_Array.from_address(_pointer(capsule, b"arrow_array")), capsule)]
            return _exported(schema, arrays, data)
        capsule = data.__arrow_c_stream__()
    except (NotImplementedError, TypeError, ValueError, ImportError) as error:
        raise NotCompilable(f"a {type(data).__name__} does not hand its memory over: {error}") from None
    stream = _Stream.from_address(_pointer(capsule, b"arrow_array_stream"))
    place = ctypes.addressof(stream)
    described = _Owned(_Schema)
    _checked(_next(stream.get_schema)(place, ctypes.addressof(described.struct)), stream)
    found: list[tuple[_Array, object]] = []
    while True:
        owned = _Owned(_Array)
        _checked(_next(stream.get_next)(place, ctypes.addressof(owned.struct)), stream)
        if not owned.struct.release:
            break
        assert isinstance(owned.struct, _Array)
        found.append((owned.struct, owned))
    assert isinstance(described.struct, _Schema)
    return _exported(described.struct, found, data)


def _checked(code: int, stream: _Stream) -> None:
    if code:
        told = _error(stream.get_last_error)(ctypes.addressof(stream)) if stream.get_last_error else None
        raise NotCompilable(f"its memory was not handed over: {(told or b'no reason given').decode()}")


def _exported(schema: _Schema, arrays: Sequence[tuple[_Array, object]], data: object) -> Exported:
    code = schema.format.decode()
    if schema.dictionary:
        raise NotCompilable("its elements are categories, and only numbers are compiled")
    extension = _extension(schema.metadata)
    if extension:
        raise NotCompilable(f"its elements are of the type {extension}, and only numbers are compiled")
    if code not in _FORMATS and code != _BITS:
        names = (_KINDS[code[:size]] for size in (2, 1) if code[:size] in _KINDS)
        kind = next(names, f"of the Arrow type {code}")
        if code[:1] == "w" and type(data).__module__.startswith("polars."):
            kind = "Python objects"  # polars has no bytes of one length
        raise NotCompilable(f"its elements are {kind}, and only numbers are compiled")
    bits = code == _BITS
    dtype = np.dtype(_FORMATS.get(code, "bool"))
    found = [_stretch(array, owner, dtype, bits) for array, owner in arrays]
    return Exported(dtype, bits, found, sum(_nulls(array, owner) for array, owner in arrays))


def _stretch(array: _Array, owner: object, dtype: np.dtype[Any], bits: bool) -> Stretch:
    count, offset = array.length, array.offset
    if not count:
        return Stretch(np.empty(0, np.uint8 if bits else dtype), 0)
    address = array.buffers[1]
    if bits:
        return Stretch(_bits(address, offset, count, owner), count, offset % 8)
    return Stretch(_array(address + offset * dtype.itemsize, count, dtype.name, owner), count)


def _nulls(array: _Array, owner: object) -> int:
    """Missing elements, counted where nobody has yet."""
    if array.null_count >= 0 or not array.length:
        return max(0, array.null_count)
    address = array.buffers[0] if array.n_buffers else None
    if not address:
        return 0
    memory = _bits(address, array.offset, array.length, owner)
    valid = np.unpackbits(memory, bitorder="little")[array.offset % 8 :][: array.length]
    return int(array.length - np.count_nonzero(valid))


def _bits(address: int, offset: int, count: int, owner: object) -> AnyArray:
    """The bytes that hold the bits from `offset` on."""
    return _array(address + offset // 8, -(-(offset % 8 + count) // 8), "uint8", owner)


def _array(address: int, count: int, dtype: str, owner: object) -> AnyArray:
    return np.asarray(_Memory(address, count, dtype, owner))


def _extension(metadata: int | None) -> str:
    """The name of an extension type: then the memory means something else than its format says."""
    if not metadata:
        return ""
    (pairs,) = struct.unpack("=i", ctypes.string_at(metadata, 4))
    at, texts = metadata + 4, list[bytes]()
    for _ in range(2 * pairs):
        (size,) = struct.unpack("=i", ctypes.string_at(at, 4))
        texts.append(ctypes.string_at(at + 4, size))
        at += 4 + size
    return dict(zip(texts[::2], texts[1::2], strict=True)).get(b"ARROW:extension:name", b"").decode()


__all__ = ["Exported", "Stretch", "is_exported", "read"]
