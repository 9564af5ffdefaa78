"""What several folders of tests share."""

import atexit
import contextlib
import gc
import hashlib
import math
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from at_once import same_at_once
from hypothesis import settings
from pocl_programs import program_of

from hastega_magic import interrupts
from hastega_magic.compiler.loops import clear_cache
from hastega_magic.interval import BIT, INT64, TOP, Interval, point
from hastega_magic.ir.expr import Expr, const, make
from hastega_magic.ops import OPS
from hastega_magic.runtime import cpu, opencl
from hastega_magic.types import BOOL, INT

# Tests are of compiled code, also over few elements, unless they say otherwise; processes that they start inherit this.
os.environ.setdefault("HASTEGA_AUTO", "parallel")
# Where Python keeps no bytecode, each of them compiles the package anew, for a second.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# No test reads or writes the user's own figures; what PoCL has compiled may stay where it is.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
os.environ.setdefault("POCL_CACHE_DIR", str(_CACHE / "pocl" / "kcache"))
_OWN, _OWNER = tempfile.mkdtemp(prefix="hastega-tests-"), os.getpid()
os.environ["XDG_CACHE_HOME"] = _OWN


# jsonschema, which nbformat reads notebooks with, makes forty grammars of addresses where it finds this: three seconds.
sys.modules.setdefault("rfc3987_syntax", None)  # pyright: ignore[reportArgumentType]

_IMAGES = "HASTEGA_TEST_IMAGES"
"""The folder of machine code that tests have had made of a text: another test, of whatever process, takes that."""
_SHARES = _IMAGES in os.environ
os.environ.setdefault(_IMAGES, tempfile.mkdtemp(prefix="hastega-images-"))


@atexit.register
def _tidy() -> None:
    if os.getpid() == _OWNER:  # a process that tests fork leaves it
        shutil.rmtree(_OWN, ignore_errors=True)
        if not _SHARES:
            shutil.rmtree(os.environ[_IMAGES], ignore_errors=True)


@pytest.fixture(autouse=True, scope="session")
def _images() -> Iterator[None]:
    """LLVM makes the same of the same text, and a third of what tests compile has been compiled before."""
    make, folder = cpu.image_of, Path(os.environ[_IMAGES])

    def image_of(text: str) -> bytes:
        file = folder / hashlib.sha256(f"{cpu.host()}\n{text}".encode()).hexdigest()
        with contextlib.suppress(FileNotFoundError):
            return file.read_bytes()
        image = make(text)
        own = file.with_suffix(f".{os.getpid()}")
        own.write_bytes(image)
        own.replace(file)
        return image

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "image_of", image_of)
        yield


@pytest.fixture(autouse=True, scope="session")
def _short_headers() -> Iterator[None]:
    """PoCL reads a megabyte of declarations in front of each program, longer than it then compiles it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opencl, "program_of", partial(program_of, opencl.program_of))
        yield


_SIGNALS = interrupts._OTHERS


@pytest.fixture(autouse=True, scope="session")
def _only_ctrl_c() -> Iterator[None]:
    """That tests may take only so long is no handler of the user's, which has LLVM work on a thread of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interrupts, "_OTHERS", ())
        yield


@pytest.fixture
def signals_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Handlers of all signals count, which these tests set themselves."""
    monkeypatch.setattr(interrupts, "_OTHERS", _SIGNALS)


@pytest.fixture
def nothing_compiled() -> None:
    """A full cache lets go of a loop for each that is compiled, so that their number says nothing."""
    clear_cache()


@pytest.fixture
def unlisted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports without assembly, for tests that do not read it: to take it apart takes its time."""
    monkeypatch.setattr(cpu, "listing", lambda text: cpu.Listing("", ()))


# What runs in the background of a script is begun without Ctrl-C, which tests send themselves and their processes.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Ten thousand tests stay until the end: looking through them would make each `gc.collect` take a second."""
    gc.collect()
    gc.freeze()


settings.register_profile("short", deadline=None, max_examples=10)
settings.load_profile("short")


class RowBuilder:
    """A Builder for rows' rules; ranges of leaves are given, those of nodes follow, clamped to int64."""

    def __init__(
        self,
        ranges: Mapping[Expr, Interval] | None = None,
        estimates: bool = False,
        serial: bool = False,
    ) -> None:
        self.ranges = dict(ranges or {})
        self.estimates, self.serial = estimates, serial

    def op(self, name: str, *args: Expr) -> Expr:
        return make(name, *args)

    def const(self, value, type_=None) -> Expr:
        return const(value, type_)

    def range_of(self, term: Expr) -> Interval:
        if term not in self.ranges:
            self.ranges[term] = self._infer(term)
        return self.ranges[term]

    def _infer(self, term: Expr) -> Interval:
        if term.op == "const" and isinstance(term.value, int):
            return point(int(term.value))
        if term.type is BOOL:
            return BIT
        rule = OPS[term.op].range if term.args else None
        if term.type is not INT or rule is None:
            return TOP
        return rule(*(self.range_of(arg) for arg in term.args)).meet(INT64)


@pytest.fixture(scope="session")
def builder_class() -> type[RowBuilder]:
    return RowBuilder


def identical(a, b) -> bool:
    """Equal, of one type, and for floats also of one sign; NaN is NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple | list):
        return len(a) == len(b) and (
            same_at_once(a, b) or all(identical(*pair) for pair in zip(a, b, strict=True))
        )
    if a != a and b != b:
        return True
    return bool(a == b) and (
        not isinstance(a, float | np.floating) or math.copysign(1, a) == math.copysign(1, b)
    )


@pytest.fixture(scope="session")
def same():
    return identical


@pytest.fixture
def settled() -> Iterator[None]:
    """No garbage is found meanwhile: an interrupt that comes as it is let go of is lost."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
