"""Functions of the lm-evaluation-harness task: its questions, scores and aggregations."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from evaluation.scorer.runtime.scoring import load_scorer  # noqa: E402


def load_questions(**_options: Any) -> dict[str, Any]:
    """Return the questions as a dataset with one split, `test`."""
    from datasets import Dataset, DatasetDict

    rows = [
        {
            "question": question.id,
            "text": question.text,
            "passage": question.passage,
            "prompt": question.prompt,
        }
        for question in load_scorer(HERE).questions.values()
    ]
    return DatasetDict({"test": Dataset.from_list(rows)})


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, Any]:
    """Return the scores of a model's answer to the question `doc`, by metric name."""
    answer_score = load_scorer(HERE).score(doc["question"], results[0])
    scores: dict[str, Any] = {
        "similarity": answer_score.similarity,
        "contradicted": len(answer_score.contradicted),
    }
    # Fewer than 10 people: the mean is over the other questions.
    if answer_score.percentile is not None:
        scores["percentile"] = answer_score.percentile
    # Of an empty answer there is no place of the model among people.
    text = json.dumps([doc["question"], None if answer_score.reason else answer_score.similarity])
    return {**scores, "model_percentile": text}


def compute_model_percentile(items: list[str]) -> float:
    """Return the percentile of a model's mean among people; NaN if a question lacks an answer."""
    pairs = [json.loads(item) for item in items]
    known = {question: score for question, score in pairs if score is not None}
    percentile = load_scorer(HERE).find_percentile(known)
    return float("nan") if percentile is None else percentile
