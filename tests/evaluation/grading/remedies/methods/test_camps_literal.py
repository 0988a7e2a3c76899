"""Several exemplary answers to a question: the nearest one counts."""

import numpy as np
import pytest
from scipy import sparse

from evaluation.consensus import AQER
from evaluation.consensus.methods.exemplary_answers import MeanVote
from evaluation.consensus.methods.scale import RemedyError
from evaluation.core.stats.cells import Cells
from evaluation.grading.remedies.methods.camps import label_camps
from tests.evaluation.consensus.methods import literal
from tests.evaluation.core.stats.worlds import as_answers, crowd

SIMILARITY = {"cosine": literal.cosine, "euclidean": literal.negative_distance}
VOTE = {"mean": literal.mean_vote, "majority": literal.majority_vote}


def literal_camps(answers, camps, similarity, vote, leave_one_out, rounds):
    """Raw scores and weights; an answer is left out of its own camp only."""
    workers = list(dict.fromkeys(w for w, _ in answers))
    weights = dict.fromkeys(workers, 1 / len(workers))

    def score(key):
        worker, question = key
        found = []
        for camp in {camps[k] for k in answers if k[1] == question}:
            part = {k: x for k, x in answers.items() if k[1] == question and camps[k] == camp}
            without = worker if leave_one_out else None
            if any(w != without for w, _ in part):
                seen = literal.exemplar(part, question, weights, vote, without)
                found.append(similarity(answers[key], seen))
        return max(found) if found else None

    for _ in range(rounds):
        scores = {key: score(key) for key in answers}
        raw = literal.raw_scores(scores, workers, False, False)
        grades = literal.grades_of(raw)
        weights = {w: (grades[w] or 0.0) / sum(g or 0.0 for g in grades.values()) for w in workers}
    return raw, weights


@pytest.mark.parametrize("leave_one_out", [False, True], ids=["", "leave_one_out"])
@pytest.mark.parametrize("aggregation", VOTE)
@pytest.mark.parametrize("similarity", SIMILARITY)
def test_the_nearest_camp_counts(similarity, aggregation, leave_one_out):
    x, workers, questions = crowd(
        8, workers=8, questions=5, dimension=4, answered=0.9, binary=aggregation == "majority"
    )
    labels = np.random.default_rng(1).integers(0, 3, len(x))
    labels[questions == "question 1"] = 2  # a question without camps
    keys = list(zip(workers.tolist(), questions.tolist(), strict=True))
    raw, weights = literal_camps(
        as_answers(x, workers, questions),
        dict(zip(keys, labels.tolist(), strict=True)),
        SIMILARITY[similarity],
        VOTE[aggregation],
        leave_one_out,
        rounds=7,
    )
    aqer = AQER(
        similarity=similarity,
        aggregation=aggregation,
        leave_one_out=leave_one_out,
        n_draws=0,
        max_iterations=7,
        tolerance=0,
    )
    for vectors in (x, sparse.csr_array(x)):
        aqer.fit(vectors, workers, questions, camps=labels)
        names = aqer.workers_.tolist()
        assert aqer.raw_ == pytest.approx([raw[w] for w in names], abs=1e-9)
        assert aqer.weights_ == pytest.approx([weights[w] for w in names], abs=1e-9)


