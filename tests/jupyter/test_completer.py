"""Completion of stages, arguments, options and commands."""

import pytest
from IPython.core.completer import provisionalcompleter

from hastega_magic import pipe
from hastega_magic.jupyter.completer import complete
from hastega_magic.syntax.stages import STAGES


def texts(cell):
    """What is offered at the mark."""
    before, _, after = cell.partition("⇥")
    found = complete(before + after, before.count("\n"), len(before.rpartition("\n")[2]))
    return None if found is None else [text for text, _ in found.texts]


def test_all_stages_stand_after_a_pipe_with_what_they_do():
    found = complete("xs |> ", 0, 6)
    assert [text for text, _ in found.texts] == list(STAGES)
    assert dict(found.texts)["take"] == "order: the first n elements"
    assert found.alone, "magics and keywords have no business there"
    found = complete("xs |> su", 0, 8, ["summed", "sum", "other"])
    assert [text for text, _ in found.texts] == ["sum", "summed"]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("xs |> fil⇥", ["filter"]),
        ("ys = (xs\n      |> map(f)\n      |> enu⇥", ["enumerate"]),
        ("xs |> enumerate(st⇥)", ["start="]),
        ("xs |> map(f) |> enumerate(⇥", ["start="]),
        ("xs |> std(⇥", ["ddof="]),
        ("xs |> clip(1, ⇥", ["lo=", "hi="]),
        ("xs |> map(math.⇥", None),
        ("xs |> sum |> cumsum(⇥", None),
        ("xs |> astype('uint⇥", ["uint8", "uint16", "uint32", "uint64"]),
        ('(xs\n |> astype(dtype = "com⇥")', ["complex64", "complex128"]),
        ("xs |> astype('none_like_it⇥", None),
        ("# xs |> astype('uint⇥", None),
        ("pipe(xs).map(f).astype('b⇥", ["bool"]),
        ("xs.astype('b⇥", None),
        ("'xs |> fil⇥", None),
        ("# xs |> fil⇥", None),
        ("xs | fil⇥", None),
        ("xs |> nothing_like_it⇥", None),
        ("%%hastega --thr⇥\nxs |> sum", ["--threads"]),
        ("%%hastega --on par⇥", ["parallel"]),
        ("%%hastega --on=par⇥", ["parallel"]),
        ("%%hastega --show fused,ll⇥", ["llvm"]),
        ("%%hastega --int ⇥", ["exact", "checked", "wrap"]),
        ("%%hastega --on simd --qui⇥", ["--quiet"]),
        ("%hastega dev⇥", ["devices"]),
        ("%hastega edit ⇥", ["llvm", "opencl"]),
        ("%hastega edit llvm ⇥", None),
        ("%%hastega_kernel ⇥", ["llvm", "opencl"]),
        ("%%hastega_kernel open⇥\nkernel", ["opencl"]),
        ("%hastega on --rep⇥", ["--report", "--repeat"]),
        ("%hastega on --report --on si⇥", ["simd"]),
        ("%hastega doctor --o⇥", ["--on"]),
        ("%hastega doctor --on ⇥", ["python", "numpy", "simd", "parallel", "opencl"]),
        ("x = 1\n%hastega o⇥", ["on", "off"]),
        ("%%hastega_kernel --thr⇥", None),
        ("pipe(xs).fil⇥", ["filter"]),
        ("y = 1 + pipe(range(3)).map(lambda x: (x, 'a)')).enu⇥", ["enumerate"]),
        ("y = (hastega_magic.pipe(xs)  # more\n     .map(f)\n     .take_⇥", ["take_while"]),
        ("pipe(xs).apply(sorted).to_⇥", ["to_list", "to_array"]),
        ("f(pipe(xs).exp⇥)", ["explain"]),
        ("pipe(xs).sum().re⇥", None),
        ("pipe(xs).run().me⇥", None),
        ("pipes(xs).fil⇥", None),
        ("os.pipe().fil⇥", None),
        ("'pipe(xs).fil⇥", None),
        ("# pipe(xs).fil⇥", None),
        ("pipe(xs.fil⇥", None),
        ("pipe(xs)\nfil⇥", None),
    ],
)
def test_what_is_offered(cell, expected):
    assert texts(cell) == expected


def test_all_stages_are_methods_of_a_pipe_without_a_name():
    found = complete("pipe(xs).", 0, 9)
    assert [text for text, _ in found.texts] == [*STAGES, "apply", "explain", "run", "to_array"]
    assert {text for text, _ in found.texts} <= set(dir(pipe([1])))
    assert found.alone


def test_of_the_results_those_are_offered_whose_kernel_can_be_edited(notebook):
    def offered(cell):
        with provisionalcompleter():
            return [each.text for each in notebook.shell.Completer.completions(cell, len(cell))]

    notebook.run("total_of_mine = 3\nimport math")
    notebook.run("%%hastega --no-baseline\ntotal = range(9) |> sum\nother = range(7) |> map(_ * 2)")
    for line in ("%hastega edit llvm ", "%hastega edit opencl ", "%%hastega_kernel llvm "):
        assert offered(line) == ["other", "total"]
    assert offered("%hastega edit llvm to") == ["total"]


def test_the_shell_asks(notebook):
    def offered(cell):
        with provisionalcompleter():
            return [each.text for each in notebook.shell.Completer.completions(cell, len(cell))]

    assert "to_list" in offered("xs |> to_l")
    assert offered("%%hastega --thr") == ["--threads"]
    notebook.run("width = 3")
    assert {"n=", "width"} <= set(offered("xs |> window("))
    assert "abs" not in offered("xs |> window("), "what is wanted would be lost among Python's own names"
    assert "abs" in offered("xs |> window(a")
    notebook.run("from hastega_magic import pipe\nxs = range(9)")
    assert offered("pipe(xs).take_") == ["take_while"]
    assert set(STAGES) <= set(offered("pipe(xs)."))
    notebook.run("%unload_ext hastega_magic")
    assert "--threads" not in offered("%%hastega --thr")
