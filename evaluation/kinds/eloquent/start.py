"""What the page that starts a comparison of replies shows: the wordings there are, and a file."""

from __future__ import annotations

from collections.abc import Mapping

from annotations.exchange.importing import import_prompts
from annotations.exchange.reading.source import Source
from annotations.models import QuestionSet, QuestionSetVersion
from evaluation.kinds.kind import Beforehand, Start, StartFile
from evaluation.steps.eloquent.wordings import can_be_compared, items_of


def before(version: QuestionSetVersion | None) -> Beforehand:
    """Return how many questions a version has in other words, and in which languages."""
    items = () if version is None else items_of(version)
    if not can_be_compared(items):
        return Beforehand("No question has two wordings in one language yet.", ready=False)
    n_prompts = sum(len(item.variants) for item in items)
    languages = ", ".join(dict.fromkeys(one for item in items for one in item.languages))
    return Beforehand(f"{len(items)} questions in {n_prompts} wordings; languages: {languages}.")


def take_prompts(
    question_set: QuestionSet, source: Source, switches: Mapping[str, bool], imported_by: int
) -> tuple[str, ...]:
    """Take a file of prompts into a set. Raises `InputError`."""
    report = import_prompts(
        question_set, source, repair=switches["repair"], imported_by=imported_by
    )
    return tuple(report.lines())


START = Start(
    words="Replies that change with the words alone are not robust.",
    before=before,
    files=(
        StartFile(
            name="prompts",
            title="Upload prompts",
            words="A JSON file of the ELOQUENT robustness task: items, each with its wordings and "
            "their languages. The first wording becomes the question, the others its variants.",
            take=take_prompts,
            accept=".json,application/json",
            switches={"repair": "Add missing commas, and tell me where"},
        ),
    ),
)