def two_answers(seed=0, workers=10, questions=12, dimension=40):
    """Half of the questions have two right answers, whose givers change."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((questions, 2, dimension))
    truth[::2, 1] = truth[::2, 0]
    noise = np.linspace(0.2, 1.0, workers)
    who, what = (a.ravel() for a in np.meshgrid(np.arange(workers), np.arange(questions)))
    side = rng.permuted(np.tile(np.arange(workers) % 2, (questions, 1)), axis=1)[what, who]
    x = truth[what, side] + noise[who, None] * rng.standard_normal((len(who), dimension))
    return x, who, what, side, noise


def test_camps_are_found_where_a_question_has_two_answers_and_nowhere_else():
    x, who, what, side, _ = two_answers()
    cells = Cells.from_codes(who, what, 10, 12)
    camp, found = label_camps(MeanVote.from_vectors(x, cells, "cosine"), x, seed=0)
    assert sorted(question.question for question in found) == [1, 3, 5, 7, 9, 11]
    assert all(question.sizes == (5, 5) for question in found)
    for question in range(12):
        here = what == question
        if question % 2 == 0:
            assert (camp[here] == 0).all()
        else:
            assert abs(np.corrcoef(camp[here], side[here])[0, 1]) == pytest.approx(1)


def test_with_camps_nobody_is_punished_for_the_other_right_answer():
    x, who, what, _, noise = two_answers(seed=3)
    camps, _ = label_camps(
        MeanVote.from_vectors(x, Cells.from_codes(who, what, 10, 12), "cosine"), x, seed=0
    )
    plain = AQER(n_draws=0, leave_one_out=True).fit(x, who, what)
    camped = AQER(n_draws=0, leave_one_out=True).fit(x, who, what, camps=camps)
    assert np.corrcoef(camped.raw_, -noise)[0, 1] > np.corrcoef(plain.raw_, -noise)[0, 1]
    assert camped.raw_.min() > plain.raw_.min()


def test_the_heaviest_camp_stands_for_its_question():
    x = np.array(
        [[1.0, 0], [1, 0.1], [0, 1], [0, 1], [0.1, 1], [1, 0], [1, 0], [1, 0], [1, 0], [0, 1]]
    )
    workers, questions = np.tile(np.arange(5), 2), np.repeat([0, 1], 5)
    camps = [0, 0, 1, 1, 1, 0, 0, 0, 0, 0]
    aqer = AQER(n_draws=0, max_iterations=1).fit(x, workers, questions, camps=camps)
    votes = aqer.weights_[:2].sum(), aqer.weights_[2:].sum()
    heavier = [0, 1] if votes[0] > votes[1] else [2, 3, 4]
    assert aqer.nearest_[0] in heavier
    w = aqer.weights_[heavier]
    assert aqer.compute_exemplars()[0] == pytest.approx(w @ x[heavier] / w.sum())


def test_a_cap_cuts_the_heaviest_and_keeps_the_others_in_proportion():
    x, workers, questions = crowd(6, workers=8, questions=6, answered=1.0)
    plain = AQER(n_draws=0).fit(x, workers, questions)
    capped = AQER(n_draws=30, weight_cap=0.2).fit(x, workers, questions)
    assert plain.weights_.max() > 0.2
    assert capped.weights_.max() == pytest.approx(0.2)
    assert capped.weights_.sum() == pytest.approx(1)
    free = (capped.weights_ < 0.2 - 1e-9) & (capped.grades_ > 0)
    assert free.sum() >= 2
    assert np.ptp(capped.weights_[free] / capped.grades_[free]) < 1e-9
    assert (capped.fitted_.crowd.drawn.votes <= 0.2 + 1e-9).all()


def test_a_cap_at_one_by_the_number_of_workers_makes_all_votes_equal():
    x, workers, questions = crowd(6, workers=5, questions=6, answered=1.0)
    assert AQER(n_draws=0, weight_cap=0.2).fit(x, workers, questions).weights_ == pytest.approx(0.2)


def test_a_cap_that_cannot_be_kept_is_refused():
    x, workers, questions = crowd(6, workers=5, questions=6, answered=1.0)
    with pytest.raises(RemedyError, match=r"^cap_too_low: cap 0\.1, voters 5, lowest 0\.2$"):
        AQER(weight_cap=0.1).fit(x, workers, questions)


@pytest.mark.parametrize("similarity", SIMILARITY)
def test_unit_length_is_what_normalised_vectors_give(similarity):
    x, workers, questions = crowd(6, workers=6, questions=6)
    x = x * np.random.default_rng(0).uniform(0.1, 9, (len(x), 1))
    x[3] = 0
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    units = x / np.where(lengths > 0, lengths, 1)
    wanted = AQER(similarity, n_draws=0).fit(units, workers, questions)
    for vectors in (x, sparse.csr_array(x), x * 1e-300):
        found = AQER(similarity, n_draws=0, unit_length=True).fit(vectors, workers, questions)
        assert found.raw_ == pytest.approx(wanted.raw_)
        model = found.score_models(vectors[:1], ["m"], [questions[0]])
        assert model.scores == pytest.approx(found.final_scores_[:1])
