"""Which files appear, with which columns, and that every gap has its reason."""

import itertools
import os
import subprocess
import sys
from collections import defaultdict

import numpy as np
import pytest

from tests.evaluation.commands.crowd import (
    assert_every_gap_has_its_reason,
    header_of,
    summary_of,
    table,
    write_csv,
)
from tests.evaluation.commands.running import ROOT, evaluate

HEADERS = {
    "workers.csv": (
        "worker grade raw raw_low raw_high grade_low grade_high weight n_answers support rank "
        "facts fact_agreement fact_agreement_low fact_agreement_high raw_leave_one_out "
        "contrast contrast_low contrast_high rank_low rank_high"
    ),
    "answers.csv": "worker question score score_leave_one_out contrast",
    "exemplars.csv": "question n_answers nearest_worker nearest_answer dispersion",
    "models.csv": (
        "model score score_answered score_low score_high n n_answered percentile rank "
        "facts fact_agreement fact_agreement_low fact_agreement_high "
        "contrast contrast_low contrast_high"
    ),
    "model_answers.csv": "model question score reason contrast",
    "facts.csv": "question slot value mentions of state",
    "answer_facts.csv": "kind name question slot value verdict of",
    "alarms.csv": "kind severity statistic threshold workers questions message state outcome",
}
SUMMARY = {
    "signature",
    "parameters",
    "embedding",
    "counts",
    "iterations",
    "converged",
    "trace",
    "ceiling",
    "model_comparisons",
    "remedies",
    "warnings",
    "alarms",
    "alarm_checks",
    "contradictions",
    "facts",
    "length",
    "undefined",
    "versions",
    "input_hash",
    "input_hashes",
}


def test_the_folder_holds_the_ten_files_with_their_columns(crowd, output):
    ran = evaluate(crowd.answers, "--models", crowd.models, "--embedder=bow", "--output", output)
    assert ran.code == 0, ran.err
    assert {path.name for path in output.iterdir()} == {*HEADERS, "exemplars.npz", "summary.json"}
    for name, columns in HEADERS.items():
        assert header_of(output / name) == columns.split()
    with np.load(output / "exemplars.npz", allow_pickle=False) as file:
        assert set(file.files) == {"questions", "vectors"}
        assert len(file["questions"]) == len(file["vectors"]) == 7
    assert set(summary_of(output)) == SUMMARY


def test_without_models_their_tables_have_a_header_and_no_row(crowd, output):
    evaluate(crowd.answers, "--embedder=bow", "--output", output)
    assert header_of(output / "models.csv") == HEADERS["models.csv"].split()
    assert table(output / "models.csv") == table(output / "model_answers.csv") == []


def test_the_raw_score_is_the_mean_of_the_leave_one_out_scores(crowd, output):
    evaluate(crowd.answers, "--embedder=bow", "--output", output)
    scores = defaultdict(list)
    for row in table(output / "answers.csv"):
        if row["score_leave_one_out"]:
            scores[row["worker"]].append(float(row["score_leave_one_out"]))
    for row in table(output / "workers.csv"):
        raw = row["raw_leave_one_out"]
        expected = scores[row["worker"]]
        assert (float(raw) if raw else None) == (
            pytest.approx(sum(expected) / len(expected)) if expected else None
        )


def test_rows_stand_in_the_order_of_the_file(crowd, output):
    evaluate(crowd.answers, "--models", crowd.models, "--embedder=bow", "--output", output)
    assert [row["worker"] for row in table(output / "workers.csv")] == [
        "Ana",
        "Ben",
        "Cem",
        "Dora",
        "Eli",
    ]
    given = [(row["worker"], row["question"]) for row in table(crowd.answers)]
    written = [(row["worker"], row["question"]) for row in table(output / "answers.csv")]
    assert written == list(dict.fromkeys(given))
    assert [row["model"] for row in table(output / "models.csv")] == ["m-1", "m-2", "m-3"]


def test_the_summary_says_how_the_numbers_were_made(crowd, output):
    evaluate(
        crowd.answers,
        "--models",
        crowd.models,
        f"--embedder=precomputed:{crowd.vectors}",
        "--leave-one-out",
        "--seed=7",
        "--output",
        output,
    )
    found = summary_of(output)
    signature = dict(part.split(":", 1) for part in found["signature"].split("|")[1:])
    assert signature["leave_one_out"] == "yes"
    assert signature["seed"] == "7"
    assert signature["precision"] == "float64"
    assert found["input_hash"].startswith(signature["inputs"])
    assert found["parameters"]["tolerance"] == 1e-6
    assert set(found["input_hashes"]) == {"answers", "models", "vectors"}
    assert set(found["versions"]) >= {"crowdgrade", "python", "numpy", "scipy"}
    assert found["counts"] == {
        "rows": 30,
        "repeated_rows": 1,
        "empty_answers": 1,
        "answers": 28,
        "workers": 5,
        "questions": 7,
        "single_answer_questions": 1,
        "model_rows": 9,
        "repeated_model_rows": 0,
    }
    assert len(found["trace"]) == found["iterations"]
    assert found["converged"] is True
    assert set(found["ceiling"]) == {
        "score",
        "low",
        "high",
        "n_workers",
        "n_questions",
        "reason",
        "n_splits",
        "seed",
    }


