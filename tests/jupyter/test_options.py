"""Options and commands: their effect, and one line for what cannot be."""

import json

import pytest

CELL = "y = range(100) |> map(lambda x: x * 3 + 1) |> sum\ny"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--nofuse", ["--nofuse", "--no-fuse"]),
        ("--foo", ["--foo"]),
        ("-x", ["-x"]),
        ("--help", ["%%hastega: `%hastega help` tells what there is"]),
        ("--on simd -h", ["%%hastega: `%hastega help` tells what there is"]),
        ("--bar=3", ["--bar"]),
        ("--on", ["%%hastega: a value is missing: --on BACKEND"]),
        ("on simd", ["unexpected 'on': did you mean --on?"]),
        ("\N{EM DASH}on simd", ["did you mean --on?"]),
        ("simd", ["unexpected 'simd': a back end stands behind --on; several behind --compare"]),
        ("--compare simd parallel", ["unexpected 'parallel'", "with commas alone between them"]),
        ("--compare simd, parallel", ["a name missing in 'simd,'", "without blanks", "simd,parallel"]),
        ("--int_mode wrap", ["--int_mode", "did you mean --int?"]),
        ("--int-mode=wrap", ["--int-mode", "did you mean --int?"]),
        ("--baseline", ["there is no option --baseline: leave --no-baseline out"]),
        ("--fuse", ["there is no option --fuse: leave --no-fuse out"]),
        ("--no-quiet", ["there is no option --no-quiet: leave --quiet out"]),
        ("--no-width", ["there is no option --no-width: did you mean --width?"]),
        ("--show asm llvm", ["unexpected 'llvm': a section stands behind --show; several with commas alone"]),
        ("--show Assembly", ["there is no section 'Assembly': did you mean asm?"]),
        ("--show times", ["there is no section 'times': did you mean phases?"]),
        ("--tune-seconds 3", ["`%config HastegaMagics.tune_seconds = 5`"]),
        ("--seconds 3", ["`%config HastegaMagics.tune_seconds = 5`"]),
        ("--on gpu", ["gpu", "did you mean opencl?"]),
        ("--on CUDA", ["CUDA", "did you mean opencl?"]),
        ("--on cuda:1", ["cuda:1", "did you mean opencl:1?"]),
        ("--on threads", ["threads", "did you mean parallel?"]),
        ("--compare avx512", ["avx512", "did you mean simd?"]),
        ("--on simd,parallel", ["simd,parallel", "one computes, and `--compare` measures others"]),
        ("--on nowhere", ["nowhere", "parallel"]),
        ("--on opencl:99", ["99", "opencl:0 is "]),
        ("--on opencl:nothing", ["%%hastega: ", "nothing", "opencl:0 is "]),
        ("--on openc", ["openc", "opencl"]),
        ("--on opencl:", ["'opencl:'", "names no device", "opencl:0 is "]),
        ("--compare opencl:", ["'opencl:'", "names no device"]),
        ("--compare foo", ["foo"]),
        ("--compare ,", ["--compare", "name missing"]),
        ("--compare simd,,numpy", ["--compare", "name missing"]),
        ("--show fused,", ["--show", "name missing"]),
        ("--device-memory -1", ["--device-memory"]),
        ("--device-memory lots", ["--device-memory", "lots"]),
        ("--tune 5", ["unexpected", "5"]),
        ("--int sloppy", ["sloppy", "exact, checked, wrap"]),
        ("--width 3", ["--width", "3"]),
        ("--width wide", ["--width", "wide"]),
        ("--threads -1", ["--threads"]),
        ("--repeat 0", ["--repeat"]),
        ("--repeat x", ["%%hastega: --repeat: a whole number is needed, not 'x'"]),
        ("--no-baseline=3", ["--no-baseline is on where it stands, and takes no value: '3' is too much"]),
        ("--show ir", ["ir", "fused"]),
        ("--show fusd", ["fusd", "fused"]),
        ("--quie", ["--quie", "--quiet"]),
        ("--quiet --show fused", ["%%hastega: --show asks for what --quiet hides: say one of them"]),
        ("range(3) |> sum", ["range(3)", "next line"]),
        ("--quiet # silent", ["unexpected '#': a comment stands on a line of its own, below"]),
        ("#silent", ["unexpected '#silent': a comment stands"]),
        ("--on 'simd", ["quotation"]),
    ],
)
def test_what_cannot_be_is_one_line_and_runs_nothing(notebook, options, words):
    line = notebook(CELL, options).refusal
    assert all(word in line for word in words), line
    assert "y" not in notebook.ns


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%%hastega range(3) |> sum", ["unexpected 'range(3)': the cell's code begins on the next line"]),
        ("%%hastega --on simd range(3) |> sum", ["unexpected 'range(3)'", "next line"]),
        ("%%hastega --on simd", ["%%hastega: the cell is empty: its code begins on the next line"]),
        ("%%hastega", ["%%hastega: the cell is empty: its code begins on the next line"]),
        ("%%hastega --on cuda", ["did you mean opencl?"]),
        ("%hastega range(3) |> sum", ["%hastega takes a command: a pipeline stands below `%%hastega`"]),
        ("%hastega --on simd", ["no command '--on': options stand behind `%%hastega`, or `%hastega on`"]),
    ],
)
@pytest.mark.parametrize("everywhere", [False, True])
def test_a_cell_on_one_line_is_answered_with_where_its_code_stands(notebook, cell, words, everywhere):
    if everywhere:
        notebook.run("%hastega on")
    line = notebook.run(cell).refusal
    assert all(word in line for word in words), line


