"""Grading with remedies agrees with the same written out answer by answer."""

import numpy as np
import pytest
from scipy import sparse

from evaluation.consensus import AQER
from evaluation.core.stats.cells import encode_labels
from evaluation.grading.remedies.methods.copies import build_units
from evaluation.grading.remedies.methods.partial_crowd import fit_partial_crowd
from tests.evaluation.consensus.methods import literal
from tests.evaluation.core.stats.worlds import as_answers, crowd
from tests.evaluation.grading.remedies.methods.literal_remedies import literal_remedied

SIMILARITY = {"cosine": literal.cosine, "euclidean": literal.negative_distance}
VOTE = {"mean": literal.mean_vote, "majority": literal.majority_vote}
REMEDIES = {
    "excluded": {"excluded": ["worker 1", "worker 6"]},
    "collapsed": {"groups": [["worker 2", "worker 5", "worker 7"]]},
    "two groups, one excluded, a cap": {
        "excluded": ["worker 3"],
        "groups": [["worker 0", "worker 4"], ["worker 6", "worker 7"]],
        "cap": 0.3,
    },
}
SWITCHES = [
    {},
    {"leave_one_out": True},
    {"difficulty": True},
    {"discrimination": True},
    {"leave_one_out": True, "difficulty": True, "discrimination": True},
]


def fitted(x, workers, questions, remedy, group_vote=0.25, **parameters):
    worker, names = encode_labels(workers)
    question, _ = encode_labels(questions)
    code = {name: at for at, name in enumerate(names.tolist())}
    units = build_units(
        x,
        worker,
        question,
        len(names),
        [code[name] for name in remedy.get("excluded", ())],
        [np.array(sorted(code[name] for name in group)) for group in remedy.get("groups", ())],
        euclidean=parameters.get("similarity") == "euclidean",
    )
    aqer = AQER(weight_cap=remedy.get("cap"), **parameters)
    return fit_partial_crowd(aqer, x, workers, questions, units=units, group_vote=group_vote)


@pytest.mark.parametrize("share", [0.0, 1.5])
def test_a_group_has_a_part_of_a_vote_and_no_more(share):
    with pytest.raises(ValueError, match=rf"^group_vote .* {share}$"):
        fit_partial_crowd(AQER(), [[1.0]], ["w"], ["q"], units=None, group_vote=share)


@pytest.mark.parametrize("switches", SWITCHES, ids=lambda s: "+".join(s) or "plain")
@pytest.mark.parametrize("aggregation", VOTE)
@pytest.mark.parametrize("similarity", SIMILARITY)
@pytest.mark.parametrize("name", REMEDIES)
def test_remedies_agree_with_the_literal_loop(name, similarity, aggregation, switches):
    remedy = REMEDIES[name]
    x, workers, questions = crowd(
        4, workers=9, questions=5, dimension=6, answered=0.9, binary=aggregation == "majority"
    )
    raw, grades, weights = literal_remedied(
        as_answers(x, workers, questions),
        **remedy,
        **switches,
        similarity=SIMILARITY[similarity],
        vote=VOTE[aggregation],
    )
    for vectors in (x, sparse.csr_array(x)):
        found = fitted(
            vectors,
            workers,
            questions,
            remedy,
            similarity=similarity,
            aggregation=aggregation,
            n_draws=0,
            max_iterations=25,
            **switches,
        )
        names = found.workers_.tolist()
        for got, wanted in ((found.raw_, raw), (found.grades_, grades)):
            numbers = [np.nan if wanted[w] is None else wanted[w] for w in names]
            assert got == pytest.approx(numbers, abs=1e-7, nan_ok=True)
        of_units = sorted(found.fitted_.crowd.weights)
        assert of_units == pytest.approx(sorted(weights.values()), abs=1e-7)
        assert found.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize("switches", SWITCHES, ids=lambda s: "+".join(s) or "plain")
