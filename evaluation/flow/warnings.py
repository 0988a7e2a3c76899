"""What somebody should know before trusting a grading, a sentence each."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.flow.remedies import RemedyReport
from evaluation.methods import AQER, ModelScores
from evaluation.texts.short import short_answers_warning

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
        "Excluded workers, who have no vote, no grade and no rank": sum(
            reason is not None for reason in aqer.out_of_ranking_
        ),
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


NOT_CHOSEN = {
    "fewer_than_2_anchors": "one grade cannot be compared: grade more answers",
    "equal_grades": "all grades are equal: grade more answers, better and worse ones",
    "no_scores": "none of the graded answers tells the candidates apart: grade others",
    "no_camps": "the crowd does not fall into camps, so there is nothing to choose",
    "one_ranking": "the camps lead to one ranking, so there is nothing to choose",
    "fewer_than_6_workers": "camps cannot be told among fewer than 6 workers",
    "fewer_than_5_questions": "camps cannot be told from fewer than 5 questions",
}


def remedy_warnings(report: RemedyReport) -> list[str]:
    """Return what remedies could not do, a sentence each."""
    found = []
    if report.choice is not None and report.choice.reason is not None:
        why = NOT_CHOSEN[report.choice.reason]
        found.append(f"The graded answers (anchors) changed nothing: {why}")
    if report.suggested is not None and not len(report.suggested) and report.candidates:
        why = NOT_CHOSEN[report.candidates.reason or "no_camps"]
        found.append(f"No answers are suggested as anchors: {why}")
    if report.candidates and report.candidates.reason is None and report.choice is None:
        count = len(report.candidates.found)
        found.append(
            f"The crowd falls into camps, and {count} rankings are possible: grades are those of "
            "the default until an expert has graded the suggested answers"
        )
    kept = [group for group in report.groups if not group.is_collapsed]
    if kept:
        found.append(
            f"Groups of very similar answers that were not collapsed: {len(kept)}; each is a camp "
            "of the crowd and may be right, which graded answers (anchors) can tell"
        )
    if "collapse_copies" in report.names and not report.groups:
        found.append("No group of copies was found: nothing was collapsed")
    if report.questions is not None and not report.questions:
        found.append("No question has two camps of answers: --camps changed nothing")
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
