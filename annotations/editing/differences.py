"""Differences between two versions of a question set, as texts for editors."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from annotations.models import Passage, Question, QuestionSetVersion

MOST_WORDS = 5_000
"""Most tokens of a text that is compared word by word; a longer one is shown old and new."""
# White space is a token too, so that the joined parts are the texts again.
TOKENS = re.compile(r"\s+|\w+|[^\w\s]")

PartKind = Literal["same", "gone", "new"]
ChangeKind = Literal["new", "gone", "changed", "moved"]

VERSION_FIELDS = {
    "language": "Language",
    "guidelines": "Guidelines",
    "consent_text": "Consent text",
}
"""Labels of the fields that are compared."""
PASSAGE_FIELDS = {
    "title": "Title",
    "text": "Text",
    "format": "Formatting",
    "image": "Image",
    "image_alt": "The image in words",
    "language": "Language",
}
QUESTION_FIELDS = {
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
class TextPart:
    """A piece of a compared text: in both versions, or only in the older or newer one."""

    kind: PartKind
    text: str


@dataclass(frozen=True, slots=True)
class ItemChange:
    """A difference between two versions in one passage, question or text of the version.

    `what` is version, passage or question; `name` is the item's id in files, "" for the version.
    `fields` has the label of each field that differs, with its parts.
    """

    what: Literal["version", "passage", "question"]
    how: ChangeKind
    name: str
    fields: list[tuple[str, list[TextPart]]]


def compare_versions(older: QuestionSetVersion, newer: QuestionSetVersion) -> list[ItemChange]:
    """Return the differences between two versions, in the order of the newer one.

    Items with the same id in files are the same. All texts of a new or deleted item are listed.
    An item is "moved" if only its place among the common items changed.
    """
    fields = _compare_fields(older, newer, VERSION_FIELDS)
    changes = [ItemChange("version", "changed", "", fields)] if fields else []
    changes.extend(
        _compare_items("passage", _load_passages(older), _load_passages(newer), PASSAGE_FIELDS)
    )
    changes.extend(
        _compare_items("question", _load_questions(older), _load_questions(newer), QUESTION_FIELDS)
    )
    return changes


def compare_words(old: str, new: str) -> list[TextPart]:
    """Return the equal and the differing parts of two texts, compared word by word."""
    if old == new:
        return [TextPart("same", old)] if old else []
    before, after = TOKENS.findall(old), TOKENS.findall(new)
    if max(len(before), len(after)) > MOST_WORDS:
        return [part for part in (TextPart("gone", old), TextPart("new", new)) if part.text]
    # `autojunk` would ignore tokens that are frequent in a long text, such as spaces.
    parts: list[TextPart] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            parts.append(TextPart("same", "".join(before[i:j])))
            continue
        if i < j:
            parts.append(TextPart("gone", "".join(before[i:j])))
        if k < m:
            parts.append(TextPart("new", "".join(after[k:m])))
    return parts


def _load_passages(version: QuestionSetVersion) -> dict[str, Passage]:
    """Return the passages of a version in order, as a dict by their id in import files."""
    # An image is compared by type, size and hash; its bytes may be megabytes.
    rows = version.passages.select_related("image").defer("image__content")
    return {row.external_id: row for row in rows.order_by("position", "pk")}


def _load_questions(version: QuestionSetVersion) -> dict[str, Question]:
    """Return the questions of a version in order, as a dict by their id in import files."""
    rows = version.questions.select_related("passage").defer("passage__text")
    return {row.external_id: row for row in rows.order_by("position", "pk")}


def _compare_items(
    what: Literal["passage", "question"],
    older: dict[str, Any],
    newer: dict[str, Any],
    names: dict[str, str],
) -> Iterator[ItemChange]:
    """Yield the changes of passages or questions; `names` holds the compared fields' labels."""
    unmoved = _find_unmoved(
        [name for name in older if name in newer], [n for n in newer if n in older]
    )
    for name, row in newer.items():
        if name not in older:
            yield ItemChange(what, "new", name, _compare_fields(None, row, names))
        elif fields := _compare_fields(older[name], row, names):
            yield ItemChange(what, "changed", name, fields)
        elif name not in unmoved:
            yield ItemChange(what, "moved", name, [])
    for name, row in older.items():
        if name not in newer:
            yield ItemChange(what, "gone", name, _compare_fields(row, None, names))


def _find_unmoved(before: list[str], after: list[str]) -> set[str]:
    """Return the ids that keep their relative order in both lists.

    It is not always the longest: difflib matches the longest block first.
    """
    if before == after:
        return set(before)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return {
        name for block in matcher.get_matching_blocks() for name in before[block.a :][: block.size]
    }


def _compare_fields(
    older: Any, newer: Any, names: dict[str, str]
) -> list[tuple[str, list[TextPart]]]:
    """Return (label, text parts) of each field that differs; a missing item is passed as None."""
    parts = []
    for field, name in names.items():
        old = "" if older is None else _format_field(older, field)
        new = "" if newer is None else _format_field(newer, field)
        one_sided = older is None or newer is None
        # A choice from a list has a default; for a new or deleted item it tells nothing.
        if old != new and not (one_sided and field in ("format", "role", "kind")):
            parts.append((name, compare_words(old, new)))
    return parts


def _format_field(row: Any, field: str) -> str:
    """Return the value of a passage's or question's field as text."""
    value = getattr(row, field)
    if value is None:
        return ""
    if field in ("format", "role", "kind"):
        return str(getattr(row, f"get_{field}_display")())
    if isinstance(value, list):
        return "\n".join(_format_entries(value))
    if field == "image":
        return f"{value} ({value.sha256[:8]})"
    return str(value)


def _format_entries(values: list[Any]) -> Iterable[str]:
    """Yield the entries of a list as texts; alternative spellings are joined by "|"."""
    return (" | ".join(value) if isinstance(value, list) else str(value) for value in values)
