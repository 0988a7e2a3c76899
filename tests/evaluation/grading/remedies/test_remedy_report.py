"""What remedies did, put down as plain values: every figure by its name."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from evaluation.consensus import AQER
from evaluation.consensus.methods.scale import EVERYBODY, Electorate, RemedyError
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.stats.simulation import (
    build_correlated_weak_groups,
    build_honest_groups,
    simulate_crowd,
)
from evaluation.grading.alarms.methods.camps import Camps
from evaluation.grading.crowd import RemedyInputs
from evaluation.grading.remedies.methods.camps import (
    CandidateRanking,
    CandidateRankings,
    QuestionWithCamps,
    RankingChoice,
)
from evaluation.grading.remedies.methods.copies import JudgedGroup
from evaluation.grading.remedies.run import RemedyReport, grade_with_remedies

NAMES = np.array(["ada", "ben", "cy", "dee"])


def ranked(raw):
    """A candidate's estimator, of which the report reads the raw scores."""
    made = AQER(n_draws=0).fit(np.eye(4), list("abcd"), [1, 1, 1, 1])
    made.fitted_ = replace(made.fitted_, raw=np.array(raw))
    return made


def candidates(reason=None):
    found = (
        CandidateRanking("default", EVERYBODY, ranked([0.1, 0.2, 0.3, 0.4])),
        CandidateRanking("from_camp_1", EVERYBODY, ranked([0.4, 0.2, 0.3, 0.1])),
    )
    alarm = Camps(7.5, (np.arange(3), np.array([3])), (0.2, 0.1), 9, 10, None, 3.0)
    same = {"only_camp_1": "default"}
    return CandidateRankings(found, (np.arange(3), np.array([3])), alarm, same, reason)


def test_a_report_of_nothing_says_what_was_asked_for_only():
    report = RemedyReport(("weight_cap",), NAMES)
    assert report.as_dict() == {"asked_for": ["weight_cap"], "excluded_workers": 0}


def test_groups_are_told_by_the_names_of_their_members():
    groups = [
        JudgedGroup(np.array([2, 0]), 0.7, 0.9, "copies"),
        JudgedGroup(np.array([1, 3]), 0.6, 0.8, "camp"),
    ]
    report = RemedyReport(("exclude_workers", "collapse_copies"), NAMES, 3, groups)
    assert report.as_dict(str.upper) == {
        "asked_for": ["exclude_workers", "collapse_copies"],
        "excluded_workers": 3,
        "groups": [
            {"workers": ["CY", "ADA"], "kappa": 0.7, "mean_cosine": 0.9, "collapsed": True,
             "verdict": "copies"},
            {"workers": ["BEN", "DEE"], "kappa": 0.6, "mean_cosine": 0.8, "collapsed": False,
             "verdict": "camp"},
        ],
    }  # fmt: skip
    none = RemedyReport(("collapse_copies",), NAMES)
    assert none.as_dict()["groups"] == []


def test_candidates_the_choice_and_suggestions_are_told_with_their_reasons():
    report = RemedyReport(
        ("anchors", "suggest_anchors"), NAMES, candidates=candidates(),
        choice=RankingChoice(1, (-0.5, 0.9), None), n_anchors=6, suggested=np.array([4, 2]),
    )  # fmt: skip
    wanted = stats.spearmanr([0.4, 0.2, 0.3, 0.1], [0.1, 0.2, 0.3, 0.4]).statistic
    told = report.as_dict()
    assert told["candidates"] == {
        "two_camps": {"statistic": 7.5, "threshold": 3.0, "rings": True, "reason": None},
        "camps": [3, 1],
        "found": [
            {"name": "default", "correlation_with_expert": -0.5,
             "spearman_with_default": pytest.approx(1.0)},
            {"name": "from_camp_1", "correlation_with_expert": 0.9,
             "spearman_with_default": pytest.approx(wanted)},
        ],
        "same_as": {"only_camp_1": "default"},
        "reason": None,
    }  # fmt: skip
    assert told["anchors"] == {"graded": 6, "chosen": "from_camp_1", "reason": None}
    assert told["suggested_anchors"] == {"count": 2, "reason": None}
    unclear = replace(
        report,
        candidates=candidates("one_ranking"),
        choice=RankingChoice(0, (None, None), "equal_grades"),
        suggested=np.zeros(0, dtype=np.int64),
    ).as_dict()
    assert unclear["anchors"] == {"graded": 6, "chosen": "default", "reason": "equal_grades"}
    assert unclear["suggested_anchors"] == {"count": 0, "reason": "one_ranking"}
    assert unclear["candidates"]["reason"] == "one_ranking"
    asked_only = replace(report, choice=None).as_dict()
    assert "anchors" not in asked_only
    found = asked_only["candidates"]["found"]
    assert [one["correlation_with_expert"] for one in found] == [None, None]


