"""Format JSON values as the cells of a table."""

from __future__ import annotations

import json
from typing import Any


def format_json_value(value: Any) -> str:
    """Return a JSON value as a cell: texts unchanged, null as "", all others as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False)


def format_answer_cell(value: Any) -> str:
    """Return an answer as a cell; the entries of a list become lines, unless it has objects."""
    if isinstance(value, list) and not any(isinstance(item, dict) for item in value):
        return "\n".join(format_json_value(item) for item in value)
    return format_json_value(value)
