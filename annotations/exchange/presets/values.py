"""Values of JSON as cells of a table."""

from __future__ import annotations

import json
from typing import Any


def format_value(value: Any) -> str:
    """Return a value of JSON as the cell of a table."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False)


def format_answer(value: Any) -> str:
    """Return an answer as a cell; of a list each entry has a line, unless it holds objects."""
    if isinstance(value, list) and not any(isinstance(one, dict) for one in value):
        return "\n".join(format_value(one) for one in value)
    return format_value(value)
