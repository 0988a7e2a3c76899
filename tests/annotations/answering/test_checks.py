"""Who fails the attention checks hands in like everybody, and ends with a code of their own."""

import io
import json
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from annotations.answering import collecting, waves
from annotations.answering.errors import SettingsError
from annotations.models import Collection, Question, Submission
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import published

pytestmark = pytest.mark.django_db


def with_checks(question_set, n=2):
    """Add checks that want the word "north", and one without a right answer where n is 0."""
    for number in range(1, max(n, 1) + 1):
        Question.objects.create(
            version=question_set.draft(), external_id=f"check{number}", position=50 + number,
            text="Write north.", role="attention", accepted_answers=["north"] if n else [],
        )  # fmt: skip
    return question_set


@pytest.fixture
def made(tides):
    """Two checks, of which one is enough."""
    return published(with_checks(tides), protocol="open", checks_needed=1, code_failed_checks="F1")


def to_the_end(made, worker, right):
    """Write "north" into as many checks as `right`, and hand in; return the last page."""
    browser = Browser(made, worker)
    browser.begin()
    left = right
    for _ in range(20):
        if browser.page.code:
            return browser
        data = {}
        for name in browser.page.form["texts"] if browser.page.form else ():
            question = Question.objects.get(public_id=name.removeprefix("answer-"))
            is_check = question.role == "attention"
            data[name] = "north" if is_check and left > 0 else "The moon pulls it."
            left -= is_check
        browser.press(**data)
    raise AssertionError(browser.page.words)


def test_with_fewer_right_than_needed_the_code_is_another_and_all_else_the_same(made):
    failed, passed = to_the_end(made, "ada", right=0), to_the_end(made, "ben", right=1)
    assert failed.page.code == "F1"
    assert passed.page.code == made.collection.code_done
    assert "cc=F1" in failed.response.content.decode()
    assert 'id="checks"' in failed.response.content.decode()
    assert 'id="checks"' not in passed.response.content.decode()
    ada, ben = Submission.objects.order_by("worker__external_id")
    assert (ada.state, ada.code, ada.failed_checks) == ("submitted", "F1", True)
    assert (ben.state, ben.failed_checks) == ("submitted", False)
    for one in (ada, ben):  # five questions and two checks, all handed in
        assert one.responses.filter(state="submitted").count() == 7
    failed.get(failed.link)
    assert failed.page.code == "F1"  # the same link again
    told = json.loads(_said("monitor", "tides", "--json"))
    assert (told["submitted"], told["failed_checks"]) == (2, 1)
    (line,) = (one for one in _said("monitor", "tides").splitlines() if "failed" in one)
    assert line.endswith(": 1")


def test_what_was_shown_stays_when_the_settings_change(made):
    to_the_end(made, "ada", right=0)
    collecting.change_settings(made.collection, checks_needed=None, code_failed_checks="")
    browser = Browser(made, "ada")
    browser.get(browser.link)
    assert browser.page.code == "F1"
    assert Submission.objects.get().failed_checks


def test_switched_off_nobody_fails(tides):
    made = published(with_checks(tides), protocol="open")
    assert to_the_end(made, "ada", right=0).page.code == made.collection.code_done
    assert not Submission.objects.get().failed_checks


@pytest.mark.parametrize(
    ("n", "settings", "field", "code", "values"),
    [
        (2, {"checks_needed": 3}, "checks_needed", "too_few_checks",
         {"needed": 3, "n": 2}),
        (0, {"checks_needed": 1}, "checks_needed", "too_few_checks",
         {"needed": 1, "n": 0}),
        (2, {"checks_needed": -1}, "checks_needed", "checks_needed_out_of_range",
         {"least": 0, "most": 100_000}),
    ],
)  # fmt: skip
def test_what_will_not_do_is_refused_by_field_and_publishes_nothing(
    tides, n, settings, field, code, values
):
    version = with_checks(tides, n).latest_version()
    if not n:
        version.publish()  # a draft could not be: the right answer is missing
    with pytest.raises(SettingsError) as caught:
        collecting.publish_question_set(tides, places=2, **settings)
    assert (caught.value.field, caught.value.code) == (field, code)
    assert caught.value.values == values
    assert not Collection.objects.exists()


def test_a_code_is_made_up_where_checks_are_needed_and_kept_until_they_are_not(tides):
    collection = published(with_checks(tides)).collection
    assert collection.code_failed_checks == ""
    changed = collecting.change_settings(collection, checks_needed=2)
    assert changed == ("checks_needed", "code_failed_checks")
    assert len(collection.code_failed_checks) == 8
    with pytest.raises(SettingsError) as caught:
        collecting.change_settings(collection, code_failed_checks="")
    assert caught.value.code == "code_failed_checks_missing"
    collection.refresh_from_db()
    collecting.change_settings(collection, code_failed_checks="", checks_needed=0)
    collection.refresh_from_db()
    assert (collection.checks_needed, collection.code_failed_checks) == (0, "")


@pytest.mark.parametrize(
    "values",
    [
        {"checks_needed": 1, "code_failed_checks": ""},
        {"code_failed_checks": "SAME", "code_too_late": "SAME"},
        {"failed_checks_pay": 0},
    ],
)
def test_the_database_refuses_it_too(made, values):
    with pytest.raises(IntegrityError), transaction.atomic():
        Collection.objects.filter(pk=made.collection.pk).update(**values)


def test_the_command_takes_both_and_says_what_will_not_do(tides):
    with_checks(tides)
    options = ("--places", "2", "--checks-needed", "2", "--code-failed-checks", "F2")
    assert "is published" in _said("publish", "tides", *options)
    assert Collection.objects.values_list("checks_needed", "code_failed_checks").get() == (2, "F2")
    with pytest.raises(CommandError) as bad:
        _said("publish", "tides", "--checks-needed", "3")
    assert bad.value.returncode == 2
    assert bad.value.__cause__.code == "too_few_checks"
    assert str(bad.value.__cause__) in str(bad.value)
    assert "changed: checks needed" in _said("publish", "tides", "--checks-needed", "0")


def test_the_next_wave_asks_for_as_many_with_a_code_of_its_own(made):
    parts = {"screened_out_pay": Decimal("0.40"), "failed_checks_pay": Decimal("0.80")}
    collecting.change_settings(made.collection, pay=Decimal(2), currency="GBP", **parts)
    wave = waves.create_next_wave(made.version.question_set, "tides again", "anybody")
    later = collecting.publish_question_set(wave).collection
    assert later.checks_needed == 1
    assert later.code_failed_checks not in ("", "F1")
    assert (later.screened_out_pay, later.failed_checks_pay) == tuple(parts.values())


def _said(*arguments):
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()