def test_questions_with_camps_and_spelling_are_told():
    report = RemedyReport(
        ("camps", "spelling"), NAMES,
        questions=[QuestionWithCamps("q1", 0.6, (5, 3))], spelling={"words": 2},
    )  # fmt: skip
    assert report.as_dict(name_of_question=str.upper) == {
        "asked_for": ["camps", "spelling"],
        "excluded_workers": 0,
        "questions_with_camps": [{"question": "Q1", "separation": 0.6, "answers": [5, 3]}],
        "spelling": {"words": 2},
    }
    assert replace(report, questions=[]).as_dict()["questions_with_camps"] == []


# --- the flow on arrays --------------------------------------------------------------------------

CAMPS = simulate_crowd(build_correlated_weak_groups(0.8, n_workers=12), 12, 40, seed=0)
HONEST = simulate_crowd(build_honest_groups(10), 12, 40, seed=1)
PLAIN = AqerParameters(embedder="precomputed:none", bootstrap=0)


def remedied(crowd, parameters, vectors=None, **outside):
    return grade_with_remedies(
        parameters,
        crowd.vectors if vectors is None else vectors,
        crowd.workers,
        crowd.questions,
        RemedyInputs(**outside),
    )


def quality(aqer, crowd):
    return np.corrcoef(aqer.raw_, crowd.compute_quality())[0, 1]


def test_the_plain_run_beside_it_has_no_remedy_no_draws_and_the_texts_as_written():
    asked = replace(PLAIN, weight_cap=0.2, bootstrap=4, difficulty=True)
    found = remedied(HONEST, asked)
    alone = AQER(n_draws=0, difficulty=True).fit(HONEST.vectors, HONEST.workers, HONEST.questions)
    np.testing.assert_array_equal(found.plain.raw_, alone.raw_)
    assert not len(found.plain.draw_agreement_)
    assert len(found.aqer.draw_agreement_) == 4
    assert found.aqer.weights_.max() <= 0.2 + 1e-12
    written = np.roll(HONEST.vectors, 1, axis=1) ** 2
    found = remedied(HONEST, asked, plain_vectors=written)
    other = AQER(n_draws=0, difficulty=True).fit(written, HONEST.workers, HONEST.questions)
    np.testing.assert_array_equal(found.plain.raw_, other.raw_)


def test_experts_grades_choose_the_ranking_that_the_final_run_has():
    rows = np.flatnonzero(np.isin(CAMPS.questions, (0, 1, 2)))
    truth = CAMPS.truth[CAMPS.questions[rows]]
    right = np.einsum("nd,nd->n", CAMPS.vectors[rows], truth)
    found = remedied(
        CAMPS, replace(PLAIN, anchors=True), anchor_rows=rows.tolist(), anchor_grades=right.tolist()
    )
    assert quality(found.plain, CAMPS) < 0 < 0.9 < quality(found.aqer, CAMPS)
    report = found.report
    assert report.n_anchors == len(rows)
    assert report.suggested is None
    chosen = report.candidates.rankings[report.choice.place]
    np.testing.assert_allclose(found.aqer.raw_, chosen.aqer.raw_)
    for candidate, correlation in zip(
        report.candidates.rankings, report.choice.correlations, strict=True
    ):
        scores = candidate.aqer.leave_one_out_scores_[rows]
        assert correlation == pytest.approx(np.corrcoef(scores, right)[0, 1])
        assert not len(candidate.aqer.draw_agreement_)


def test_without_camps_there_is_nothing_to_choose_between():
    asked = replace(PLAIN, anchors=True, suggest_anchors=4)
    found = remedied(HONEST, asked, anchor_rows=[0, 1], anchor_grades=[1.0, 5.0])
    report = found.report
    assert (report.choice.place, report.choice.reason) == (0, "no_camps")
    assert report.suggested.tolist() == []
    np.testing.assert_allclose(found.aqer.raw_, found.plain.raw_)


def test_suggested_answers_are_favourites_on_the_questions_where_these_differ_most():
    found = remedied(CAMPS, replace(PLAIN, suggest_anchors=6)).report
    favourites = np.array([one.aqer.nearest_ for one in found.candidates.rankings])
    unit = CAMPS.vectors / np.linalg.norm(CAMPS.vectors, axis=1, keepdims=True)
    apart = [
        np.mean([1 - unit[a] @ unit[b] for i, a in enumerate(rows) for b in rows[i + 1 :]])
        for rows in favourites.T
    ]
    wanted = []
    for question in np.argsort(-np.array(apart), kind="stable"):
        rows = list(dict.fromkeys(favourites[:, question].tolist()))
        wanted += rows if len(rows) > 1 else []
    assert found.suggested.tolist() == wanted[:6]


