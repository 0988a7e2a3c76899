"""What views come to: which view stands for a side, questions answered, a model on one page."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.model_overview.run.conclusions import (
    answer_questions,
    build_mean_values,
    build_portrait,
    compare_with_others,
    iterate_cell_rows,
    list_cell_columns,
)
from evaluation.model_overview.run.findings import (
    CorrelationRow,
    StandingRow,
    ViewsSummary,
    build_disagreement_rows,
    compute_disagreement_of_sides,
    compute_results,
)
from evaluation.model_overview.run.gathering import (
    Gathering,
    NoObservationsError,
    Source,
    ViewsParameters,
)
from evaluation.runs.flow.stored import Aspect, Measure, MeasuredObservation, Observation

NEAR = Measure("near", Aspect.CROWD, "Near", "How near.")
APART = Measure("apart", Aspect.CROWD, "Apart", "How far apart.", better="", of="question")
PEOPLE = Measure("crowd_percentile", Aspect.CROWD, "People", "Of people.", of="model")
STATED = Measure("stated", Aspect.UNCERTAINTY, "Stated", "As it says.", better="")
ENTROPY = Measure("entropy", Aspect.UNCERTAINTY, "Entropy", "How unsure.", better="lower")
STEADY = Measure("steady", Aspect.ROBUSTNESS, "Steady", "How steady.", 0.0, 1.0)
SOURCE = Source("made", "Made", "run", "made|1")
N = 12


def told(view, model, values):
    return [
        MeasuredObservation(
            view, Observation(model, f"q{at}", None if value is None else float(value), "")
        )
        for at, value in enumerate(values)
    ]


def gathered(*rows, questions=()):
    gathering = Gathering(questions)
    gathering.add(SOURCE, [one for part in rows for one in part])
    return gathering.together()


def world(n=N):
    """Elk is near on early questions, there it is sure and people agree; Ox the other way round."""
    falling, rising = list(range(n, 0, -1)), list(range(n))
    return gathered(
        told(NEAR, "Elk", falling),
        told(NEAR, "Ox", falling),
        told(APART, "", rising),
        told(STATED, "Elk", rising),
        told(ENTROPY, "Elk", rising),
        told(ENTROPY, "Ox", rising),
        told(STEADY, "Elk", [1] * (n - 1) + [0]),
        [
            MeasuredObservation(PEOPLE, Observation("Elk", "", 62.0, "")),
            MeasuredObservation(PEOPLE, Observation("Yak", "", 1.0, "")),
        ],
    )


def found(together, draws=60):
    return ViewsSummary.of_found(compute_results(together, ViewsParameters(bootstrap=draws)))


def codes(summary):
    return {one.name: one.said.code.rpartition(".")[2] for one in answer_questions(summary)}


def test_a_view_that_is_better_at_no_end_does_not_stand_for_its_side():
    together = world()
    assert [together.views[at].name for at in together.sides] == ["near", "entropy", "steady"]
    assert together.views[together.dispersion].name == "apart"
    # Greater is better: the entropy turned, the others as they are.
    assert together.oriented(together.place_of["entropy"])[0, :3].tolist() == [0, -1, -2]
    assert together.oriented(together.place_of["near"])[0, :3].tolist() == [12, 11, 10]


def test_questions_are_answered_in_the_direction_in_which_they_are_asked():
    # Less sure (entropy rises) where farther; farther and less sure where people disagree.
    assert codes(found(world())) == {
        "uncertainty_distance": "yes",
        "dispersion_distance": "yes",
        "dispersion_uncertainty": "yes",
        "robustness_distance": "untold",
    }
    said = {one.name: one.said.values for one in answer_questions(found(world()))}
    assert said["dispersion_distance"]["value"] == 1.0
    assert said["uncertainty_distance"]["models"] == 2


def turned(row):
    return replace(row, spearman=-row.spearman, low=-row.high, high=-row.low)


def test_the_opposite_is_told_as_no():
    summary = found(world())
    other = replace(summary, correlations=tuple(turned(row) for row in summary.correlations))
    assert set(codes(other).values()) == {"no", "untold"}
    (first, *_) = answer_questions(other)
    assert first.said.code == "views.uncertainty_distance.no"


def test_fewer_than_ten_questions_tell_nothing_whatever_their_interval_says():
    assert codes(found(world(9)))["uncertainty_distance"] == "few"
    assert codes(found(world(10)))["uncertainty_distance"] == "yes"
    (first, *_) = answer_questions(found(world(9)))
    assert (first.said.code, first.said.values["questions"]) == (
        "views.uncertainty_distance.few",
        9,
    )


def test_without_an_interval_or_a_correlation_nothing_can_be_told():
    assert codes(found(world(), draws=0))["uncertainty_distance"] == "untold"
    same = gathered(told(NEAR, "Elk", range(N)), told(ENTROPY, "Elk", [1] * N))
    (only,) = answer_questions(found(same))
    assert only.said.code == "views.uncertainty_distance.undefined"


def test_a_model_is_told_from_all_sides_with_what_nobody_looked_at():
    summary = found(world())
    elk = build_portrait(summary, 0)
    codes_of = {claim.name: [one.said.code for one in claim.evidence] for claim in elk.claims}
    assert codes_of == {
        "knows": ["views.crowd_percentile", "views.mean_crowd"],
        "knows_that_not": ["views.sure.yes"],
        "says_the_same": ["views.mean_robustness"],
    }
    assert [claim.missing for claim in elk.claims] == [[], [Aspect.ANSWERABILITY], []]
    ox = build_portrait(summary, 1)
    assert [claim.missing for claim in ox.claims] == [
        [],
        [Aspect.ANSWERABILITY],
        [Aspect.ROBUSTNESS],
    ]
    # Yak has no number of an answer, so it is no model here.
    assert summary.models == ("Elk", "Ox")


def test_a_model_that_is_sure_of_everything_alike_is_told_as_such():
    summary = found(gathered(told(NEAR, "Elk", range(N)), told(ENTROPY, "Elk", [0] * N)))
    (claim,) = [one for one in build_portrait(summary, 0).claims if one.name == "knows_that_not"]
    (evidence,) = claim.evidence
    assert evidence.said.code == "views.sure.undefined"


def row(**more):
    defaults = {
        "model": "Elk", "view": "near", "mean": 0.5, "low": 0.4, "high": 0.6, "n": 20,
        "gain": 0.2, "gain_low": 0.1, "gain_high": 0.3, "n_gain": 20, "place": 1, "n_models": 2,
        "reason": None,
    }  # fmt: skip
    return StandingRow(**{**defaults, **more})


@pytest.mark.parametrize(
    ("changes", "view", "verdict"),
    [
        ({}, NEAR, "better"),
        ({}, ENTROPY, "worse"),
        ({"gain_low": -0.3, "gain_high": -0.1, "gain": -0.2}, NEAR, "worse"),
        ({"gain_low": -0.3, "gain_high": -0.1, "gain": -0.2}, ENTROPY, "better"),
        ({"gain_low": -0.1}, NEAR, "alike"),
        ({"gain_low": None, "gain_high": None}, NEAR, "alike"),
        ({"n_gain": 9}, NEAR, "few"),
        ({"gain": None}, NEAR, "alone"),
        ({}, STATED, "neither"),
    ],
)
def test_a_model_is_better_or_worse_where_the_interval_does_not_hold_nought(changes, view, verdict):
    assert compare_with_others(row(**changes), view) == verdict


def test_a_gain_above_nought_is_better_whichever_end_of_the_view_is():
    values = build_mean_values(row(), ENTROPY)
    assert (values["gain"], values["gain_low"], values["gain_high"]) == (-0.2, -0.3, -0.1)
    values = build_mean_values(row(), NEAR)
    assert (values["gain"], values["gain_low"], values["gain_high"]) == (0.2, 0.1, 0.3)


def test_places_in_a_view_go_by_its_better_end_and_there_are_none_without():
    summary = found(
        gathered(
            told(ENTROPY, "Elk", [1, 1]), told(ENTROPY, "Ox", [3, 3]), told(STATED, "Ox", [3, 3])
        )
    )
    assert summary.standing("Elk", "entropy").place == 1
    assert summary.standing("Ox", "entropy").place == 2
    assert summary.standing("Ox", "stated").place is None


def test_disagreement_names_the_sides_that_are_farthest_apart():
    together = gathered(told(NEAR, "Elk", [1, 2, 3, 4]), told(ENTROPY, "Elk", [1, 2, 3, 4]))
    rows = build_disagreement_rows(together, compute_disagreement_of_sides(together))
    # q0: lowest near (1/8), surest (7/8); q3 the other way round.
    assert [(one.question, one.strength, one.best_view, one.worst_view) for one in rows] == [
        ("q0", 0.75, "entropy", "near"),
        ("q3", 0.75, "near", "entropy"),
        ("q1", 0.25, "entropy", "near"),
        ("q2", 0.25, "near", "entropy"),
    ]
    assert (rows[0].best_place, rows[0].worst_place) == (0.875, 0.125)


def test_views_that_are_good_at_no_end_disagree_with_nobody():
    together = gathered(told(STATED, "Elk", [1, 2]))
    assert build_disagreement_rows(together, compute_disagreement_of_sides(together)) == []


def test_questions_stand_in_the_order_given_and_others_behind_them():
    together = gathered(told(NEAR, "Elk", [1, 2, 3]), questions=["q2", "q0"])
    assert together.questions == ("q2", "q0", "q1")
    assert together.values[0, 0].tolist() == [3, 1, 2]


def test_of_two_numbers_for_the_same_the_first_counts():
    gathering = Gathering()
    gathering.add(SOURCE, told(NEAR, "Elk", [1]))
    gathering.add(SOURCE, told(NEAR, "Elk", [5]))
    together = gathering.together()
    assert (together.values.tolist(), together.repeated) == ([[[1.0]]], 1)


def test_views_of_questions_alone_are_no_model():
    with pytest.raises(NoObservationsError):
        gathered(told(APART, "", [1, 2]))


def test_the_hash_is_of_what_was_told_and_not_of_who_told_it():
    first = Gathering()
    first.add(Source("a", "A", "1", "a|"), told(NEAR, "Elk", [1, None, 3]))
    second = Gathering()
    second.add(Source("b", "B", "2", "b|"), told(NEAR, "Elk", [1, None, 3]))
    third = Gathering()
    third.add(SOURCE, told(NEAR, "Elk", [1, None, 4]))
    hashes = [one.together().hash() for one in (first, second, third)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_cell_without_a_number_says_why():
    refused = MeasuredObservation(NEAR, Observation("Elk", "q1", None, "refused"))
    together = gathered(told(NEAR, "Elk", [1]), [refused], told(STEADY, "Ox", [1, 1]))
    rows = [
        dict(zip(list_cell_columns(together), cells, strict=True))
        for cells in iterate_cell_rows(together)
    ]
    reasons = {(one["model"], one["question"]): one["reason"] for one in rows}
    assert reasons == {
        ("Elk", "q0"): "steady: not_looked_at",
        ("Ox", "q0"): "near: not_looked_at",
        ("Elk", "q1"): "near: refused; steady: not_looked_at",
        ("Ox", "q1"): "near: not_looked_at",
    }


def test_what_is_stored_is_read_back_as_it_was():
    summary = found(world())
    assert ViewsSummary.from_json(summary.as_dict()) == summary
    assert isinstance(summary.correlations[0], CorrelationRow)
    assert np.isfinite(summary.own_correlation("Elk").spearman)
