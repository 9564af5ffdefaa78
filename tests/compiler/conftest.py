"""The battery runs on every back end."""

import zlib
from dataclasses import replace

import battery
import pytest
from in_pieces import SMALL

from hastega_magic.compiler.choice import costs
from hastega_magic.compiler.streaming import chain, stream_results
from hastega_magic.cost.learned import Learned
from hastega_magic.ir.verifier import VerificationError, verify_fused, verify_kernel, verify_pipeline
from hastega_magic.passes import pipelines
from hastega_magic.runtime import stream

BACKENDS = ("parallel", "opencl")

WHOLE = ("test_errors", "test_facts", "test_integers", "test_sources", "test_structure")
"""Modules whose tests all run on every back end; the others choose for themselves."""

REPORTING = ("test_complex", "test_links", "test_running", "test_snapshots", "test_wide")
"""Modules that read reports. Listings take half of a short cell's time, so the others do without."""


LISTING = (
    "test_auto",
    "test_edited",
    "test_edited_opencl",
    "test_instructions",
    "test_spellings",
    "test_stacked",
)
"""Others that read listings."""


def _module(module):
    return module.__name__.rpartition(".")[2]


def pytest_generate_tests(metafunc):
    if _module(metafunc.module) in WHOLE:
        metafunc.parametrize("backend", BACKENDS, indirect=True)


def _thinned(item):
    """Whether a case is left out: every other one of a table's that OpenCL, which compiles slowly, runs too."""
    spec = getattr(item, "callspec", None)
    if spec is None or item.module.__name__ not in {
        f"tests.compiler.{each}" for each in (*WHOLE, "test_running")
    }:
        return False
    table = len(spec.params) > 1 and spec.params.get("backend") == "opencl"
    return table and battery.EFFORT == 1 and zlib.crc32(item.name.encode()) % 2 == 1


def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if not _thinned(item)]


@pytest.fixture
def pieces(monkeypatch):
    """Pieces of some blocks, so that there are several of few elements."""
    for module in (stream, chain):
        monkeypatch.setattr(module, "PIECE", SMALL)
    monkeypatch.setattr(chain, "LONG", 2 * SMALL)
    monkeypatch.setattr(stream_results, "_LARGEST", 2 * SMALL)


@pytest.fixture(autouse=True)
def backend(request):
    """The back end that cells of the test run on."""
    name = getattr(request, "param", "auto")
    if name == "opencl":
        pytest.importorskip("pyopencl")
    if _module(request.module) not in (*REPORTING, *LISTING):
        request.getfixturevalue("unlisted")
    with battery.on_backend(name, quiet=_module(request.module) not in REPORTING):
        yield name


def _verify(each, before, after):
    """The forms that the pass made, by the rules of their levels."""
    if each is pipelines.FUSE:
        for pipeline in after.pipelines:
            verify_pipeline(pipeline)
    if after.fused is not before.fused:
        verify_fused(after.fused)
    if after.plain is not before.plain:
        verify_fused(replace(after.plain, ranges={}))  # of its new nodes they are inferred with the variants
    if after.kernel is not None:
        verify_kernel(after.kernel)


BROKEN: list[VerificationError] = []
"""What the verifier has found: Python may compute what a loop could not, and the test would pass."""


def _verified(each):
    run = each.run

    def checked(state):
        made = run(state)
        try:
            _verify(each, state, made)
        except VerificationError as error:
            BROKEN.append(error)
            raise
        return made

    return checked


@pytest.fixture(autouse=True, scope="session")
def verifier():
    """After each pass the verifier looks at what it made, from this folder's first test on."""
    with pytest.MonkeyPatch.context() as patch:
        for each in (*pipelines.ANALYSIS, *pipelines.CPU):
            patch.setitem(vars(each), "run", _verified(each))
        yield


@pytest.fixture(autouse=True)
def sound():
    """What was compiled was well formed."""
    yield
    found = BROKEN[:]
    BROKEN.clear()
    assert not found


@pytest.fixture
def on(monkeypatch):
    """Let the process believe that it runs on a machine."""
    monkeypatch.delenv(costs.AUTO)

    def use(found):
        monkeypatch.setattr(costs._KNOWN, "machine", found)
        monkeypatch.setattr(costs._KNOWN, "learned", Learned(calibrated=found.calibrated if found else ""))
        return found

    return use
