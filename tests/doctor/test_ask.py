"""Processes that answer, crash, hang and print: what becomes of each."""

import sys

import pytest

from hastega_magic.doctor.ask import ask
from hastega_magic.doctor.child import N, tried
from hastega_magic.doctor.findings import _nvidia_library, load_trouble

DRIVER = "void *clGetExtensionFunctionAddress(const char *name) { return 0; }\n"
AT_LOAD = (
    "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n__attribute__((constructor)) void f(void) "
)


def test_the_cpus_back_ends_answer():
    answer = ask("cpu")
    assert answer.ended == ""
    assert [trial["backend"] for trial in answer.of("trial")] == ["python", "numpy", "simd", "parallel"]
    [facts] = answer.of("facts")
    assert facts["isa"]
    assert facts["targets"]


def test_an_unknown_question_is_an_end_not_an_exception():
    answer = ask("nonsense")
    assert answer.ended == "ended with status 1"
    assert "KeyError" in answer.errors


def test_libraries_that_load_and_that_do_not(compiled, tmp_path):
    assert load_trouble(str(compiled("good.so", DRIVER))) == ""
    assert load_trouble(str(compiled("other.so", "int x;\n"))) == "it is not an OpenCL driver"
    assert "cannot open shared object file" in load_trouble("libnothing-at-all.so.9")
    (tmp_path / "text.so").write_text("not a library")
    assert load_trouble(str(tmp_path / "text.so"))


def test_a_library_that_crashes(compiled):
    library = compiled("crash.so", f"{AT_LOAD}{{ abort(); }}\n{DRIVER}")
    assert load_trouble(str(library)) == "the process that loaded it crashed (SIGABRT)"


def test_a_library_that_hangs(compiled):
    library = compiled("hang.so", f"{AT_LOAD}{{ for (;;) pause(); }}\n{DRIVER}")
    answer = ask("library", 1.5, library=str(library))
    assert answer.ended == "did not answer within 1.5 s"
    assert answer.of("library") == ()


def test_what_a_driver_prints_does_not_disturb_the_answer(compiled):
    library = compiled(
        "loud.so", f'{AT_LOAD}{{ printf("{{\\"library\\": 1}}\\nnoise\\n"); fflush(stdout); }}\n{DRIVER}'
    )
    answer = ask("library", library=str(library))
    assert answer.of("library") == ("",)
    assert "noise" in answer.errors


def test_a_driver_may_crash_when_all_is_said(compiled):
    library = compiled(
        "exit.so", f"#include <stdlib.h>\n__attribute__((destructor)) void f(void) {{ abort(); }}\n{DRIVER}"
    )
    assert ask("library", library=str(library)).ended == ""


@pytest.mark.parametrize("executable", ["", "/no/such/python"])
def test_no_interpreter_to_start(monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    assert ask("cpu").ended.startswith("cannot be started")


def test_nvidias_library_by_name_else_by_path(tmp_path):
    (tmp_path / "libnvidia-opencl.so.1").touch()
    folders = [str(tmp_path / "none"), str(tmp_path)]
    assert _nvidia_library(lambda name: "", folders) == "libnvidia-opencl.so.1"
    by_path = str(tmp_path / "libnvidia-opencl.so.1")
    assert _nvidia_library(lambda name: "" if name == by_path else "no", folders) == by_path
    assert _nvidia_library(lambda name: "no", folders) == ""


def test_a_trial_is_a_loop_on_that_back_end_and_no_other(monkeypatch):
    assert tried("simd").state == "works"
    from hastega_magic.session import Session

    def elsewhere(self, text):
        run(self, text)
        self.last.trace.events[:] = [
            event.__class__(
                event.kind,
                event.group,
                dict(event.data) | ({"backend": "python"} if "backend" in event.data else {}),
            )
            for event in self.last.trace.events
        ]

    run = Session.run_cell
    monkeypatch.setattr(Session, "run_cell", elsewhere)
    assert tried("simd").text == "the loop ran on python instead"


def test_a_trial_checks_the_result(monkeypatch):
    from hastega_magic.session import Session

    run = Session.run_cell

    def wrong(self, text):
        run(self, text)
        self.namespace["total"] += 1

    monkeypatch.setattr(Session, "run_cell", wrong)
    found = tried("simd")
    assert (found.state, found.text) == (
        "fails",
        f"the sum of squares below {N} is wrong: {sum(x * x for x in range(N)) + 1}",
    )


def test_a_trial_that_raises_is_a_failure():
    found = tried("opencl:99")
    assert found.state == "fails"
    assert "99" in found.text
    assert "\n" not in found.text
