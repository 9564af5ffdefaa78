"""Arrays that functions capture and that are others in each run: loops that are kept ready read the new ones."""

import numpy as np
import pytest
from outcomes import written

from hastega_magic import hastega, pipe
from hastega_magic.session import Options, Session

RANDOM = np.random.default_rng(11)


def session(names, **options):
    return Session(
        names, Options(**{"on": "parallel", "threads": 2, "baseline": False, "quiet": True} | options)
    )


LIFE = """
def rule(k):
    i = k // W
    j = k % W
    n = 0
    for di in range(-1, 2):
        for dj in range(-1, 2):
            if di != 0 or dj != 0:
                n += board[(i + di) % H, (j + dj) % W]
    return 1 if n == 3 or (n == 2 and board[i, j] == 1) else 0

seen = []
for turn in range(TURNS):
    board = (range(H * W) |> map(rule)).reshape(H, W)
    seen.append(board)
"""


def life(board):
    n = sum(np.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
    return ((n == 3) | ((n == 2) & (board == 1))).astype(int)


@pytest.mark.parametrize("shape", [(7, 9), (300, 240)])
def test_turns_of_a_simulation_need_no_compiler(shape, looked_for):
    board = (RANDOM.random(shape) < 0.3).astype(int)
    names = {"board": board, "H": shape[0], "W": shape[1], "TURNS": 12}
    session(names).run_cell(LIFE)
    for found in names["seen"]:
        board = life(board)
        assert np.array_equal(found, board)
    assert len(looked_for) <= 3


HEAT = "for turn in range(40):\n    x = range(N) |> map(lambda i: (x[(i - 1) % N] + x[(i + 1) % N]) * 0.5)\n"


@pytest.mark.parametrize("n", [5, 5000, 300_000])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_the_array_before_is_that_of_the_turn_before(n, dtype):
    x = (RANDOM.random(n) * 9).astype(dtype)
    names, expected = {"x": x, "N": n}, x
    session(names).run_cell(HEAT)
    for _ in range(40):
        half = np.float32(0.5) if expected.dtype == np.float32 else 0.5
        sums = np.roll(expected, 1) + np.roll(expected, -1)
        expected = sums * half
    assert names["x"].dtype == expected.dtype
    assert np.array_equal(names["x"], expected)


KINDS = [
    RANDOM.integers(0, 9, 50),
    RANDOM.integers(0, 9, 50),
    RANDOM.integers(0, 9, 40),
    RANDOM.integers(0, 9, 50).astype(np.uint8),
    RANDOM.random(50),
    RANDOM.integers(0, 9, 100)[::2],
    RANDOM.integers(0, 9, (50, 1)),
    RANDOM.integers(0, 9, 50).tolist(),
    RANDOM.integers(0, 9, 50).astype(">i8"),
    RANDOM.random(50) < 0.5,
    RANDOM.integers(0, 9, 50).astype(np.uint64),
    RANDOM.random(50) * 1j,
    np.zeros(0, np.int64),
    None,
]
STAGES = [
    "map(lambda i: table[i]) |> to_list",
    "map(lambda i: table[i] * 2 + len(table)) |> sum",
    "filter(lambda i: table[i] > 3) |> var",
    "map(lambda i: table[-i] + other[i]) |> max",
    "take_while(lambda i: table[i] < 8) |> count",
    "map(lambda i: table[i] + table[(i + 1) % 50]) |> cumsum |> last",
    "map(lambda i: table[i]) |> window(3) |> map(max) |> to_list",
]


@pytest.mark.parametrize("stages", STAGES)
def test_arrays_of_other_kinds_have_code_of_their_own(stages):
    """In any order, every kind after every other; beside each the same by a session that has seen nothing."""
    cell = f"def run():\n    return range(1, 40) |> {stages}\n"
    names = {"table": KINDS[0], "other": KINDS[1]}
    session(names).run_cell(cell)
    order = [*range(len(KINDS)), *RANDOM.permutation(2 * len(KINDS)) % len(KINDS), 0, 1, 0, 1]
    for number, other in zip(order, [*order[3:], *order[:3]], strict=True):
        fresh = {"table": KINDS[number], "other": KINDS[other]}
        names |= fresh
        session(fresh).run_cell(cell)
        assert written(names["run"]) == written(fresh["run"])


def test_one_array_under_two_names_may_become_two():
    a, b = RANDOM.integers(0, 9, 30), RANDOM.integers(0, 9, 30)
    names = {"a": a, "b": a}
    session(names).run_cell(
        "def run():\n    return range(30) |> map(lambda i: a[i] * 10 + b[i]) |> to_list\n"
    )
    for one, other in [(a, a), (a, b), (b, b), (b, a), (a, a)] * 2:
        names |= {"a": one, "b": other}
        assert names["run"]() == (one * 10 + other).tolist()


def test_an_array_that_something_else_holds_too():
    a, b = RANDOM.integers(0, 9, 30), RANDOM.integers(0, 9, 30)

    class Holder:
        pass

    names = {"a": a, "holder": Holder(), "pair": (a, 3)}
    names["holder"].table = a
    session(names).run_cell(
        "def kept(i, t=a):\n    return t[i]\n"
        "def one():\n    return range(30) |> map(lambda i: a[i] * 10 + holder.table[i]) |> to_list\n"
        "def two():\n    return range(30) |> map(lambda i: a[i] * 10 + pair[0][i]) |> to_list\n"
        "def three():\n    return range(30) |> map(lambda i: a[i] * 10 + kept(i)) |> to_list\n"
        "def four():\n    return a |> map(lambda x: x + a[x]) |> to_list\n"
    )
    for one in [a, b, a, b]:
        names["a"] = one
        for run in ("one", "two", "three"):
            assert names[run]() == (one * 10 + a).tolist()
        assert names["four"]() == (one + one[one]).tolist()


def test_shapes_and_elements_may_change_in_their_place():
    image = RANDOM.integers(0, 9, (6, 4))
    names = {"image": image}
    session(names).run_cell("def run(i):\n    return range(4) |> map(lambda j: image[i, j]) |> to_list\n")
    for _ in range(3):
        for rows in (
            image,
            RANDOM.integers(0, 9, (6, 4)),
            RANDOM.integers(0, 9, (4, 6)),
            image[:, :],
            image.T,
        ):
            names["image"] = rows
            for i in (0, 3):
                assert names["run"](i) == rows[i, :4].tolist()
            rows[0, 1] += 1
            assert names["run"](0) == rows[0, :4].tolist()
    image.shape = (4, 6)
    names["image"] = image
    assert names["run"](2) == image[2, :4].tolist()


def test_closures_of_functions_that_are_made_anew():
    names = {"pipe": pipe}
    session(names).run_cell(
        "def made(table, scale):\n    return range(20) |> map(lambda i: table[i] * scale) |> sum\n"
        "def twice(one, other):\n"
        "    f = lambda i: one[i]\n"
        "    g = lambda x: x + one[x % 20] + other[0]\n"
        "    return range(20) |> map(f) |> map(g) |> to_list\n"
    )
    for scale in range(12):
        table, other = RANDOM.integers(0, 9, 20), RANDOM.integers(0, 9, 20)
        assert names["made"](table, scale) == int(table.sum()) * scale
        assert names["twice"](table, other) == [x + table[x] + other[0] for x in table.tolist()]
        assert names["twice"](table, table) == [x + table[x] + table[0] for x in table.tolist()]


def test_decorated_functions():
    def total(table, n):
        return sum([table[i] * table[-i] for i in range(1, n)])

    def nearest(points, x):
        return [min(abs(points[i] - x) for i in range(len(points)))]

    one, other = hastega(total), hastega(nearest)
    for n in (10, 4000, 10, 200_000, 4000):
        for dtype in (np.int64, np.float64, np.int32, np.float32):
            table = (RANDOM.random(n) * 100).astype(dtype)
            found, expected = one(table, n), total(table, n)
            assert type(found) is type(expected)
            assert found == expected or np.isclose(found, expected, 1e-4)
            assert other(table, table[0]) == nearest(table, table[0])


def test_arrays_go_when_they_are_gone():
    """Of many arrays in many turns few stay."""
    import weakref

    names = {"x": np.arange(1000.0), "N": 1000, "seen": [], "ref": weakref.ref}
    session(names).run_cell(HEAT.replace("    x =", "    seen.append(ref(x))\n    x ="))
    assert sum(each() is not None for each in names["seen"]) <= 4


def test_arrays_are_told_apart_by_is():
    a = np.arange(5)
    names = {"a": a, "b": a}
    session(names).run_cell(
        "def run():\n    return range(5) |> map(lambda i: a[i] if a is b else -1) |> to_list\n"
    )
    for other, expected in [(a, [0, 1, 2, 3, 4]), (np.arange(5), [-1] * 5), (a, [0, 1, 2, 3, 4])] * 2:
        names["b"] = other
        assert names["run"]() == expected


def moved(array):
    """The same elements in memory that lies elsewhere, mostly; what lay there before is used again by what is given."""
    kept = array.copy()
    array.resize((1_000_000,), refcheck=False)
    others = [np.full(kept.shape, -1, kept.dtype) for _ in range(4)]
    array.resize(kept.shape, refcheck=False)
    array[...] = kept
    return others


@pytest.mark.parametrize("read", ["a", "holder.a", "pair[0]"])
@pytest.mark.parametrize("shape", [(10,), (5, 2)])
@pytest.mark.parametrize("n", [10, 100_000])
@pytest.mark.parametrize("end", ["sum", "to_list"])
def test_memory_that_moves(read, shape, n, end):
    class Holder:
        a = np.arange(10).reshape(shape).copy()

    a = Holder.a
    names = {"a": a, "holder": Holder, "pair": (a, 0), "N": n}
    place = "i % 10" if len(shape) == 1 else "i % 5, i % 2"
    session(names).run_cell(f"def run():\n    return range(N) |> map(lambda i: {read}[{place}]) |> {end}\n")
    names["run"](), names["run"]()
    for turn in range(4):
        a += turn
        others = moved(a)
        for _ in range(2):
            i = np.arange(n)
            expected = a[i % 10] if len(shape) == 1 else a[i % 5, i % 2]
            assert np.array_equal(names["run"](), getattr(expected, "tolist" if end == "to_list" else end)())
        del others


@pytest.mark.parametrize("read", ["a", "holder.a", "pair[0]"])
def test_types_and_dimensions_may_change_in_their_place(read):
    class Holder:
        a = np.arange(12) << 60

    a = Holder.a
    names = {"a": a, "holder": Holder, "pair": (a, 0)}
    session(names).run_cell(
        f"def element():\n    return range(3) |> map(lambda i: {read}[i]) |> to_list\n"
        f"def number():\n    return range(3) |> map(lambda i: len({read}) + {read}.ndim) |> to_list\n"
    )
    for dtype in ["int64", "float64", "uint64", ">i8", "int64", "float64"]:
        a.dtype = dtype
        for _ in range(2):
            assert repr(names["element"]()) == repr(a[:3].tolist())
    for shape in [(12,), (3, 4), (4, 3), (12,)]:
        a.shape = shape
        for _ in range(2):
            assert names["number"]() == [shape[0] + len(shape)] * 3
            assert np.array_equal(names["element"](), a[:3])


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ("a[x]", IndexError, "too many indices for array"),
        ("len(a) + x", TypeError, "len() of unsized object"),
        ("m[x]", TypeError, "invalid indexing of 0-dim memory"),
    ],
)
def test_an_array_without_dimensions_has_no_elements(body, error, words):
    names = {"xs": list(range(300)), "a": np.array(2), "m": memoryview(np.array(2))}
    with pytest.raises(error) as raised:
        session(names).run_cell(f"xs |> map(lambda x: {body}) |> to_list")
    assert words in str(raised.value)
    found = session(names).run_cell(f"xs |> map(lambda x: {body} if x < 0 else x) |> to_list").value
    assert found == names["xs"]
