"""What functions give, with all that may differ, and numbers to give them."""

from __future__ import annotations

import random
import warnings
from typing import Any


def outcome(function: Any, *args: Any) -> Any:
    """The value with all of its types and last bits, or what is raised."""
    try:
        return repr(typed(function(*args)))
    except Exception as error:
        return type(error), str(error)


def warned(function: Any, *args: Any) -> tuple[Any, set[str]]:
    """The outcome, and what is warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = outcome(function, *args)
    return found, {str(each.message) for each in told}


def typed(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value).__name__, [typed(each) for each in value]
    if type(value) is dict:
        return [typed(each) for each in value.items()]
    return type(value).__name__, value.hex() if isinstance(value, float) else value


def ints(n: int = 700) -> list[int]:
    """As many ints, in no order."""
    made = random.Random(5)
    return [made.randint(-1000, 1000) for _ in range(n)]
