"""Python's parser, where several threads ask for it at once.

CPython 3.11 counts how deep it is in a tree for all threads together
(https://github.com/python/cpython/issues/106905): where a finaliser gives way to another thread that parses,
both trees are fine and one of the two calls raises SystemError.
"""

import ast
import threading

from hastega_magic.forking import free_when_forking

# A finaliser may parse, also in the midst of a parse of its own thread.
_turn = free_when_forking(threading.RLock())
_TRIES = 50


def parsed(python: str, filename: str = "<unknown>") -> ast.Module:
    """`ast.parse`, which raises what that does, but no SystemError because another thread parses too."""
    with _turn:
        for _ in range(_TRIES - 1):
            try:
                return ast.parse(python, filename)
            except SystemError:  # code that is not ours parsed meanwhile, and cannot be asked to wait
                continue
        return ast.parse(python, filename)
