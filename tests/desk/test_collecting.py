"""The requester publishes to workers on the site, and sees who is where."""

import io
import re
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations.ledger.decisions import decide_on_submission
from annotations.models import Admission, Collection, Question, Submission
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import made_set
from tests.annotations.answering.test_monitor import crowd
from tests.desk.flashes import flashed, flashed_numbers
from tests.numbers import numbers_in

pytestmark = pytest.mark.django_db

PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")


@pytest.fixture
def tides():
    return made_set(User.objects.create_user("rana", is_staff=True))


@pytest.fixture
def rana(client, tides):
    client.force_login(tides.owner)
    return client


def address(tides, name="collecting"):
    return reverse(f"admin:{name}", args=[tides.public_id])


def filled_in(page, **changed):
    values = {
        name: "" if value is None else value
        for name, value in page.context["form"].initial.items()
        if value is not False and name != "excludes"
    }
    return values | changed


def publish(rana, tides, **changed):
    page = rana.get(address(tides, "collecting-settings"))
    data = filled_in(page, **changed)
    return rana.post(address(tides, "collecting-settings"), data, follow=True)


def open_sections(page):
    """Return the anchors of the folded sections of the form, by whether they are open."""
    return {one.anchor for one in page.context["form"].sections if one.is_open}


def test_the_form_asks_for_places_pay_protocol_and_checks_and_folds_the_rest(rana, tides):
    page = rana.get(address(tides, "collecting-settings"))
    form = page.context["form"]
    first = [field.name for field in form.main_fields]
    assert first == ["places", "pay", "currency", "protocol", "checks_needed"]
    folded = [field.name for section in form.sections for field in section.fields]
    assert sorted([*first, *folded]) == sorted(form.fields)
    assert open_sections(page) == set()
    assert page.content.decode().count('<details class="cg-fold"') == len(form.sections)


def test_a_folded_section_with_an_error_opens(rana, tides):
    page = publish(rana, tides, reading_seconds="soon")
    assert page.status_code == 400
    assert open_sections(page) == {"how"}
    assert re.search(r'<details class="cg-fold" id="how" open>', page.content.decode())


@pytest.mark.medium
def test_a_set_is_published_answered_paused_and_closed(rana, tides):
    assert 'data-state="unpublished"' in rana.get(address(tides)).content.decode()
    page = publish(rana, tides, places=2, protocol="open")
    assert flashed(page) == ["collection_published"]
    collection = Collection.objects.get()
    assert collection.base_url == "http://testserver"
    query = "&amp;".join(f"{name}={{{{%{name}%}}}}" for name in PARAMETERS)
    link = f"http://testserver/answer/{collection.public_id}/?{query}"
    assert link in page.content.decode()
    assert tides.latest_version().is_published
    ada = Browser(type("made", (), {"collection": collection}))
    ada.begin()
    page = rana.get(address(tides))
    assert page.context["now"].states["open"] == 1
    assert "0 of 5" in page.content.decode()
    rana.post(address(tides, "collecting-state"), {"state": "paused"})
    page = rana.get(address(tides))
    assert flashed(page) == ["collection_paused"]
    assert 'data-live-state="paused"' in page.content.decode()
    for _ in range(3):
        ada.press()
    assert ada.page.code == collection.code_done
    rana.post(address(tides, "collecting-state"), {"state": "closed"})
    page = rana.get(address(tides))
    assert flashed(page) == ["collection_closed"]
    assert 'data-live-state="closed"' in page.content.decode()
    assert page.context["now"].states["submitted"] == 1
    assert page.context["now"].answers == 5
    assert rana.post(address(tides, "collecting-state"), {"state": "lost"}).status_code == 404


@pytest.mark.medium
def test_settings_that_will_not_do_are_told_beside_their_field(rana, tides):
    page = publish(rana, tides, places=3, answers_per_question=4)
    assert page.status_code == 400
    assert list(page.context["form"].errors) == ["answers_per_question"]
    assert not Collection.objects.exists()
    page = publish(rana, tides, return_url="javascript:alert(1)")
    assert list(page.context["form"].errors) == ["return_url"]
    page = publish(rana, tides, code_done="SAME", code_too_late="SAME")
    assert list(page.context["form"].errors) == ["code_done"]
    assert publish(rana, tides, places=3).status_code == 200
    Browser(type("made", (), {"collection": Collection.objects.get()})).begin()
    page = publish(rana, tides, protocol="open")
    assert list(page.context["form"].errors) == ["protocol"]
    assert Collection.objects.get().protocol != "open"
    assert publish(rana, tides, places=7).status_code == 200
    assert Collection.objects.get().places == 7


