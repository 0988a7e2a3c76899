"""Assertions on an answer: for promptfoo (`get_assert`) and for pytest (`assert_like_people`).

In promptfoo's configuration, `config` may set the bounds of `check_answer`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from evaluation.scorer.runtime.scoring import AnswerScore, load_scorer  # noqa: E402

PERCENTILE = 25.0
"""Least percentile among people by default; not checked where fewer than 10 people answered."""


def check_answer(
    question: str,
    answer: str,
    percentile: float = PERCENTILE,
    similarity: float | None = None,
    contradicted: int = 0,
) -> tuple[AnswerScore, list[str]]:
    """Return the score of an answer, and a sentence for each bound that it misses.

    Parameters
    ----------
    question : its id. percentile, similarity : least ones. contradicted : most facts contradicted.
    """
    answer_score = load_scorer(HERE).score(question, answer)
    missed = []
    if answer_score.percentile is not None and answer_score.percentile < percentile:
        missed.append(f"percentile {answer_score.percentile:.0f} is below {percentile:g}")
    if similarity is not None and answer_score.similarity < similarity:
        missed.append(f"similarity {answer_score.similarity:.3f} is below {similarity:g}")
    if len(answer_score.contradicted) > contradicted:
        missed.append(f"facts contradicted: {'; '.join(map(str, answer_score.contradicted))}")
    return answer_score, missed


def assert_like_people(question: str, answer: str, **bounds: Any) -> AnswerScore:
    """Return the score of an answer; raise AssertionError with the bounds that it misses."""
    found, missed = check_answer(question, answer, **bounds)
    if missed:
        raise AssertionError(f"question {question}: {'; '.join(missed)} ({found.describe()})")
    return found


def get_assert(output: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Return promptfoo's grading result; the variable `question` of the test names the question."""
    question = str(context["vars"]["question"])
    bounds = context.get("config") or {}
    found, missed = check_answer(question, str(output), **bounds)
    named = {"similarity": found.similarity, "contradicted": len(found.contradicted)}
    if found.percentile is not None:
        named["percentile"] = found.percentile
    return {
        "pass": not missed,
        "score": max(0.0, found.similarity),
        "reason": "; ".join([*missed, found.describe()]),
        "namedScores": named,
    }
