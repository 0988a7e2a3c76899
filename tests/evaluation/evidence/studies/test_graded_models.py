"""``reproduce graded-models``: models' scores beside experts' grades, by number of workers."""

import csv

import numpy as np
import pytest

from evaluation.consensus import AQER
from evaluation.core.backends import get_embedder
from evaluation.evidence.baselines import METHODS, Corpus
from evaluation.evidence.studies.graded_models import (
    VOTERS,
    draw_trial,
    load_graded_models,
    reproduce_graded_models,
)
from evaluation.evidence.tables import EvidenceRequest
from tests.evaluation.commands.crowd import summary_of, table
from tests.evaluation.commands.running import manage

RIGHT = ["the", "stack", "gives", "back", "last", "what", "came", "in", "first"]
# Model k has 2 k words wrong, and two experts give 5 - k and 5 - k - 1/2.
MODELS = ("ada", "bob", "cyd", "dan")
QUESTIONS, WORKERS = 6, 12
FEW = ("aqer", "leave_one_out", "f1", "mean_vote")


def write(path, *rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def worded(question, n_wrong, who):
    words = RIGHT[: len(RIGHT) - n_wrong] + [f"{who}x{place}" for place in range(n_wrong)]
    return " ".join([f"q{question}", *words])


@pytest.fixture
def request_(tmp_path, monkeypatch):
    answers = [
        (f"w{worker}", f"q{question}", worded(question, worker % 3, f"w{worker}"))
        for worker in range(WORKERS)
        for question in range(QUESTIONS)
        # A sparse crowd: every worker leaves one question out.
        if worker % QUESTIONS != question
    ]
    replies = [
        (model, f"q{question}", worded(question, 2 * k, model))
        for k, model in enumerate(MODELS)
        for question in range(QUESTIONS)
    ]
    grades = [
        (model, f"q{question}", expert, 5 - k - less)
        for k, model in enumerate(MODELS)
        for question in range(QUESTIONS - 1)
        for expert, less in (("x", 0), ("y", 0.5))
    ]
    monkeypatch.setattr(
        "evaluation.evidence.studies.graded_models.list_methods",
        lambda *, core: [METHODS[name] for name in FEW],
    )
    return EvidenceRequest(
        tmp_path,
        tmp_path / "out",
        "tfidf-word",
        repetitions=2,
        file=write(tmp_path / "answers.csv", ("worker", "question", "answer"), *answers),
        models=write(tmp_path / "models.csv", ("model", "question", "answer"), *replies),
        judgements=write(
            tmp_path / "grades.csv", ("model", "question", "expert", "grade"), *grades
        ),
    )


def test_models_grades_are_means_over_experts_and_graded_answers(request_):
    given = load_graded_models(request_)
    assert given.models == list(MODELS)
    assert given.grades.tolist() == [4.75, 3.75, 2.75, 1.75]
    assert given.n == [QUESTIONS - 1] * 4
    assert given.left_out == {"unanswered": 0, "rejected": 0, "not_graded": 4, "no_worker": 0}
    assert len(given.texts) == 4 * (QUESTIONS - 1) + WORKERS * (QUESTIONS - 1)


def test_a_model_is_scored_as_aqer_scores_it_against_the_drawn_workers(request_):
    given = load_graded_models(request_)
    vectors = get_embedder("tfidf-word").fit(given.texts).embed(given.texts).toarray()
    corpus = Corpus(given.texts, given.questions, lambda _: vectors)
    trial = draw_trial(given, corpus, 5, seed=3)
    crowd = trial.crowd
    assert crowd.voting.tolist() == [False] * 4 + [True] * 5
    scores = METHODS["aqer"].score(crowd)[:4]
    votes = crowd.votes
    x = vectors[crowd.rows]
    aqer = AQER(n_draws=0).fit(x[votes], crowd.workers[votes], crowd.questions[votes])
    expected = aqer.score_models(x[~votes], crowd.workers[~votes], crowd.questions[~votes])
    assert expected.models.tolist() == [0, 1, 2, 3]
    assert scores == pytest.approx(expected.scores)


def test_the_table_has_each_number_of_workers_and_every_method(request_):
    reproduce_graded_models(request_)
    rows = table(request_.output / "table.csv")
    sizes = [*(size for size in VOTERS if size < WORKERS), WORKERS]
    assert sizes == [5, 10, 12]
    assert [(row["setting"], row["method"]) for row in rows] == [
        (f"M={size}", method) for size in sizes for method in FEW
    ]
    # More wrong words are a lower grade and a lower score.
    assert all(float(row["spearman_mean"]) == 1 for row in rows)
    assert {row["p_value"] for row in rows} == {""}
    placed = [row for row in table(request_.output / "models.csv") if row["setting"] == "M=12"]
    of_aqer = {row["model"]: row for row in placed if row["method"] == "aqer"}
    scores = [float(of_aqer[model]["score_mean"]) for model in MODELS]
    assert (np.diff(scores) < 0).all()
    assert [float(of_aqer[model]["grade"]) for model in MODELS] == [4.75, 3.75, 2.75, 1.75]
    found = summary_of(request_.output)
    assert (found["study"], found["workers"], found["graded_answers"]) == ("graded-models", 12, 20)
    reasons = {row["reason"] for row in found["undefined"] if row["column"] == "p_value"}
    assert "fewer_than_5_workers" in reasons


def test_fewer_than_3_graded_models_are_refused(request_):
    lines = request_.judgements.read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("cyd", "dan"))]
    request_.judgements.write_text("\n".join(kept) + "\n")
    ran = manage(
        *("reproduce", "graded-models", request_.file, "--models", request_.models),
        *("--judgements", request_.judgements, "--output", request_.output, "--core"),
    )
    assert ran.code == 2
    assert not request_.output.exists()


@pytest.mark.parametrize(
    "given",
    [
        ("graded-models", "answers.csv"),
        ("graded-models", "--data", ".", "--models", "models.csv"),
        ("questions", "--data", ".", "--models", "models.csv"),
    ],
)
def test_arguments_of_another_study_are_refused(tmp_path, given):
    assert manage("reproduce", *given, "--output", tmp_path / "out").code == 2
