"""Crowds of graded answers: real workers where they are named, else dealt ones."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from annotations.exchange.graded import LabelGrades, read_marked_answers
from evaluation.consensus import AQER
from evaluation.evidence.baselines import METHODS
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.graded import crowds as rooms
from evaluation.evidence.graded.crowds import GradedCrowds, TooFewGradesError
from tests.evaluation.evidence.graded.answers import corpus_of, of_nobody, of_workers

SEEDS = range(1000, 1003)


def refused(answers) -> str:
    with pytest.raises(TooFewGradesError) as caught:
        GradedCrowds.from_answers(answers)
    return caught.value.message.code


def test_the_true_value_of_a_named_worker_is_the_mean_of_its_grades():
    answers = of_workers()
    crowds = GradedCrowds.from_answers(answers)
    (trial,) = crowds.build_trials(corpus_of(crowds), SEEDS)
    by_hand = [np.mean([one.grade for one in answers if one.worker == f"w{w}"]) for w in range(12)]
    assert trial.truth.tolist() == pytest.approx(by_hand)
    assert len(trial.crowd.rows) == len(answers)


def test_who_has_fewer_than_five_answers_takes_part_and_is_not_compared():
    answers = [one for one in of_workers() if one.worker != "w3" or one.question < "q2"]
    assert sum(one.worker == "w3" for one in answers) == 4  # q0, q1, q10, q11
    crowds = GradedCrowds.from_answers(answers)
    (trial,) = crowds.build_trials(corpus_of(crowds), SEEDS)
    assert np.flatnonzero(np.isnan(trial.truth)).tolist() == [3]
    assert crowds.n_workers == 12


def test_on_some_questions_true_values_are_of_these_alone():
    answers = of_workers()
    crowds = GradedCrowds.from_answers(answers)
    corpus = corpus_of(crowds)
    only = np.arange(12) < 6
    (trial,) = crowds.build_trials(corpus, SEEDS, only)
    first = [one.grade for one in answers if one.worker == "w5" and int(one.question[1:]) < 6]
    assert trial.truth[5] == pytest.approx(np.mean(first))
    assert len(trial.crowd.rows) == 72


def test_without_workers_the_best_answers_are_dealt_in_tiers():
    crowds = GradedCrowds.from_answers(of_nobody(24, 5))
    assert (crowds.crowd, crowds.best) == (20, True)
    trials = crowds.build_trials(corpus_of(crowds), SEEDS)
    assert len(trials) == 3
    # Two workers share a tier, and no tier is better than the one before it.
    tiers = trials[0].truth.reshape(-1, 2).mean(axis=1)
    assert (np.diff(tiers) <= 0).all()
    assert trials[0].truth[0] > trials[0].truth[-1]


def test_where_the_best_answers_are_all_right_random_ones_are_dealt():
    crowds = GradedCrowds.from_answers(of_nobody(60, 5, grades=(0, 6)))
    assert not crowds.best
    trial = crowds.build_trials(corpus_of(crowds), SEEDS)[0]
    assert (trial.truth[0], trial.truth[-1]) == (6, 0)


def test_few_answers_a_question_make_a_smaller_crowd_and_leave_the_smallest_questions_out():
    answers = [*of_nobody(9, 4), *(replace(one, question="small") for one in of_nobody(3, 1))]
    crowds = GradedCrowds.from_answers(answers)
    assert crowds.crowd == 8
    assert "small" not in crowds.answers.questions
    assert [note.code for note in crowds.notes] == ["graded.left_out_questions"]


def test_many_answers_are_sampled_and_that_is_said(monkeypatch):
    monkeypatch.setattr(rooms, "MOST_ANSWERS", 8)
    crowds = GradedCrowds.from_answers(of_workers())
    assert crowds.n_workers == 8
    assert crowds.notes[0].values == {"all": 12, "workers": 8, "most": 8}
    dealt = GradedCrowds.from_answers(of_nobody(70, 3))
    assert len(dealt.answers.texts) == 180
    assert dealt.notes[0].values == {"most": 60}


def test_what_no_crowd_can_be_made_of_is_refused_with_the_reason():
    assert refused([replace(one, grade=1.0) for one in of_workers()]) == "graded.one_grade"
    assert refused([replace(one, worker="me") for one in of_workers(1)]) == "graded.few_workers"
    assert refused(of_nobody(1, 9)) == "graded.few_answers"
    assert refused(of_nobody(5, 9)) == "graded.few_answers"


@pytest.mark.data
@pytest.mark.long
def test_beetles_students_are_scored_as_by_code_of_its_own(data_folder):
    path = data_folder / "beetle2013" / "answers.csv"
    labels = LabelGrades.parse("correct=1,contradictory=0,incorrect=0")
    crowds = GradedCrowds.from_answers(read_marked_answers(path).compute_grades(labels))
    (trial,) = crowds.build_trials(corpus_of(crowds), SEEDS)
    found = np.corrcoef(METHODS["aqer"].score(trial.crowd), trial.truth)[0, 1]

    with path.open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: int(row["order"]))
    first = {}
    for row in rows:
        first.setdefault((row["worker"], row["question"]), row)
    workers = [worker for worker, _ in first]
    texts = [row["answer"] for row in first.values()]
    right = {worker: [] for worker in workers}
    for row in first.values():
        right[row["worker"]].append(row["label"] == "correct")
    vectors = CorpusVectors(texts).embed_texts("tfidf-char")
    aqer = AQER(n_draws=0).fit(vectors, workers, [question for _, question in first])
    shares = [np.mean(right[worker]) for worker in aqer.workers_]
    assert (len(first), len(right)) == (3559, 73)
    assert found == pytest.approx(np.corrcoef(aqer.raw_, shares)[0, 1], abs=1e-6)
