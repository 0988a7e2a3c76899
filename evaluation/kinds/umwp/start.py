"""What the page that starts a run shows: the labels there are, and a file of problems."""

from __future__ import annotations

from collections import Counter

from annotations.models import QuestionSetVersion
from evaluation.kinds.kind import Beforehand, Start, StartFile
from evaluation.steps.umwp.noticing import foreseen
from evaluation.steps.umwp.problems import problems_of


def before(version: QuestionSetVersion | None) -> Beforehand:
    """Return how many questions have an answer, how many have none, how many are no math."""
    problems = [] if version is None else problems_of(version)
    if not problems:
        return Beforehand("There is no question with a text yet.", ready=False)
    counts = Counter(one.answerable for one in problems)
    texts = sum(not one.is_math for one in problems)
    if texts:
        not_math = (
            f" {texts:,} of the {len(problems):,} questions are not mathematical, by the accepted "
            "answers and the wordings: for them only a sentence that says so counts as “no "
            "answer”, never a letter in the answer."
        )
    else:
        not_math = ""
    unknown = counts[None]
    if unknown == len(problems):
        return Beforehand(
            f"None of the {unknown:,} questions says whether it has an answer: the run shows which "
            f"ones each model takes for unanswerable, and not whether it is right.{not_math}"
        )
    said = f"{counts[True]:,} questions have an answer, {counts[False]:,} have none"
    more = f"; of {unknown:,} nobody said: they are asked, but count in no number" * bool(unknown)
    return Beforehand(f"{said}{more}.{not_math}")


START = Start(
    words="Made for math word problems. A model that answers every question, also those without "
    "an answer, makes things up.",
    before=before,
    foreseen=foreseen,
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
