"""What the page that starts a run shows: the labels there are, and a file of problems."""

from __future__ import annotations

from annotations.models import QuestionSetVersion
from evaluation.kinds.kind import Beforehand, Start, StartFile
from evaluation.steps.umwp.problems import labels_of


def before(version: QuestionSetVersion | None) -> Beforehand:
    """Return how many questions have an answer, and how many have none."""
    counts = {} if version is None else labels_of(version)
    if not sum(counts.values()):
        return Beforehand("There is no question with a text yet.", ready=False)
    with_answer, without = counts.get(True, 0), counts.get(False, 0)
    unknown = counts.get(None, 0)
    if not with_answer and not without:
        return Beforehand(
            f"None of the {unknown:,} questions says whether it has an answer: the run tells which "
            "ones each model takes for unanswerable, and not whether it is right."
        )
    said = f"{with_answer:,} questions have an answer, {without:,} have none"
    more = f"; of {unknown:,} nobody said: they are asked, but count in no number" * bool(unknown)
    return Beforehand(f"{said}{more}.")


START = Start(
    words="A model that answers every question, also those without an answer, makes things up.",
    before=before,
    files=(
        StartFile(
            name="problems",
            title="Upload math word problems",
            words="The file of UMWP, or one like it: an object on each line, with the question, "
            "whether it can be answered, the right number, why there is none (category 1 to 5), "
            "and the problems that it was made of. Each becomes a question.",
            upload="word-problems",
            accept=".jsonl,.ndjson,.json,application/json",
        ),
    ),
)
