"""Typical mistakes in the notebooks' exercises, and the sentences that help."""

DEVICE = "%%hastega --on opencl --device-memory 64 --no-baseline\n"
CELL = "%%hastega --no-baseline\n"

CLAMPED_BY_PYTHON = """\
def clamp(x):
    print(end='')
    return min(max(x, -100), 100)

get_ipython().run_cell_magic('hastega', '--no-baseline', 'clamped = noise |> map(clamp)')"""
FULL_VECTORS_ONLY = """\
def lockstep(trips, lanes):
    whole = len(trips) // lanes * lanes
    return sum(max(trips[i : i + lanes]) for i in range(0, whole, lanes))"""
ONE_DIGIT_LESS = """\
%%hastega --no-baseline
def digit_sum(n):
    total = 0
    while n > 9:
        total += n % 10
        n //= 10
    return total

digit_sums = range(10_000) |> map(digit_sum)"""
EDGES_BY_PYTHON = """\
def edge(place):
    i, j = divmod(place, COLUMNS - 1)
    print(end='')
    return abs(image[i, j] - image[i, j + 1])

get_ipython().run_cell_magic(
    'hastega', '--no-baseline', 'strength = range(ROWS * (COLUMNS - 1)) |> map(edge) |> sum')"""
SHIFTED_TOO_FAR = r"""
TIMES_9 = r"(%v\d+) = mul (<\d+ x i64>) splat \(i64 9\), (%v\d+)"
shifted = re.sub(TIMES_9, r"\1.by = shl \2 \3, splat (i64 9)\n  \1 = add \2 \1.by, \3", nines_kernel)"""

