"""What the page that starts a run shows: how many questions have right answers, and a file."""

from __future__ import annotations

from annotations.models import QuestionSetVersion
from evaluation.kinds.kind import Beforehand, Start, StartFile
from evaluation.steps.maqa.measuring import foreseen
from evaluation.steps.maqa.questions import questions_of


def before(version: QuestionSetVersion | None) -> Beforehand:
    """Return how many questions a version has, and to how many the right answers are known."""
    questions = [] if version is None else questions_of(version)
    if not questions:
        return Beforehand("No question has a text yet.", ready=False)
    n_known = sum(bool(one.answers) for one in questions)
    n_several = sum(len(one.answers) > 1 for one in questions)
    told = f"{len(questions)} questions; {n_known} with right answers, {n_several} with several."
    if n_known < len(questions):
        told += " Of the others it is only told how sure a model is, not whether it is right."
    return Beforehand(told)


START = Start(
    words="A model that answers wrongly and does not know it is worse than one that doubts.",
    before=before,
    foreseen=foreseen,
    files=(
        StartFile(
            name="questions",
            title="Upload questions with their right answers",
            words='A JSON list as published with MAQA: [{"question": "...", "answer": ["...", '
            '"..."]}, ...]. An answer may be a list of spellings of one answer.',
            upload="several-answers",
            accept=".json,.jsonl,application/json",
        ),
    ),
)
