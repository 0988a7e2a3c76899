"""``reproduce pasted-answers``: who pasted a model's answers, by the alarm and by other rules."""

import csv

import numpy as np
import pytest

from evaluation.evidence.studies.pasted_answers import (
    CONDITIONAL,
    HEADER,
    SHARES,
    compute_conditional_suspicion,
    find_winning_rules,
    load_pasted_crowd,
    measure_rules,
)
from evaluation.evidence.tables import EvidenceRequest
from tests.evaluation.commands.crowd import summary_of, table
from tests.evaluation.commands.running import manage

QUESTIONS, WORKERS, SAMPLES = 6, 20, 7
MODEL_HEADER = ("model", "question", "answer", "sample", "finish_reason", "prompt", "parameters")


def write(path, *rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def request_(tmp_path):
    answers = [
        (f"w{w}", f"q{q}", f"q{q} the stack gives back w{w}a{q} w{w}b{q}", 2 if w % 2 else 4)
        for w in range(WORKERS)
        for q in range(QUESTIONS)
    ]
    header = (*MODEL_HEADER, "extra", "crowdgrade:model-answers")
    replies = [
        ("smol", f"q{q}", f"model words on q{q} s{s}", s, "stop", "", "{}", "{}", "")
        for s in range(SAMPLES)
        for q in range(QUESTIONS)
    ]
    replies += [
        ("other", f"q{q}", f"something else q{q}", 0, "stop", "", "{}", "{}", "") for q in range(3)
    ]
    return EvidenceRequest(
        tmp_path,
        tmp_path / "out",
        "bow",
        repetitions=2,
        file=write(tmp_path / "answers.csv", ("worker", "question", "answer", "grade"), *answers),
        models=write(tmp_path / "models.csv", header, *replies),
    )


def test_agreement_beyond_the_model_is_what_its_projection_leaves():
    # The model answers along the first axis. Workers 0 and 1 agree at .6 * .6 = .36 along it and at
    # .8 * .8 = .64 beside it; worker 2 pastes.
    x = np.array([[0.6, 0.8], [0.6, 0.8], [1.0, 0.0], [1.0, 0.0]])
    rows = np.array([0, 1, 2])
    known = np.full((3, 1), 3)
    found = compute_conditional_suspicion(x, rows, np.arange(3), np.zeros(3, dtype=int), known)
    # Means over the other two: worker 0 has (.64 + 0) / 2; the paster has nothing left.
    assert found["residual"] == pytest.approx([-0.32, -0.32, 0])
    # At length 1 the two others agree fully: (1 + 0) / 2.
    assert found["partial"] == pytest.approx([-0.5, -0.5, 0])
    # Agreement with the others is (1 + .6) / 2 = .8 for worker 0, of which .32 is not the model's.
    assert found["explained_share"] == pytest.approx([0.6, 0.6, 1])


def test_contrast_subtracts_what_others_answer_to_other_questions():
    # Residuals (second and third axis): worker 0 has e2, e3, worker 1 e2, e2 on questions 0 and 1.
    x = np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0]], dtype=float)
    workers, questions = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    found = compute_conditional_suspicion(x, np.arange(4), workers, questions, np.full((4, 1), 4))
    # Worker 0: own questions (1 + 0) / 2; other questions (e2 to e2, e3 to e2) (1 + 0) / 2.
    # Worker 1: own (1 + 0) / 2; other questions (e2 to e3, e2 to e2) (0 + 1) / 2.
    assert found["residual"] == pytest.approx([-0.5, -0.5])
    assert found["residual_contrast"] == pytest.approx([0, 0])


def test_answers_without_a_known_answer_are_left_out():
    x = np.eye(3)
    known = np.array([[2], [2], [-1], [-1]])
    workers, questions = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    found = compute_conditional_suspicion(x, np.array([0, 0, 0, 1]), workers, questions, known)
    assert found["residual"] == pytest.approx([-1, -1])


def test_the_model_with_the_most_samples_is_pasted(request_):
    crowd = load_pasted_crowd(request_)
    assert (crowd.model, crowd.samples.shape, crowd.n_workers) == ("smol", (7, 6), WORKERS)
    assert [crowd.texts[row].split()[-2:] for row in crowd.samples[2]] == [
        [f"q{q}", "s2"] for q in range(QUESTIONS)
    ]
    assert (crowd.others["other"] >= 0).tolist() == [True] * 3 + [False] * 3
    assert crowd.grades is None


