"""What somebody should know before trusting a grading, a sentence each."""

from __future__ import annotations

from evaluation.methods import AQER, ModelScores


def grading_warnings(
    aqer: AQER, models: ModelScores | None, n_empty: int, n_repeated: int = 0
) -> list[str]:
    """Return the warnings that follow from the numbers alone; an empty list if there are none."""
    found = []
    if aqer.reason_ == "fewer_than_3_workers":
        found.append(
            f"{len(aqer.workers_)} workers answered: at least 3 are needed for grades and ranks"
        )
    elif not aqer.converged_:
        found.append(
            f"the weights did not settle in {aqer.n_iter_} iterations: allow more of them, and do "
            "not rely on close ranks"
        )
    if aqer.reason_ == "disconnected":
        found.append(
            "some workers share no question with others, not even through third ones: with "
            "difficulty taken out there is no common scale, so nobody is ranked"
        )
    alone = int((aqer.n_workers_of_question_ == 1).sum())
    if alone:
        found.append(f"{alone} questions have a single answer, which scores 1 by construction")
    if n_repeated:
        found.append(f"{n_repeated} rows repeat an earlier answer and were left out")
    if n_empty:
        found.append(f"{n_empty} answers are empty and count as unanswered")
    too_few = int((~aqer.supported_).sum())
    if too_few:
        found.append(
            f"{too_few} workers answered fewer than 5 questions that 3 workers share: no rank"
        )
    if models is not None:
        found += _about_models(models)
    return found


def _about_models(scores: ModelScores) -> list[str]:
    found = []
    without = sum(reason == "no_exemplar" for reason in scores.answer_reasons)
    if without:
        found.append(f"{without} answers of models are to questions that no worker answered")
    missing = sum(why == "missing_answers" for why in scores.reasons)
    if missing:
        found.append(
            f"{missing} models have answers with status error: not ranked until asked again"
        )
    return found