def test_a_cell_that_is_yet_to_be_written_is_no_error(notebook):
    for cell in ("%%hastega\n\n", "%%hastega --no-baseline\n# todo"):
        assert notebook.run(cell).error is None


@pytest.mark.parametrize(
    "options",
    [
        "", "--on auto", "--on python", "--on numpy", "--on simd", "--on parallel", "--compare simd", "--fast-math",
        "--no-fuse", "--threads 1", "--width 4", "--width 1", "--repeat 3", "--strict", "--int checked",
        "--int wrap --no-baseline", "--on=simd --threads=2",
    ],
)  # fmt: skip
def test_options_do_not_change_the_value(notebook, options):
    seen = notebook(CELL, options)
    assert seen.error is None
    assert notebook.ns["y"] == sum(x * 3 + 1 for x in range(100))
    assert len(seen.reports) == 1


def test_options_reach_the_compiler(notebook):
    pipeline = notebook(CELL, "--on simd --width 2 --no-baseline").reports[0]["pipelines"][0]
    assert (pipeline["backend"], pipeline["threads"], pipeline["vector"]["lanes"]) == ("simd", 1, 2)
    report = notebook(CELL, "--on python").reports[0]
    assert report["pipelines"][0]["backend"] == "python"
    assert report["cell"]["options"]["on"] == "python"


def test_int_modes(notebook):
    cell = "y = [2**62, 2**62] |> map(lambda x: x * 4)\ny"
    seen = notebook(cell, "--int checked")
    assert isinstance(seen.error, OverflowError)
    assert "y" not in notebook.ns
    notebook(cell, "--int wrap")
    assert notebook.ns["y"].tolist() == [0, 0]
    assert "IntegerOverflowWarning" in notebook(cell, "--int exact").err
    assert notebook.ns["y"].tolist() == [2**64, 2**64]


def test_strict_makes_a_barrier_an_error_of_one_line_with_the_stage_marked(notebook):
    seen = notebook("y = range(3) |> map(str)", "--strict")
    said, line, caret = seen.out.rstrip().splitlines()
    assert said.startswith("StrictError: `map(str)` is not compiled")
    assert line[caret.index("^") :] == "map(str)"


def test_defaults_come_from_the_configuration(shell):
    shell.config.HastegaMagics.on = "python"
    shell.run_line_magic("load_ext", "hastega_magic")
    shell.run_cell("%%hastega --quiet\ny = range(3) |> sum")
    magics = shell.magics_manager.registry["HastegaMagics"]
    assert magics.report().pipelines[0].backend == "python"
    shell.run_cell("%%hastega --quiet --on simd\ny = range(3) |> sum")
    assert magics.report().pipelines[0].backend == "simd"


def test_config_magic_shows_and_sets(notebook):
    assert "HastegaMagics.int_mode" in notebook.run("%config HastegaMagics").out
    notebook.run("%config HastegaMagics.quiet = True")
    assert notebook(CELL).bundles == []
    notebook.run("%config HastegaMagics.quiet = False")
    notebook.run("%config HastegaMagics.show = ['fused']")
    assert notebook(CELL).out.count("──") == 1
    assert "──" not in notebook(CELL, "--quiet").out, "a line goes before what is configured"
    notebook.run("%config HastegaMagics.quiet = True")
    assert notebook(CELL, "--show phases").out.count("──") == 1


@pytest.mark.parametrize(
    ("options", "sections"), [("--show fused", 1), ("--show=fused --on simd", 1), ("--quiet", 0)]
)
def test_sections_are_shown_in_every_cell_where_they_are_asked_for(notebook, options, sections):
    notebook.run(f"%hastega on {options}")
    assert notebook.run(CELL).out.count("──") == sections


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        (
            "on = 'foo'",
            "there is no back end 'foo'; there are auto, python, numpy, simd, parallel, opencl, all",
        ),
        ("on = 'gpu'", "there is no back end 'gpu': did you mean opencl?"),
        ("compare = ['simd', 'foo']", "'foo'; there are auto, python, numpy"),
        ("show = ['llwm']", "there is no section 'llwm': did you mean llvm?"),
        ("int_mode = 'foo'", "any of ['exact', 'checked', 'wrap'], not the str 'foo'"),
        ("width = 3", "width takes a power of two from 1 to 64, not 3"),
        ("threads = True", "threads takes a whole number, not True"),
        ("threads = -1", "should not be less than 0"),
        ("repeat = 0", "should not be less than 1"),
        ("device_memory = '2'", "expected an int, not the str '2'"),
        ("tune_seconds = 0", "should not be less than 0.1"),
        ("quiet = 'no'", "expected a boolean, not the str 'no'"),
    ],
)
def test_what_cannot_be_is_refused_where_it_is_configured(notebook, caplog, given, allowed):
    notebook.run(f"%config HastegaMagics.{given}")
    (record,) = caplog.records
    assert allowed in record.getMessage()
    assert "\n" not in record.getMessage()
    caplog.clear()
    notebook.run("%config HastegaMagics.strict = True")
    assert not caplog.records, "what was refused is not kept"
    assert notebook("sum(range(3))").error is None


