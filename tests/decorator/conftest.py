"""What loops have done of ordinary code."""

from __future__ import annotations

from typing import Any

import pytest

from hastega_magic.compiler.fastpath.for_statements import ForStatement


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The heads of statements that loops have done, one after the other."""
    found: list[str] = []
    handed = ForStatement._handed

    def noted(self: ForStatement, *parts: Any) -> Any:
        value = handed(self, *parts)
        if value is not None:
            found.append(self.site.text)
        return value

    monkeypatch.setattr(ForStatement, "_handed", noted)
    return found
