"""The battery runs on every back end."""

import battery
import pytest

from hastega_magic.compiler.choice import costs
from hastega_magic.cost.learned import Learned

BACKENDS = ("parallel", "opencl")

WHOLE = ("test_errors", "test_facts", "test_integers", "test_sources", "test_structure")
"""Modules whose tests all run on every back end; the others choose for themselves."""

REPORTING = ("test_complex", "test_links", "test_running", "test_snapshots", "test_wide")
"""Modules that read reports. Listings take half of a short cell's time, so the others do without."""


def _module(module):
    return module.__name__.rpartition(".")[2]


def pytest_generate_tests(metafunc):
    if _module(metafunc.module) in WHOLE:
        metafunc.parametrize("backend", BACKENDS, indirect=True)


@pytest.fixture(autouse=True)
def backend(request):
    """The back end that cells of the test run on."""
    name = getattr(request, "param", "auto")
    if name == "opencl":
        pytest.importorskip("pyopencl")
    with battery.on_backend(name, quiet=_module(request.module) not in REPORTING):
        yield name


@pytest.fixture
def on(monkeypatch):
    """Let the process believe that it runs on a machine."""
    monkeypatch.delenv(costs.AUTO)

    def use(found):
        monkeypatch.setattr(costs._KNOWN, "machine", found)
        monkeypatch.setattr(costs._KNOWN, "learned", Learned(calibrated=found.calibrated if found else ""))
        return found

    return use
