"""How many people may begin through a plain link from one address, and when the next one may."""

import re
from contextlib import suppress

import pytest
from django.core.cache import caches

from annotations.answering.arrivals import count_arrival
from annotations.answering.errors import TooManyError
from annotations.answering.links import Visitor
from annotations.answering.places import reserve_place
from annotations.models import Submission
from annotations.worker_pages.outcomes import format_duration
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import published

pytestmark = pytest.mark.django_db


def waits(collection, address, now):
    """Return the seconds that a person has to wait; 0 for one who may begin."""
    try:
        count_arrival(collection, address, now)
    except TooManyError as error:
        return error.seconds
    return 0


@pytest.mark.medium
def test_as_many_as_the_rate_begin_at_once_and_then_one_after_the_other(book, settings):
    settings.LINK_RATE = "4/minute"
    here, there = "192.0.2.7", "192.0.2.8"
    assert [waits(book.collection, here, 1000.0) for _ in range(5)] == [0, 0, 0, 0, 15]
    # A place of four a minute comes every 15 s; who is refused puts nothing off.
    assert waits(book.collection, here, 1014.0) == 1
    assert waits(book.collection, here, 1015.0) == 0
    assert waits(book.collection, here, 1015.0) == 15
    assert waits(book.collection, there, 1015.0) == 0
    # After a minute without anybody all four are there again.
    assert [waits(book.collection, here, 1090.0) for _ in range(5)] == [0, 0, 0, 0, 15]


@pytest.mark.parametrize("rate", ["60/minute", "130/minute"])
def test_rounding_refuses_nobody_of_those_who_may_begin_at_once(book, settings, rate):
    settings.LINK_RATE = rate
    n = int(rate.partition("/")[0])
    now = 1_795_000_000.123457
    assert sum(waits(book.collection, "192.0.2.7", now) for _ in range(n)) == 0
    assert waits(book.collection, "192.0.2.7", now) == -(-60 // n)


def test_by_default_a_class_of_sixty_begins_at_once(book, settings):
    assert settings.LINK_RATE == "60/minute"


def test_a_person_without_an_address_is_not_counted(book, settings):
    settings.LINK_RATE = "1/hour"
    assert [waits(book.collection, "", 0.0) for _ in range(3)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("first", "second", "wait"),
    [
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", 3600),  # the same /64
        ("2001:db8:0:1::1", "2001:db8:0:2::1", 0),
        ("::ffff:192.0.2.7", "192.0.2.7", 3600),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.8", 0),
        ("unix:", "unix:", 3600),
    ],
)
def test_addresses_of_one_ipv6_network_count_as_one(book, settings, first, second, wait):
    settings.LINK_RATE = "1/hour"
    assert waits(book.collection, first, 1000.0) == 0
    assert waits(book.collection, second, 1000.0) == wait


def test_each_process_counts_where_the_shared_cache_fails(book, settings, monkeypatch, caplog):
    settings.LINK_RATE = "1/hour"

    def fail(*args):
        raise OSError("no space left")

    monkeypatch.setattr(type(caches["default"]), "get", fail)
    assert [waits(book.collection, "192.0.2.7", 1000.0) for _ in range(2)] == [0, 3600]
    assert {record.levelname for record in caplog.records} == {"WARNING"}


def test_a_person_beyond_the_limit_gets_429_and_one_who_has_begun_goes_on(book, settings):
    settings.LINK_RATE = "1/day"
    Browser(book).begin()
    late = Browser(book, "ben")
    late.get(late.link)
    response = late.press()
    assert (response.status_code, late.page.outcome) == (429, "too_many")
    # The next place of the day comes 86,400 s after the first, less what this test took.
    seconds = int(response["Retry-After"])
    assert 80_000 < seconds <= 86_400
    (wait,) = re.findall(r'id="wait"[^>]*>([^<]*)<', response.content.decode())
    hours, minutes, rest = map(int, wait.split(":"))
    assert hours * 3600 + minutes * 60 + rest == seconds
    assert Submission.objects.count() == 1
    again = Browser(book)
    assert again.get(again.link).status_code == 200
    assert set(again.boxes) == {""}


@pytest.mark.parametrize(
    ("seconds", "said"), [(1, "0:00:01"), (90, "0:01:30"), (3_599, "0:59:59"), (86_400, "24:00:00")]
)
def test_the_time_to_wait_is_told_in_hours_minutes_and_seconds(seconds, said):
    assert format_duration(seconds) == said


@pytest.mark.parametrize(("signed", "n"), [(True, 3), (False, 1)])
def test_only_plain_links_are_counted(tides, settings, signed, n):
    settings.LINK_RATE = "1/hour"
    made = published(tides, protocol="open", signed=signed)
    for name in ("ada", "ben", "cy"):
        with suppress(TooManyError):
            reserve_place(made.collection, Visitor(name), address="192.0.2.7")
    assert Submission.objects.count() == n
