"""Statistics on arrays, which need neither Django nor files nor language models.

`planner` computes how many workers a question needs; `simulation` makes crowds whose truth is
known; `statistics` are those of two columns; `inference` gives intervals and compares models.
Arrays in, arrays out; NaN is an undefined number inside arrays, None in result objects, with a
reason.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any


def __getattr__(name: str) -> Any:
    """Return `AQER`, which moved to `evaluation.consensus`, with a warning; else AttributeError."""
    if name != "AQER":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    message = "Import AQER from evaluation.consensus: its former address ends with the next release"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return importlib.import_module("evaluation.consensus").AQER
