"""Attackers among real students: what they write by hand, and what they earn on the public data."""

import numpy as np
import pytest

from evaluation.evidence.data_sets import StudentAnswers
from evaluation.evidence.studies.attacks import (
    ATTACKS,
    CLAUSES,
    OFF,
    ON,
    SENTENCES,
    AttackedCrowd,
    compute_beaten_share,
    find_general_answers,
)
from tests.evaluation.commands.crowd import header_of, summary_of, table
from tests.evaluation.commands.running import manage

N_STUDENTS, N_QUESTIONS = 20, 4


def small_crowd():
    workers = np.repeat([f"s{n:02}" for n in range(N_STUDENTS)], N_QUESTIONS)
    questions = np.tile([f"q{n}" for n in range(N_QUESTIONS)], N_STUDENTS)
    texts = [f"{w} wrote some words about {q}." for w, q in zip(workers, questions, strict=True)]
    students = StudentAnswers(workers, questions, texts, np.full(len(texts), ""))
    asked = {f"q{n}": f"What is {n}?" for n in range(N_QUESTIONS)}
    workers = np.repeat(np.arange(N_STUDENTS), N_QUESTIONS)
    return AttackedCrowd(students, workers, asked, [f"general {n}" for n in range(15)])


def written(name, topic="", n=1, seed=0):
    """Texts of the attackers, one list each, and those that the students wrote."""
    crowd = small_crowd()
    (attack,) = (
        one for one in ATTACKS if (one.name, one.topic, one.n_attackers) == (name, topic, n)
    )
    texts, attackers = crowd.replace_texts(attack, seed)
    own = crowd.students.texts
    others = ~np.isin(crowd.worker, attackers)
    assert [texts[row] for row in np.flatnonzero(others)] == [
        own[row] for row in np.flatnonzero(others)
    ]
    rows = [np.flatnonzero(crowd.worker == attacker) for attacker in attackers]
    assert len(rows) == n
    return [[texts[row] for row in of] for of in rows], [[own[row] for row in of] for of in rows]


def test_without_an_attack_nothing_is_replaced():
    texts, own = written("none")
    assert texts == own


def test_pasters_write_one_sentence_each_or_all_the_same():
    texts, _ = written("one_sentence", ON, 15)
    assert all(len(set(of)) == 1 for of in texts)
    assert len({of[0] for of in texts}) > 10
    shared = [written("shared_sentence", ON, 15, seed)[0] for seed in (0, 0, 2)]
    first, again, later = ({text for of in texts for text in of} for texts in shared)
    assert len(first) == len(later) == 1
    assert first == again != later
    texts, _ = written("general_sentence", ON, 8)
    assert [set(of) for of in texts] == [{f"general {n}"} for n in range(8)]
    for topic in (ON, OFF):
        texts, _ = written("same_sentence", topic, 8)
        assert {text for of in texts for text in of} == {SENTENCES[topic]}


def test_the_most_general_answer_is_nearest_to_all_exemplary_answers():
    # Three workers and two questions, whose exemplary answers are along the two axes. "both" has a
    # cosine of .71 to each, "one" and "other" of 1 and 0: a mean of .5.
    texts = ["one", "other", "one", "other", "both", "both"]
    x = np.array([[1.0, 0], [0, 1], [1, 0], [0, 1], [1, 1], [1, 1]])
    workers, questions = np.repeat(["a", "b", "c"], 2), np.tile(["q1", "q2"], 3)
    students = StudentAnswers(workers, questions, texts, np.full(6, ""))
    found = find_general_answers(students, x)
    assert found[0] == "both"
    assert sorted(found[1:]) == ["one", "other"]


def test_answers_of_another_student_go_to_other_questions():
    ((*texts,), (*own,)) = (of[0] for of in written("other_questions", ON))
    authors = {text.split()[0] for text in texts}
    assert len(authors) == 1
    assert authors != {own[0].split()[0]}
    assert all(text.split()[-1] != mine.split()[-1] for text, mine in zip(texts, own, strict=True))


def test_a_clause_is_added_and_a_question_repeated():
    for topic in (ON, OFF):
        (texts,), (own,) = written("added_clause", topic)
        assert texts == [f"{text[:-1]} {CLAUSES[topic]}" for text in own]
    (texts,), _ = written("question", ON)
    assert texts == [f"What is {n}?" for n in range(N_QUESTIONS)]
    (texts,), _ = written("question", OFF)
    assert sorted(texts) == [f"What is {n}?" for n in range(N_QUESTIONS)]
    assert all(text != f"What is {n}?" for n, text in enumerate(texts))


def test_attacks_are_compared_on_the_same_students():
    assert written("same_sentence", OFF, 1, 5)[1] == written("question", ON, 1, 5)[1]


def test_the_share_of_honest_workers_below_an_attacker_counts_ties_half():
    scores = np.array([0.5, 0.3, 0.1, 0.5, 0.9])
    attackers = np.array([True, True, False, False, False])
    honest = np.array([False, False, True, True, True])
    # .5 is above .1, equal to .5; .3 is above .1: (1 + .5) / 3 and 1 / 3.
    assert compute_beaten_share(scores, attackers, honest) == pytest.approx((0.5 + 1 / 3) / 2)


@pytest.mark.long
def test_pasters_of_beetle_are_named_and_earn_nothing_under_question_contrast(
    data_folder, tmp_path
):
    ran = manage(
        *("reproduce", "attacks", "--data", data_folder, "--output", tmp_path / "out"),
        *("--embedder=tfidf-word", "--repetitions=1"),
    )
    assert ran.code == 0, ran.err
    rows = {
        (row["attack"], row["topic"], int(row["attackers"])): row
        for row in table(tmp_path / "out" / "attacks.csv")
    }
    assert len(rows) == len(ATTACKS)
    for (name, _, _), row in rows.items():
        if name.endswith("_sentence"):
            assert float(row["beats_contrast"]) < 0.05
            assert float(row["named_repeated"]) == 1
        assert float(row["honest_repeated"]) == 0
    assert float(rows["none", "", 1]["named_repeated"]) == 0
    assert header_of(tmp_path / "out" / "attacks.csv")[:2] == ["attack", "topic"]
    assert summary_of(tmp_path / "out")["workers"] == 73
