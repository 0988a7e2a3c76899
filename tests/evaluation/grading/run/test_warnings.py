"""What to know before trusting a grading: each warning where it is due, and nowhere else."""

from types import SimpleNamespace

import numpy as np
import pytest

from evaluation.consensus.methods.scale import EVERYBODY
from evaluation.grading.remedies.methods.camps import (
    CandidateRanking,
    CandidateRankings,
    RankingChoice,
)
from evaluation.grading.remedies.run import RemedyReport
from evaluation.grading.run.grading import build_grading_warnings, build_remedy_warnings

LONG = "a text of more than three words that says something"


def fitted(**changes):
    """What warnings read of an estimator in which all is well."""
    well = {
        "workers_": np.arange(4),
        "reason_": None,
        "converged_": True,
        "n_iter_": 7,
        "raw_": np.array([0.2, 0.4, 0.3, 0.5]),
        "out_of_ranking_": [None] * 4,
        "n_workers_of_question_": np.array([4, 3]),
        "supported_": np.array([True] * 4),
        "groups_": np.zeros(4, dtype=int),
    }
    return SimpleNamespace(**{**well, **changes})


def told(found):
    return [(message.code, dict(message.values)) for message in found]


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, []),
        ({"converged_": False}, [("not_converged", {"iterations": 7})]),
        ({"reason_": "fewer_than_3_workers"}, [("too_few_workers", {"workers": 4})]),
        (
            {"reason_": "fewer_than_3_workers", "converged_": None},
            [("too_few_workers", {"workers": 4})],
        ),
        ({"raw_": np.full(4, 0.7)}, [("equal_scores", {"workers": 4})]),
        # One score is no comparison either; a score that is unknown does not differ.
        ({"raw_": np.array([0.7, np.nan, 0.7, 0.7])}, [("equal_scores", {"workers": 4})]),
        ({"raw_": np.full(4, np.nan)}, []),
        ({"reason_": "disconnected"}, [("disconnected", {})]),
        (
            {"reason_": "disconnected", "converged_": False},
            [("not_converged", {"iterations": 7}), ("disconnected", {})],
        ),
        ({"groups_": np.array([1, 2, 1, 2])},
         [("unlinked_groups", {"groups": 2, "sizes": "2, 2"})]),
        ({"reason_": "disconnected", "groups_": np.array([1, 2, 1, 2])}, [("disconnected", {})]),
        ({"out_of_ranking_": [None, "excluded", "excluded", None]},
         [("excluded_workers", {"count": 2})]),
        ({"n_workers_of_question_": np.array([1, 0, 1, 2])}, [("single_answers", {"count": 2})]),
        ({"supported_": np.array([True, False, False, False])},
         [("unranked_workers", {"count": 3})]),
    ],
)  # fmt: skip
def test_what_a_fitted_estimator_warns_of(changes, wanted):
    assert told(build_grading_warnings(fitted(**changes), None, 0, texts=[LONG])) == wanted


def test_what_was_left_out_is_counted_in_one_order():
    found = build_grading_warnings(fitted(), None, 3, 2, [LONG], "minilm", 5)
    assert told(found) == [
        ("repeated_rows", {"count": 2}),
        ("rejected_answers", {"count": 5}),
        ("empty_answers", {"count": 3}),
    ]


def test_short_answers_are_warned_of_by_what_the_embedder_was_measured_at():
    (found,) = build_grading_warnings(fitted(), None, 0, texts=["yes", "no", LONG], embedder="bow")
    assert found.code == "short_answers"
    # The error of one encoder says nothing about another.
    for embedder in ("sentence-transformers:all-mpnet-base-v2", "openai:m@http://h/v1"):
        (other,) = build_grading_warnings(
            fitted(), None, 0, texts=["yes", "no", LONG], embedder=embedder
        )
        assert told([other]) == [("short_answers_unmeasured", {"share": pytest.approx(2 / 3)})]
    assert build_grading_warnings(fitted(), None, 0) == []


def test_answers_of_models_to_nobody_and_models_that_failed_are_counted():
    models = SimpleNamespace(
        answer_reasons=["no_exemplar", None, "no_text", "no_exemplar"],
        reasons=[None, "missing_answers", "no_exemplar"],
    )
    assert told(build_grading_warnings(fitted(), models, 0)) == [
        ("model_answers_to_nobody", {"count": 2}),
        ("models_with_errors", {"count": 1}),
    ]


def report(**changes):
    return RemedyReport(**{"names": ("weight_cap",), "workers": np.arange(3), **changes})


def candidates(n, reason=None):
    found = tuple(CandidateRanking(f"c{at}", EVERYBODY, None) for at in range(n))
    return CandidateRankings(found, (), None, {}, reason)


NONE = np.zeros(0, dtype=np.int64)


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, []),
        ({"choice": RankingChoice(1, (0.1, 0.9), None), "candidates": candidates(2)}, []),
        (
            {"choice": RankingChoice(0, (None,), "equal_grades"), "candidates": candidates(2)},
            [("anchors_changed_nothing", {"reason": "equal_grades"})],
        ),
        (
            {"suggested": NONE, "candidates": candidates(1, "one_ranking")},
            [("no_anchors_suggested", {"reason": "one_ranking"})],
        ),
        (
            {"suggested": np.array([3]), "candidates": candidates(3)},
            [("several_rankings", {"count": 3})],
        ),
        (
            {"suggested": np.array([3]), "candidates": candidates(3),
             "choice": RankingChoice(2, (0.1, 0.2, 0.3), None)},
            [],
        ),
        (
            {"groups": [SimpleNamespace(is_collapsed=c) for c in (True, False, False)],
             "names": ("collapse_copies",)},
            [("groups_not_collapsed", {"count": 2})],
        ),
        ({"names": ("collapse_copies", "camps")}, [("no_copies", {})]),
        ({"groups": [SimpleNamespace(is_collapsed=True)], "names": ("collapse_copies",)}, []),
        ({"questions": []}, [("no_question_camps", {})]),
        ({"questions": [SimpleNamespace()]}, []),
    ],
)  # fmt: skip
def test_what_remedies_could_not_do(changes, wanted):
    assert told(build_remedy_warnings(report(**changes))) == wanted


def test_suggestions_that_are_missing_for_want_of_a_reason_are_for_want_of_camps():
    # Several candidates whose favourites are the same: nothing tells them apart.
    found = build_remedy_warnings(report(suggested=NONE, candidates=candidates(2)))
    assert told(found) == [
        ("no_anchors_suggested", {"reason": "no_camps"}),
        ("several_rankings", {"count": 2}),
    ]
