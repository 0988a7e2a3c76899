"""The kind of device, and assistive technology: told, coarse, taken back, of nobody who is gone."""

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from annotations.answering import assistive, devices
from annotations.answering.links import Visitor, build_submission_token
from annotations.answering.monitor import load_collection_status
from annotations.answering.places import reserve_place
from annotations.exchange.importing import import_answers
from annotations.models import Response, Submission
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import published

pytestmark = pytest.mark.django_db

IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
    "Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
)
PIXEL = (
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 "
    "Mobile Safari/537.36"
)
SAMSUNG_TABLET = PIXEL.replace("Mobile ", "")
IPAD = IPHONE.replace("iPhone; CPU iPhone OS", "iPad; CPU OS")
MAC = (
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/17.5 Safari/605.1.15"
)
WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0"


@pytest.fixture
def book(tides):
    return published(tides, protocol="open", questions_per_worker=1)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (IPHONE, "phone"),
        (PIXEL, "phone"),
        ("Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0", "phone"),
        ("Opera/9.80 (Android; Opera Mini/36.2/119; U; en) Presto/2.12 Mobi", "phone"),
        (SAMSUNG_TABLET, "tablet"),
        ("Mozilla/5.0 (Android 14; Tablet; rv:127.0) Gecko/127.0 Firefox/127.0", "tablet"),
        (IPAD, "tablet"),
        (WINDOWS, "computer"),
        ("Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Tablet PC 2.0)", "computer"),
        (MAC, "computer"),  # and an iPad that asks for pages of computers
        ("Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 Chrome/126", "computer"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0", "computer"),
        ("curl/8.5.0", ""),
        ("", ""),
        ("x" * 1000 + "Windows", ""),
    ],
)
def test_what_a_browser_says_of_itself_is_one_of_three_kinds_or_not_known(said, kind):
    assert devices.detect_device({"User-Agent": said}) == kind


def test_a_browser_that_says_it_is_mobile_is_believed_before_anything_else():
    assert devices.detect_device({"Sec-CH-UA-Mobile": "?1", "User-Agent": WINDOWS}) == "phone"
    assert (
        devices.detect_device({"Sec-CH-UA-Mobile": "?0", "User-Agent": SAMSUNG_TABLET}) == "tablet"
    )
    assert devices.detect_device({"Sec-CH-UA-Mobile": "?1"}) == "phone"
    assert devices.detect_device({"Sec-CH-UA-Mobile": "?0"}) == ""


def test_another_kind_makes_it_several_and_one_that_is_not_known_changes_nothing():
    assert devices.merge_devices("phone", "computer") == "several"
    assert devices.merge_devices("several", "phone") == "several"
    assert devices.merge_devices("phone", "phone") == "phone"
    assert devices.merge_devices("phone", "") == "phone"
    assert devices.merge_devices("", "phone") == ""


def on(made, said, worker="ada"):
    """A browser that says so of itself."""
    browser = Browser(made, worker)
    browser.client = Client(enforce_csrf_checks=True, headers={"user-agent": said})
    return browser


def agree(browser, **ticked):
    browser.get(browser.link)
    browser.post(browser.link, {"agree": "yes", "do": "agree", **ticked})
    return browser


def kept():
    return Submission.objects.values_list("device", "assistive", "signals_off").get()


@pytest.mark.parametrize(
    ("before", "after", "device"),
    [(IPHONE, IPHONE, "phone"), (IPHONE, WINDOWS, "several"), (IPAD, "", "tablet"), ("", MAC, "")],
)
def test_it_is_kept_with_the_agreement_and_compared_at_the_end(book, before, after, device):
    ada = on(book, before)
    ada.get(ada.link)
    assert not Submission.objects.exists()  # looking keeps nothing
    agree(ada)
    assert kept()[0] == devices.detect_device({"User-Agent": before})
    ada.press()
    assert "/review/" in ada.address
    end = on(book, after)
    end.get(ada.address)
    assert kept()[0] == devices.detect_device({"User-Agent": before})
    end.press()
    assert Submission.objects.get().state == "submitted"
    assert kept()[0] == device


def test_who_agrees_anew_is_kept_as_they_come_now(book):
    ada = reserve_place(book.collection, Visitor("ada"))  # before it was told
    assert ada.device == ""
    Submission.objects.update(reserved_until=timezone.now())
    assert reserve_place(book.collection, Visitor("ada"), device="phone").device == "phone"
    Submission.objects.update(reserved_until=timezone.now())
    assert reserve_place(book.collection, Visitor("ada"), device="computer").device == "several"


def test_nothing_of_the_header_but_the_kind_is_in_the_database(book):
    agree(on(book, IPHONE))
    row = Submission.objects.values().get()
    assert not any("Mozilla" in str(value) or "iPhone" in str(value) for value in row.values())


