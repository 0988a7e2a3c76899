"""The document with the tables, and what was judged."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "platform" / "docs" / "SECURITY.md"
VERDICTS = tomllib.loads(Path(__file__).with_name("verdicts.toml").read_text(encoding="utf-8"))
FINDINGS, LICENCES = "findings", "licences"


def put(text: str, name: str, table: str) -> str:
    """Return the document with a table between its marks; ValueError without one place for it."""
    begin, end = (f"<!-- make security: {name} {mark} -->" for mark in ("begin", "end"))
    inner = f"{begin}\n\n{table}\n{end}"
    changed, n = re.subn(
        f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: inner, text, flags=re.DOTALL
    )
    if n != 1:
        raise ValueError(f"{DOCUMENT} has not one place for {name}")
    return changed
