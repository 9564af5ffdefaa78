"""Makes the helpers of tests/compiler importable (tests are collected by path, not as packages)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

for _name in ("battery", "grammar"):
    if _name not in sys.modules:
        _spec = importlib.util.spec_from_file_location(
            _name, Path(__file__).parent.parent / "compiler" / f"{_name}.py"
        )
        assert _spec is not None
        assert _spec.loader is not None
        sys.modules[_name] = importlib.util.module_from_spec(_spec)
        _spec.loader.exec_module(sys.modules[_name])
