"""What somebody should know before trusting a grading, a sentence each."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.methods import AQER, ModelScores
from evaluation.steps.short_answers import short_answers_warning

# Nothing to act upon: who skips a question is what a crowd is expected to do.
EMPTY_ANSWERS = "Empty answers, which count as unanswered"


def grading_warnings(
    aqer: AQER,
    models: ModelScores | None,
    n_empty: int,
    n_repeated: int = 0,
    texts: Sequence[str] = (),
    embedder: str = "minilm",
    n_rejected: int = 0,
) -> list[str]:
    """Return the warnings that follow from numbers and texts; an empty list if there are none.

    `texts` are the answers that were graded, `embedder` the SPEC of what made their vectors;
    `n_rejected` counts the answers left out because they were refused where they were collected.
    """
    found = []
    if aqer.reason_ == "fewer_than_3_workers":
        found.append(
            f"Too few workers ({len(aqer.workers_)}): grades and ranks need at least 3 who answered"
        )
    elif not aqer.converged_:
        found.append(
            f"The weights did not settle in {aqer.n_iter_} iterations: allow more of them, and do "
            "not rely on close ranks"
        )
    if aqer.reason_ == "disconnected":
        found.append(
            "Some workers share no question with others, not even through third ones: with "
            "difficulty taken out there is no common scale, so nobody is ranked"
        )
    counts = {
        "Questions with a single answer, which scores 1 by construction": int(
            (aqer.n_workers_of_question_ == 1).sum()
        ),
        "Rows that repeat an earlier answer and were left out": n_repeated,
        "Answers rejected where they were collected, which were left out": n_rejected,
        EMPTY_ANSWERS: n_empty,
        "Workers without a rank (fewer than 5 answers to questions that 3 workers share)": int(
            (~aqer.supported_).sum()
        ),
    }
    found += [f"{what}: {count}" for what, count in counts.items() if count]
    if short := short_answers_warning(texts, embedder):
        found.append(short)
    if models is not None:
        found += _about_models(models)
    return found


def _about_models(scores: ModelScores) -> list[str]:
    found = []
    without = sum(reason == "no_exemplar" for reason in scores.answer_reasons)
    if without:
        found.append(f"Answers of models to questions that no worker answered: {without}")
    missing = sum(why == "missing_answers" for why in scores.reasons)
    if missing:
        found.append(
            f"Models with an answer of status error, not ranked until asked again: {missing}"
        )
    return found