WRONG = {
    "tour": {
        "multiples": [
            (CELL + "sevens = range(0, 1_000_000, 7) |> sum", "their squares are asked for"),
            (CELL + "sevens = range(0, 1_000_000, 7) |> map(_ * _)", "end with a sink"),
            (CELL + "sevens = 0\nfor x in range(0, 10**6, 7):\n    sevens += x * x", "knows no pipeline"),
        ],
        "reading": [
            ("loops, barriers, stage = 1, 1, 'tap(len)'", "a barrier stands between two"),
            ("loops, barriers, stage = 2, 1, 'tap'", "Copy the stage with its argument"),
        ],
        "ends": [
            ("low, high = 0, 287", "The value for x = 0 is -10"),
            ("low, high = -10, 290", "it can be narrower"),
        ],
    },
    "simd": {
        "tails": [
            ("tail_vectors = lambda n, lanes, in_flight: n % (lanes * in_flight) // lanes", "70 elements leave 6"),
            ("tail_vectors = 3", "Write a function"),
        ],
        "clamping": [
            (CELL + "clamped = noise |> map(lambda x: x if x > -100 else -100)", "There is still an element"),
            (CELL + "clamped = noise |> filter(lambda x: -100 <= x <= 100)", "not dropped"),
            (CLAMPED_BY_PYTHON, "Python computed a part"),
        ],
        "boxes": [
            ("lanes_float64, lanes_float32 = vector['lanes'], vector['lanes']", "how often do they fit"),
        ],
    },
    "control": {
        "waiting": [
            ("lockstep = lambda trips, lanes: sum(trips)", "they make their turns at the same time"),
            ("lockstep = lambda trips, lanes: max(trips)", "Two lanes: the first vector makes 8 turns"),
            (FULL_VECTORS_ONLY, "The last vector may be shorter"),
        ],
        "adding": [
            (ONE_DIGIT_LESS, "The digits of 1 add up to 1, not to 0"),
            (CELL + "digit_sums = range(10_000) |> map(lambda n: sum(map(int, str(n))))", "Python computed a part"),
            (CELL + "digit_sums = range(1, 10_000) |> map(_ % 10)", "9999 results"),
        ],
        "longest": [
            (CELL + "champion = range(1, 100_000) |> map(length) |> max", "but which number is it"),
            (CELL + "champion = range(1, 100_000) |> map(length) |> argmax", "where does the range begin"),
            (CELL + "champion = 1 + (range(1, 10_000) |> map(length) |> argmax)", "There is one with more"),
        ],
    },
    "pictures": {
        "edges": [
            (
                CELL + "flat = image.ravel()\nstrength = range(ROWS * COLUMNS - 1) |> map(lambda p: "
                "abs(flat[p] - flat[p + 1])) |> sum",
                "no neighbour of the first one of the next",
            ),
            (EDGES_BY_PYTHON, "Python ran a stage"),
        ],
        "sell": [
            (
                CELL + "better = zip(spots, strikes, terms) |> map(lambda s, k, t: "
                "s > k * math.exp(-rate * t)) |> sum",
                "The other way round",
            ),
            ("better = 0", "It should be"),
        ],
    },
    "gpu": {
        "narrowing": [
            (DEVICE + "digits = xs |> map(lambda x: (7 * x * x + 3) % 10 * 1.0)", "8 bytes came back"),
            (DEVICE + "digits = xs |> map(lambda x: 7 * x * x + 3)", "not the last digits"),
        ],
        "making": [
            (DEVICE + "nothing_sent = threes |> map(lambda x: x * x % 1009) |> sum", "bytes were sent"),
        ],
        "bus": [
            ("seconds = lambda n, there, back: n * there / 50e9", "There and back"),
            ("seconds = lambda n, there, back: n * (there + back) / 50", "8 · 10⁹ bytes"),
        ],
    },
    "fusion": {
        "counting": [
            ("loops_with_taps, loops_without_taps = 7, 1", "only the taps cut"),
            ("loops_with_taps, loops_without_taps = 2, 1", "two cuts leave three pieces"),
        ],
        "unbarred": [
            (CELL + "fast = range(1000) |> map(price) |> map(lambda y: y * 2)", "there is a barrier"),
            (CELL + "fast = range(1000) |> map(lambda x: 100 + x * 7 % 13)", "and then twice that"),
        ],
        "once": [
            (
                CELL + "smallest = wave |> min\nprint(smallest)\ngreatest = wave |> max\n"
                "energy = wave |> map(_ * _) |> sum",
                "each loop goes over the array again",
            ),
            (
                CELL + "smallest = wave |> min\ngreatest = wave |> max\nenergy = wave |> sum",
                "not the sum of the squares",
            ),
        ],
    },
    "exact": {
        "roundup": [
            (CELL + "crates = bottles |> map(lambda x: x // 12 + 1)", "No bottles need no crate"),
            (CELL + "crates = bottles |> map(lambda x: x // 12)", "One bottle needs a crate"),
            ("import math\ncrates = [math.ceil(x / 12) for x in bottles]", "only 53 binary digits"),
        ],
        "cube": [
            ("first = 2**21 - 1", "still fits"),
            ("first = 2**63", "neither does that of"),
        ],
        "proving": [
            (
                CELL + "proved = wild |> zip(moduli) |> map(lambda x, m: x * x * x % m)",
                "Python had to compute them again",
            ),
            (CELL + "proved = wild |> zip(moduli) |> map(lambda x, m: x % m)", "differ from those of slow"),
        ],
    },
    "prototype": {
        "formula": [
            ("retargeted = plus_kernel.replace('splat (i64 1)', 'splat (i64 7)', 1)", "and once in the tail"),
            ("retargeted = plus_kernel", "The kernel computes what it did"),
            ("retargeted = plus_kernel.replace('add <', 'plus <')", "KernelError: LLVM says"),
        ],
        "shifts": [
            ("shifted = nines_kernel", "multiplications of vectors are left"),
            (SHIFTED_TOO_FAR, "a shift by k multiplies by 2 to the power of k"),
        ],
        "mistake": [
            ("first_wrong, how_many, part = 0, len(xs), 'main'", "only those that whole turns of the loop leave over"),
            ("first_wrong, how_many, part = len(xs) - 1, int((wrong_values != broken).sum()), 'tail'", "not the first"),
        ],
    },
}  # fmt: skip
"""By notebook and exercise: wrong answers, and what the check says to them."""
