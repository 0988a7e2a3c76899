"""The map and the overview of a grading, by hand: places, paths, order, and what is no mean."""

import numpy as np
import pytest

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import (
    Answers,
    EmbeddedAnswers,
    ModelAnswers,
    select_graded_answers,
)
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import EmbedderInfo
from evaluation.grading.run.grading import grade_answers
from evaluation.grading.run.maps import (
    build_heat_map,
    compute_answer_maps,
    compute_question_means,
    convert_to_bytes,
)

RNG = np.random.default_rng(0)
TRUTH = RNG.normal(size=(4, 6))
WORKERS = ("ada", "ben", "cy", "dee", "eli")
ROWS = [(worker, f"q{question}") for worker in WORKERS for question in range(4)]
ANSWERS = [
    *((key, *row, f"text {key}", False) for key, row in enumerate(ROWS)),
    (20, "lone", "own", "text 20", False),
]
VECTORS = np.array(
    [
        *(TRUTH[int(q[1])] + 0.2 * (1 + WORKERS.index(w)) * RNG.normal(size=6) for w, q in ROWS),
        RNG.normal(size=6),
    ],
    dtype=np.float32,
)
MODELS = [
    (0, "m", "q1", "text 0", AnswerStatus.TEXT, 0),
    (1, "m", "elsewhere", "text 1", AnswerStatus.TEXT, 0),
    (2, "m", "q2", "", AnswerStatus.REFUSED, 0),
]
OF_MODELS = RNG.normal(size=(2, 6)).astype(np.float32)
INFO = EmbedderInfo("test", "test", "1", "float32", 6)


def graded(models=True, answers=ANSWERS, vectors=VECTORS, **parameters):
    asked = AqerParameters(embedder="precomputed:none", bootstrap=0, **parameters)
    given = select_graded_answers(
        asked, Answers.from_rows(answers), ModelAnswers.from_rows(MODELS) if models else None
    )
    return grade_answers(
        given, lambda texts, spoken: EmbeddedAnswers(vectors, OF_MODELS if models else None, INFO)
    )


def mapped(grading):
    told = []
    found = compute_answer_maps(grading, lambda *of: told.append(of))
    assert told == [("map", 0, 1)]
    return found


def axes_of(points):
    """Mean and two leading directions, by a singular value decomposition of another library."""
    centred = points - points.mean(axis=0)
    _, sizes, rows = np.linalg.svd(centred, full_matrices=False)
    return points.mean(axis=0), rows[:2], sizes**2 / (sizes**2).sum()


def test_places_are_projections_on_the_leading_directions_of_the_run_up_to_their_signs():
    found = mapped(graded())
    mean, directions, shares = axes_of(VECTORS.astype(float))
    wanted = (VECTORS - mean) @ directions.T
    np.testing.assert_allclose(np.abs(found.places[:, :2]), np.abs(wanted), atol=1e-5)
    assert found.about["shares"] == pytest.approx(shares[:2].tolist(), rel=1e-6)
    assert found.places.dtype == found.paths.dtype == np.float32
    assert found.about["n_learned"] == len(VECTORS)
    assert found.about["unit_length"] is False
    assert found.about["n_workers"] == 6
    of_q1 = [row for row, (_, question) in enumerate(ROWS) if question == "q1"]
    mean, directions, shares = axes_of(VECTORS[of_q1].astype(float))
    own = (VECTORS[of_q1] - mean) @ directions.T
    np.testing.assert_allclose(np.abs(found.places[of_q1, 2:]), np.abs(own), atol=1e-5)
    assert found.own_share[1] == pytest.approx(shares[:2].sum(), rel=1e-6)


def test_an_answer_of_a_model_has_a_place_if_it_has_a_text_and_a_question_to_stand_with():
    found = mapped(graded())
    assert np.isfinite(found.of_models).all(axis=1).tolist() == [True, False, False]
    # On the axes of the run it stands where an answer of the same vector does.
    same = VECTORS.copy()
    same[1] = OF_MODELS[0]
    twin = mapped(graded(vectors=same))
    np.testing.assert_allclose(twin.of_models[0], twin.places[1], atol=1e-6)
    assert mapped(graded(models=False)).of_models.shape == (0, 4)


