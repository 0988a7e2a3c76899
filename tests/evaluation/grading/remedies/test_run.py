"""Remedies of runs in the database: who is excluded, what experts graded, what is put down."""

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotations.models import Question, QuestionSet, Response, Submission, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.message import Message
from evaluation.core.options import SITE, OptionError
from evaluation.core.stats.simulation import build_correlated_weak_groups, simulate
from evaluation.grading.remedies.report import read_suggested_anchors
from evaluation.grading.storage import running as run_grading
from evaluation.models import HumanJudgement, Run, WorkerGrade
from evaluation.runs.background.runs import queue_run
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.steps.answers import select_answer_judgements

pytestmark = pytest.mark.django_db

# Found by the embedder of these tests: each text is the number of its vector.
CROWD = simulate(build_correlated_weak_groups(0.8, n_workers=12), 12, 40, seed=0)


@pytest.fixture(autouse=True)
def vectors_of_the_crowd(monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    original = run_grading.embed_answers

    def found(parameters, turn, answers, of_models):
        made = original(parameters, turn, answers, of_models)
        rows = [int(text.split()[-1]) for text in answers]
        return type(made)(CROWD.vectors[rows], made.models, made.info)

    monkeypatch.setattr(run_grading, "embed_answers", found)


@pytest.fixture
def version():
    owner = User.objects.create(username="rita")
    version = QuestionSet.objects.create(owner=owner, name="camps").draft()
    questions = [
        Question.objects.create(version=version, external_id=f"q{j}", text="?", position=j)
        for j in range(12)
    ]
    submissions = [
        Submission.objects.create(
            version=version,
            worker=Worker.objects.create(owner=owner, external_id=f"w{i}"),
            state="submitted",
            source="imported",
        )
        for i in range(12)
    ]
    for row, (i, j) in enumerate(zip(CROWD.workers, CROWD.questions, strict=True)):
        Response.objects.create(
            submission=submissions[i],
            question=questions[j],
            text=f"answer {row}",
            state="submitted",
            status="text",
        )
    return version


def graded(version, **parameters):
    asked = AqerParameters(embedder="tfidf-word", bootstrap=0, **parameters)
    assert asked.problems() == []
    run = Run.objects.create(
        owner=version.question_set.owner, version=version, parameters=asked.as_dict()
    )
    assert work_one_turn()
    run.refresh_from_db()
    return run


def agreement(run):
    grades = WorkerGrade.objects.filter(run=run).order_by("worker")
    return np.corrcoef([grade.raw for grade in grades], CROWD.quality())[0, 1]


def right(response):
    row = int(response.text.split()[-1])
    x, y = CROWD.vectors[row], CROWD.truth[CROWD.questions[row]]
    return max(0.0, float(5 * x @ y / np.linalg.norm(x) / np.linalg.norm(y)))


def test_experts_judgements_turn_an_inverted_ranking(version):
    first = graded(version, suggest_anchors=6)
    assert (first.state, first.error) == ("done", "")
    assert agreement(first) < 0
    asked = read_suggested_anchors(first)
    assert len(asked) == 6
    expert = User.objects.create(username="ed")
    for response in asked:
        HumanJudgement.objects.create(response=response, expert=expert, grade=right(response))
    assert set(select_answer_judgements(version)) == set(
        select_answer_judgements(version.question_set)
    )
    assert select_answer_judgements(version).count() == 6
    settled = graded(version, anchors=True)
    assert agreement(settled) > 0.9
    assert settled.summary["remedies"]["anchors"]["chosen"] != "default"
    assert settled.input_hash != first.input_hash
    assert "remedies:anchors|" in settled.signature


def test_several_experts_count_by_their_mean(version):
    response = Response.objects.order_by("pk").first()
    for name, grade in (("ed", 1.0), ("eva", 4.0)):
        expert = User.objects.create(username=name)
        HumanJudgement.objects.create(response=response, expert=expert, grade=grade)
    from evaluation.runs.steps.answers import compute_expert_grades

    assert compute_expert_grades(version) == {response.pk: 2.5}


def test_a_worker_excluded_by_public_id_has_no_grade(version):
    worker = Worker.objects.get(external_id="w3")
    run = graded(version, exclude_workers=(str(worker.public_id),))
    grade = WorkerGrade.objects.get(run=run, worker=worker)
    assert (grade.grade, grade.rank, grade.weight) == (None, None, 0.0)
    assert grade.raw is not None
    assert WorkerGrade.objects.filter(run=run, grade=None).count() == 1
    remedies = run.summary["remedies"]
    assert remedies["excluded_workers"] == 1
    assert remedies["compared_with_plain"]["n"] == 11
    assert run.parameters["exclude_workers"] == [str(worker.public_id)]


def test_a_worker_excluded_by_their_own_id_has_no_grade_either(version):
    run = graded(version, exclude_workers=("w3", " w3 ", "w4"))
    out = {grade.worker.external_id for grade in WorkerGrade.objects.filter(run=run, grade=None)}
    assert (run.state, out) == ("done", {"w3", "w4"})


def test_a_worker_whose_answers_were_all_rejected_is_excluded_already(version):
    answers = version.question_set.owner.workers.get(external_id="w3").submissions.get().responses
    answers.update(rejected=True)
    assert graded(version, exclude_workers=("w3", "w4")).state == "done"


@pytest.mark.parametrize(
    ("ids", "code", "named"),
    [
        (("W3", "w4"), "unknown_workers", "W3 (perhaps w3"),
        (("zebra",), "unknown_workers", "zebra"),
        (tuple(f"x{i}" for i in range(30)), "unknown_workers", "x19 and 10 more"),
        (tuple(f"w{i}" for i in range(12)), "nobody_left", ""),
    ],
)
def test_ids_that_will_not_do_are_told_before_a_run_is_started(version, ids, code, named):
    options = AqerParameters(embedder="tfidf-word", exclude_workers=ids)
    with pytest.raises(OptionError) as caught:
        queue_run(version, version.question_set.owner_id, options)
    (found,) = caught.value.problems
    assert (found.code, found.option) == (code, "exclude_workers")
    assert named in found.values.get("reason", "")
    assert named in SITE.format_problem(AqerParameters, found)
    assert not Run.objects.exists()


def test_an_id_of_two_panels_is_nobody_in_particular(version):
    owner = version.question_set.owner
    twin = Worker.objects.create(owner=owner, external_id="w3", panel="Prolific")
    way = Submission.objects.create(
        version=version, worker=twin, state="submitted", source="imported"
    )
    Response.objects.create(
        submission=way, question=version.questions.first(), text="x", state="submitted",
        status="text",
    )  # fmt: skip
    options = AqerParameters(embedder="tfidf-word", exclude_workers=("w3",))
    with pytest.raises(OptionError) as caught:
        queue_run(version, owner.pk, options)
    assert [one.code for one in caught.value.problems] == ["several_workers"]
    by_platform = AqerParameters(embedder="tfidf-word", exclude_workers=(str(twin.public_id),))
    assert queue_run(version, owner.pk, by_platform).pk


def test_a_run_of_before_with_an_id_of_nobody_ends_with_it(version):
    run = graded(version, exclude_workers=("zebra",))
    assert run.state == "failed"
    assert "zebra" in run.error


def test_a_remedy_without_meaning_ends_the_run_with_the_reason(version):
    run = graded(version, weight_cap=0.05)
    assert run.state == "failed"
    error = Message.from_stored(run.error)
    assert error.code == "run.cap_too_low"
    assert (error.values["cap"], error.values["voters"]) == (0.05, 12)


def test_an_expert_judges_an_answer_once_and_from_0_to_5(version):
    response = Response.objects.first()
    expert = User.objects.create(username="ed")
    HumanJudgement.objects.create(response=response, expert=expert, grade=5)
    for grade, who in ((3, expert), (5.5, version.question_set.owner)):
        with pytest.raises(IntegrityError), transaction.atomic():
            HumanJudgement.objects.create(response=response, expert=who, grade=grade)


def test_experts_see_their_own_judgements_and_requesters_those_of_their_sets(version):
    owner = version.question_set.owner
    owner.is_staff = True
    owner.save()
    ed, eva = (User.objects.create(username=name) for name in ("ed", "eva"))
    response = Response.objects.first()
    for expert in (ed, eva):
        HumanJudgement.objects.create(response=response, expert=expert, grade=2)
    assert HumanJudgement.objects.visible_to(owner).count() == 2
    assert [one.expert for one in HumanJudgement.objects.visible_to(ed)] == [ed]


def test_the_collapsed_and_the_capped_are_graded_in_the_database_too(version):
    run = graded(version, collapse_copies=True, weight_cap=0.3, camps=True, unit_length=True)
    assert (run.state, run.error) == ("done", "")
    assert run.summary["remedies"]["asked_for"] == [
        "collapse_copies", "weight_cap", "camps", "unit_length",
    ]  # fmt: skip
    assert WorkerGrade.objects.filter(run=run, weight__gt=0.3 + 1e-9).count() == 0
