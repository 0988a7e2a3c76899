"""The demo graded by `evaluate aqer` and by a run of the database: every cell of every table."""

import csv
import json
import math

import numpy as np
import pytest
from django.core.management import call_command

from annotations import demo
from annotations.models import Response
from evaluation.background import runs
from evaluation.background.work import work_one_turn
from evaluation.flow.alarms import joined
from evaluation.flow.parameters import AqerParameters
from evaluation.imports import import_model_answers
from evaluation.models import Run
from evaluation.words.terminal import all_said, said

pytestmark = pytest.mark.django_db

WORKERS = (
    *("grade", "raw", "raw_low", "raw_high", "grade_low", "grade_high", "weight", "n_answers"),
    *("support", "rank"),
)
MODELS = (
    *("score", "score_answered", "score_low", "score_high", "n", "n_answered", "percentile"),
    "rank",
)
COMPARISON = (
    *("difference", "low", "high", "p_value", "adjusted_p_value", "smallest_detectable", "n"),
    *("reason", "test"),
)


def graded(tides, **parameters):
    run = runs.queue(tides.latest_version(), tides.owner_id, AqerParameters(**parameters))
    assert work_one_turn()
    run.refresh_from_db()
    assert run.state == Run.State.DONE, run.error
    return run


def evaluated(folder, *options):
    models = f"--models={demo.MODEL_ANSWERS}"
    call_command(
        "evaluate", "aqer", str(demo.ANSWERS), models, f"--output={folder}", *options, verbosity=0
    )
    return folder


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def stored(run):
    """Every table as the database has it, with the names of the file in place of keys."""
    support = {True: "ok", False: "too_few"}
    scores = {score.response_id: score for score in run.answer_scores.all()}
    given = Response.objects.filter(question__version=run.version).order_by("pk")
    exemplars = run.exemplary_answers.order_by("pk").select_related(
        "question", "nearest_response__submission__worker"
    )
    alarms = run.alarms.order_by("place")
    return {
        "workers": [
            [
                grade.worker.external_id,
                *(
                    support[grade.support] if name == "support" else getattr(grade, name)
                    for name in WORKERS
                ),
            ]
            for grade in run.worker_grades.order_by("pk").select_related("worker")
        ],
        "answers": [
            [
                response.submission.worker.external_id,
                response.question.external_id,
                getattr(scores.get(response.pk), "score", None),
                getattr(scores.get(response.pk), "score_leave_one_out", None),
            ]
            for response in given.select_related("question", "submission__worker")
        ],
        "exemplars": [
            [
                row.question.external_id,
                row.n_answers,
                row.nearest_response and row.nearest_response.submission.worker.external_id,
                row.nearest_response and row.nearest_response.text,
                row.dispersion,
            ]
            for row in exemplars
        ],
        "models": [
            [score.model.name, *(getattr(score, name) for name in MODELS)]
            for score in run.llm_scores.order_by("pk").select_related("model")
        ],
        "model_answers": [
            [
                score.llm_response.model.name,
                score.llm_response.question.external_id,
                score.score,
                score.reason,
            ]
            for score in run.llm_answer_scores.order_by("pk").select_related(
                "llm_response__model", "llm_response__question"
            )
        ],
        "alarms": [
            [
                *(alarm.kind, alarm.severity, alarm.statistic, alarm.threshold),
                joined(alarm.workers.order_by("pk").values_list("external_id", flat=True)),
                joined(alarm.questions.order_by("pk").values_list("external_id", flat=True)),
                said(alarm.message),
            ]
            for alarm in alarms
        ],
    }


def assert_same(cell, value, where):
    if value is None or value == "":
        assert cell in (None, ""), where
    elif isinstance(value, float):
        assert math.isclose(float(cell), value, rel_tol=1e-12, abs_tol=1e-12), where
    else:
        assert str(cell) == str(value), where


@pytest.mark.parametrize(
    ("parameters", "options"),
    [
        (
            {"embedder": "tfidf-char", "bootstrap": 20, "leave_one_out": True},
            ("--embedder=tfidf-char", "--bootstrap=20", "--leave-one-out"),
        ),
        (
            {"embedder": "bow", "aggregation": "majority", "bootstrap": 4},
            ("--embedder=bow", "--aggregation=majority", "--bootstrap=4"),
        ),
        (
            {
                "embedder": "tfidf-word",
                "bootstrap": 4,
                "spelling": "en",
                "collapse_copies": True,
                "unit_length": True,
                "camps": True,
            },
            (
                *("--embedder=tfidf-word", "--bootstrap=4", "--spelling=en"),
                *("--collapse-copies", "--unit-length", "--camps"),
            ),
        ),
    ],
    ids=["plain", "majority", "remedies"],
)
def test_files_and_the_database_give_the_same_numbers(tides, tmp_path, parameters, options):
    import_model_answers(tides, demo.MODEL_ANSWERS)
    run = graded(tides, **parameters)
    folder = evaluated(tmp_path / "out", *options)
    for name, rows in stored(run).items():
        header, cells = table(folder / f"{name}.csv")
        assert len(cells) == len(rows) > 0, name
        for at, (left, right) in enumerate(zip(cells, rows, strict=True)):
            for column, cell, value in zip(header, left, right, strict=True):
                assert_same(cell, value, (name, at, column, cell, value))
    assert_same_exemplars(folder, run)
    assert_same_summary(json.loads((folder / "summary.json").read_text()), run)
    if "spelling" in parameters:
        assert_same_changes(table(folder / "remedies.csv"), run)


def assert_same_exemplars(folder, run):
    with np.load(folder / "exemplars.npz") as made:
        vectors = dict(zip(made["questions"].tolist(), made["vectors"], strict=True))
    rows = run.exemplary_answers.exclude(vector=None).select_related("question")
    for row in rows:
        kept = np.frombuffer(bytes(row.vector), dtype="<f4")
        np.testing.assert_array_equal(
            kept, vectors[row.question.external_id].astype("<f4"), row.question.external_id
        )


def assert_same_summary(made, run):
    kept = run.summary
    for name in ("iterations", "converged", "embedding", "alarm_checks", "ceiling", "versions"):
        assert made[name] == kept[name], name
    assert made["trace"] == pytest.approx(kept["trace"], rel=1e-12)
    assert made["warnings"] == all_said(run.warnings)
    pairs = run.llm_comparisons.order_by("pk").select_related("model_a", "model_b")
    for comparison, row in zip(made["model_comparisons"], pairs, strict=True):
        assert comparison["model_a"] == row.model_a.name
        assert comparison["model_b"] == row.model_b.name
        for name in COMPARISON:
            assert_same(comparison[name], getattr(row, name), name)
    ours = {"inputs", "version"}
    one, other = (
        {part for part in text.split("|") if part.split(":")[0] not in ours}
        for text in (made["signature"], run.signature)
    )
    assert one == other
    empty = {(entry["file"], entry["column"], entry["reason"]) for entry in made["undefined"]}
    stored = {(entry["file"], entry["column"], entry["reason"]) for entry in run.reasons}
    # A run has no rows for empty answers, and of remedies only the greatest changes.
    assert {
        entry for entry in empty if entry[2] != "empty" and entry[0] != "remedies.csv"
    } == stored


def assert_same_changes(made, run):
    header, rows = made
    names = {
        str(grade.worker.public_id): grade.worker.external_id
        for grade in run.worker_grades.select_related("worker")
    }
    of_worker = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    changes = run.summary["remedies"]["compared_with_plain"]
    for mover in changes["movers"]:
        row = of_worker[names[mover.pop("worker")]]
        for column, value in mover.items():
            assert_same(row[column], value, column)
