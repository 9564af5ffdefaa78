"""Rules of the repository that no linter knows."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from hastega_magic.syntax.stages import STAGES

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def files(*patterns: str) -> list[Path]:
    """Return the files that git knows or would add, as they are in the working tree."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [ROOT / name for name in listed if (ROOT / name).is_file()]


def test_no_file_is_over_400_lines():
    long = {
        str(path.relative_to(ROOT)): count
        for path in files("*.py", "*.ts", "*.tsx")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}


def test_dataclasses_are_records():
    """The standard decorator takes 0.6 ms for each class: the first cell would wait for it."""
    standard = re.compile(
        r"^\s*from dataclasses import .*\bdataclass\b|^\s*@dataclasses\.dataclass", re.MULTILINE
    )
    own = ROOT / "hastega_magic" / "records.py"
    found = [
        str(path.relative_to(ROOT))
        for path in files("hastega_magic/**.py")
        if path != own and standard.search(path.read_text(encoding="utf-8"))
    ]
    assert len(files("hastega_magic/**.py")) > 100
    assert found == []


def test_no_machine_paths():
    # A path is a machine's only where it begins: /home/ana counts, examples/home/x and //work/ do not.
    pattern = re.compile(r"(?<![\w./-])/(?:home|root|Users|work|tmp)/[a-z]\w*")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path in files(
            "*.py", "*.md", "*.toml", "*.yaml", "*.yml", "*.ts", "*.json", "Makefile", "*.sh", ".ci/run"
        )
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := pattern.search(line)) and path != Path(__file__)
    ]
    assert found == []


def test_links_in_the_documents_lead_somewhere():
    broken = [
        f"{path.relative_to(ROOT)} → {target}"
        for path in files("*.md")
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8"))
        if "://" not in target and not (path.parent / target).exists()
    ]
    assert broken == []


@pytest.mark.parametrize("name", ["README.md", "docs/language.md"])
def test_the_tables_of_stages_have_all_of_them(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    written = set(
        re.findall(r"[`](\w+)", text[text.index("| kind | stages |") : text.index("| observation |")])
    )
    assert written == STAGES.keys() - {"tap"}


def test_the_changelog_knows_the_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?(\d+\.\d+\.\d+)\]?", changelog, re.MULTILINE)
    assert newest is not None
    assert newest.group(1) == PROJECT["project"]["version"]


def test_every_ruff_exception_has_its_reason():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lint = text[text.index("[tool.ruff.lint]") : text.index("[tool.ruff.lint.mccabe]")]
    lint = lint[lint.index("\nignore = [") :]
    exceptions = re.findall(r'^ {4}"([A-Z]+\d*)",(.*)$', lint, re.MULTILINE)
    assert exceptions
    assert [code for code, rest in exceptions if not re.search(r"# \S+", rest)] == []


@pytest.mark.parametrize("target", ["demo", "lab", "test", "check", "clean", "help"])
def test_make_has_the_target_with_its_line_of_help(target):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:.* ## \S", makefile, re.MULTILINE)
