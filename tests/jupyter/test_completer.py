"""Completion of stages, arguments, options and commands."""

import threading

import pytest
from IPython.core.completer import provisionalcompleter

from hastega_magic import pipe
from hastega_magic.errors import UsageError
from hastega_magic.jupyter import devices
from hastega_magic.jupyter.completer import complete
from hastega_magic.runtime import opencl
from hastega_magic.runtime.background import Later
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
        ("ys = (xs |>\n      enu⇥", ["enumerate"]),
        ("ys = (xs |>  # then\n      # more\n      enu⇥)", ["enumerate"]),
        ("ys = (xs |>  # then enu⇥", None),
        ("ys = (xs |>\n      'enu⇥", None),
        ("xs |> enumerate(st⇥)", ["start="]),
        ("xs |> map(f) |> enumerate(⇥", ["start="]),
        ("xs |> std(⇥", ["ddof="]),
        ("xs |> clip(\n    lo=(1),\n    h⇥", ["hi="]),
        ("xs |> take(3)\nn⇥", None),
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
        ("%%hastega --repeat ⇥", ["3", "5", "9"]),
        ("%%hastega --threads=1⇥", ["1", "16"]),
        ("%%hastega --device-memory 6⇥", ["64"]),
        ("%hastega report ⇥", ["--save"]),
        ("%hastega report --save ⇥", None),
        ("%hastega report --save=⇥", None),
        ("%hastega help sc⇥", ["scan"]),
        ("%hastega help --th⇥", ["--threads"]),
        ("%hastega help re⇥", ["reverse", "reduce", "report"]),
        ("%%hastega --on simd --qui⇥", ["--quiet"]),
        ("%hastega dev⇥", ["devices"]),
        ("%hastega edit ⇥", ["llvm", "opencl"]),
        ("%hastega edit llvm ⇥", None),
        ("%%hastega_kernel ⇥", ["llvm", "opencl"]),
        ("%%hastega_kernel open⇥\nkernel", ["opencl"]),
        ("%hastega on --rep⇥", ["--report", "--repeat"]),
        ("%hastega on --report --on si⇥", ["simd"]),
        ("%hastega doctor --o⇥", ["--on"]),
        ("%hastega doctor --on simd,par⇥", ["parallel"]),
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
        ("pipe(xs, int⇥", ["int_mode="]),
        ("y = pipe(\n    (xs),  # these\n    t⇥)", ["threads=", "tune=", "tune_seconds="]),
        ("hastega_magic.pipe(xs, on='simd', re⇥", ["repeat="]),
        ("pipe(xs, on='⇥", ["auto", "python", "numpy", "simd", "parallel", "opencl", "all"]),
        ('@hastega(int_mode="ch⇥")', ["checked"]),
        ("@hastega(stri⇥", ["strict="]),
        ("def f(xs):\n    return pipe(xs, wid⇥", ["width=", "widgets="]),
        ("pipe(x⇥", None),
        ("pipe(xs, on=s⇥", None),
        ("pipe(xs, threads='⇥", None),
        ("pipe(f(xs, o⇥", None),
        ("pipe([xs, o⇥", None),
        ("os.pipe(xs, o⇥", None),
        ("'pipe(xs, o⇥", None),
        ("pipe(xs, # o⇥", None),
        ("pipe(xs).map(f, o⇥", None),
    ],
)
def test_what_is_offered(cell, expected):
    assert texts(cell) == expected


def info(number, name, kind):
    return opencl.DeviceInfo(
        number, "A Platform", name, kind, "OpenCL C 1.2", 4, 1 << 30, 1 << 28, True, True, True, False
    )


@pytest.fixture
def there(monkeypatch):
    """What the drivers find, which no context is made of."""
    found = [info(0, "NVIDIA GeForce 4090", "gpu"), info(1, "NVIDIA Quadro", "gpu"), info(2, "a CPU", "cpu")]
    monkeypatch.setattr(opencl, "devices", lambda: found)
    monkeypatch.setattr(opencl.Device, "context", property(lambda _: pytest.fail("a context was made")))
    monkeypatch.setattr(devices, "_FOUND", Later(devices._found))
    return found


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%%hastega --on opencl:⇥", ["0", "1", "2", "gpu", "cpu", "nvidia", "geforce", "quadro"]),
        ("%%hastega --on=opencl:GE⇥", ["geforce"]),
        ("%%hastega --compare simd,opencl:g⇥", ["gpu", "geforce"]),
        ("%hastega on --quiet --on opencl:2⇥", ["2"]),
        ("%hastega doctor --on opencl:1,opencl:q⇥", ["quadro"]),
        ("%%hastega --on opencl:get⇥", ["0", "1", "2", "gpu", "cpu", "nvidia", "geforce", "quadro"]),
    ],
)
def test_devices_stand_behind_opencl(there, cell, expected):
    assert texts(cell) == [f"opencl:{each}" for each in expected]
    for each in texts(cell):
        opencl.select(each, there)


def test_a_device_is_told_by_its_name_and_nothing_of_pythons_stands_beside_it(there):
    found = complete("%%hastega --on opencl:quad", 0, 26)
    assert found.texts == (("opencl:quadro", "NVIDIA Quadro (gpu, A Platform)"),)
    assert found.alone


def test_without_a_device_nothing_of_pythons_is_offered(there, monkeypatch):
    there.clear()
    assert complete("%%hastega --on opencl:", 0, 22).texts == (("opencl:", "no device was found"),)

    def fails():
        raise UsageError("OpenCL needs pyopencl")

    monkeypatch.setattr(opencl, "devices", fails)
    monkeypatch.setattr(devices, "_FOUND", Later(devices._found))
    assert complete("%%hastega --on opencl:", 0, 22).texts == (
        ("opencl:", "no device: OpenCL needs pyopencl"),
    )


def test_slow_drivers_are_not_waited_for(there, monkeypatch):
    begun, done = threading.Event(), threading.Event()

    def slow():
        begun.set()
        done.wait(30)
        return there

    monkeypatch.setattr(opencl, "devices", slow)
    monkeypatch.setattr(devices, "_PATIENCE", 0.05)
    try:
        assert complete("%%hastega --on opencl:", 0, 22).texts == (
            ("opencl:", "devices are being looked for"),
        )
        assert begun.wait(30)
    finally:
        done.set()
    monkeypatch.setattr(devices, "_PATIENCE", 30)
    assert "opencl:quadro" in texts("%%hastega --on opencl:⇥")


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
    notebook.run("low = 3")
    assert offered("%%hastega\nxs |> clip(l")[:3] == ["lo=", "low", "lambda"]
    assert offered("%%hastega\nxs |> zip(xs, stri")[:1] == ["strict="]
    notebook.run("from hastega_magic import pipe\nxs = range(9)")
    assert offered("pipe(xs).take_") == ["take_while"]
    assert set(STAGES) <= set(offered("pipe(xs)."))
    notebook.run("%unload_ext hastega_magic")
    assert "--threads" not in offered("%%hastega --thr")


def test_keywords_are_told_as_keywords():
    found = complete("pipe(xs, ", 0, 9)
    told = dict(found.texts)
    assert told["baseline="] == "False: time neither pure Python nor NumPy"
    assert told["threads="] == "at most so many threads (0: all CPUs)"
    assert found.alone
    assert not complete("@hastega(", 0, 9).alone, "it takes a function as well"
