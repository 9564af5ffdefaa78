"""Cells whose loops hand their elements on in pieces, run over the same arrays, with what is told of them."""

import math
import warnings

import numpy as np

from hastega_magic.compiler.streaming import chain, stream_results
from hastega_magic.session import Options, Session

N = 100_003
RANDOM = np.random.default_rng(7)
FLOATS = RANDOM.normal(size=N) * 100
ODD = FLOATS.copy()
ODD[::1000] = np.nan
ODD[5::997] = -0.0
ODD[6::997] = 0.0
LARGE = np.full(N, 2**40)
LARGE[60_000:] = 2**62
NAMES = {
    "ints": RANDOM.integers(-1000, 1000, N),
    "floats": FLOATS,
    "odd": ODD,
    "zeros": np.where(np.arange(N) % 50_000 == 49_999, -0.0, 0.0),
    "small": FLOATS.astype(np.float32),
    "bits": RANDOM.random(N) < 0.5,
    "few": RANDOM.integers(0, 200, N, dtype=np.uint8),
    "large": LARGE,
    "listed": RANDOM.integers(-9, 9, N).tolist(),
    "back": np.arange(2 * N)[::-2],
    "math": math,
    "np": np,
    "N": N,
}
SMALL = 3 * 4096
"""Elements of a piece."""


def run(cell, long=None, **options):
    """What the cell leaves, or raises, with the sentences about pieces; loops over `long` elements hand on."""
    names, found = dict(NAMES), None
    session = Session(
        names, Options(**{"on": "parallel", "threads": 2, "baseline": False, "quiet": True} | options)
    )
    before = chain.LONG, chain.PIECE, stream_results._LARGEST
    if long is not None:
        chain.LONG = chain.PIECE = stream_results._LARGEST = long
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                session.run_cell(cell)
                found = names["y"]
            except Exception as error:
                found = type(error), str(error), getattr(error, "__notes__", [])
    finally:
        chain.LONG, chain.PIECE, stream_results._LARGEST = before
    return found, [str(each.message) for each in warned]


def reported(cell, **options):
    """What is told of the cell's statement."""
    names = dict(NAMES)
    session = Session(names, Options(**{"on": "parallel", "threads": 2, "baseline": False} | options))
    (told,) = session.run_cell(cell).report.pipelines
    return told


def handed(cell, **options):
    """Whether the cell's loops hand on."""
    told = reported(cell, **options)
    return any("hands its elements on" in sentence for sentence in told.why)


def bits(value):
    """Equal for values that are the same bit by bit, and of the same type."""
    found, warned = value
    if isinstance(found, np.ndarray) and found.dtype == object:
        found = found.tolist()
    if isinstance(found, np.ndarray):
        return found.dtype.str, found.tobytes(), warned
    if isinstance(found, list):
        return [(type(each), repr(each)) for each in found], warned
    return type(found), found if isinstance(found, int) else repr(found), warned
