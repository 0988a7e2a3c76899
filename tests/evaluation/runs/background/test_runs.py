"""Starting a run, cancelling it, running it again."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from annotations.models import Response
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import OptionError, build_problem
from evaluation.models import Run
from evaluation.runs.background import runs
from evaluation.runs.background.leases import claim_next_run
from tests.annotations import world as crowd
from tests.numbers import numbers_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def rana():
    return crowd.user("rana", is_staff=True)


@pytest.fixture
def version(rana):
    return crowd.version(rana, "rivers")


@pytest.fixture(autouse=True)
def rung(monkeypatch):
    found = []
    monkeypatch.setattr(runs, "wake_process_on_commit", lambda: found.append(True))
    return found


def test_a_version_is_graded_once_somebody_answered_it(version):
    assert runs.find_gradable_version(version.question_set, None) is None
    assert runs.find_gradable_version(version.question_set, None, answered=False) == version
    submission = crowd.submission(version)
    answer = crowd.response(submission)
    for change, graded in (
        ({"state": "submitted"}, True),
        ({"status": "empty", "text": ""}, False),
        ({"status": "text", "text": "north", "rejected": True}, False),
        ({"rejected": False}, True),
        ({"state": "draft"}, False),
    ):
        Response.objects.filter(pk=answer.pk).update(**change)
        found = runs.find_gradable_version(version.question_set, None)
        assert found == (version if graded else None), change


def test_a_version_is_found_by_its_number_and_else_it_is_the_latest(version):
    type(version).objects.update(published_at=timezone.now())
    later = type(version).objects.create(
        question_set=version.question_set, number=version.number + 1
    )
    of = version.question_set

    def found(number):
        return runs.find_gradable_version(of, number, answered=False)

    assert found(str(version.number)) == version
    assert found(str(later.number)) == found(None) == found("") == later
    assert found("99999999") is None
    # No numbers of versions, and nothing a database would choke on: as if none was given.
    assert found("one") == found("9" * 9) == found("-1") == later


def test_a_queued_run_is_stored_with_all_its_options_and_rung_for(version, rana, rung):
    options = AqerParameters(difficulty=True, bootstrap=7)
    run = runs.queue_run(version, rana.pk, options)
    run.refresh_from_db()
    assert (run.state, run.kind, run.owner, run.version) == ("queued", "aqer", rana, version)
    assert run.parameters == options.as_dict()
    assert rung == [True]


def test_a_run_is_queued_with_the_name_and_notes_that_people_gave_it(version, rana):
    run = runs.queue_run(
        version, rana.pk, AqerParameters(), name="  without \n w07 ", notes=" why\r\nnot\n"
    )
    run.refresh_from_db()
    assert (run.name, run.notes) == ("without w07", "why\nnot")
    runs.rename_run(run, "n" * 120, "")
    run.refresh_from_db()
    assert (run.name, run.notes) == ("n" * 120, "")


@pytest.mark.parametrize(("field", "most"), [("name", 120), ("notes", 10_000)])
def test_a_name_or_notes_that_are_too_long_start_nothing_and_say_so(version, rana, field, most):
    with pytest.raises(runs.LabelError) as caught:
        runs.queue_run(version, rana.pk, AqerParameters(), **{field: "x" * (most + 1)})
    error = caught.value
    assert (error.field, error.given, error.most) == (field, most + 1, most)
    assert numbers_in(str(error)) == [f"{most + 1:,}", f"{most:,}"]
    assert not Run.objects.exists()


def test_options_that_contradict_each_other_or_are_of_another_kind_start_nothing(
    version, rana, rung
):
    with pytest.raises(OptionError, match="majority_needs_bow"):
        runs.queue_run(version, rana.pk, AqerParameters(aggregation="majority"))
    with pytest.raises(ValueError, match=r"^dict .* aqer$"):
        runs.queue_run(version, rana.pk, {})
    assert (Run.objects.count(), rung) == (0, [])


def test_a_cancelled_run_has_an_end_and_no_lease_and_one_that_ended_stays_as_it_is(version, rana):
    run = runs.queue_run(version, rana.pk, AqerParameters())
    beside = runs.queue_run(version, rana.pk, AqerParameters())
    claim_next_run("ann")
    assert runs.cancel_run(run) is True
    assert (run.state, run.lease_until) == ("cancelled", None)
    assert timezone.now() - run.finished_at < timedelta(hours=1)
    ended = run.finished_at
    assert runs.cancel_run(run) is False
    assert run.finished_at == ended
    beside.refresh_from_db()
    assert beside.state == "queued"
    assert runs.cancel_run(beside) is True  # one that only waits, too


def test_run_again_is_the_same_run_by_another_person_with_nothing_done_yet(version, rana, rung):
    run = runs.queue_run(version, rana.pk, replace(AqerParameters(), bootstrap=7))
    Run.objects.update(kind="other", attempt=3, crashes=1)
    run.refresh_from_db()
    tara = crowd.user("tara", is_staff=True)
    follower = runs.repeat_run(run, tara.pk)
    follower.refresh_from_db()
    assert (follower.owner, follower.version, follower.kind) == (tara, version, "other")
    assert follower.parameters == run.parameters
    assert (follower.state, follower.attempt, follower.crashes) == ("queued", 0, 0)
    assert rung == [True, True]


def test_a_kind_looks_at_the_version_the_owner_and_the_options_before_a_run_starts(
    version, rana, rung, monkeypatch
):
    asked, wrong = [], [build_problem("too_early", "seed")]
    checking = SimpleNamespace(
        options=AqerParameters, check=lambda *of: asked.append(of) or list(wrong)
    )
    monkeypatch.setattr(runs, "get_kind", lambda name: checking)
    options = AqerParameters(bootstrap=7)
    with pytest.raises(OptionError) as caught:
        runs.queue_run(version, rana.pk, options)
    assert caught.value.problems == tuple(wrong)
    assert asked == [(version, rana, options)]
    assert (Run.objects.count(), rung) == (0, [])
    wrong.clear()
    assert runs.queue_run(version, rana.pk, options).pk
    assert rung == [True]


def test_one_run_more_than_allowed_at_a_time_is_refused_until_one_has_ended(
    version, rana, settings
):
    settings.RUNS_PER_USER = 2
    waiting = runs.queue_run(version, rana.pk, AqerParameters())
    paused = runs.queue_run(version, rana.pk, AqerParameters())
    runs.pause_run(paused)
    for start in (
        lambda: runs.queue_run(version, rana.pk, AqerParameters()),
        lambda: runs.repeat_run(waiting, rana.pk),
    ):
        with pytest.raises(OptionError) as refused:
            start()
        (wrong,) = refused.value.problems
        assert (wrong.code, wrong.values) == ("too_many_runs", {"most": 2})
    assert Run.objects.count() == 2
    runs.cancel_run(waiting)
    runs.queue_run(version, rana.pk, AqerParameters())


def test_operators_and_the_command_line_start_any_number_of_runs(version, rana, settings):
    settings.RUNS_PER_USER = 1
    for _ in range(2):
        runs.queue_run(version, rana.pk, AqerParameters(), trusted=True)
    type(rana).objects.filter(pk=rana.pk).update(is_superuser=True)
    runs.queue_run(version, rana.pk, AqerParameters())
    assert Run.objects.count() == 3
