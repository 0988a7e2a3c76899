"""What becomes of alarms after a remedy: of copies, of camps, of the excluded, of new ones."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.consensus.inputs import Answers, EmbeddedAnswers, select_graded_answers
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.message import Message
from evaluation.core.stats.simulation import (
    build_correlated_weak_groups,
    build_honest_groups,
    simulate_crowd,
)
from evaluation.grading.alarms.run.detection import Alarm
from evaluation.grading.run.grading import grade_answers
from evaluation.grading.run.outcomes import is_same_alarm
from tests.evaluation.grading.run.test_grading import INFO

N_WORKERS, N_QUESTIONS = 14, 20
CAMPS = simulate_crowd(build_correlated_weak_groups(0.8, n_workers=12), 12, 40, seed=0)


def copied():
    """Fourteen honest workers; 1 and 2 copy worker 0, and 4 copies 3."""
    crowd = simulate_crowd(build_honest_groups(N_WORKERS), N_QUESTIONS, 60, 4)
    vectors = crowd.vectors.copy()
    at = {key: row for row, key in enumerate(zip(crowd.workers, crowd.questions, strict=True))}
    for copy, source in ((1, 0), (2, 0), (4, 3)):
        for question in range(N_QUESTIONS):
            vectors[at[copy, question]] = vectors[at[source, question]]
    return crowd, vectors


def graded(crowd, vectors, *, times=None, excluded=(), collapsed=(), experts=(), **asked):
    parameters = AqerParameters(
        embedder="precomputed:none", bootstrap=0, exclude_workers=excluded,
        collapse_workers=collapsed, **asked,
    )  # fmt: skip
    assert parameters.find_problems() == []
    rows = [
        (row, f"w{w}", f"q{q}", f"answer {row}", False, times and times(w, q))
        for row, (w, q) in enumerate(
            zip(crowd.workers.tolist(), crowd.questions.tolist(), strict=True)
        )
    ]
    given = select_graded_answers(parameters, Answers.from_rows(rows))
    given = replace(given, excluded=excluded, collapsed=collapsed, anchors=list(experts))
    return grade_answers(given, lambda answers, models: EmbeddedAnswers(vectors, None, INFO))


def told(alarms):
    return {
        (alarm.kind, *sorted(alarm.workers)): (alarm.state, alarm.outcome.code)
        for alarm in alarms
        if alarm.severity == "alarm"
    }


def test_without_remedies_alarms_are_open_and_nothing_became_of_them():
    found = graded(*copied()).alarms
    assert {alarm.workers for alarm in found.found} >= {("w0", "w1", "w2"), ("w3", "w4")}
    assert {(alarm.state, alarm.outcome) for alarm in found.found} == {("open", None)}
    assert (found.gone, found.camps_now) == ((), ())


def test_all_groups_that_vote_as_one_are_answered():
    found = graded(*copied(), collapse_copies=True).alarms
    assert told(found.found) == {
        ("copies", "w0", "w1", "w2"): ("remedied", "outcome.collapsed"),
        ("copies", "w3", "w4"): ("remedied", "outcome.collapsed"),
    }


@pytest.mark.parametrize("named", ["w0", "w2"])
def test_one_group_that_votes_as_one_is_answered_and_the_other_is_still_there(named):
    found = graded(*copied(), collapse_copies=True, collapsed=(named,))
    assert told(found.alarms.found) == {
        ("copies", "w0", "w1", "w2"): ("remedied", "outcome.collapsed"),
        ("copies", "w3", "w4"): ("open", "outcome.still"),
    }
    report = found.graded.remedies
    assert [report.list_members(group) for group in report.groups] == [["w0", "w1", "w2"]]
    assert report.left == 1
    assert report.as_dict()["groups_not_asked_for"] == 1
    weights = dict(
        zip(found.graded.aqer.workers_.tolist(), found.graded.aqer.weights_, strict=True)
    )
    # The members of one share a quarter of a vote; those of the other have a vote each.
    assert weights["w0"] == weights["w1"] == weights["w2"]
    assert weights["w3"] > 3 * weights["w0"]


def test_nobody_of_a_group_was_named_and_nothing_is_collapsed():
    found = graded(*copied(), collapse_copies=True, collapsed=("w9",))
    codes = [warning.code for warning in found.warnings]
    assert "no_copies_of_workers" in codes
    assert "no_copies" not in codes
    assert {state for state, _ in told(found.alarms.found).values()} == {"open"}


def test_who_was_first_keeps_the_vote_of_the_group():
    from datetime import UTC, datetime

    def first_is_2(worker, question):
        return datetime(2026, 1, 1, 10 - (worker == 2), question, tzinfo=UTC)

    found = graded(*copied(), collapse_copies=True, times=first_is_2)
    assert told(found.alarms.found)[("copies", "w0", "w1", "w2")][1] == "outcome.collapsed_first"
    # w3 and w4 sent theirs at the same time: nobody knows.
    assert told(found.alarms.found)[("copies", "w3", "w4")][1] == "outcome.collapsed"
    known, unknown = found.graded.remedies.as_dict()["groups"]
    assert (known["first"], known["n_first"], known["n_timed"]) == ("w2", 20, 20)
    assert "first" not in unknown
    voting = {found.inputs.answered.workers[row] for row in found.graded.aqer.fitted_.units.rows}
    assert "w2" in voting
    assert not voting & {"w0", "w1"}


def test_alarms_about_those_who_are_left_out_are_gone():
    found = graded(*copied(), excluded=("w1", "w2", "w4")).alarms
    assert told(found.found) == {}
    assert told(found.gone) == {
        ("copies", "w0", "w1", "w2"): ("remedied", "outcome.some_excluded"),
        ("copies", "w3", "w4"): ("remedied", "outcome.some_excluded"),
    }
    parts = [(one.outcome.values["excluded"], one.outcome.values["workers"]) for one in found.gone]
    assert parts == [(2, 3), (1, 2)]
    whole = graded(*copied(), excluded=("w3", "w4"), collapse_copies=True).alarms
    assert told(whole.gone) == {("copies", "w3", "w4"): ("remedied", "outcome.excluded")}
    assert told(whole.found) == {("copies", "w0", "w1", "w2"): ("remedied", "outcome.collapsed")}


def test_another_remedy_leaves_copies_where_they_are():
    found = graded(*copied(), weight_cap=0.5).alarms
    assert set(told(found.found).values()) == {("open", "outcome.still")}


def right(row):
    x, y = CAMPS.vectors[row], CAMPS.truth[CAMPS.questions[row]]
    return max(0.0, float(5 * x @ y / np.linalg.norm(x) / np.linalg.norm(y)))


def test_experts_settle_the_camps_and_the_alarms_say_which_one_won():
    rows = [row for row in range(len(CAMPS.workers)) if CAMPS.questions[row] < 2]
    experts = [(row, right(row)) for row in rows]
    settled = graded(CAMPS, CAMPS.vectors, experts=experts, anchors=True)
    camps = {alarm.workers: alarm for alarm in settled.alarms.found if alarm.kind == "two_camps"}
    codes = {tuple(workers): alarm.outcome.code for workers, alarm in camps.items() if workers}
    good = {f"w{w}" for w in np.argsort(-CAMPS.compute_quality())[:6].tolist()}
    for workers, code in codes.items():
        won = len(good & set(workers)) > len(workers) / 2
        assert code == ("outcome.settled_won" if won else "outcome.settled_lost")
    assert sorted(codes.values()) == ["outcome.settled_lost", "outcome.settled_won"]
    assert {alarm.state for alarm in settled.alarms.found if alarm.severity == "alarm"} == {
        "remedied"
    }
    winner = next(camp for camp in settled.alarms.camps_now if camp.follows)
    assert good >= set(winner.workers) or len(good & set(winner.workers)) >= 4
    assert winner.agreement > max(
        camp.agreement for camp in settled.alarms.camps_now if not camp.follows
    )


def test_camps_that_nobody_settled_are_still_there_and_say_which_one_the_ranking_follows():
    found = graded(CAMPS, CAMPS.vectors, suggest_anchors=6).alarms
    outcomes = [alarm.outcome for alarm in found.found if alarm.kind == "two_camps"]
    told_camps = [one for one in outcomes if one.code == "outcome.still_camp"]
    assert sorted(one.values["follows"] for one in told_camps) == [False, True]
    assert {alarm.state for alarm in found.found} == {"open"}


def test_several_right_answers_answer_the_camps_on_questions_only():
    found = graded(CAMPS, CAMPS.vectors, camps=True).alarms
    codes = {(alarm.kind, bool(alarm.workers)): alarm.outcome.code for alarm in found.found}
    assert codes["two_camps", False] == "outcome.nearest_camp"
    assert codes["two_camps", True] in ("outcome.still_camp", "outcome.silent")


def alarm(kind="copies", workers=(), severity="alarm", **values):
    return Alarm(kind, severity, 0.9, 0.5, tuple(workers), (), Message(f"{kind}.x", values))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (alarm(workers="abc"), alarm(workers="abd"), True),
        (alarm(workers="abc"), alarm(workers="ade"), False),
        (alarm(workers="ab"), alarm(workers="bcdef"), True),
        (alarm(workers="ab"), alarm("clique", workers="ab"), False),
        (alarm(workers="ab"), alarm(workers="ab", severity="notice"), False),
        (alarm("two_camps"), alarm("two_camps", "abc"), False),
        (alarm("leverage", "a"), alarm("leverage", "b"), False),
        (alarm("concentrated_weight", "a"), alarm("concentrated_weight", "b"), True),
        (alarm("model_like", "a", model="x"), alarm("model_like", "a", model="y"), False),
    ],
)
def test_alarms_are_the_same_by_kind_and_by_whom_they_are_about(one, other, same):
    assert is_same_alarm(one, other) is is_same_alarm(other, one) is same
