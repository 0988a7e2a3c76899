"""Parse the text (SPEC) that names a back-end: its kind, a colon, and the model or file."""

from __future__ import annotations

import re

# A model's name may hold an @ of its own; the URL starts at the one before its scheme.
MODEL_AT_URL = re.compile(r"(?P<model>.+?)@(?P<url>[A-Za-z][A-Za-z0-9+.\-]*://.*)", re.DOTALL)


def split_model_at_url(target: str) -> tuple[str, str] | None:
    """Return the model and the URL in `MODEL@URL`; None for text of another form."""
    found = MODEL_AT_URL.fullmatch(target)
    return None if found is None else (found["model"], found["url"])
