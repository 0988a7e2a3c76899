"""Links: who they name, what is refused, and what only looking at one does."""

import uuid

import pytest
from django.test import Client

from annotations.answering import links
from annotations.answering.links import build_submission_token
from annotations.models import Submission
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import made_set, published
from tests.annotations.answering.walker import Page

pytestmark = pytest.mark.django_db


def submission():
    return Submission.objects.get()


def test_a_link_that_is_only_looked_at_takes_no_place(book):
    robot = Browser(book)
    for _ in range(5):
        assert robot.get(robot.link).status_code == 200
        assert robot.client.head(robot.link).status_code == 200
    assert not Submission.objects.exists()
    assert robot.page.form is not None


@pytest.mark.parametrize(
    ("query", "status", "outcome"),
    [
        ("", 400, "id_missing"),
        ("?PROLIFIC_PID=", 400, "id_missing"),
        ("?prolific_pid=ada", 400, "id_missing"),
        ("?PROLIFIC_PID={{%PROLIFIC_PID%}}", 400, "id_not_filled_in"),
        ("?PROLIFIC_PID=" + 256 * "a", 400, "id_bad"),
        ("?PROLIFIC_PID=a%00b", 400, ""),
        ("?PROLIFIC_PID=a%07b", 400, "id_bad"),
        ("?PROLIFIC_PID=ada&signature=made-up", 403, "forged"),
    ],
)
def test_a_link_without_a_worker_is_refused(book, query, status, outcome):
    for method in ("get", "post"):
        response = getattr(Client(), method)(f"/answer/{book.collection.public_id}/{query}")
        page = Page(response.content.decode())
        assert response.status_code == status
        assert page.outcome == outcome
        assert page.form is None
    assert not Submission.objects.exists()


def test_anonymous_people_are_known_by_their_browser_where_they_may_come(tides):
    made = published(tides, protocol="open", anonymous=True)
    browser = Browser(made)
    browser.link = f"/answer/{made.collection.public_id}/"
    browser.begin()
    first = submission()
    assert first.worker.external_id.startswith("anonymous-")
    browser.get(browser.link)
    assert f"/{build_submission_token(first)}/" in browser.address
    other = Browser(made)
    other.link = browser.link
    other.begin()
    assert Submission.objects.count() == 2


def test_where_links_are_signed_an_id_cannot_be_changed(tides):
    made = published(tides, protocol="open", signed=True)
    link = links.build_signed_link(made.collection, "ada & co")
    path = link.removeprefix(made.collection.base_url)
    assert Page(Client().get(path).content.decode()).form is not None
    assert Client().get(path.replace("ID=ada", "ID=eve")).status_code == 403
    assert Client().get(path.partition("&signature")[0]).status_code == 403
    elsewhere = published(made_set(tides.owner, "other"), signed=True).collection
    foreign = path.replace(str(made.collection.public_id), str(elsewhere.public_id))
    assert Client().get(foreign).status_code == 403


def test_nobody_comes_to_the_pages_of_somebody_else(book):
    browser = Browser(book)
    browser.begin()
    seat = build_submission_token(submission())
    name, _, signature = seat.partition(".")
    forged = [
        *(f"{name}.{signature[:-1]}x", name, f"{name}.", f".{signature}", "x.y", "%07.y"),
        str(submission().public_id),
        seat.replace(name[0], "B" if name[0] == "A" else "A", 1),
    ]
    for token in forged:
        for page in ("", "page/1/", "review/", "thanks/", "withdraw/", "draft/", "data/"):
            for method in ("get", "post"):
                response = getattr(Client(), method)(f"/answer/at/{token}/{page}")
                assert response.status_code == 404, (token, page)
                assert "north" not in response.content.decode()
    assert Client().get(f"/answer/{uuid.uuid4()}/").status_code == 404
    assert Client().get(f"/answer/at/{seat}/page/99/").status_code == 404
    assert Client().get(f"/answer/at/{seat}/page/{10**30}/").status_code == 404
