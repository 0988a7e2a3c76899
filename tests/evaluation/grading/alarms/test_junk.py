"""Junk is reported as what it is, once, and is no part of the tests for camps and copies."""

import numpy as np
import pytest

from evaluation.core.stats.simulation import build_honest_groups, simulate
from evaluation.core.text.dont_know import is_dont_know
from evaluation.grading.alarms.run.junk import find_junk
from tests.evaluation.grading.alarms.test_detection import alarms, kinds, named, words

AD = "best prices for watches at www.example.com, order now and save a lot"
PHRASE = "thank you for this very interesting study, all the best"
JUNK = {3: "idk", 11: AD, 17: PHRASE}


def looked_at(rows, n_workers=None):
    """Junk of rows (worker, question, text)."""
    worker, question, texts = zip(*rows, strict=True)
    said = np.array([is_dont_know(text) for text in texts])
    n = n_workers or max(worker) + 1
    return find_junk(texts, np.array(worker), np.array(question), n, said)


def own(worker, question):
    return f"worker {chr(65 + worker)} wrote about topic {chr(65 + question)} at some length here"


def crowd_with(texts_of, n=5, questions=8):
    """Honest texts, but those of the workers in `texts_of`, by worker and question."""
    return [
        (w, q, texts_of.get(w, own)(w, q) if callable(texts_of.get(w, own)) else texts_of[w][q])
        for w in range(n)
        for q in range(questions)
    ]


def test_one_text_to_every_question_is_named_with_its_share():
    found = looked_at(crowd_with({2: [AD] * 8}))
    assert found.repeated.workers.tolist() == [2]
    assert (found.repeated.severity, found.repeated.statistic) == ("alarm", 1.0)
    assert found.workers.tolist() == [False, False, True, False, False]
    assert len(found.repeated.exhibits) == 8


@pytest.mark.parametrize(
    ("n", "is_named", "is_left_out"),
    [
        (3, False, False),  # 3 of 28 pairs
        (4, True, False),  # 6 of 28 pairs, half of the answers
        (5, True, True),
    ],
)
def test_a_fifth_of_the_pairs_names_and_more_than_half_of_the_answers_leaves_out(
    n, is_named, is_left_out
):
    texts = [AD if q < n else own(2, q) for q in range(8)]
    found = looked_at(crowd_with({2: texts}))
    assert (found.repeated is not None) == is_named
    assert bool(found.workers[2]) == is_left_out


def test_case_and_signs_make_no_other_text_and_numbers_do():
    texts = [f" {AD.upper() if q % 2 else AD}!" for q in range(8)]
    assert looked_at(crowd_with({2: texts})).repeated.workers.tolist() == [2]
    texts = [f"I would say that it is about {q} kilometres an hour" for q in range(8)]
    assert looked_at(crowd_with({2: texts})).repeated is None


def test_a_short_answer_that_others_gave_too_is_no_junk():
    rows = [(w, q, "yes" if (w + q) % 4 else "no") for w in range(5) for q in range(8)]
    found = looked_at(rows)
    assert found.repeated is None
    assert not found.workers.any()


def test_dont_know_is_no_repetition_but_leaves_out():
    found = looked_at(crowd_with({2: ["idk"] * 8}))
    assert found.repeated is None
    assert found.workers.tolist() == [False, False, True, False, False]


def crowd(texts_of):
    """20 workers, of whom the three in JUNK have vectors that ignore the question."""
    rng = np.random.default_rng(4)
    made = simulate(build_honest_groups(20), 8, 60, 3)
    vectors, texts = made.vectors.copy(), []
    aside = rng.standard_normal(60) * np.linalg.norm(vectors[0]) / np.sqrt(60)
    for row, worker in enumerate(made.workers):
        if worker in JUNK:
            vectors[row] = aside + 0.05 * rng.standard_normal(60)
        texts.append(texts_of.get(worker) or words(rng))
    return alarms(vectors, *named(made), texts)


def test_junk_makes_no_camps_and_each_finding_is_one_alarm():
    without_texts = crowd({})
    assert "two_camps" in kinds(without_texts)
    found = crowd(JUNK)
    assert not {"two_camps", "clique", "copies"} & set(kinds(found))
    [repeated] = [row for row in found.found if row.kind == "repeated"]
    assert set(repeated.workers) == {"w11", "w17"}
    [dont_know] = [row for row in found.found if row.kind == "dont_know"]
    assert list(dont_know.workers) == ["w3"]
    camps = {check.check: check for check in found.checks}["two_camps"]
    assert camps.result == "good"
