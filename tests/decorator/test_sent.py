"""Functions that are sent to other processes, as joblib and Dask send them: by value, with all that they call."""

import importlib
import linecache
import subprocess
import sys

import cloudpickle
import pytest
from IPython.core.interactiveshell import InteractiveShell

from hastega_magic import hastega
from hastega_magic.session import Options, Session

TEXT = """
k = 3
def comprehension(v): return [x * k for x in v if x > 2]
def consumer(v): return sum(x * k for x in v)
def whole(v): return max(v)
def added(v):
    t = 0
    for x in list(v):
        t += x * k
    return t
def piped(v): return (v |> map(_ * k) |> sum) + 1
"""
NAMES = ["comprehension", "consumer", "whole", "added", "piped"]
RUN = """
import sys, cloudpickle, numpy as np
functions = cloudpickle.loads(sys.stdin.buffer.read())
for source in (range(1000), list(range(1000)), np.arange(5000)):
    print([repr(f(source)) for f in functions])
"""


def elsewhere(functions):
    """What another process prints of them."""
    sent = cloudpickle.dumps(functions)
    ran = subprocess.run([sys.executable, "-c", RUN], input=sent, capture_output=True, check=True)
    return ran.stdout.decode().splitlines()


def here(functions):
    numpy = importlib.import_module("numpy")
    sources = range(1000), list(range(1000)), numpy.arange(5000)
    return [str([repr(f(source)) for f in functions]) for source in sources]


def test_functions_of_a_cell():
    session = Session({"__name__": "__main__"}, Options(baseline=False, quiet=True))
    session.run_cell(TEXT)
    functions = [session.namespace[name] for name in NAMES]
    before = elsewhere(functions)
    assert before == here(functions)  # which leaves compiled code behind them
    assert elsewhere(functions) == before


def test_decorated_functions():
    text = TEXT.replace("v |> map(_ * k) |> sum", "sum(map(lambda x: x * k, v))")
    file = "<sent>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"__name__": "__main__"}
    exec(compile(text, file, "exec"), names)
    functions = [hastega(names[name]) for name in NAMES]
    expected = here(functions)
    assert elsewhere(functions) == expected
    again = cloudpickle.loads(cloudpickle.dumps(functions))
    assert again[0].explain().pipelines == ()
    assert again[0](range(1000)) == functions[0](range(1000))
    assert again[0].explain().pipelines[0].loops == 1


def test_no_text_of_other_cells_is_sent():
    session = Session({"__name__": "__main__"}, Options(baseline=False, quiet=True))
    session.run_cell("word = 'of nobody else'\ndef first(v): return sum(x for x in v)")
    session.run_cell("def second(v): return max(x * 2 for x in v)")
    assert b"of nobody else" not in cloudpickle.dumps(session.namespace["second"])


@pytest.fixture
def shell():
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance()
    made.run_line_magic("load_ext", "hastega_magic")
    yield made
    InteractiveShell.clear_instance()


def test_functions_of_a_notebook(shell):
    shell.run_cell("%hastega on")
    shell.run_cell(TEXT)
    functions = [shell.user_ns[name] for name in NAMES]
    assert elsewhere(functions) == here(functions)
