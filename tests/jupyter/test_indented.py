"""Cells that are indented as a whole, as IPython takes those without a magic."""


def test_an_indented_cell_runs_as_any_other(notebook):
    assert notebook("    r = [1, 2] |> map(_ + 1) |> sum\n    r", "--quiet").out == "Out[1]: 5\n"
    assert notebook(
        "\n\n  # first\n  def f(x):\n      return x * 2\n\n  [1, 2] |> map(f) |> sum", "--quiet"
    ).out.endswith(": 6\n")


def test_an_indented_cell_has_its_caret_under_the_line_as_it_is_shown(notebook):
    seen = notebook("    a = 1\n    b = [1] |> map(_ + nosuch) |> sum")
    assert type(seen.error) is NameError
    lines = seen.out.splitlines()
    (marked,) = [number for number, line in enumerate(lines) if line.strip() == "^" * len("nosuch")]
    place = lines[marked].index("^")
    assert lines[marked - 1][place : place + 6] == "nosuch"
    assert type(notebook("  a = (1,\n  b = 2").error).__name__ == "SyntaxError"
    assert notebook("range(11) |> sum", "--quiet").out.startswith("Out[")
