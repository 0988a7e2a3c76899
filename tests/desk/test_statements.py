"""Pages that people open most make few statements: each is a way to the database and back.

The aim is 12. What is beyond it is listed with its number, which may only fall.
"""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import made_set, published

MOST = {
    "runs": 10,
    # Beyond the aim.
    "question-set": 24,
    "results-decision": 30,
    "results-people": 23,
    "results-models": 13,
    "results-trust": 19,
}


def statements(client, address):
    """How many statements a page makes, after a look that fills what is kept between requests."""
    client.get(address)
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200
    return len(asked)


@pytest.mark.parametrize("name", MOST)
def test_a_page_makes_no_more_statements_than_its_number(client, world, name):
    of = {"runs": [], "question-set": [world.set.public_id]}.get(name, [world.run.public_id])
    client.force_login(world.rana)
    assert statements(client, reverse(f"admin:{name}", args=of)) <= MOST[name]


def test_a_page_of_questions_and_a_draft_stay_below_the_aim(rana):
    browser = Browser(published(made_set(rana), protocol="open"))
    browser.begin()
    assert statements(browser.client, browser.address) <= 12
    (field, *_) = browser.page.form["texts"]
    sent = {"question": field.removeprefix("answer-"), "text": "so", "revision": "0", "tab": "a"}
    with CaptureQueriesContext(connection) as asked:
        said = Client().post(f"{browser.address.partition('page/')[0]}draft/", sent)
    assert said.json()["saved"]
    assert len(asked) <= 7
