"""Junk is reported as what it is, once, and is no part of the tests for camps and copies."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from evaluation.core.backends.embedding.contract import LexicalEmbedder
from evaluation.core.stats.cells import encode_labels
from evaluation.core.stats.simulation import build_honest_groups, simulate_crowd
from evaluation.core.text.quality import is_dont_know
from evaluation.evidence.data_sets import load_labelled_beetle
from evaluation.grading.alarms.run import texts as junk
from evaluation.grading.alarms.run.texts import find_junk
from tests.evaluation.grading.alarms.test_detection import alarms, kinds, named, words

AD = "best prices for watches at www.example.com, order now and save a lot"
PHRASE = "thank you for this very interesting study, all the best"
JUNK = {3: "idk", 11: AD, 17: PHRASE}


def looked_at(rows, vectors=None):
    """Junk of rows (worker, question, text); by default no two vectors have a cosine above 0."""
    worker, question, texts = zip(*rows, strict=True)
    said = np.array([is_dont_know(text) for text in texts])
    if vectors is None:
        vectors = np.eye(len(rows))
    return find_junk(texts, vectors, np.array(worker), np.array(question), max(worker) + 1, said)


def vectors_with(rows, worker, cosines):
    """Orthogonal vectors, but worker's answer to question q has cosine cosines[q] to a common one.

    Two answers with cosines a and b to it have cosine ab to each other: all else is orthogonal.
    """
    vectors = np.eye(len(rows), len(rows) + 1)
    for row, (of, question, _) in enumerate(rows):
        if of == worker and question < len(cosines):
            along = cosines[question]
            vectors[row] *= np.sqrt(1 - along**2)
            vectors[row, -1] = along
    return vectors


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


@pytest.mark.parametrize(
    ("cosine", "is_named"),
    [(0.951, True), (0.949, False)],  # of each pair: the square of that to the common vector
)
@pytest.mark.parametrize("sparse_rows", [False, True])
def test_answers_of_cosine_95_are_nearly_the_same_text(cosine, is_named, sparse_rows):
    rows = crowd_with({})
    vectors = vectors_with(rows, 2, [np.sqrt(cosine)] * 4)
    found = looked_at(rows, sparse.csr_array(vectors) if sparse_rows else vectors)
    assert (found.repeated is not None) == is_named
    if is_named:
        assert found.repeated.workers.tolist() == [2]
        assert found.repeated.statistic == pytest.approx(6 / 28)
        assert found.repeated.exhibits[:, 2].tolist() == [0, 1, 2, 3]


def test_nearly_the_same_texts_with_other_numbers_answer_their_questions():
    def counted(w, q):
        return f"I would say that it is about {q} kilometres an hour" if w == 2 else own(w, q)

    rows = crowd_with({2: counted})
    assert looked_at(rows, vectors_with(rows, 2, [1.0] * 8)).repeated is None
    rows = crowd_with({2: lambda w, q: f"I would say it is 5, or {'ab'[q % 2]}"})
    assert looked_at(rows, vectors_with(rows, 2, [1.0] * 8)).repeated is not None


def test_an_answer_near_those_of_a_third_of_the_others_does_not_count():
    """Of the 4 others 2 give nearly the same answer to questions 0 to 5; 1 of 4 is no third."""
    rows = crowd_with({})
    for n_others, is_named in ((2, False), (1, True)):
        vectors = vectors_with(rows, 2, [1.0] * 6)
        common = [w * 8 + q for w in range(2 - n_others, 2) for q in range(6)]
        for row in common:
            # Nearly as worker 2's answer, and unlike the others' own ones: cosine .96 to it.
            vectors[row] *= np.sqrt(1 - 0.96**2)
            vectors[row, -1] = 0.96
        assert (looked_at(rows, vectors).repeated is not None) == is_named


def test_a_pasted_text_is_junk_also_where_a_third_of_the_others_gave_it():
    """3 of the 6 answers that count are named; with the 2 shared ones 5 of 8 are junk."""
    texts = [AD if q < 5 else own(2, q) for q in range(8)]
    shared = [AD if q < 2 else own(1, q) for q in range(8)]
    found = looked_at(crowd_with({2: texts, 1: shared, 0: shared}))
    assert found.repeated.workers.tolist() == [2]
    assert found.repeated.statistic == 3 / 15  # pairs of the 6 answers that count
    assert found.workers.tolist() == [False, False, True, False, False]


def test_a_worker_with_many_answers_is_compared_block_by_block(monkeypatch):
    """The same numbers by blocks of 3 as at once, and no table of all pairs of 10,000 answers."""
    rows = crowd_with({2: [AD] * 3 + [own(2, q) for q in range(3, 8)]})
    vectors = vectors_with(rows, 2, [0.0] * 3 + [0.99] * 3)
    at_once = looked_at(rows, vectors).repeated
    assert at_once.statistic == pytest.approx((3 + 3) / 28)  # two groups of three answers
    monkeypatch.setattr(junk, "BLOCK", 3)
    assert looked_at(rows, vectors).repeated.statistic == at_once.statistic
    monkeypatch.undo()
    n = 10_000
    rng = np.random.default_rng(0)
    many = rng.standard_normal((n, 8)).astype(np.float32)
    texts = [str(row) for row in range(n)]
    tracemalloc.start()
    found = find_junk(texts, many, np.zeros(n, dtype=int), np.arange(n), 1, np.zeros(n, dtype=bool))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.repeated is None
    assert peak < n * n / 2  # bytes: a table of all pairs would need twice that in booleans alone


@pytest.mark.parametrize(("n_alike", "is_named"), [(4, True), (10, False)])
@pytest.mark.parametrize("others", [1000, 12])
def test_many_answers_to_a_question_are_sampled(monkeypatch, n_alike, is_named, others):
    """Of 19 others 3 (16%) or 9 (47%) give nearly the text: below and above a third."""
    monkeypatch.setattr(junk, "OTHERS", others)
    rows = [(w, q, own(w, q)) for w in range(20) for q in range(3)]
    vectors = np.eye(len(rows), len(rows) + 1)
    for row in range(3 * n_alike):
        vectors[row] *= np.sqrt(1 - 0.99**2)
        vectors[row, -1] = 0.99
    assert (looked_at(rows, vectors).repeated is not None) == is_named


@pytest.mark.medium
def test_no_student_of_beetle_repeats_and_who_pastes_one_sentence_is_named(data_folder):
    students = load_labelled_beetle(data_folder)
    worker, names = encode_labels(students.workers)
    question = encode_labels(students.questions)[0]
    texts = list(students.texts)
    said = np.array([is_dont_know(text) for text in texts])
    vectors = LexicalEmbedder("tfidf-char").fit_and_embed(texts)
    assert find_junk(texts, vectors, worker, question, len(names), said).repeated is None
    place = np.arange(len(texts))
    place[worker == 0] = np.flatnonzero(worker == 0)[5]
    for row in np.flatnonzero(worker == 0).tolist():  # edited, so that no text tells
        texts[row] = f"{texts[place[row]]} {'abcdefgh'[row % 8] * (row // 8 + 1)}"
    found = find_junk(texts, vectors[place], worker, question, len(names), said)
    assert found.repeated.workers.tolist() == [0]
    assert found.repeated.statistic == 1.0


def crowd(texts_of):
    """20 workers, of whom the three in JUNK have vectors that ignore the question.

    Their own vectors have cosines of about .8 (1 / (1 + .5²)): alike, but no repetitions.
    """
    rng = np.random.default_rng(4)
    made = simulate_crowd(build_honest_groups(20), 8, 60, 3)
    vectors, texts = made.vectors.copy(), []
    aside = rng.standard_normal(60) * np.linalg.norm(vectors[0]) / np.sqrt(60)
    for row, worker in enumerate(made.workers):
        if worker in JUNK:
            vectors[row] = aside + 0.5 * rng.standard_normal(60)
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