@pytest.mark.medium
def test_signed_links_come_as_a_file_and_lists_admit(rana, tides):
    publish(rana, tides, places=2, signed="on", listed_only="on")
    page = rana.post(address(tides, "collecting-ids"), {"ids": "ada\n=ben\nada", "do": "links"})
    rows = b"".join(page.streaming_content).decode("utf-8-sig").splitlines()
    assert len(rows) == 3
    assert rows[2].startswith("'=ben,")
    link = rows[1].split(",")[1].removeprefix("http://testserver")
    assert "for other people" in rana.get(link).content.decode()
    page = rana.post(address(tides, "collecting-ids"), {"ids": "ada", "do": "admit"}, follow=True)
    assert (flashed(page), flashed_numbers(page)) == (["workers_admitted"], ["1", "1"])
    assert "I have read this" in rana.get(link).content.decode()
    assert not Submission.objects.exists()
    page = rana.post(address(tides, "collecting-ids"), {"ids": " "}, follow=True)
    assert page.status_code == 400
    assert page.context["ids"].errors.as_data()["ids"][0].code == "required"


@pytest.mark.medium
def test_the_list_is_shown_and_people_are_taken_off_it(rana, tides):
    publish(rana, tides, places=2, listed_only="on")
    page = rana.get(address(tides, "collecting-listed"))
    assert 'data-state="nobody_listed"' in page.content.decode()
    rana.post(address(tides, "collecting-ids"), {"ids": "ada\nben\n<b>", "do": "admit"})
    Admission.objects.filter(external_id="ben").update(by_score=True, why="0.91 in tides")
    page = rana.get(address(tides, "collecting-listed"), {"sort": "worker"})
    assert [one.external_id for one in page.context["page"]] == ["<b>", "ada", "ben"]
    assert "0.91 in tides" in page.content.decode()
    assert "&lt;b&gt;" in page.content.decode()
    page = rana.get(address(tides, "collecting-listed"), {"q": "ad", "by_score": "false"})
    assert [one.external_id for one in page.context["page"]] == ["ada"]
    sent = {"ids": "ada\nben", "do": "strike"}
    page = rana.post(address(tides, "collecting-ids"), sent, follow=True)
    assert flashed(page) == ["workers_struck_partly"]
    assert flashed_numbers(page) == ["1", "1"]
    assert [one.external_id for one in page.context["page"]] == ["<b>", "ben"]


@pytest.mark.medium
def test_counting_how_answers_are_written_is_a_setting_that_begins_before_anybody_does(rana, tides):
    page = rana.get(address(tides, "collecting-settings"))
    assert page.context["form"]["signals"].value() is True
    publish(rana, tides, places=2, protocol="open")
    assert Collection.objects.get().signals
    off = filled_in(rana.get(address(tides, "collecting-settings")))
    off.pop("signals")
    rana.post(address(tides, "collecting-settings"), off)
    collection = Collection.objects.get()
    assert not collection.signals
    Browser(type("made", (), {"collection": collection})).begin()
    refused = rana.post(address(tides, "collecting-settings"), off | {"signals": "on"})
    assert refused.status_code == 400
    assert list(refused.context["form"].errors) == ["signals"]
    assert not Collection.objects.get().signals


def test_publishing_by_command_switches_it_off(tides):
    call_command("publish", "tides", "--places", "2", "--signals", "off", stdout=io.StringIO())
    assert not Collection.objects.get().signals
    call_command("publish", "tides", "--signals", "on", stdout=io.StringIO())
    assert Collection.objects.get().signals