def test_an_exemplary_answer_is_at_the_weighted_mean_after_every_iteration():
    grading = graded()
    found, aqer = mapped(grading), grading.graded.aqer
    iterations = found.about["iterations"]
    assert list(iterations) == list(range(aqer.n_iter_ + 1))
    assert found.weights.shape == found.grades.shape == (len(iterations), 6)
    for at, question in enumerate(aqer.questions_.tolist()):
        rows = [row for row, given in enumerate(ANSWERS) if given[2] == question]
        who = [aqer.workers_.tolist().index(ANSWERS[row][1]) for row in rows]
        for step in range(len(iterations)):
            weights = found.weights[step, who]
            if weights.sum() > 0:
                wanted = weights @ found.places[rows] / weights.sum()
                np.testing.assert_allclose(found.paths[at, step], wanted, atol=1e-5)
    np.testing.assert_allclose(found.weights[-1], aqer.weights_, atol=1e-6)
    assert found.about["is_mean"] is True


def test_vectors_of_unit_length_are_mapped_as_they_were_graded():
    found = mapped(graded(unit_length=True))
    unit = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
    mean, directions, _ = axes_of(unit.astype(float))
    wanted = (unit - mean) @ directions.T
    np.testing.assert_allclose(np.abs(found.places[:, :2]), np.abs(wanted), atol=1e-5)
    assert found.about["unit_length"] is True
    same = VECTORS.copy()
    same[1] = 3 * OF_MODELS[0]
    twin = mapped(graded(vectors=same, unit_length=True))
    np.testing.assert_allclose(twin.of_models[0], twin.places[1], atol=1e-6)


def test_the_answer_of_the_larger_camp_is_no_mean_of_all():
    answers = [(key, f"w{key // 2}", f"q{key % 2}", f"text {key}", False) for key in range(20)]
    rng = np.random.default_rng(1)
    right, wrong = rng.normal(size=(2, 6))
    vectors = np.array(
        [(wrong if key < 8 else right) + 0.1 * rng.normal(size=6) for key in range(20)],
        dtype=np.float32,
    )
    plain = mapped(graded(models=False, answers=answers, vectors=vectors))
    camped = mapped(graded(models=False, answers=answers, vectors=vectors, camps=True))
    assert (plain.about["is_mean"], camped.about["is_mean"]) == (True, False)


def test_workers_stand_by_grade_questions_by_ease_and_what_has_no_number_last():
    grading = graded(leave_one_out=True)
    aqer = grading.graded.aqer
    found = build_heat_map(grading)
    scores = aqer.leave_one_out_scores_
    workers = sorted(
        range(6), key=lambda at: -aqer.grades_[at] if not np.isnan(aqer.grades_[at]) else 9
    )
    means = compute_question_means(grading)
    questions = sorted(range(5), key=lambda at: -means[at] if not np.isnan(means[at]) else 9)
    assert aqer.workers_[workers[-1]] == "lone"
    assert aqer.questions_[questions[-1]] == "own"
    row_of = {given[1:3]: row for row, given in enumerate(ANSWERS)}
    for r, worker in enumerate(aqer.workers_[workers]):
        for c, question in enumerate(aqer.questions_[questions]):
            row = row_of.get((worker, question))
            score = None if row is None or np.isnan(scores[row]) else round(float(scores[row]), 4)
            assert found["means"][r][c] == score
            assert found["counts"][r][c] == (score is not None)
    assert found["workers_to"] == [1, 2, 3, 4, 5, 6]
    assert found["questions_to"] == [1, 2, 3, 4, 5]


def test_the_mean_of_a_question_is_over_its_answers_with_a_score():
    grading = graded()
    scores = grading.graded.aqer.leave_one_out_scores_
    found = compute_question_means(grading)
    for at, question in enumerate(["q0", "q1", "q2", "q3"]):
        rows = [row for row, given in enumerate(ANSWERS) if given[2] == question]
        assert found[at] == pytest.approx(scores[rows].mean())
    assert np.isnan(found[4])


def test_bytes_are_little_endian_floats_and_none_for_what_has_no_place():
    assert (
        convert_to_bytes(np.array([1, -2], dtype=np.float32)) == np.array([1, -2], "<f4").tobytes()
    )
    assert convert_to_bytes(np.array([1, np.nan], dtype=np.float32)) is None
    assert convert_to_bytes(np.array([1, np.inf], dtype=np.float32)) is None