def test_grades_are_read_from_a_file_of_graded_answers(request_):
    given = EvidenceRequest(**vars(request_) | {"columns": {"grade": "grade"}})
    grades = load_pasted_crowd(given).grades
    assert np.bincount(grades.astype(int))[[2, 4]].tolist() == [60, 60]


def test_a_replaced_worker_has_another_sample_than_the_known_one(request_):
    crowd = load_pasted_crowd(request_)
    n, m = len(crowd.workers), crowd.n_workers
    x = np.zeros((len(crowd.texts), n + SAMPLES + 1))
    # Honest workers agree in part of their own words; each sample is an axis, alike but not equal.
    x[np.arange(n), np.arange(n)] = 0.6
    x[:n, -1] = 0.8
    for sample, rows in enumerate(crowd.samples):
        x[rows, n + sample] = 1
    outcomes = measure_rules(crowd, x, np.arange(m, dtype=float), 4, 3, seed=5)
    # Nobody has the known answers, so nothing is explained: 0 for everybody who agrees with others,
    # and the replaced, who agree with nobody, have the least residual agreement.
    assert outcomes["residual"].auc == 1
    assert outcomes["model_like"].named == 0


def test_a_rule_wins_if_both_leads_are_above_0_wherever_samples_are_known():
    def row(known, rule, lead, closed):
        cells = dict.fromkeys(HEADER)
        cells |= {"known": known, "rule": rule, "lead_low": lead, "lead_closed_low": closed}
        return tuple(cells.values())

    residual = [row("1", "residual", 0.1, 0.1), row("3", "residual", 0.2, 0.1)]
    rows = [*residual, row("1", "partial", 0.1, -0.1), row("3", "partial", 0.2, 0.1)]
    rows += [row(known, "residual_contrast", 0.1, None) for known in ("1", "3")]
    rows += [row("1", "explained_share", 0.1, 0.1), row("3", "explained_share", 0.0, 0.1)]
    assert find_winning_rules([*rows, row("other", "residual", -1.0, -1.0)]) == ["residual"]
    assert find_winning_rules([]) == []


def test_the_table_has_each_share_each_known_answer_and_every_rule(request_):
    ran = manage(
        *("reproduce", "pasted-answers", request_.file, "--models", request_.models),
        *("--columns", "grade=grade", "--output", request_.output, "--repetitions", 3),
        *("--embedder", "bow"),
    )
    assert ran.code == 0, ran.err
    rows = table(request_.output / "pasted.csv")
    # 5, 10 and 20% of 20 workers are 1, 2 and 4; 7 samples suffice for 4 pasted and 3 known ones.
    cases = list(dict.fromkeys((row["share"], row["replaced"], row["known"]) for row in rows))
    assert cases == [
        (str(share), str(count), known)
        for share, count in zip(SHARES, (1, 2, 4), strict=True)
        for known in ("1", "3", "other")
    ]
    rules = ["no_rule", "model_like", "gap_closed", *CONDITIONAL]
    assert [row["rule"] for row in rows] == rules * len(cases)
    # The pasted answers share nearly all words with the known one.
    closed = [row for row in rows if row["rule"] == "gap_closed" and row["known"] != "other"]
    assert {float(row["auc"]) for row in closed} == {1.0}
    assert all(float(row["lead"]) <= 1 for row in rows if row["rule"] in CONDITIONAL)
    assert {row["lead"] for row in rows if row["rule"] not in CONDITIONAL} == {""}
    found = summary_of(request_.output)
    assert (found["model"], found["workers"], found["samples"]) == ("smol", WORKERS, SAMPLES)


def test_a_model_that_was_asked_once_is_refused(request_):
    lines = request_.models.read_text().splitlines()
    request_.models.write_text("\n".join([lines[0], *lines[1 : 1 + QUESTIONS]]) + "\n")
    ran = manage(
        *("reproduce", "pasted-answers", request_.file, "--models", request_.models),
        *("--output", request_.output),
    )
    assert ran.code == 2
    assert not request_.output.exists()


@pytest.mark.parametrize(
    "given",
    [
        ("pasted-answers", "answers.csv"),
        ("pasted-answers", "--models", "models.csv"),
        ("pasted-answers", "answers.csv", "--models", "m.csv", "--judgements", "g.csv"),
    ],
)
def test_missing_and_further_arguments_are_refused(tmp_path, given):
    assert manage("reproduce", *given, "--output", tmp_path / "out").code == 2
