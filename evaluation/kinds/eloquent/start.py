"""What the page that starts a comparison of replies shows: the wordings there are, and a file."""

from __future__ import annotations

from annotations.models import QuestionSetVersion
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


START = Start(
    words="Replies that change with the words alone are not robust.",
    before=before,
    files=(
        StartFile(
            name="prompts",
            title="Upload prompts",
            words="A JSON file of the ELOQUENT robustness task: items, each with its wordings and "
            "their languages. The first wording becomes the question, the others its variants.",
            upload="prompts",
            accept=".json,application/json",
            switches={"repair": "Add missing commas, and tell me where"},
        ),
    ),
)
