"""Files graded by `evaluate aqer` and by a run of the database: every cell of every table."""

import csv
import json
import math
import re
from dataclasses import asdict
from itertools import product

import numpy as np
import pytest
from django.core.management import call_command

from annotations import demo
from annotations.exchange.importing import import_answers
from annotations.models import QuestionSet, Response, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import TERMINAL
from evaluation.grading.alarms.report import iterate_alarms_with_ids
from evaluation.grading.alarms.run.detection import join_ids
from evaluation.grading.files.tables import AGREEMENT
from evaluation.grading.remedies.report import read_suggested_anchors
from evaluation.grading.results.report.tables import build_workers_table
from evaluation.grading.summary import read_summary
from evaluation.models import HumanJudgement, Run
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.imports import import_model_answers

pytestmark = pytest.mark.django_db

WORKERS = (
    *("grade", "raw", "raw_low", "raw_high", "grade_low", "grade_high", "weight", "n_answers"),
    *("support", "rank"),
)
MODELS = (
    *("score", "score_answered", "score_low", "score_high", "n", "n_answered", "percentile"),
    "rank",
)
CONTRAST = ("contrast", "contrast_low", "contrast_high")
COMPARISON = (
    *("difference", "low", "high", "p_value", "adjusted_p_value", "smallest_detectable", "n"),
    *("reason", "test"),
)


def graded(tides, **parameters):
    run = runs.queue_run(tides.latest_version(), tides.owner_id, AqerParameters(**parameters))
    assert work_one_turn()
    run.refresh_from_db()
    assert run.state == Run.State.DONE, run.error
    return run


