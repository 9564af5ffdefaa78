"""A damaged file of figures: no number in it can break a cell, or what is stored afterwards."""

import copy
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import GPU, machine

from hastega_magic.compiler.choice import costs, schedule_store
from hastega_magic.compiler.loops import clear_cache
from hastega_magic.cost.machine import Fit
from hastega_magic.cost.store import Store
from hastega_magic.session import Options, Session

CELLS = (
    "found = range(40_000) |> map(lambda x: x * 3 + 1) |> sum",
    "found = listed |> filter(lambda x: x % 3 == 0) |> to_list",
)
LISTED = list(range(3000))
EXPECTED = (sum(x * 3 + 1 for x in range(40_000)), LISTED[::3])


def numbers(data, path=()):
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from numbers(value, (*path, key))
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield path


def run(session, text, **options):
    session.run_cell(text, options=Options(baseline=False, **options))
    report = session.last_report
    return session.namespace["found"], report.to_text() + report.to_html()


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A store with a calibration, runs that taught something, and a schedule that was found; and its content."""
    there = machine(GPU, replace(GPU, number=1, shared=True, kind="cpu"))
    there = replace(there, fits=(Fit("list", "element", 1e-9, 1e-6, 0.9),))
    store = Store(tmp_path_factory.mktemp("cache"), there.identity)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(costs.AUTO)
        used(patch, store)
        assert costs.adopt(there)
        session = Session({"listed": LISTED}, Options(baseline=False))
        for text in CELLS * 2:
            run(session, text)
        run(session, CELLS[0], on="parallel", tune=True, tune_seconds=0.05)
        costs.save()
    schedule_store.forget()
    costs.forget()
    data = json.loads(store.file.read_text())
    assert data["learned"]["loops"]
    assert data["tuned"]
    return store, data


def used(patch, store):
    clear_cache()
    schedule_store.forget()
    for name, value in (("store", store), ("machine", None), ("learned", None), ("saved", 0.0)):
        patch.setattr(costs._KNOWN, name, value)


@settings(max_examples=25)
@given(st.data())
def test_no_number_in_the_file_breaks_a_cell(good, data):
    store, whole = good
    path = data.draw(st.sampled_from(list(numbers(whole))))
    changed = copy.deepcopy(whole)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = data.draw(st.sampled_from([0, -1, 1e308, 10**400, float("nan"), 5e-324, "x", None]))
    text = json.dumps(changed)
    store.file.write_text(data.draw(st.sampled_from([text, text.replace("NaN", "1e999")])))
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(costs.AUTO)
        used(patch, Store(store.place, store.identity))
        session = Session({"listed": LISTED}, Options(baseline=False))
        for _ in range(2):  # the second run teaches, and is written down
            for cell, expected in zip(CELLS, EXPECTED, strict=True):
                found, told = run(session, cell)
                assert found == expected
                assert not re.search(r"\d{30}", re.sub(r"base64,[^\"]*", "", told))
        run(session, CELLS[0], on="parallel")
        costs.machine()
        said = costs.store().said
        costs.note("a loop", "simd", 1000, 1.0, 2.0)
        costs.save()
        json.loads(store.file.read_text(), parse_constant=pytest.fail)
        if path[0] == "machine" and costs.machine().calibrated == "":
            assert "ignored" in said or costs.store().said == ""
    schedule_store.forget()