def test_answers_from_a_file_have_no_device(tides, tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("worker,question,answer\nada,tides1,north\n")
    import_answers(tides, path)
    assert kept() == ("", False, False)


def test_the_pages_tell_what_is_kept_and_why(book):
    ada = on(book, IPHONE)
    ada.get(ada.link)
    html = ada.response.content.decode()
    assert 'id="device-kind"' in html
    assert 'id="assistive-why"' in html
    agree(ada)
    data_page(ada)
    html = ada.response.content.decode()
    assert 'id="device-kind"' in html
    assert 'data-device="phone"' in html
    Submission.objects.update(device="")
    data_page(ada)
    assert 'data-device=""' in ada.response.content.decode()


# Assistive technology


def data_page(browser, **form):
    address = f"/answer/at/{build_submission_token(Submission.objects.get())}/data/"
    return browser.post(address, form) if form else browser.get(address)


def said_now(browser):
    """What the page of one's data tells of what was just said."""
    assert 'role="status"' in browser.response.content.decode()
    context = browser.response.context
    return {name: context[name] for name in ("was_stated", "is_assistive", "is_uncounted")}


def test_who_says_nothing_or_wants_no_counting_has_not_said_it(book):
    agree(Browser(book), uncounted="yes")
    assert kept()[1:] == (False, True)


def test_who_says_it_is_not_counted_and_can_be_counted_all_the_same(book):
    ada = agree(Browser(book), assistive="yes")
    assert kept()[1:] == (True, True)
    ada.press()
    assert Response.objects.get().signals == "off"
    data_page(ada, do="save")  # the form of the counting, without its tick
    assert kept()[1:] == (True, False)


def test_it_can_be_said_and_taken_back_later_also_after_the_end(book):
    ada = agree(Browser(book))
    data_page(ada, do="assistive", assistive="yes")
    assert kept()[1:] == (True, True)
    assert said_now(ada) == {"was_stated": True, "is_assistive": True, "is_uncounted": True}
    ada.get(ada.link)
    ada.press()
    ada.press()
    assert Submission.objects.get().state == "submitted"
    data_page(ada, do="assistive")
    assert kept()[1:] == (False, True)  # what is not counted stays so until they say otherwise
    assert said_now(ada) == {"was_stated": True, "is_assistive": False, "is_uncounted": True}
    assert 'name="assistive" value="yes" checked' not in ada.response.content.decode()


def test_its_tick_stays_where_the_agreement_was_forgotten(book):
    response = Browser(book).post(Browser(book).link, {"do": "agree", "assistive": "yes"})
    assert response.status_code == 400
    html = response.content.decode()
    assert 'name="assistive" value="yes" checked' in html
    assert 'name="uncounted" value="yes" checked' not in html


def test_a_set_that_does_not_count_marks_nobody_by_it(tides):
    made = published(tides, protocol="open", questions_per_worker=1, signals=False)
    ada = Browser(made)
    ada.get(ada.link)
    assert "not counted" not in ada.page.words
    agree(ada, assistive="yes")
    assert kept()[1:] == (True, False)
    ada.press()
    # `off` beside the answers, in every export, would say who said it.
    assert Response.objects.get().signals == ""


def test_who_withdraws_leaves_neither_and_cannot_say_it_any_more(book):
    ada = agree(on(book, IPHONE), assistive="yes")
    assert kept()[:2] == ("phone", True)
    ada.get(f"/answer/at/{build_submission_token(Submission.objects.get())}/withdraw/")
    ada.press()
    assert Submission.objects.get().withdrawn_at is not None
    assert kept()[:2] == ("", False)
    data_page(ada)
    assert "use-assistive" not in ada.response.content.decode()
    data_page(ada, do="assistive", assistive="yes")
    assistive.record_assistive_use(Submission.objects.get(), used=True)
    assert kept()[:2] == ("", False)


def test_the_database_keeps_neither_of_who_is_gone_or_came_in_a_file(book):
    agree(on(book, IPHONE))
    for fields in (
        {"device": "watch"},
        {"source": "imported"},
        {"state": "returned", "withdrawn_at": timezone.now()},
        {"source": "imported", "device": "", "assistive": True},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Submission.objects.update(**fields)


def test_the_monitor_counts_devices_and_says_nothing_before_one_is_known(tides):
    book = published(tides, protocol="open", questions_per_worker=1, places=4)
    Browser(book, "old").begin()
    assert load_collection_status(book.collection).devices == []
    for name in ("ada", "ben"):
        agree(on(book, IPHONE, name))
    cleo = agree(on(book, WINDOWS, "cleo"))
    cleo.press()
    cleo.press()
    now = load_collection_status(book.collection).as_dict()
    assert now["devices"] == [
        {"device": "phone", "began": 2, "submitted": 0},
        {"device": "computer", "began": 1, "submitted": 1},
        {"device": "", "began": 1, "submitted": 0},
    ]
    assert (now["open"], now["submitted"], now["began"]) == (3, 1, 4)
