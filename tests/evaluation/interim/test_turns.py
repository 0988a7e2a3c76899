"""Grading the answers so far: by a button, by itself, one at a time; what the page says of it."""

import html
import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from annotations.answering import collecting, finishing
from annotations.models import Collection, QuestionSet, Response, Submission, Worker
from evaluation.deletion.storage import removals
from evaluation.interim import turns as interims
from evaluation.interim.report import build_interim_report
from evaluation.models import Interim, Run, WorkerGrade
from evaluation.models.collecting import has_interim_work
from evaluation.models.runs import RunOfRecord
from evaluation.runs.background import leases
from evaluation.runs.background.work import work_one_turn
from tests.annotations.answering.conftest import made_set, published
from tests.desk.flashes import flashed, flashed_numbers
from tests.sentences import site_sentence

pytestmark = pytest.mark.django_db

SAID = ("north and the sea", "the sea in the north", "north, by the sea", "no idea at all")


@pytest.fixture(autouse=True)
def nobody_rings(monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)


@pytest.fixture
def made(db):
    question_set = made_set(User.objects.create_user("rana", is_staff=True))
    # Another language than English: no model has to be loaded.
    question_set.language = "de"
    question_set.save()
    return published(question_set, places=40, protocol="open")


def hand_in(made, *names):
    now = timezone.now()
    for name in names:
        at = Worker.objects.count()
        worker = Worker.objects.create(
            owner=made.version.question_set.owner, panel="Prolific", external_id=name
        )
        submission = Submission.objects.create(
            version=made.version,
            worker=worker,
            state="submitted",
            started_at=now,
            submitted_at=now,
        )
        for position, question in enumerate(made.version.questions.order_by("position")):
            Response.objects.create(
                submission=submission,
                question=question,
                text=f"{SAID[(at + position) % len(SAID)]} {question.external_id}",
                state="submitted",
                status="text",
                submitted_at=now,
            )


def work():
    while work_one_turn():
        pass
    interims.run_interim_turn()


def page(client, made):
    client.force_login(made.version.question_set.owner)
    return client.get(address(made)).content.decode()


def address(made, name="collecting"):
    return reverse(f"admin:{name}", args=[made.version.question_set.public_id])


@pytest.mark.medium
def test_a_button_grades_the_answers_so_far_and_the_page_says_what_came(client, made):
    assert 'data-handed-in="0" data-fewest="3"' in page(client, made)
    hand_in(made, "ada", "ben")
    refused = client.post(address(made, "collecting-grade"), follow=True)
    assert (flashed(refused), flashed_numbers(refused)) == (["too_few_people"], ["2", "3"])
    assert 'data-handed-in="2" data-fewest="3"' in refused.content.decode()
    assert not Interim.objects.exists()
    hand_in(made, "cleo", "dan", "eve")
    assert 'data-grade="first" data-people="5"' in page(client, made)
    said = client.post(address(made, "collecting-grade"), follow=True).content.decode()
    assert "Interim, 5 people" in said
    assert "is being graded" in said
    client.post(address(made, "collecting-grade"))  # a second click
    assert Run.objects.count() == 1
    work()
    run = Run.objects.get()
    assert run.state == "done", run.error
    assert run.parameters["embedder"] == "tfidf-char"
    assert "data-grade=" not in page(client, made)  # nothing has changed since
    hand_in(made, "fay")
    said = page(client, made)
    assert "1 person has handed in since" in said
    headline = build_interim_report(made.collection).headline
    assert f'data-headline="{headline.code}"' in said
    assert site_sentence(headline.code, **headline.values) in html.unescape(said)
    assert 'data-note="stopping"' in said
    assert reverse("admin:results-run", args=[run.public_id]) in said
    assert 'data-grade="again" data-people="6"' in said
    best = build_interim_report(made.collection).best
    # The fifth says the same as the first, so that two may share a place.
    ranks = sorted(WorkerGrade.objects.filter(run=run).values_list("rank", flat=True))
    assert [row.rank for row in best] == ranks[:3]
    assert all(f"<bdi>{row.name}</bdi>" in said for row in best)


