"""What a run takes from outside its answers: workers to leave out, experts' judgements, anchors."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from annotations.models import Response, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.message import Message
from evaluation.grading.remedies.report import read_suggested_anchors
from evaluation.grading.storage.inputs import load_inputs
from evaluation.models import HumanJudgement, Run, WorkerVerdict
from evaluation.runs.steps.answers import (
    NAMED,
    compute_expert_grades,
    find_worker_keys,
    read_grading_parameters,
    select_answer_judgements,
)
from evaluation.runs.steps.checkpoints import RunInputError
from tests.annotations import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def version():
    """Ada, Ben and Cy on two questions."""
    draft = world.version(world.user("rana"))
    for worker in ("ada", "ben", "cy"):
        submission = world.submission(draft, worker)
        for question in ("r1", "r2"):
            world.response(submission, question, f"{worker} on {question}")
    Response.objects.update(state="submitted")
    return draft


def of(version, name):
    return Worker.objects.get(owner=version.question_set.owner, external_id=name)


def keys(version, *names):
    return [of(version, name).pk for name in names]


def test_workers_to_leave_out_are_found_by_either_id_in_the_order_asked_for(version):
    asked = [str(of(version, "cy").public_id), "ada"]
    everybody = keys(version, "ada", "ben", "cy")
    assert find_worker_keys(version, asked, everybody) == keys(version, "cy", "ada")
    assert find_worker_keys(version, [], everybody) == []
    # Whose answers were rejected is left out already.
    assert find_worker_keys(version, asked, keys(version, "ada", "ben")) == keys(version, "ada")


def test_ids_of_nobody_who_answered_are_named_all_of_them(version):
    stranger = str(uuid4())
    with pytest.raises(RunInputError) as caught:
        find_worker_keys(version, ["ada", stranger, "dan"], keys(version, "ada", "cy"))
    assert caught.value.message == Message(
        "run.unknown_workers", {"ids": f"{stranger}, dan", "more": 0}
    )


@pytest.mark.parametrize(("wrong", "more"), [(NAMED, 0), (NAMED + 1, 1)])
def test_of_many_wrong_ids_the_first_twenty_are_named_and_the_others_counted(version, wrong, more):
    names = [f"w{number}" for number in range(wrong)]
    with pytest.raises(RunInputError) as caught:
        find_worker_keys(version, names, [])
    named = {"ids": ", ".join(names[:20]), "more": more}
    assert caught.value.message == Message("run.unknown_workers", named)


def test_judgements_are_those_of_the_set_or_of_one_version_as_they_were_given(version):
    elsewhere = world.version(world.user("otto"), "lakes")
    other = world.response(world.submission(elsewhere, "ada"))
    mine = Response.objects.get(submission__worker=of(version, "ben"), question__external_id="r2")
    experts = [User.objects.create(username=name) for name in ("ed", "eva")]
    given = [
        HumanJudgement.objects.create(response=response, expert=expert, grade=grade)
        for response, expert, grade in (
            (mine, experts[1], 4), (other, experts[0], 1), (mine, experts[0], 1),
        )
    ]  # fmt: skip
    assert list(select_answer_judgements(version)) == [given[0], given[2]]
    assert list(select_answer_judgements(version.question_set)) == [given[0], given[2]]
    assert list(select_answer_judgements(elsewhere)) == [given[1]]
    assert compute_expert_grades(version) == {mine.pk: 2.5}
    assert compute_expert_grades(elsewhere) == {other.pk: 1.0}


def queued(version, **parameters):
    asked = AqerParameters(embedder="bow", bootstrap=0, **parameters)
    return Run.objects.create(
        owner=version.question_set.owner, version=version, parameters=asked.as_dict()
    )


def test_experts_grades_go_into_a_run_only_if_it_asks_for_them(version):
    expert = User.objects.create(username="ed")
    judged = Response.objects.order_by("pk")[3]
    HumanJudgement.objects.create(response=judged, expert=expert, grade=3)
    assert list(load_inputs(queued(version, anchors=True).pk).anchors) == [(3, 3.0)]
    assert list(load_inputs(queued(version).pk).anchors) == []
    plain = load_inputs(queued(version).pk).compute_hash()
    HumanJudgement.objects.update(grade=4)
    assert load_inputs(queued(version).pk).compute_hash() == plain
    assert load_inputs(queued(version, anchors=True).pk).compute_hash() != plain


def test_answers_that_are_drafts_or_of_another_version_are_not_read(version):
    Response.objects.filter(submission__worker=of(version, "cy")).update(state="draft")
    elsewhere = world.version(world.user("otto"), "lakes")
    world.response(world.submission(elsewhere, "ada"))
    given = load_inputs(queued(version).pk)
    assert given.workers == keys(version, "ada", "ben")
    assert list(given.answered.texts) == [
        "ada on r1", "ada on r2", "ben on r1", "ben on r2",
    ]  # fmt: skip
    assert (given.models, given.model_names) == (None, {})


def test_a_set_without_an_answer_says_what_to_do(version):
    Response.objects.update(text="", status="empty")
    with pytest.raises(RunInputError) as caught:
        load_inputs(queued(version).pk)
    assert caught.value.message == Message("run.no_answer_to_grade")


def test_parameters_of_an_older_run_have_their_defaults_and_unknown_ones_are_named():
    asked = read_grading_parameters({"embedder": "bow"})
    assert asked == AqerParameters(embedder="bow")
    with pytest.raises(RunInputError) as caught:
        read_grading_parameters({"speed": 3})
    assert caught.value.message == Message("run.unknown_parameters", {"names": "speed"})


def with_suggestions(version, responses):
    run = queued(version)
    run.summary = {"remedies": {"suggested_anchors": {"count": 3, "responses": responses}}}
    run.save()
    return run


def test_suggested_answers_come_in_the_order_of_the_suggestion_without_the_withdrawn(
    version, django_assert_num_queries
):
    pks = list(Response.objects.order_by("pk").values_list("pk", flat=True))
    run = with_suggestions(version, [pks[4], pks[1], pks[5]])
    Response.objects.filter(pk=pks[1]).delete()
    with django_assert_num_queries(2):  # with their questions and workers; whom people excluded
        found = read_suggested_anchors(run)
        told = [(one.submission.worker.external_id, one.question.external_id) for one in found]
    assert told == [("cy", "r1"), ("cy", "r2")]
    cy = Response.objects.get(pk=pks[4]).submission.worker
    WorkerVerdict.objects.create(
        question_set=run.version.question_set,
        worker=cy,
        kind="exclude",
        category="copied",
        decided_by=run.owner,
    )
    assert read_suggested_anchors(run) == []


def test_a_run_that_suggested_nothing_has_no_suggested_answers(version):
    assert read_suggested_anchors(queued(version)) == []
    assert read_suggested_anchors(with_suggestions(version, [])) == []
