"""Costs of one answer: processor seconds of embedding and grading, bytes in the database.

``python -m tests.benchmarks.unit_costs`` measures in the installation of `CROWDGRADE_HOME`, on
SQLite with tables and without answers, and prints one JSON object. platform/docs/scaling.md
multiplies its figures.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import django

DIMENSION = 384
ANSWERS, EACH = 100_000, 10
DRAWS = 40
TEXTS = 256
WORDS = (
    "the river runs through a wide valley and people who live near it often use its water "
    "for their fields because rain is rare in summer while snow melts late"
)
WORKERS, QUESTIONS = 100, 40


def measure_grading(answers: int = ANSWERS, n_draws: int = DRAWS) -> dict[str, float]:
    """Return processor seconds for 1,000 answers: of the fit, and of 400 draws in addition."""
    from evaluation.consensus import AQER
    from tests.benchmarks.crowds import crowd

    made = crowd(answers // 50, answers // EACH, DIMENSION, answers=EACH)
    columns = (made.vectors, made.workers, made.questions)
    AQER(n_draws=0).fit(*columns)
    seconds = []
    for count in (0, n_draws):
        began = process_time()
        AQER(n_draws=count, leave_one_out=True).fit(*columns)
        seconds.append(process_time() - began)
    plain, drawn = seconds
    return {
        "fit, s for 1,000 answers": 1000 * plain / answers,
        "400 draws, s for 1,000 answers": 1000 * (drawn - plain) * 400 / n_draws / answers,
    }


def measure_embedding(n_texts: int = TEXTS) -> dict[str, float]:
    """Return processor seconds for 1,000 texts of 20 words by MiniLM."""
    from evaluation.core.backends import get_embedder

    embedder = get_embedder("minilm")
    chosen = random.Random(0)
    texts = [" ".join(chosen.choices(WORDS.split(), k=20)) for _ in range(n_texts)]
    embedder.embed(texts[:64])
    began = process_time()
    embedder.embed(texts)
    return {"MiniLM, s for 1,000 texts of 20 words": 1000 * (process_time() - began) / n_texts}


def measure_database(n_workers: int = WORKERS, n_questions: int = QUESTIONS) -> dict[str, float]:
    """Return bytes for each answer: stored, and with its share of a grading's results."""
    from evaluation.models import Run
    from evaluation.runs.background import leases, work
    from tests.benchmarks import scale

    # No other process is to take the run.
    for module in (work, leases):
        vars(module)["wake_process"] = lambda: True
    before = count_bytes()
    names: dict[str, Any] = {
        "NAME": "unit costs",
        "WORKERS": n_workers,
        "QUESTIONS": n_questions,
    }
    exec(scale.FILL, names)
    stored = count_bytes()
    run = Run.objects.create(
        owner_id=names["version"].question_set.owner_id,
        version=names["version"],
        parameters={"embedder": "tfidf-word", "bootstrap": 0},
    )
    while work.work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == "done", run.error
    n_answers = n_workers * n_questions
    return {
        "database, bytes an answer": (stored - before) / n_answers,
        "database, bytes an answer of a grading": (count_bytes() - stored) / n_answers,
        "database, bytes of a vector": 4 * DIMENSION,
    }


def count_bytes() -> int:
    """Return the bytes of the SQLite database in use, without free pages."""
    from django.db import connection

    with connection.cursor() as cursor:
        sizes = []
        for name in ("page_count", "freelist_count", "page_size"):
            cursor.execute(f"PRAGMA {name}")
            sizes.append(int(cursor.fetchone()[0]))
    return (sizes[0] - sizes[1]) * sizes[2]


if __name__ == "__main__":
    django.setup()
    measured: dict[str, float] = {}
    measures: dict[str, Callable[[], dict[str, float]]] = {
        "grading": measure_grading,
        "embedding": measure_embedding,
        "database": measure_database,
    }
    for name, measure in measures.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            measured |= measure()
    print(json.dumps({name: round(value, 4) for name, value in measured.items()}, indent=1))