def test_the_others_are_graded_as_if_the_excluded_had_not_answered(switches):
    x, workers, questions = crowd(7, workers=8, questions=8, answered=0.9)
    out = np.isin(workers, ["worker 1", "worker 5"])
    found = fitted(x, workers, questions, {"excluded": ["worker 1", "worker 5"]}, n_draws=40)
    alone = AQER(n_draws=40).fit(x[~out], workers[~out], questions[~out])
    place = [found.workers_.tolist().index(name) for name in alone.workers_.tolist()]
    for name in ("raw_", "grades_", "weights_", "raw_low_", "grade_high_", "ranks_", "rank_low_"):
        assert getattr(found, name)[place] == pytest.approx(getattr(alone, name), nan_ok=True)
    assert found.scores_[~out] == pytest.approx(alone.scores_)
    rest = np.setdiff1d(np.arange(8), place)
    assert np.isnan(found.grades_[rest]).all()
    assert (found.weights_[rest] == 0).all()
    assert (found.ranks_[rest] == 0).all()
    assert (found.raw_low_[rest] < found.raw_[rest]).all()


def test_an_excluded_worker_is_scored_as_a_model_with_the_same_answers():
    x, workers, questions = crowd(3, workers=7, questions=9, answered=1.0)
    out = workers == "worker 2"
    found = fitted(x, workers, questions, {"excluded": ["worker 2"]}, leave_one_out=True)
    alone = AQER(leave_one_out=True).fit(x[~out], workers[~out], questions[~out])
    model = alone.score_models(x[out], np.full(out.sum(), "m"), questions[out])
    at = found.workers_.tolist().index("worker 2")
    assert found.leave_one_out_scores_[out] == pytest.approx(model.answer_scores)
    # Raw is made with the weights before the last update, which moved by less than 1e-6.
    assert found.raw_[at] == pytest.approx(model.scores[0], abs=1e-5)
    assert found.raw_low_[at] == pytest.approx(model.low[0], abs=1e-4)


def test_a_question_that_only_the_excluded_answered_has_no_exemplary_answer():
    x, workers, questions = crowd(3, workers=6, questions=6, answered=1.0)
    kept = (questions != "question 0") | (workers == "worker 2")
    x, workers, questions = x[kept], workers[kept], questions[kept]
    found = fitted(x, workers, questions, {"excluded": ["worker 2"]}, n_draws=0)
    at = found.questions_.tolist().index("question 0")
    assert np.isnan(found.compute_exemplars()[at]).all()
    assert np.isnan(found.dispersion_[at])
    assert (found.nearest_[at], found.n_workers_of_question_[at]) == (-1, 0)
    assert np.isnan(found.scores_[questions == "question 0"]).all()
    assert not np.isnan(found.raw_).any()


def test_a_full_vote_of_identical_copies_is_one_more_worker():
    # Under leave-one-out, a group that pastes one answer is the worker it pasted from.
    x, workers, questions = crowd(5, workers=7, questions=9, answered=1.0)
    of = {q: x[(workers == "worker 3") & (questions == q)][0] for q in set(questions.tolist())}
    pasted = np.array([of[q] for q in sorted(of)] * 2)
    more = np.repeat(["copy 1", "copy 2"], len(of))
    found = fitted(
        np.vstack([x, pasted]),
        np.concatenate([workers, more]),
        np.concatenate([questions, sorted(of) * 2]),
        {"groups": [["worker 3", "copy 1", "copy 2"]]},
        group_vote=1.0,
        n_draws=0,
        leave_one_out=True,
    )
    alone = AQER(n_draws=0, leave_one_out=True).fit(x, workers, questions)
    raw = dict(zip(found.workers_.tolist(), found.raw_.tolist(), strict=True))
    order = [raw[name] for name in alone.workers_.tolist()]
    assert np.argsort(order).tolist() == np.argsort(alone.raw_).tolist()
    assert raw["copy 1"] == raw["copy 2"] == pytest.approx(raw["worker 3"])
