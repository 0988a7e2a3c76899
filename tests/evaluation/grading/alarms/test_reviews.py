"""What people make of alarms: who, when, why, and what follows from it."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.html import escape

from annotations.models import Share
from evaluation.grading.alarms.storage import ReviewError, find_remedying_runs, save_review
from evaluation.models import Alarm, AlarmReview, Run
from evaluation.trust.report import build_trust_report
from evaluation.trust.report.decision import RecommendedStep, build_decision
from tests.evaluation.grading.results import world
from tests.evaluation.grading.results.alarm_world import alarm, looked
from tests.evaluation.site.handles import error_codes, states

pytestmark = pytest.mark.django_db


def at(run, place=0):
    return reverse("admin:results-alarm", kwargs={"run": run.public_id, "place": place})


def alarms_fact(run):
    return next(fact for fact in build_trust_report(run).facts if fact.name == "alarms")


def later(run):
    other = Run.objects.get(pk=run.pk)
    other.pk, other.public_id = None, Run().public_id
    other._state.adding = True
    other.save()
    return other


@pytest.fixture
def run(rana):
    return looked(world.finished(owner=rana, n_workers=20, n_questions=12))


@pytest.fixture
def made(run):
    return alarm(run, workers=["w001", "w002"])


def test_an_alarm_begins_open(site, run, made):
    assert made.state == "open"
    assert "not_reviewed" in states(site.get(at(run)).content.decode())


def test_what_somebody_made_of_it_stands_beside_it_with_name_time_and_reason(site, run, made):
    answer = site.post(at(run), {"state": "examined", "note": "I know <b>both</b>."})
    assert answer.status_code == 302
    page = site.get(at(run)).content.decode()
    kept = AlarmReview.objects.get()
    assert (kept.reviewed_by.username, kept.state, made.reviews.count()) == ("rana", "examined", 1)
    assert "I know &lt;b&gt;both&lt;/b&gt;." in page
    assert "<bdi>rana</bdi>" in page
    assert page.count(">Examined</span>") == 2  # with the alarm, and in its history
    of_run = site.get(reverse("admin:results-alarms", args=[run.public_id])).content.decode()
    assert ">Examined</span>" in of_run


def test_the_newest_counts_and_none_is_lost(site, run, made):
    for state in ("examined", "dismissed", "open"):
        site.post(at(run), {"state": state, "note": f"it was {state}"})
    made.refresh_from_db()
    assert made.state == "open"
    page = site.get(at(run)).content.decode()
    places = [page.index(f"it was {state}") for state in ("open", "dismissed", "examined")]
    assert places == sorted(places)


def test_a_dismissed_alarm_rings_no_more_and_marks_nobody(site, run, made):
    assert alarms_fact(run).level == "bad"
    assert next(person.row.name for person in build_decision(run).best) == "w003"
    save_review(made, run.owner, "dismissed", "They are one person with two accounts.")
    fact = alarms_fact(run)
    assert (fact.level, fact.case, fact.values) == ("good", "dismissed", {"count": 1})
    found = build_decision(run)
    assert next(person.row.name for person in found.best) == "w001"
    assert found.step is RecommendedStep.TAKE_AWAY
    save_review(made, run.owner, "open")
    assert alarms_fact(run).level == "bad"


def test_examining_or_remedying_silences_nothing_in_this_run(run, made):
    save_review(made, run.owner, "examined", "looked")
    assert alarms_fact(run).level == "bad"
    save_review(made, run.owner, "remedied", remedied_by=later(run))
    assert alarms_fact(run).level == "bad"


@pytest.mark.parametrize(
    ("sent", "field", "code"),
    [
        ({}, "state", "required"),
        ({"state": "burnt"}, "state", "invalid_choice"),
        ({"state": "dismissed", "note": "  "}, "note", "reason_missing"),
        ({"state": "remedied"}, "remedied_by", "run_missing"),
        ({"state": "remedied", "remedied_by": "0"}, "remedied_by", "invalid_choice"),
        ({"state": "examined", "note": "x" * 2001}, "note", "max_length"),
    ],
)
def test_what_cannot_be_kept_is_said_and_what_was_typed_stays(site, run, made, sent, field, code):
    later(run)
    answer = site.post(at(run), {"note": "typed", **sent})
    page = answer.content.decode()
    assert answer.status_code == 400
    errors = answer.context_data["form"].errors
    assert list(errors) == [field]
    assert error_codes(errors.as_data()[field]) == [code]
    assert escape(errors[field][0]) in page
    assert sent.get("note", "typed").strip() in page
    assert not AlarmReview.objects.exists()


def test_a_remedy_is_a_later_run_of_the_same_set(site, run, made):
    otto = User.objects.create(username="otto")
    for other in (run, world.finished(n_workers=3, owner=otto)):
        with pytest.raises(ReviewError) as refused:
            save_review(made, run.owner, "remedied", remedied_by=other)
        assert (refused.value.code, refused.value.field) == ("no_later_run", "remedied_by")
    follower = later(run)
    assert list(find_remedying_runs(run)) == [follower]
    site.post(at(run), {"state": "remedied", "remedied_by": follower.pk})
    page = site.get(at(run)).content.decode()
    assert reverse("admin:results-run", args=[follower.public_id]) in page


def test_who_may_only_read_sees_what_was_made_of_it_and_says_nothing(client, run, made):
    save_review(made, run.owner, "examined", "looked at both")
    vera = User.objects.create(username="vera", is_staff=True)
    Share.objects.create(question_set=run.version.question_set, user=vera, role="viewer")
    client.force_login(vera)
    page = client.get(at(run)).content.decode()
    assert "looked at both" in page
    assert 'name="state"' not in page
    assert client.post(at(run), {"state": "open"}).status_code == 403
    assert Alarm.objects.get().state == "examined"


def test_an_alarm_that_is_not_there_is_not_found(site, run, made):
    assert site.post(at(run, 7), {"state": "examined"}).status_code == 404


def test_the_api_tells_the_state(site, run, made):
    save_review(made, run.owner, "examined")
    found = site.get(reverse("api:results-alarms", args=[run.public_id])).json()
    assert [one["state"] for one in found["alarms"]["results"]] == ["examined"]
