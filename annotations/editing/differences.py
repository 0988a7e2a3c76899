"""What changed between two versions of a set, in words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from annotations.models import Passage, Question, QuestionSetVersion

MOST_WORDS = 5_000
"""Words of a text that are compared one by one; a longer one is shown as it was and as it is."""
TOKENS = re.compile(r"\s+|\w+|[^\w\s]")

Kind = Literal["same", "gone", "new"]
How = Literal["new", "gone", "changed", "moved"]

OF_VERSION = {
    "language": "Language",
    "guidelines": "Guidelines",
    "consent_text": "Consent text",
}
OF_PASSAGES = {
    "title": "Title",
    "text": "Text",
    "format": "Formatting",
    "image": "Image",
    "image_alt": "The image in words",
    "language": "Language",
}
OF_QUESTIONS = {
    "text": "Text",
    "role": "Role",
    "kind": "How it is answered",
    "choices": "Choices",
    "accepted_answers": "Right answers",
    "feedback": "Feedback",
    "max_characters": "Longest answer",
    "passage": "Passage",
    "category": "Category",
    "language": "Language",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a text: in both, only in the older, or only in the newer."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs.

    `what` is the version, a passage or a question; `name` its id in files, "" for the version.
    `fields` are the names of the fields that differ, each with its pieces.
    """

    what: Literal["version", "passage", "question"]
    how: How
    name: str
    fields: list[tuple[str, list[Part]]]


def differences(older: QuestionSetVersion, newer: QuestionSetVersion) -> list[Change]:
    """Return what differs, the version first, then passages, then questions, in the new order.

    Items are the same if they have the same id in files. Of what is new or gone all texts are
    listed; "moved" is what only stands at another place among those that both versions have.
    """
    changed = _fields(older, newer, OF_VERSION)
    found = [Change("version", "changed", "", changed)] if changed else []
    found.extend(_items("passage", _passages(older), _passages(newer), OF_PASSAGES))
    found.extend(_items("question", _questions(older), _questions(newer), OF_QUESTIONS))
    return found


def words(old: str, new: str) -> list[Part]:
    """Return the pieces of two texts, word by word."""
    if old == new:
        return [Part("same", old)] if old else []
    before, after = TOKENS.findall(old), TOKENS.findall(new)
    if max(len(before), len(after)) > MOST_WORDS:
        return [part for part in (Part("gone", old), Part("new", new)) if part.text]
    parts: list[Part] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            parts.append(Part("same", "".join(before[i:j])))
            continue
        if i < j:
            parts.append(Part("gone", "".join(before[i:j])))
        if k < m:
            parts.append(Part("new", "".join(after[k:m])))
    return parts


def _passages(version: QuestionSetVersion) -> dict[str, Passage]:
    rows = version.passages.select_related("image").defer("image__content")
    return {row.external_id: row for row in rows.order_by("position", "pk")}


def _questions(version: QuestionSetVersion) -> dict[str, Question]:
    rows = version.questions.select_related("passage").defer("passage__text")
    return {row.external_id: row for row in rows.order_by("position", "pk")}


def _items(
    what: Literal["passage", "question"],
    older: dict[str, Any],
    newer: dict[str, Any],
    names: dict[str, str],
) -> Iterator[Change]:
    stayed = _stayed([name for name in older if name in newer], [n for n in newer if n in older])
    for name, row in newer.items():
        if name not in older:
            yield Change(what, "new", name, _fields(None, row, names))
        elif fields := _fields(older[name], row, names):
            yield Change(what, "changed", name, fields)
        elif name not in stayed:
            yield Change(what, "moved", name, [])
    for name, row in older.items():
        if name not in newer:
            yield Change(what, "gone", name, _fields(row, None, names))


def _stayed(before: list[str], after: list[str]) -> set[str]:
    """Return a longest row of items that follow each other in the same order in both."""
    if before == after:
        return set(before)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return {
        name for block in matcher.get_matching_blocks() for name in before[block.a :][: block.size]
    }


def _fields(older: Any, newer: Any, names: dict[str, str]) -> list[tuple[str, list[Part]]]:
    found = []
    for field, name in names.items():
        old = "" if older is None else _shown(older, field)
        new = "" if newer is None else _shown(newer, field)
        plain = older is None or newer is None
        if old != new and not (plain and field in ("format", "role", "kind")):
            found.append((name, words(old, new)))
    return found


def _shown(row: Any, field: str) -> str:
    value = getattr(row, field)
    if value is None:
        return ""
    if field in ("format", "role", "kind"):
        return str(getattr(row, f"get_{field}_display")())
    if isinstance(value, list):
        return "\n".join(_entries(value))
    if field == "image":
        return f"{value} ({value.sha256[:8]})"
    return str(value)


def _entries(values: list[Any]) -> Iterable[str]:
    return (" | ".join(value) if isinstance(value, list) else str(value) for value in values)