def test_nobody_may_be_left_without_a_voter():
    everybody = list(range(10))
    with pytest.raises(RemedyError, match="nobody_left"):
        remedied(HONEST, replace(PLAIN, exclude_workers=("all",)), excluded=everybody)
    # Ids of nobody here exclude nobody.
    found = remedied(HONEST, replace(PLAIN, exclude_workers=("x",)), excluded=[77])
    np.testing.assert_allclose(found.aqer.raw_, found.plain.raw_)
    assert found.report.excluded == 0


def pasting():
    crowd = HONEST
    vectors = crowd.vectors.copy()
    for question in range(12):
        at = {int(crowd.workers[r]): r for r in np.flatnonzero(crowd.questions == question)}
        for worker in (4, 7):
            vectors[at[worker]] = vectors[at[2]]
    return vectors


def test_copies_are_collapsed_among_those_who_vote():
    asked = replace(PLAIN, collapse_copies=True, group_vote=0.5)
    found = remedied(HONEST, asked, pasting())
    (group,) = found.report.groups
    assert (group.members.tolist(), group.is_collapsed) == ([2, 4, 7], True)
    weights = found.aqer.weights_
    assert weights[2] == weights[4] == weights[7] > 0
    quarter = remedied(HONEST, replace(asked, group_vote=0.25), pasting()).aqer.weights_
    assert quarter[2] < weights[2]
    # Whoever is excluded is no part of a group.
    both = replace(asked, exclude_workers=("x",))
    found = remedied(HONEST, both, pasting(), excluded=[7])
    assert [group.members.tolist() for group in found.report.groups] == [[2, 4]]
    assert found.aqer.weights_[7] == 0
    assert found.report.excluded == 1
    assert remedied(HONEST, replace(PLAIN, weight_cap=0.3), pasting()).report.groups == []


def test_a_group_that_is_a_camp_is_collapsed_if_its_texts_prove_copying():
    rng = np.random.default_rng(0)
    words = [f"word{n}" for n in range(30)]
    texts = [" ".join(rng.choice(words, 8)) for _ in CAMPS.workers]
    asked = replace(PLAIN, collapse_copies=True)
    camp = simulate_crowd(build_correlated_weak_groups(0.8, 0.3), 12, 300, 1)
    own = [" ".join(rng.choice(words, 8)) for _ in camp.workers]
    (group,) = remedied(camp, asked, texts=own).report.groups
    assert (group.members.tolist(), group.verdict) == ([0, 1, 2, 3, 4, 5], "camp")
    assert remedied(camp, asked).report.groups[0].verdict == "camp"
    copied = list(own)
    first = {int(q): row for row, q in enumerate(camp.questions) if camp.workers[row] == 0}
    for row, (worker, question) in enumerate(zip(camp.workers, camp.questions, strict=True)):
        if worker < 6:
            copied[row] = own[first[int(question)]]
    (group,) = remedied(camp, asked, texts=copied).report.groups
    assert (group.verdict, group.is_collapsed) == ("camp_proved_by_answers", True)
    assert len(texts) == len(CAMPS.workers)


def test_camps_of_questions_are_told_by_their_ids_and_each_answer_meets_the_nearer_one():
    rng = np.random.default_rng(0)
    vectors = HONEST.vectors.copy()
    at = np.flatnonzero(HONEST.questions == 3)
    right, other = rng.standard_normal((2, 40))
    vectors[at] = right + 0.3 * rng.standard_normal((10, 40))
    vectors[at[:4]] += other - right
    asked = replace(PLAIN, camps=True)
    found = grade_with_remedies(
        asked, vectors, HONEST.workers, np.array([f"q{q}" for q in HONEST.questions]),
        RemedyInputs(),
    )  # fmt: skip
    (camped,) = found.report.questions
    assert (camped.question, camped.sizes) == ("q3", (6, 4))
    assert (found.aqer.scores_[at] > found.plain.scores_[at]).all()
    # Without the four of the other opinion there is one camp.
    alone = remedied(
        HONEST, replace(asked, exclude_workers=("x",)), vectors,
        excluded=HONEST.workers[at[:4]].tolist(),
    )  # fmt: skip
    assert alone.report.questions == []


def test_draws_and_first_scores_reach_the_run_and_draws_not_its_candidates():
    told = []
    kept = AqerParameters(embedder="precomputed:none", bootstrap=6, weight_cap=0.3)
    first = np.random.default_rng(2).random(len(HONEST.workers))
    columns = (HONEST.vectors, HONEST.workers, HONEST.questions)
    started = replace(kept, init="entailment", nli="m", max_iterations=1)
    found = grade_with_remedies(
        started, *columns, RemedyInputs(), first, lambda *of: told.append(of)
    )
    alone = started.build_estimator().fit(*columns, first, electorate=Electorate(cap=0.3))
    np.testing.assert_allclose(found.aqer.raw_, alone.raw_)
    np.testing.assert_allclose(
        found.plain.raw_,
        replace(started, weight_cap=None, bootstrap=0).build_estimator().fit(*columns, first).raw_,
    )
    assert told[-1] == (6, 6)