@pytest.mark.medium
def test_the_live_part_asks_as_often_for_a_crowd_as_for_a_few_and_is_paged(rana, tides):
    publish(rana, tides, places=1000)
    collection = Collection.objects.get()
    counts = []
    made = SimpleNamespace(version=collection.version, collection=collection)
    for name, n in (("a", 5), ("b", 300)):
        crowd(made, n, name=name)
        with CaptureQueriesContext(connection) as asked:
            page = rana.get(address(tides, "collecting-live"))
        counts.append(len(asked))
        assert "no-store" in page.headers["Cache-Control"]
    assert counts[0] == counts[1]
    said = page.content.decode()
    assert "50 of 305 people" in said
    assert "<html" not in said
    assert rana.get(address(tides, "collecting-live") + "?after=nonsense").status_code in (400, 404)


@pytest.mark.medium
def test_closing_asks_first_and_stale_windows_change_nothing(rana, tides):
    publish(rana, tides, places=2, protocol="open")
    collection = Collection.objects.get()
    Browser(SimpleNamespace(collection=collection)).begin()
    page = rana.get(address(tides, "collecting-close"))
    assert numbers_in(page.context["text"]) == ["1"]
    assert page.context["text"] in page.content.decode()
    assert Collection.objects.get().state == "open"
    page = rana.post(address(tides, "collecting-close"), follow=True)
    assert flashed(page) == ["collection_closed"]
    state = {"state": "paused", "was": "open"}
    page = rana.post(address(tides, "collecting-state"), state, follow=True)
    assert flashed(page) == ["state_changed_meanwhile"]
    assert Collection.objects.get().state == "closed"


@pytest.mark.medium
def test_places_are_added_on_the_page_and_bad_numbers_are_told(rana, tides):
    publish(rana, tides, places=2)
    places = address(tides, "collecting-places")
    page = rana.post(places, {"more": "3", "was": "2"}, follow=True)
    assert (flashed(page), flashed_numbers(page)) == (["places_added"], ["5"])
    assert Collection.objects.get().places == 5
    page = rana.post(places, {"more": "3", "was": "2"}, follow=True)
    assert (flashed(page), flashed_numbers(page)) == (["places_added_meanwhile"], ["5", "2"])
    for bad, code in (("", "required"), ("0", "min_value"), ("x", "invalid")):
        page = rana.post(places, {"more": bad}, follow=True)
        assert page.context["add"].errors.as_data()["more"][0].code == code
    page = rana.post(places, {"more": "100000"}, follow=True)
    (said,) = page.context["add"].errors["more"]
    assert numbers_in(said) == ["1", "100,000"]
    assert said in page.content.decode()
    assert Collection.objects.get().places == 5


def test_what_is_in_the_cost_and_what_is_not_stands_beside_it(rana, tides):
    publish(rana, tides, places=9, pay="2.00", currency="GBP")
    collection = Collection.objects.get()
    crowd(SimpleNamespace(collection=collection, version=collection.version), 6)
    ada, ben, _ = Submission.objects.filter(state="submitted").order_by("pk")
    decide_on_submission(
        ada, tides.owner, "reject", "OTHER", "The answer repeats the question " + "." * 68
    )
    Submission.objects.filter(pk=ben.pk).update(state="returned", withdrawn_at=ben.submitted_at)
    said = rana.get(address(tides, "collecting-live")).content.decode()
    # Three of six handed in, and one of them is rejected: 2 x 2.00.
    assert "GBP 4.00 for 2 people" in said
    notes = dict(re.findall(r'data-cost-note="(\w+)">([^<]*)<', said))
    assert list(notes) == ["bonuses", "withdrawn", "rejected"]
    assert numbers_in(notes["rejected"]) == ["1"]


@pytest.mark.medium
@pytest.mark.parametrize(("name", "n"), [("collecting-settings", 1), ("collecting-live", 1)])
def test_settings_and_monitor_show_that_nobody_can_be_ranked(rana, tides, name, n):
    Question.objects.filter(external_id="cable1").delete()
    assert (
        'data-state="few_graded"'
        in rana.get(address(tides, "collecting-settings")).content.decode()
    )
    publish(rana, tides, places=2, protocol="open")
    page = rana.get(address(tides, name)).content.decode()
    assert page.count('data-state="few_graded"') == n


@pytest.mark.medium
def test_settings_and_monitor_show_nothing_where_workers_can_be_ranked(rana, tides):
    publish(rana, tides, places=2, protocol="open")
    for name in ("collecting-settings", "collecting"):
        page = rana.get(address(tides, name)).content.decode()
        assert 'data-state="few_' not in page
