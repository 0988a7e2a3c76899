"""What two experts disagree on is settled by a third, who has no side and knows of none."""

import pytest

from evaluation.experts.report import build_audit_report, build_audit_table
from evaluation.models import HumanJudgement, JudgementRequest
from evaluation.runs.judging.audit import withdraw_requests
from evaluation.runs.judging.tasks import (
    CannotSettleError,
    ask_expert_to_settle,
    has_disagreement,
    list_disputes,
    list_disputing_experts,
    load_judging_task,
)
from evaluation.runs.steps.answers import compute_expert_grades
from tests.evaluation.grading.results import world
from tests.evaluation.judging_world import drawn, expert, grade

pytestmark = pytest.mark.django_db
# By place in the sample: 1.5 apart, 1 apart (a step: no disagreement), alike, 5 apart.
ED, EVE = (2, 3, 4, 0), (3.5, 4, 4, 5)


@pytest.fixture
def run():
    return world.finished(n_workers=9, n_questions=10, n_models=2)


@pytest.fixture
def people(run):
    return [expert(run, name)[0] for name in ("ed", "eve", "mo")]


@pytest.fixture
def audit(run, people):
    audit = drawn(run, 4, with_models=True, experts=people[:2])
    for user, grades in zip(people, (ED, EVE), strict=False):
        grade(audit, user, lambda item, of=grades: of[item.place])
    return audit


def settle(audit, user, given):
    for one in list_disputes(audit):
        if one.adjudicator == user.pk:
            HumanJudgement.objects.create(
                response_id=one.response,
                llm_response_id=one.llm_response,
                expert=user,
                grade=given,
            )


def test_grades_disagree_where_they_are_more_than_the_step_apart():
    assert not has_disagreement([4], 0)
    assert not has_disagreement([3, 4], 1)
    assert has_disagreement([3, 4.5], 1)
    assert has_disagreement([3, 3.5, 4.5], 1)
    assert not has_disagreement([0.1 + 0.2, 1.3], 1)  # rounding is no disagreement


def test_what_is_further_apart_than_the_step_is_open_and_its_graders_cannot_settle_it(
    audit, people
):
    found = list_disputes(audit)
    places = list(audit.items.order_by("place").values_list("pk", flat=True))
    assert [places.index(one.item) for one in found] == [0, 3]
    assert found[1].llm_response is not None  # every fourth is a model's
    assert list_disputing_experts(found) == {people[0].pk, people[1].pk}
    with pytest.raises(CannotSettleError, match="ed graded some"):
        ask_expert_to_settle(audit, people[0].pk)
    audit.step = 2
    assert len(list_disputes(audit)) == 1


def test_a_third_sees_both_grades_by_size_and_nobodys_name(run, audit, people):
    mo = people[2]
    assert ask_expert_to_settle(audit, mo.pk) == 2
    question_set = run.version.question_set
    for asked in JudgementRequest.objects.filter(expert=mo):
        shown = load_judging_task(question_set, mo.pk, asked.public_id)
        of_person = asked.response_id is not None
        assert f"They gave {'2 and 3.5' if of_person else '0 and 5'}." in shown.parts[-1].text
        said = " ".join(f"{one.title} {one.text}" for one in shown.parts[-1:]).split()
        assert not {"ed", "eve"} & set(said)
    ed = people[0]
    first = JudgementRequest.objects.filter(expert=ed).first()
    assert "settle" not in load_judging_task(question_set, ed.pk, first.public_id).parts[-1].title
    with pytest.raises(CannotSettleError, match="nothing to settle"):
        ask_expert_to_settle(audit, mo.pk)


@pytest.mark.medium
def test_the_settled_grade_counts_and_else_the_mean(run, audit, people):
    keys = list(audit.items.order_by("place").values_list("response_id", flat=True))
    assert compute_expert_grades(run.version) == {keys[0]: 2.75, keys[1]: 3.5, keys[2]: 4}
    ask_expert_to_settle(audit, people[2].pk)
    assert compute_expert_grades(run.version)[keys[0]] == 2.75  # asked is not settled
    settle(audit, people[2], 1.0)
    assert compute_expert_grades(run.version) == {keys[0]: 1.0, keys[1]: 3.5, keys[2]: 4}
    report = build_audit_report(run)
    assert (report.n_disputed, report.n_settled, report.n_settling) == (2, 2, 0)
    assert report.people.mean == pytest.approx((1 + 3.5 + 4) / 3)
    assert report.models.mean == 1
    # Agreement is of those who graded alone; the third is in none of it.
    (pair,) = report.between
    assert (pair.one, pair.other, pair.found.n) == ("ed", "eve", 4)
    assert [one.expert for one in report.by_expert] == ["ed", "eve"]
    rows = list(build_audit_table(run).rows)
    assert [(row[6], row[7], row[-1]) for row in rows[:3]] == [
        ("human:ed", 2, 0),
        ("human:eve", 3.5, 0),
        ("human:mo", 1.0, 1),
    ]


@pytest.mark.medium
def test_what_is_taken_back_from_a_third_can_be_asked_of_another(run, audit, people):
    ask_expert_to_settle(audit, people[2].pk)
    assert build_audit_report(run).n_settling == 2
    assert withdraw_requests(audit, people[2].pk) == 2
    assert build_audit_report(run).n_settling == 0
    assert ask_expert_to_settle(audit, expert(run, "ria")[0].pk) == 2