@pytest.mark.long
def test_the_same_seed_gives_the_same_bytes_in_every_process(crowd, tmp_path):
    made = []
    for place, hash_seed in (("one", "1"), ("two", "2")):
        # In processes whose sets and dicts of text are ordered differently.
        subprocess.run(
            [
                *(sys.executable, "manage.py", "evaluate", "aqer", crowd.answers),
                *("--models", crowd.models, "--embedder", "tfidf-char", "--init", "random"),
                *("--bootstrap", "30", "--output", tmp_path / place),
            ],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        made.append({path.name: path.read_bytes() for path in (tmp_path / place).iterdir()})
    assert made[0] == made[1]


def test_another_seed_gives_other_intervals_and_the_same_grades(crowd, tmp_path):
    rows = []
    for seed in (0, 1):
        output = tmp_path / str(seed)
        vectors = f"--embedder=precomputed:{crowd.vectors}"
        evaluate(crowd.answers, vectors, f"--seed={seed}", "--output", output)
        rows.append(table(output / "workers.csv"))
    assert [row["grade"] for row in rows[0]] == [row["grade"] for row in rows[1]]
    assert [row["raw_low"] for row in rows[0]] != [row["raw_low"] for row in rows[1]]


SWITCHES = [
    "--leave-one-out",
    "--difficulty",
    "--discrimination",
    "--similarity=euclidean",
    "--aggregation=majority",
    "--bootstrap-workers",
    "--bootstrap=0",
    "--init=random",
    "--stopping=paper",
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "n_workers",
    [pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long), 5],
)
def test_every_empty_cell_has_a_reason_whatever_is_switched_on(crowd, tmp_path, n_workers):
    rows = table(crowd.answers)
    few = dict.fromkeys(row["worker"] for row in rows)
    few = list(few)[-n_workers:]
    chosen = [tuple(row.values()) for row in rows if row["worker"] in few]
    chosen.append(("Nobody", "q1", ""))
    chosen.append((few[0], "q8", ""))
    answers = write_csv(tmp_path / "some.csv", ("worker", "question", "answer"), chosen)
    for pair in [(), *itertools.combinations(SWITCHES, 2)]:
        ran = evaluate(
            answers,
            "--embedder=bow",
            "--bootstrap=6",
            *pair,
            "--models",
            crowd.models,
            "--output",
            tmp_path / "o",
        )
        assert (ran.code, ran.err) == (0, ""), pair
        assert_every_gap_has_its_reason(tmp_path / "o")


def test_fewer_than_three_workers_get_scores_but_no_grade(crowd, tmp_path, output):
    rows = [tuple(r.values()) for r in table(crowd.answers) if r["worker"] in ("Ana", "Dora")]
    answers = write_csv(tmp_path / "two.csv", ("worker", "question", "answer"), rows)
    ran = evaluate(answers, "--models", crowd.models, "--embedder=bow", "--output", output)
    assert ran.code == 0
    for row in table(output / "workers.csv"):
        assert row["raw"]
        blank = ("grade", "raw_low", "raw_high", "grade_low", "grade_high", "weight", "rank")
        blank += ("rank_low", "rank_high")
        assert not any(row[column] for column in blank)
    assert all(row["score"] for row in table(output / "answers.csv"))
    assert all(row["percentile"] == "" for row in table(output / "models.csv"))
    found = summary_of(output)
    assert found["iterations"] == 0
    assert found["ceiling"]["reason"] == "fewer_than_3_workers"
    reasons = {e["reason"] for e in found["undefined"] if e["file"] == "workers.csv"}
    assert reasons == {"fewer_than_3_workers", "fewer_than_5_facts"}


def test_a_worker_who_left_everything_empty_is_listed_with_the_reason(tmp_path, output):
    rows = [(w, q, f"{w} on {q}") for w in ("Ana", "Ben", "Cem") for q in ("q1", "q2")]
    rows += [("Nil", "q1", ""), ("Nil", "q3", " \t")]
    answers = write_csv(tmp_path / "nil.csv", ("worker", "question", "answer"), rows)
    assert evaluate(answers, "--embedder=bow", "--output", output).code == 0
    nil = table(output / "workers.csv")[-1]
    assert (nil["worker"], nil["n_answers"], nil["raw"], nil["grade"]) == ("Nil", "0", "", "")
    unanswered = table(output / "exemplars.csv")[-1]
    assert (unanswered["question"], unanswered["n_answers"]) == ("q3", "0")
    assert summary_of(output)["counts"]["workers"] == 3
    assert_every_gap_has_its_reason(output)


def test_models_that_never_speak_are_scored_without_a_vector(crowd, tmp_path, output):
    models = write_csv(
        tmp_path / "mute.csv",
        ("model", "question", "answer", "status"),
        [("mute", "q1", "", "empty"), ("mute", "q2", "", "refused_prompt")],
    )
    ran = evaluate(crowd.answers, "--models", models, "--embedder=bow", "--output", output)
    assert ran.code == 0, ran.err
    row = table(output / "models.csv")[0]
    assert (row["score"], row["score_answered"], row["n"], row["n_answered"]) == (
        "0.0",
        "",
        "2",
        "0",
    )
    reasons = {
        e["column"]: e["reason"]
        for e in summary_of(output)["undefined"]
        if e["file"] == "models.csv"
    }
    assert reasons["percentile"] == reasons["score_answered"] == "no_text_answers"
    assert_every_gap_has_its_reason(output)