def test_help_lists_every_option(notebook):
    text = notebook.run("%hastega").out
    for option in ("--on", "--int", "--no-fuse", "--show", "--strict", "report", "cache", "doctor"):
        assert option in text
    assert "all[:DEVICE]" not in text, "it is opencl that takes a device"
    assert notebook.run("%hastega help").out == text


def test_a_report_is_saved_as_the_name_says(notebook, tmp_path):
    notebook.run("%%hastega --no-baseline\nrange(10) |> sum")
    for name in ("x.json", "x.txt", "x.html", "x"):
        notebook.run(f"%hastega report --save {tmp_path}/{name}")
    assert json.loads((tmp_path / "x.json").read_text())["pipelines"][0]["loops"] == 1
    assert "1 fused loop" in (tmp_path / "x.txt").read_text().splitlines()[0]
    assert (tmp_path / "x").read_text() == (tmp_path / "x.html").read_text()


def test_report_again_and_saved(notebook, tmp_path):
    assert "no %%hastega cell" in notebook.run("%hastega report").refusal
    notebook("total = range(10) |> sum", "--quiet --no-baseline")
    assert notebook.run("%hastega report").reports[0]["pipelines"][0]["name"] == "total"
    file = tmp_path / "a page.html"
    assert str(file) in notebook.run(f"%hastega report --save '{file}'").out
    page = file.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "total" in page
    assert "cannot be written" in notebook.run(f"%hastega report --save {tmp_path}/no/x.html").refusal


def test_cache_says_what_it_holds_and_forgets_it(notebook):
    notebook.run("%hastega cache clear")
    assert notebook.run("%hastega cache").out.startswith("0 compiled loops")
    notebook("total = range(10) |> sum")
    assert notebook.run("%hastega cache").out.startswith("1 compiled loop, ")
    assert notebook.run("%hastega cache clear").out.startswith("forgot 1 compiled loop")
    pipeline = notebook("total = range(10) |> sum").reports[0]["pipelines"][0]
    assert pipeline["cached"] is False


def test_cache_leaves_to_a_driver_what_it_has(notebook):
    notebook.run("%hastega cache clear")
    notebook("total = range(10) |> sum", "--no-baseline --on opencl")
    said = notebook.run("%hastega cache").out
    assert said.startswith("1 compiled loop, 0 bytes")
    assert "(and 1 OpenCL program, with the driver)" in said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("reprt", ["reprt", "report"]),
        ("zzz", ["zzz", "report", "cache"]),
        ("devices --help", ["%hastega devices: `%hastega help` tells what there is"]),
        ("calibrate now", ["now"]),
        ("edit llvm", ["edit", "no %%hastega cell"]),
        ("edit ptx", ["ptx", "llvm", "opencl"]),
        ("edit llmv ys", ["edit: there is no language 'llmv': did you mean llvm?"]),
        ("edit", ["edit: the language of the kernel is missing: %hastega edit llvm|opencl [NAME]"]),
        ("cache cler", ["cache: there is no action 'cler': did you mean clear?"]),
        ("report --sav x", ["--sav", "--save"]),
        ("cache empty", ["empty", "clear"]),
        ("devices all", ["all"]),
        ("on simd", ["%hastega on", "simd"]),
        ("on --show simd", ["%hastega on", "fused"]),
    ],
)
def test_commands_that_do_not_exist(notebook, line, words):
    said = notebook.run(f"%hastega {line}").refusal
    assert all(word in said for word in words), said
    assert "next line" not in said


@pytest.mark.parametrize("line", ["--help", "-h"])
def test_help_is_asked_for_as_in_shells_too(notebook, line):
    assert notebook.run(f"%hastega {line}").out == notebook.run("%hastega help").out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--show asm --on python", "(nothing: no loop was compiled)"),
        ("--show llvm,phases --on numpy", "(nothing: no loop was compiled)"),
        ("--show baselines --no-baseline", "(nothing: none was timed)"),
    ],
)
def test_a_section_with_nothing_in_it_says_why(notebook, options, told):
    assert told in notebook(CELL, options).out.splitlines()


def test_a_back_end_of_the_environment_that_is_none_is_said_to_be_from_there(notebook, monkeypatch):
    monkeypatch.setenv("HASTEGA_AUTO", "cuda")
    said = "%%hastega: HASTEGA_AUTO in the environment: there is no back end 'cuda': did you mean opencl?"
    assert notebook(CELL, "").refusal == said
    assert notebook(CELL, "--on simd").error is None
