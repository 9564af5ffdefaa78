"""Listings cut to a readable length: where the hot loop is, an excerpt around it, and what a pass changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from hastega_magic.records import dataclass

SAVE = "%hastega report --save FILE.html"
"""The command that gives a report with nothing cut."""

_LABEL = re.compile(r'^\s*(?:"([^"]+)"|([\w.$%-]+)):')
# A jump of x86-64 or AArch64 to a label, after the registers and bit numbers that some of them test.
_BRANCH = re.compile(
    r"^\s*(?:j[a-z]+|b(?:\.[a-z]+)?|cbn?z|tbn?z)\s+(?:[\w#]+,\s*)*(\.?[A-Za-z_][\w.$]*)\s*(?:[#;/@].*)?$"
)
_TERMINATOR = re.compile(r'label\s+%(?:"([^"]+)"|([\w.$-]+))')
_VECTOR = re.compile(r"[%\s,{]([xyz])mm\d|\bv\d+\.\d+[bhsd]\b|\bq\d+\b|<\d+ x ")
_SECOND = re.compile(r"^(?:;|#|//) ── loop 2 of \d+: ", re.MULTILINE)
"""Above the second of several listings."""
_WEIGHED = 1000
"""Lines of a loop that decide which one is hot: of hundreds of stages no two loops are that long and alike."""
_WIDTH = {"x": 1, "y": 2, "z": 4}


@dataclass(frozen=True)
class Excerpt:
    """Lines `first` to `last` (from 1, inclusive) of `total`."""

    text: str
    first: int
    last: int
    total: int

    @property
    def whole(self) -> bool:
        """Whether nothing was cut."""
        return self.first == 1 and self.last == self.total


@lru_cache(maxsize=64)
def hot_loop(text: str) -> tuple[int, int] | None:
    """The lines (from 0, end exclusive) of the innermost loop with the most vector work, or None.

    Works on LLVM IR and on assembly with labels: a loop is a branch back to a label above it. Among loops
    that contain no other, the one with the most vector instructions wins (wider registers count more), then
    the longest; of those that are nearly as long and heavy, the first: the one for the last elements comes after it.
    Where the listings of several loops stand one below the other, it is the first one's, in each of them.
    """
    lines = _SECOND.split(text, maxsplit=1)[0].splitlines()
    labels: dict[str, int] = {}
    loops: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        if (found := _LABEL.match(line)) is not None:
            labels[(found[1] or found[2]).lstrip("%")] = number
        if line.startswith("define "):
            labels = {}  # names of blocks are local to a function
        branch = _BRANCH.match(line)
        targets = [branch[1]] if branch else [a or b for a, b in _TERMINATOR.findall(line)]
        loops += [(labels[target], number + 1) for target in targets if target in labels]
    inner = [a for a in loops if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    sizes = {loop: (_weight(lines[slice(*loop)]), loop[1] - loop[0]) for loop in sorted(inner)}
    heavy, long = max(sizes.values(), default=(0, 0))
    near = (
        loop for loop, (weight, length) in sizes.items() if 5 * weight >= 4 * heavy and 5 * length >= 4 * long
    )
    return next(near, None)


def _weight(lines: Sequence[str]) -> int:
    seen = lines[:_WEIGHED]
    return sum(max((_WIDTH.get(kind, 2) for kind in _VECTOR.findall(line)), default=0) for line in seen)


def excerpt(text: str, limit: int, start: int = 0, end: int | None = None) -> Excerpt:
    """Lines `start` to `end` of a listing, at most `limit` of them."""
    lines = text.splitlines()
    stop = min(len(lines) if end is None else end, start + limit)
    return Excerpt("\n".join(all_shortened(lines[start:stop], limit)), start + 1, stop, len(lines))


def shortened(line: str, limit: int) -> str:
    """A line as it stands, or cut if it is too long to be read, such as a table of constants.

    A listing of `limit` lines may have lines of twice that many columns; so a short one has no long lines.
    """
    most = max(160, 2 * limit)
    return line if len(line) <= most else f"{line[:most]} … ({len(line) - most} more characters)"


def all_shortened(lines: Sequence[str], limit: int) -> list[str]:
    """Each of the lines as `shortened` has it."""
    most = max(160, 2 * limit)
    return [line if len(line) <= most else shortened(line, limit) for line in lines]


@lru_cache(maxsize=256)
def changes(before: str, after: str, context: int = 1) -> tuple[str, ...]:
    """What changed between two listings: lines that begin with `+ `, `- `, two blanks, or `@@` for a gap."""
    old, new = before.splitlines(), after.splitlines()
    numbers: dict[str, int] = {}
    same = tuple([numbers.setdefault(line, len(numbers)) for line in (*old, *new)])
    out: list[str] = []
    for group in _groups(same, len(old), context):
        out.append(f"@@ line {group[0][3] + 1}")
        for tag, a, b, c, d in group:
            if tag == "equal":
                out += [f"  {line}" for line in old[a:b]]
            else:
                out += [f"- {line}" for line in old[a:b]]
                out += [f"+ {line}" for line in new[c:d]]
    return tuple(out)


@lru_cache(maxsize=256)
def _groups(
    same: tuple[int, ...], end: int, context: int
) -> tuple[Sequence[tuple[str, int, int, int, int]], ...]:
    """What changed between the lines up to `end` and those behind, which are told apart by numbers.

    It is the same for cells whose listings differ in names.
    """
    matcher = SequenceMatcher(None, same[:end], same[end:], autojunk=end > 400)
    return tuple(matcher.get_grouped_opcodes(context))
