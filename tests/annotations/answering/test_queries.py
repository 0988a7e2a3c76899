"""How often a worker's request asks the database: a loaded server's time is mostly that."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations.answering.wording import WordingCache
from annotations.models import Passage, Question, Response
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import made_set, published

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(rana):
    """On the first of two pages, of two or three questions, whose words are known by now."""
    made = published(made_set(rana), protocol="open")
    other = Browser(made, "bea")
    other.begin()
    other.until("review")
    browser = Browser(made, "ada")
    browser.begin()
    return browser


def asked(do):
    """The statements of one request, without those that begin and end a transaction."""
    with CaptureQueriesContext(connection) as seen:
        response = do()
    assert response.status_code in (200, 302), response.status_code
    words = [one["sql"].split()[0] for one in seen]
    return [word for word in words if word not in ("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT")]


def sent(browser, text="north"):
    form = browser.page.form
    return form["data"] | dict.fromkeys(form["texts"], text)


def saved(browser, text):
    field = next(iter(browser.page.form["texts"])).removeprefix("answer-")
    known = Response.objects.filter(
        question__public_id=field, submission__worker__external_id="ada"
    )
    revision = known.values_list("revision", flat=True).first() or 0
    there = browser.address.split("/page/")[0] + "/draft/"
    data = {"question": field, "text": text, "revision": revision, "tab": "one"}
    return lambda: browser.client.post(there, data)


def test_a_page_is_shown_by_three_statements_and_noted_by_one_when_it_is_new(ada):
    # Who and what it is; the questions given; the texts so far.
    assert asked(lambda: ada.client.get(ada.address)) == ["SELECT"] * 3
    there = ada.client.post(ada.address, sent(ada))["Location"]
    assert sorted(asked(lambda: ada.client.get(there))) == ["SELECT"] * 3 + ["UPDATE"]


def test_a_draft_is_saved_by_three_statements_that_read_and_one_that_writes(ada):
    # The first text takes the lock of who withdraws; later ones need none.
    assert asked(saved(ada, "n")) == ["SELECT"] * 4 + ["INSERT"]
    assert asked(saved(ada, "no")) == ["SELECT"] * 3 + ["UPDATE"]


def test_a_page_is_handed_in_by_four_statements_that_read_and_two_that_write(ada):
    # All answers of the page in one statement; that they were handed in, in another.
    data = sent(ada)
    do = asked(lambda: ada.client.post(ada.address, data))
    assert do == ["SELECT"] * 4 + ["INSERT", "UPDATE"]
    handed_in = Response.objects.filter(text="north", submission__worker__external_id="ada")
    assert handed_in.count() == len(ada.page.form["texts"]) >= 2


def test_a_text_that_was_a_draft_is_written_over_by_one_statement_more(ada):
    saved(ada, "n")()
    ada.get(ada.address)
    # One is there: it is changed, the others are made at once.
    do = asked(lambda: ada.client.post(ada.address, sent(ada)))
    assert do == ["SELECT"] * 4 + ["UPDATE", "INSERT", "UPDATE"]


def test_the_first_page_is_shown_by_four_statements_and_the_first_time_by_one_more(rana):
    # The collection, the worker's submission, who is excluded, free places; once the questions.
    made = published(made_set(rana), protocol="open")
    first, ada = Browser(made, "bea"), Browser(made, "ada")
    assert asked(lambda: first.client.get(first.link)) == ["SELECT"] * 5
    assert asked(lambda: ada.client.get(ada.link)) == ["SELECT"] * 4


def test_the_outline_counts_questions_by_role_and_is_kept_of_published_versions_only(rana):
    version = made_set(rana).draft()
    roles = list(version.questions.values_list("role", "passage"))
    known = WordingCache()
    before = known.load_question_counts(version)
    graded = [passage for role, passage in roles if role in ("graded", "gold")]
    assert (before.n_graded, before.n_practice) == (len(graded), len(roles) - len(graded))
    assert before.n_about_passages == sum(passage is not None for passage in graded) > 0
    Question.objects.create(version=version, external_id="more", text="?", role="practice")
    assert known.load_question_counts(version).n_practice == before.n_practice + 1
    version.publish()
    first = known.load_question_counts(version)
    with CaptureQueriesContext(connection) as seen:
        assert known.load_question_counts(version) == first
    assert len(seen) == 0


def test_a_place_is_taken_by_eight_statements_that_read_and_four_that_write(rana):
    made = published(made_set(rana), protocol="open")
    first, ada = Browser(made, "bea"), Browser(made, "ada")
    first.begin()
    ada.get(ada.link)
    data = ada.page.form["data"]
    do = asked(lambda: ada.client.post(ada.address, data))
    # Collection and worker before and under the lock, who is excluded, free places, the worker's
    # row, questions and how often each was given; then worker, submission, questions, consent.
    assert sorted(do) == ["INSERT"] * 4 + ["SELECT"] * 9


def test_words_are_read_once_and_only_those_of_published_versions_are_kept(rana):
    version = made_set(rana).draft()
    keys = list(version.questions.values_list("pk", flat=True))
    known = WordingCache()
    version.questions.filter(pk=keys[0]).update(text="Which tide is high?")
    assert known.load_questions(version, keys)[keys[0]].text == "Which tide is high?"
    assert known.characters == 0
    version.publish()
    first = known.load_questions(version, keys)
    with CaptureQueriesContext(connection) as seen:
        assert known.load_questions(version, keys) == first
    assert len(seen) == 0
    # Questions about one passage share it.
    assert len({id(one.passage) for one in first.values()}) == 2


def test_no_more_words_are_kept_than_fit_and_the_oldest_go_first(rana):
    version = made_set(rana).draft()
    passage = Passage.objects.create(version=version, external_id="long", text="x" * 100)
    keys = [
        Question.objects.create(
            version=version, external_id=f"l{n}", text="y" * 10, passage=passage
        ).pk
        for n in range(3)
    ]
    version.publish()
    known = WordingCache(most_characters=220)  # two of 100 + 10
    known.load_questions(version, keys[:2])
    known.load_questions(version, keys[:1])  # asked for again: the other one is older now
    known.load_questions(version, keys[2:])
    assert known.characters == 220
    with CaptureQueriesContext(connection) as seen:
        known.load_questions(version, [keys[0], keys[2]])
    assert len(seen) == 0
    with CaptureQueriesContext(connection) as seen:
        assert set(known.load_questions(version, keys)) == set(keys)
    assert len(seen) == 1
