"""Alarms of a run stand in the database, with its workers and the answers that show them."""

import hashlib
from datetime import UTC, datetime

import pytest

from annotations.models import Response, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import TERMINAL
from evaluation.grading.remedies.report import build_remedies_report
from evaluation.models import Alarm, LanguageModel, LLMResponse, Run
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from tests.annotations import world

WORDS = ("north", "south", "hill", "valley", "city", "bridge", "border", "coast", "lake", "farm")


def text_of(worker, question):
    """Seven of ten words, other ones and in another order for every worker and question."""
    order = sorted(WORDS, key=lambda word: hash_of(word, worker, question))
    return " ".join([*order[:7], f"river{question}"])


def hash_of(*parts):
    return hashlib.sha256(" ".join(map(str, parts)).encode()).hexdigest()


@pytest.fixture
def version(db, monkeypatch):
    """Ten workers on twelve questions; dee pastes what cy wrote, and so did the model."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    draft = world.version(world.user("rana"), n_questions=12)
    model = LanguageModel.objects.create(owner=draft.question_set.owner, name="small model")
    for worker in ("ada", "ben", "cy", "dee", "eli", "fay", "gus", "hal", "ida", "jo"):
        submission = world.submission(draft, worker)
        for number in range(1, 13):
            source = "cy" if worker == "dee" else worker
            world.response(submission, f"r{number}", text_of(source, number))
    for question in draft.questions.all():
        LLMResponse.objects.create(
            model=model,
            question=question,
            prompt=question.text,
            text=text_of("ida", question.external_id[1:]),
            status="text",
        )
    Response.objects.update(state="submitted")
    return draft


def graded(version, **parameters):
    run = runs.queue_run(
        version,
        version.question_set.owner_id,
        AqerParameters(embedder="tfidf-word", bootstrap=4, **parameters),
    )
    assert work_one_turn()
    run.refresh_from_db()
    assert run.state == Run.State.DONE, run.error
    return run


@pytest.mark.medium
def test_an_alarm_names_its_workers_and_shows_their_answers(version):
    run = graded(version)
    alarm = run.alarms.get(kind="copies")
    assert (alarm.severity, alarm.place, alarm.threshold) == ("alarm", 0, 0.5)
    assert {worker.external_id for worker in alarm.workers.all()} == {"cy", "dee"}
    assert len(alarm.evidence) == 12
    for shown in alarm.evidence:
        both = Response.objects.filter(pk__in=[shown["left"], shown["right"]])
        assert {response.question_id for response in both} == {shown["question"]}
        assert len({response.text for response in both}) == 1
    assert alarm.message["code"] == "copies.proven"
    assert alarm.message["values"]["workers"] == 2
    assert "cy" not in TERMINAL.format_message(alarm.message).split()


def test_answers_like_a_models_are_shown_beside_it_and_it_has_its_name(version):
    alarm = graded(version).alarms.get(kind="model_like")
    assert [worker.external_id for worker in alarm.workers.all()] == ["ida"]
    assert alarm.message["values"]["model"] == "small model"
    assert "small model" in TERMINAL.format_message(alarm.message)
    for shown in alarm.evidence:
        assert shown["right"] is None
        response = LLMResponse.objects.get(pk=shown["llm_response"])
        assert response.text == Response.objects.get(pk=shown["left"]).text


def test_every_check_stands_in_the_summary_with_its_reason(version):
    checks = {check["check"]: check for check in graded(version).summary["alarm_checks"]}
    assert checks["copies"]["rings"] is True
    assert checks["grader_disagreement"]["statistic"] is None
    assert checks["grader_disagreement"]["reason"] == "graded_by_words_already"


@pytest.mark.medium
def test_a_run_that_is_computed_again_has_its_alarms_once(version):
    run = graded(version)
    before = list(run.alarms.values_list("kind", "statistic"))
    Run.objects.filter(pk=run.pk).update(state=Run.State.QUEUED, finished_at=None)
    assert work_one_turn()
    assert list(run.alarms.values_list("kind", "statistic")) == before
    assert Alarm.objects.count() == len(before)


@pytest.mark.medium
def test_without_an_excluded_worker_the_answers_shown_are_still_those_of_the_alarm(version):
    out = Worker.objects.filter(external_id__in=["ada", "ben"])
    run = graded(version, exclude_workers=tuple(str(worker.public_id) for worker in out))
    alarm = run.alarms.get(kind="copies")
    assert {worker.external_id for worker in alarm.workers.all()} == {"cy", "dee"}
    shown = Response.objects.filter(pk__in=[shown["left"] for shown in alarm.evidence])
    assert {response.submission.worker.external_id for response in shown} <= {"cy", "dee"}


@pytest.mark.medium
def test_an_excluded_worker_is_no_part_of_the_crowd_that_alarms_look_at(version):
    copied = Worker.objects.get(external_id="dee")
    run = graded(version, exclude_workers=(str(copied.public_id),))
    named = {worker.pk for alarm in run.alarms.all() for worker in alarm.workers.all()}
    assert copied.pk not in named
    # Who was copied is not to blame: with the copy gone, nobody copies.
    assert not run.alarms.filter(kind="copies").exists()
    checks = {check["check"]: check for check in run.summary["alarm_checks"]}
    assert checks["copies"]["rings"] is False
    remedies = run.summary["remedies"]
    [gone] = [alarm for alarm in remedies["gone"] if alarm["kind"] == "copies"]
    assert gone["outcome"]["code"] == "outcome.some_excluded"
    assert str(copied.public_id) in gone["workers"]
    # Another remedy leaves the copy in the crowd, and the alarm as well.
    assert graded(version, weight_cap=0.5).alarms.filter(kind="copies").exists()


@pytest.mark.medium
def test_a_group_that_votes_as_one_is_answered_by_the_run_itself(version):
    run = graded(version, collapse_copies=True, collapse_workers=("cy",))
    alarm = run.alarms.get(kind="copies")
    assert (alarm.state, alarm.answered) == ("remedied", True)
    assert alarm.outcome["code"] == "outcome.collapsed"
    [group] = run.summary["remedies"]["groups"]
    named = {str(worker.public_id) for worker in alarm.workers.all()}
    assert (set(group["workers"]), group["collapsed"], group["first"]) == (named, True, None)
    # The plain run left it open.
    before = graded(version).alarms.get(kind="copies")
    assert (before.state, before.answered, before.outcome) == ("open", False, None)


@pytest.mark.medium
def test_who_was_first_by_the_times_of_the_answers_is_told(version):
    for response in Response.objects.select_related("submission__worker"):
        late = response.submission.worker.external_id == "cy"
        response.submitted_at = datetime(2026, 11, 1, 9 + late, 0, tzinfo=UTC)
        response.save()
    run = graded(version, collapse_copies=True)
    [group] = run.summary["remedies"]["groups"]
    assert group["first"] == str(Worker.objects.get(external_id="dee").public_id)
    assert (group["n_first"], group["n_timed"]) == (12, 12)
    assert run.alarms.get(kind="copies").outcome["code"] == "outcome.collapsed_first"
    report = build_remedies_report(run)
    assert [(first.name, first.n_first, first.n_timed) for first in report.first] == [
        ("dee", 12, 12)
    ]
