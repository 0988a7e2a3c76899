"""Inspect task: a model answers the questions, and is scored by what people answered.

Run it by ``inspect eval task.py --model MODEL``.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    mean,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState, generate

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from evaluation.scorer.runtime.scoring import load_scorer  # noqa: E402


@metric
def model_percentile() -> Metric:
    """Percentile of the mean similarity among people; NaN unless all questions were answered."""

    def compute(scores: list[SampleScore]) -> float:
        similarities = {
            str(one.sample_id): one.score.as_float()
            for one in scores
            if not (one.score.metadata or {}).get("reason")
        }
        percentile = load_scorer(HERE).find_percentile(similarities)
        return float("nan") if percentile is None else percentile

    return compute


@metric
def mean_known() -> Metric:
    """Inspect metric: mean over the answers that have a value; NaN without any."""

    def compute(scores: list[SampleScore]) -> float:
        values = [one.score.as_float() for one in scores]
        known = [value for value in values if value == value]
        return sum(known) / len(known) if known else float("nan")

    return compute


@scorer(
    metrics={
        "similarity": [mean(), stderr(), model_percentile()],
        "percentile": [mean_known()],
        "contradicted": [mean()],
    }
)
def crowd() -> Scorer:
    """Return similarity to the exemplary answer, percentile among people, facts contradicted."""
    crowd_scorer = load_scorer(HERE)

    async def score(state: TaskState, target: Target) -> Score:
        question, answer = str(state.sample_id), state.output.completion
        answer_score = await asyncio.to_thread(crowd_scorer.score, question, answer)
        return Score(
            value={
                "similarity": answer_score.similarity,
                "percentile": float("nan")
                if answer_score.percentile is None
                else answer_score.percentile,
                "contradicted": len(answer_score.contradicted),
            },
            answer=answer,
            explanation=answer_score.describe(),
            metadata={
                "reason": answer_score.reason,
                "facts": [str(fact) for fact in answer_score.contradicted],
            },
        )

    return score


@task
def crowd_consensus() -> Task:
    """Return the task with all questions of the export."""
    crowd_scorer = load_scorer(HERE)
    samples = [
        Sample(input=question.prompt, id=question.id, target=question.consensus)
        for question in crowd_scorer.questions.values()
    ]
    return Task(
        dataset=MemoryDataset(samples, name=crowd_scorer.name),
        solver=generate(),
        scorer=crowd(),
        name=crowd_scorer.name,
    )