@pytest.mark.medium
def test_it_does_not_count_for_its_set_before_people_choose_it(made):
    hand_in(made, "ada", "ben", "cleo")
    interims.start_interim(made.collection, made.version.question_set.owner_id)
    work()
    assert Run.objects.get().state == "done"
    assert not RunOfRecord.objects.exists()


@pytest.mark.medium
def test_by_itself_after_every_so_many_people_and_one_at_a_time(made):
    collecting.change_settings(made.collection, grade_every=3)
    hand_in(made, "ada", "ben")
    assert not has_interim_work()
    hand_in(made, "cleo")
    assert has_interim_work()
    assert leases.wake_process_if_needed() is True
    interims.run_interim_turn()
    interims.run_interim_turn()
    assert [(one.n_people, one.by_itself) for one in Interim.objects.all()] == [(3, True)]
    hand_in(made, "dan", "eve", "fay", "gil")
    interims.run_interim_turn()  # the first is still under way
    assert Interim.objects.count() == 1
    work()
    assert [one.n_people for one in Interim.objects.order_by("pk")] == [3, 7]
    work()
    assert not has_interim_work()
    assert all(one.run.state == "done" and one.found for one in Interim.objects.all())


def test_one_that_failed_is_not_tried_again_before_more_people_came(made):
    collecting.change_settings(made.collection, grade_every=3)
    hand_in(made, "ada", "ben", "cleo")
    interims.run_interim_turn()
    Run.objects.update(state="failed", error="no model", finished_at=timezone.now())
    interims.run_interim_turn()
    assert Interim.objects.count() == 1
    found = build_interim_report(made.collection)
    assert found.failed is not None
    assert found.may_grade


@pytest.mark.medium
def test_what_cannot_be_worked_out_stops_no_worker(made, monkeypatch):
    hand_in(made, "ada", "ben", "cleo")
    interims.start_interim(made.collection, made.version.question_set.owner_id)
    monkeypatch.setattr(interims, "build_trust_report", lambda run: 1 / 0)
    work()
    assert Interim.objects.get().found == {}
    assert build_interim_report(made.collection).headline is None


@pytest.mark.medium
def test_the_hint_says_nothing_of_few_answers_and_names_nobody(client, made):
    hand_in(made, "ada", "ben", "cleo")
    interims.start_interim(made.collection, made.version.question_set.owner_id)
    work()
    assert Interim.objects.get().found["hint"] is None
    assert 'data-hint="none"' in page(client, made)
    hand_in(made, "dan", "eve")
    interims.start_interim(made.collection, made.version.question_set.owner_id)
    work()
    found = Interim.objects.latest("pk").found
    assert found["hint"]["people"] == 10
    assert found["hint"]["off_then"] < found["hint"]["off"]
    names = ("ada", "ben", "cleo", "dan", "eve")
    assert not [name for name in names if re.search(rf"\b{name}\b", str(found))]
    said = page(client, made)
    assert "10 more people (50 answers)" in said
    assert f'data-wanting="{found["hint"]["n_wanting"]}"' in said
    assert "0.05" in said


@pytest.mark.medium
def test_who_withdraws_is_gone_from_the_page(client, made):
    hand_in(made, "ada", "ben", "cleo", "dan")
    interims.start_interim(made.collection, made.version.question_set.owner_id)
    work()
    finishing.withdraw_answers(Submission.objects.get(worker__external_id="ada"))
    found = build_interim_report(Collection.objects.get())
    assert (found.done, found.since, found.may_grade) == (3, 0, True)
    hand_in(made, "eve")
    # As many people as were graded, and not the same ones.
    found = build_interim_report(Collection.objects.get())
    assert (found.done, found.since, found.may_grade) == (4, 1, True)
    assert page(client, made)


@pytest.mark.medium
def test_it_goes_with_its_set(made):
    hand_in(made, "ada", "ben", "cleo")
    interims.start_interim(made.collection, made.version.question_set.owner_id)
    work()
    question_set = made.version.question_set
    removals.request_deletion(question_set, question_set.owner_id)
    while removals.work_on_oldest_deletion():
        pass
    assert not QuestionSet.objects.filter(pk=question_set.pk).exists()
    assert not Interim.objects.exists()
