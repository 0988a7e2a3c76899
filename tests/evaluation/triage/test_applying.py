"""A run without the excluded: what it would have left, and that it is made so."""

import pytest

from annotations.models import Response, Submission, Worker
from evaluation.core.options import SITE, OptionError
from evaluation.models import AnswerScore, Run, WorkerGrade
from evaluation.runs.background.exclusions import (
    NoExclusionsError,
    OtherSettingsError,
    StaleDecisionsError,
    start_run_without_excluded,
)
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.reports.verdicts import build_applied_context
from evaluation.triage.report.exclusion import preview_exclusion
from evaluation.triage.report.queue import load_queue
from evaluation.triage.storage import decide, take_back
from tests.evaluation.grading.results import world

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_bell(monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)


@pytest.fixture
def run():
    """4 workers, 6 questions that all of them answered: 24 answers."""
    run = world.finished()
    run.parameters = {"embedder": "tfidf-word", "bootstrap": 0}
    run.save()
    return run


def worker(name):
    return Worker.objects.get(external_id=name)


def voters(run):
    grades = WorkerGrade.objects.filter(run=run, grade__isnull=False)
    return sorted(grades.values_list("worker__external_id", flat=True))


def out(run, *names):
    for name in names:
        decide(run, worker(name), run.owner, "exclude", "copied")


def test_what_remains_is_counted(run):
    out(run, "w002", "w004")
    decide(run, worker("w001"), run.owner, "accept")
    found = preview_exclusion(run)
    assert [one.name for one in found.left_out] == ["w002", "w004"]
    assert (found.said.code, found.said.values) == (
        "triage.without",
        {"out": 2, "left": 2, "all": 4, "answers": 12, "all_answers": 24},
    )
    # Each of the 6 questions had 4 answers, and keeps 2.
    assert (found.n_thin, found.thin[0].n_before, found.thin[0].n_after) == (6, 4, 2)
    assert (found.thin_said.code, found.thin_said.values) == ("triage.thin", {"questions": 6})


def test_a_question_that_keeps_three_is_not_thin(run):
    out(run, "w002")
    AnswerScore.objects.filter(
        response__submission__worker__external_id="w002", response__question__external_id="r1"
    ).delete()
    found = preview_exclusion(run)
    assert found.n_thin == 0
    assert SITE.format(found.thin_said).startswith("Every question")


def test_a_run_of_the_same_settings_is_made_without_them_and_says_why(run):
    out(run, "w002")
    started = start_run_without_excluded(
        run, run.owner_id, name="  Without copies ", notes="as agreed"
    )
    assert (started.name, started.notes) == ("Without copies", "as agreed")
    while work_one_turn():
        pass
    started.refresh_from_db()
    assert started.state == "done", started.error
    assert voters(started) == ["w001", "w003", "w004"]
    assert started.parameters == {**started.parameters, **run.parameters} | {
        "exclude_workers": ["w002"]
    }
    said = build_applied_context(started)
    assert [(one.name, one.why, one.by) for one in said["made_by"]] == [
        ("w002", "copied from others", "rana")
    ]
    assert said["made_of"] == run
    assert build_applied_context(run) == {"made_by": [], "made_of": None}


def test_who_was_left_out_before_stays_out(run):
    run.parameters |= {"exclude_workers": ["w003"]}
    run.save()
    out(run, "w002")
    assert preview_exclusion(run).before == ("w003",)
    assert start_run_without_excluded(run, run.owner_id).parameters["exclude_workers"] == [
        "w003",
        "w002",
    ]


@pytest.mark.parametrize("name", ["Ada, the 3rd", "two\nlines", "w001", " space "])
def test_an_id_of_any_kind_is_left_out(run, name):
    one = worker("w002")
    if name == "w001":  # of another panel
        Worker.objects.filter(pk=one.pk).update(panel="MTurk")
    Worker.objects.filter(pk=one.pk).update(external_id=name)
    decide(run, one, run.owner, "exclude", "copied")
    started = start_run_without_excluded(run, run.owner_id)
    while work_one_turn():
        pass
    started.refresh_from_db()
    assert started.state == "done", started.error
    assert name not in voters(started) or name == "w001"
    assert len(voters(started)) == 3
    assert WorkerGrade.objects.get(run=started, worker=one).grade is None
    # Nobody decides about them a second time.
    assert one.public_id not in load_queue(started, everybody=True).workers
    assert preview_exclusion(started).n_people == 3


def test_decisions_that_were_not_shown_are_not_applied(run):
    out(run, "w002")
    shown = preview_exclusion(run).verdicts.split(",")
    out(run, "w003")
    with pytest.raises(StaleDecisionsError):
        start_run_without_excluded(run, run.owner_id, shown)
    with pytest.raises(StaleDecisionsError):
        start_run_without_excluded(run, run.owner_id, ["not an id"])
    take_back(run, worker("w003"), run.owner)
    assert start_run_without_excluded(run, run.owner_id, shown).applied_verdicts.count() == 1


def test_without_anybody_excluded_no_run_is_made(run):
    decide(run, worker("w001"), run.owner, "accept")
    with pytest.raises(NoExclusionsError):
        start_run_without_excluded(run, run.owner_id)
    assert Run.objects.count() == 1


def test_somebody_has_to_be_left(run):
    out(run, "w001", "w002", "w003", "w004")
    with pytest.raises(OptionError) as refused:
        start_run_without_excluded(run, run.owner_id)
    assert [problem.code for problem in refused.value.problems] == ["nobody_left"]
    assert Run.objects.count() == 1


def test_settings_of_another_version_of_the_platform_are_not_guessed(run):
    run.parameters |= {"of_tomorrow": 1}
    run.save()
    out(run, "w002")
    with pytest.raises(OtherSettingsError):
        start_run_without_excluded(run, run.owner_id)


def test_who_withdrew_all_answers_meanwhile_stops_no_run(run):
    run.parameters |= {"exclude_workers": ["w004", "long gone", str(worker("w003").public_id)]}
    run.save()
    out(run, "w002")
    Response.objects.filter(submission__worker__external_id="w002").delete()
    Submission.objects.filter(worker__external_id="w002").update(
        state="returned", withdrawn_at=run.created_at
    )
    left_out = start_run_without_excluded(run, run.owner_id).parameters["exclude_workers"]
    assert left_out == ["w004", str(worker("w003").public_id)]