def evaluated(folder, *options, answers=demo.ANSWERS, models=demo.MODEL_ANSWERS):
    given = [str(answers), *([f"--models={models}"] if models else [])]
    if answers == demo.ANSWERS:  # of the other answers the database has no wording either
        given.append(f"--questions={demo.QUESTIONS}")
    call_command("evaluate", "aqer", *given, f"--output={folder}", *options, verbosity=0)
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
    # The raw score by which people are paid is computed, not stored.
    workers = build_workers_table(run)
    raw_score = list(workers.header).index("raw_leave_one_out")
    raw = {row[3]: row[raw_score] for row in workers.rows}
    return {
        "workers": [
            [
                grade.worker.external_id,
                *(
                    support[grade.support] if name == "support" else getattr(grade, name)
                    for name in (*WORKERS, *AGREEMENT)
                ),
                raw[grade.worker.external_id],
                *(getattr(grade, name) for name in (*CONTRAST, "rank_low", "rank_high")),
            ]
            for grade in run.worker_grades.order_by("pk").select_related("worker")
        ],
        "answers": [
            [
                response.submission.worker.external_id,
                response.question.external_id,
                getattr(scores.get(response.pk), "score", None),
                getattr(scores.get(response.pk), "score_leave_one_out", None),
                getattr(scores.get(response.pk), "contrast", None),
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
            [score.model.name, *(getattr(score, name) for name in (*MODELS, *AGREEMENT, *CONTRAST))]
            for score in run.llm_scores.order_by("pk").select_related("model")
        ],
        "model_answers": [
            [
                score.llm_response.model.name,
                score.llm_response.question.external_id,
                score.score,
                score.reason,
                score.contrast,
            ]
            for score in run.llm_answer_scores.order_by("pk").select_related(
                "llm_response__model", "llm_response__question"
            )
        ],
        "alarms": [
            [
                *(alarm.kind, alarm.severity, alarm.statistic, alarm.threshold),
                *(join_ids(workers), join_ids(questions), TERMINAL.format_message(alarm.message)),
                *(
                    alarm.state,
                    "" if alarm.outcome is None else TERMINAL.format_message(alarm.outcome),
                ),
            ]
            for alarm, workers, questions in iterate_alarms_with_ids(run)
        ],
    }


def assert_same(cell, value, where):
    if value is None or value == "":
        assert cell in (None, ""), where
    elif isinstance(value, float):
        assert math.isclose(float(cell), value, rel_tol=1e-12, abs_tol=1e-12), where
    else:
        assert str(cell) == str(value), where


@pytest.mark.slow
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
    assert_same_tables(folder, run)
    if "spelling" in parameters:
        assert_same_changes(folder, run, graded(tides, embedder="tfidf-word", bootstrap=0))


ASKED = {"embedder": "tfidf-word", "bootstrap": 4}
OPTIONS = ("--embedder=tfidf-word", "--bootstrap=4")
# Whom the requester would rather see left out.
OUT = ("w0", "w11")


@pytest.fixture
def rivers(tides, tmp_path):
    """Twelve workers on twelve questions, of whom the last seven share an error."""
    rng = np.random.default_rng(0)
    path = tmp_path / "rivers.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("worker", "question", "answer"))
        for worker, question in product(range(12), range(12)):
            camp = "mouth" if worker < 5 else "spring"
            words = [f"{camp}{question}{letter}" for letter in "abcdef"]
            said = [*rng.choice(words, 4, replace=False), f"own{worker}x{question}"]
            rows.writerow((f"w{worker}", f"q{question}", " ".join(said)))
    question_set = QuestionSet(owner=tides.owner, name="rivers")
    import_answers(question_set, path, create_questions=True)
    return question_set, path


@pytest.mark.slow
def test_excluded_workers_and_experts_grades_do_the_same_in_files_and_in_the_database(
    rivers, tmp_path, django_user_model
):
    question_set, answers = rivers
    options = (*OPTIONS, f"--exclude-workers={listed(tmp_path / 'out.txt', OUT)}")
    out = Worker.objects.filter(owner=question_set.owner, external_id__in=OUT)
    excluded = {**ASKED, "exclude_workers": tuple(str(worker.public_id) for worker in out)}
    plain = graded(question_set, **ASKED)

    asking = graded(question_set, **excluded, suggest_anchors=4)
    folder = evaluated(
        tmp_path / "asked", *options, "--suggest-anchors=4", answers=answers, models=None
    )
    assert_same_tables(folder, asking)
    assert_same_changes(folder, asking, plain)
    header, suggested = table(folder / "anchors.csv")
    responses = read_suggested_anchors(asking)
    assert [row[:3] for row in suggested] == [
        [one.submission.worker.external_id, one.question.external_id, one.text] for one in responses
    ]
    assert len(suggested) == 4

    expert = django_user_model.objects.create(username="ed")
    by_expert = [5.0 if "mouth" in response.text else 0.5 for response in responses]
    assert len(set(by_expert)) == 2
    for response, grade in zip(responses, by_expert, strict=True):
        HumanJudgement.objects.create(response=response, expert=expert, grade=grade)
    with (tmp_path / "anchors.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [header, *([*row[:3], grade] for row, grade in zip(suggested, by_expert, strict=True))]
        )
    settled = graded(question_set, **excluded, anchors=True)
    folder = evaluated(
        tmp_path / "settled",
        *options,
        f"--anchors={tmp_path / 'anchors.csv'}",
        answers=answers,
        models=None,
    )
    assert_same_tables(folder, settled)
    assert_same_changes(folder, settled, plain)
    # Both did what was asked: nobody of those left out has a grade, and the fewer are right.
    grades = {row.worker.external_id: row.grade for row in settled.worker_grades.all()}
    assert [worker for worker, grade in grades.items() if grade is None] == list(OUT)
    assert settled.summary["remedies"]["anchors"]["chosen"] != "default"
    assert min(grades[f"w{i}"] for i in range(1, 5)) > max(grades[f"w{i}"] for i in range(5, 11))
    assert asking.worker_grades.get(worker__external_id="w1").grade < 0.5


def listed(path, names):
    path.write_text("\n".join(names) + "\n", "utf-8")
    return path


def assert_same_tables(folder, run):
    for name, rows in stored(run).items():
        header, cells = table(folder / f"{name}.csv")
        assert len(cells) == len(rows), name
        assert rows or name not in ("workers", "answers", "exemplars", "alarms")
        for at, (left, right) in enumerate(zip(cells, rows, strict=True)):
            for column, cell, value in zip(header, left, right, strict=True):
                assert_same(cell, value, (name, at, column, cell, value))
    assert_same_exemplars(folder, run)
    assert_same_summary(json.loads((folder / "summary.json").read_text()), run)


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
    for name in ("iterations", "converged", "embedding", "ceiling", "versions"):
        assert made[name] == kept[name], name
    # A run derives the result of a check and the number it needs from what it stores.
    assert made["alarm_checks"] == [
        {**asdict(check), "result": check.result, "needed": check.needed}
        for check in read_summary(run).alarm_checks
    ]
    assert made["trace"] == pytest.approx(kept["trace"], rel=1e-12)
    assert made["warnings"] == TERMINAL.format_messages(run.warnings)
    pairs = run.llm_comparisons.order_by("pk").select_related("model_a", "model_b")
    for comparison, row in zip(made["model_comparisons"], pairs, strict=True):
        assert comparison["model_a"] == row.model_a.name
        assert comparison["model_b"] == row.model_b.name
        for name in COMPARISON:
            assert_same(comparison[name], getattr(row, name), name)
    ours = {"inputs", "version"}
    # Excluded workers are signed by a hash of their ids, which are the file's or public ones.
    one, other = (
        {
            re.sub(r"(exclude_workers\(\d+)-\w{12}\)", r"\1)", part)
            for part in text.split("|")
            if part.split(":")[0] not in ours
        }
        for text in (made["signature"], run.signature)
    )
    assert one == other
    empty = {(entry["file"], entry["column"], entry["reason"]) for entry in made["undefined"]}
    stored = {(entry["file"], entry["column"], entry["reason"]) for entry in run.reasons}
    # A run has no rows for empty answers, and of remedies only the greatest changes. Its pages say
    # by themselves why a share of few facts is empty.
    assert {
        entry
        for entry in empty
        if entry[2] != "empty" and entry[0] != "remedies.csv" and entry[1] not in AGREEMENT
    } == stored


def assert_same_changes(folder, run, plain):
    """Compare all of remedies.csv with two runs, and the rest of what the remedies did."""
    header, rows = table(folder / "remedies.csv")
    graded_as = [
        {
            grade.worker.external_id: (grade.grade, grade.rank)
            for grade in found.worker_grades.select_related("worker").order_by("worker")
        }
        for found in (plain, run)
    ]
    wanted = []
    for worker in graded_as[1]:
        (plain_grade, plain_rank), (grade, rank) = (of[worker] for of in graded_as)
        change = None if None in (plain_rank, rank) else plain_rank - rank
        wanted.append([worker, plain_grade, plain_rank, grade, rank, change])
    assert header == ["worker", "plain_grade", "plain_rank", "grade", "rank", "change"]
    for row, values in zip(rows, wanted, strict=True):
        for column, cell, value in zip(header, row, values, strict=True):
            assert_same(cell, value, (row[0], column))
    made = json.loads((folder / "summary.json").read_text())["remedies"]
    kept = in_the_files_names(run, run.summary["remedies"])
    assert kept.keys() - made.keys() <= NOT_ASKED_FOR
    for name, found in made.items():
        assert_alike(found, kept[name], name)
    # The greatest changes are rows of the table, the greatest first.
    movers = kept["compared_with_plain"]["movers"]
    sizes = [abs(int(row[-1] or 0)) for row in rows]
    assert [abs(mover["change"]) for mover in movers] == sorted(filter(None, sizes))[::-1][:5]
    of_worker = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    for mover in movers:
        for column, value in mover.items():
            assert_same(of_worker[mover["worker"]][column], value, column)


# A run's summary has a place for each of them, None or empty; a file leaves them out.
NOT_ASKED_FOR = {
    *("groups", "candidates", "anchors", "suggested_anchors", "questions_with_camps", "spelling"),
}


def in_the_files_names(run, value):
    """What a run put down of its remedies, with the file's ids in place of public ids."""
    workers = Worker.objects.filter(owner=run.version.question_set.owner)
    names = {str(worker.public_id): worker.external_id for worker in workers}
    names |= {str(one.public_id): one.external_id for one in run.version.questions.all()}

    def renamed(value):
        if isinstance(value, dict):
            return {key: renamed(one) for key, one in value.items()}
        if isinstance(value, list):
            return [renamed(one) for one in value]
        return names.get(value, value)

    return renamed(value)


def assert_alike(made, kept, where):
    if isinstance(made, dict):
        # Keys of answers are the database's own.
        assert made.keys() == kept.keys() - {"responses"}, where
        for name, value in made.items():
            assert_alike(value, kept[name], f"{where}.{name}")
    elif isinstance(made, list):
        assert len(made) == len(kept), where
        for at, (one, other) in enumerate(zip(made, kept, strict=True)):
            assert_alike(one, other, f"{where}.{at}")
    elif isinstance(made, float):
        assert made == pytest.approx(kept, rel=1e-12, abs=1e-12), where
    else:
        assert made == kept, where
