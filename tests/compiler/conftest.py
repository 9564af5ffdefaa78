"""The battery runs on every back end."""

import battery
import pytest

BACKENDS = ("parallel", "opencl")

WHOLE = ("test_errors", "test_facts", "test_integers", "test_sources", "test_structure")
"""Modules whose tests all run on every back end; the others choose for themselves."""


def pytest_generate_tests(metafunc):
    if metafunc.module.__name__.rpartition(".")[2] in WHOLE:
        metafunc.parametrize("backend", BACKENDS, indirect=True)


@pytest.fixture(autouse=True)
def backend(request):
    """The back end that cells of the test run on."""
    name = getattr(request, "param", "auto")
    if name == "opencl":
        pytest.importorskip("pyopencl")
    with battery.on_backend(name):
        yield name
