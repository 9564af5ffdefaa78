"""What two sequences have in common told by their bytes, a hundred times sooner than element by element."""

from __future__ import annotations

import itertools
import marshal
from collections.abc import Sequence
from typing import Any

_PLAIN = frozenset({int, float, bool, complex, str, type(None)})
_WITHOUT_REFERENCES = 2
"""The last version of the format in which equal numbers have equal bytes wherever they come from."""


def same_at_once(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two sequences are seen to have the same elements, types, signs and all; False says nothing.

    Only for Python's own numbers and tuples of them: NumPy's have bytes that do not tell their type.
    """
    types = set(map(type, a))
    if types == {tuple}:
        return (
            set(map(type, b)) == types
            and list(map(len, a)) == list(map(len, b))
            and same_at_once(list(itertools.chain(*a)), list(itertools.chain(*b)))
        )
    if not types <= _PLAIN or not set(map(type, b)) <= _PLAIN:
        return False
    return marshal.dumps(list(a), _WITHOUT_REFERENCES) == marshal.dumps(list(b), _WITHOUT_REFERENCES)
