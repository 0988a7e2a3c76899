"""A question set in further languages by REST."""

import re

import pytest
from django.contrib.auth.models import User

from annotations.editing import TranslationSheet, add_language, load_translatable_items
from annotations.editing.translation import LONGEST_TITLE, MOST_PARTS
from annotations.models import Passage, Question, QuestionSet
from tests.api.conftest import Api, problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(db):
    rana = User.objects.create_user("rana", is_staff=True)
    made = QuestionSet.objects.create(owner=rana, name="tides", language="en").draft()
    made.guidelines, made.consent_text = "Write a sentence.", "I agree."
    made.save()
    passage = Passage.objects.create(version=made, external_id="p1", text="The tide.")
    Question.objects.create(version=made, external_id="q1", text="How is it?", passage=passage)
    Question.objects.create(
        version=made, external_id="q2", text="Which?", kind="choice", choices=["high", "low"]
    )
    Question.objects.create(
        version=made, external_id="q3", text="The star?", role="gold", accepted_answers=["sun"]
    )
    return made


@pytest.fixture
def arabic(draft):
    add_language(draft, "ar")
    return draft


@pytest.fixture
def rana(draft):
    return Api(draft.question_set.owner)


def there(version, end=""):
    return f"question-sets/{version.question_set.public_id}/translations/{end}"


def said(version, language="ar"):
    sheet = TranslationSheet(version, language, load_translatable_items(version))
    return {one.key: one.said for one in sheet.pieces if one.said}


def test_a_language_is_added_and_says_how_much_is_missing(rana, draft):
    answer = rana.post(there(draft), {"language": "pt_br"})
    assert answer.status_code == 201
    # Guidelines, consent, a passage, three questions, choices and right answers; no title needed.
    told = {"language": "pt-BR", "name": "Brazilian Portuguese", "done": 0, "total": 8, "old": 0}
    assert answer.json() == {
        "version": 1,
        "published": False,
        "original": "en",
        "languages": [told],
    }
    assert rana.get(there(draft)).json() == answer.json()


@pytest.mark.parametrize(("language", "code"), [("EN", "there_already"), ("arabic!", "bad_tag")])
def test_what_is_no_further_language_is_refused_with_the_reason(rana, draft, language, code):
    answer = rana.post(there(draft), {"language": language})
    (fault,) = problem(answer, 400, "invalid")["errors"]
    assert (fault["pointer"], fault["code"]) == ("#/language", code)
    draft.refresh_from_db()
    assert draft.languages == []


@pytest.mark.medium
def test_texts_lists_and_ways_to_write_a_right_answer_are_stored(rana, arabic):
    read = rana.get(there(arabic, "ar/")).json()
    assert (read["version"], read["language"], read["direction"]) == (1, "ar", "rtl")
    by_key = {one["key"]: one for one in read["texts"]}
    assert by_key["q-choices-q2"]["original"] == ["high", "low"]
    assert not any(one["done"] for key, one in by_key.items() if key != "v-title")
    texts = {
        "q-text-q1": " كيف هو؟\r\n",
        "q-choices-q2": ["عال", "منخفض"],
        "q-accepted_answers-q3": [["شمس", "الشمس"]],
    }
    answer = rana.patch(there(arabic, "ar/"), {"seen": read["seen"], "texts": texts})
    assert answer.status_code == 200
    assert said(arabic) == texts | {"q-text-q1": "كيف هو؟"}
    after = {one["key"]: one for one in answer.json()["texts"]}
    assert after["q-choices-q2"]["done"]
    assert not after["q-text-q2"]["done"]
    # What was translated before its original changed says so, until it is sent again.
    Question.objects.filter(external_id="q1").update(text="How does it rise?")
    now = rana.get(there(arabic, "ar/")).json()
    assert {one["key"] for one in now["texts"] if one["old"]} == {"q-text-q1"}
    again = {"seen": now["seen"], "texts": {"q-text-q1": "كيف يرتفع؟"}}
    told = rana.patch(there(arabic, "ar/"), again).json()
    assert not any(one["old"] for one in told["texts"])
    gone = {"seen": told["seen"], "texts": {"q-text-q1": "", "q-choices-q2": []}}
    assert rana.patch(there(arabic, "ar/"), gone).status_code == 200
    assert list(said(arabic)) == ["q-accepted_answers-q3"]


def test_of_texts_that_will_not_do_none_is_stored_and_each_is_named(rana, arabic):
    texts = {
        "q-text-q1": "كيف هو؟",
        "q-text-q9": "nobody asks this",
        "q-text-q2": ["a list"],
        "q-choices-q2": "high",
        "q-accepted_answers-q3": [["sun"], []],
        "v-title": "x" * (LONGEST_TITLE + 1),
        "p-text-p1": 7,
    }
    seen = rana.get(there(arabic, "ar/")).json()["seen"]
    found = problem(
        rana.patch(there(arabic, "ar/"), {"seen": seen, "texts": texts}), 400, "invalid"
    )
    assert {one["pointer"]: one["code"] for one in found["errors"]} == {
        "#/texts/q-text-q9": "unknown_text",
        "#/texts/q-text-q2": "not_a_text",
        "#/texts/q-choices-q2": "not_a_list",
        "#/texts/q-accepted_answers-q3": "not_a_list",
        "#/texts/v-title": "too_long",
        "#/texts/p-text-p1": "not_a_text",
    }
    (title,) = (one["detail"] for one in found["errors"] if one["code"] == "too_long")
    assert re.findall(r"\d+", title) == ["501", "500"]
    many = {"seen": seen, "texts": {"q-choices-q2": ["x"] * (MOST_PARTS + 1)}}
    found = problem(rana.patch(there(arabic, "ar/"), many), 400, "invalid")
    (fault,) = found["errors"]
    assert fault["code"] == "too_many_parts"
    assert re.findall(r"[\d,]*\d", fault["detail"]) == ["1,001", "1000"]
    assert said(arabic) == {}


def test_who_translates_what_somebody_else_translated_meanwhile_is_told(rana, arabic):
    seen = rana.get(there(arabic, "ar/")).json()["seen"]
    first = {"seen": seen, "texts": {"q-text-q1": "one"}}
    assert rana.patch(there(arabic, "ar/"), first).status_code == 200
    late = {"seen": seen, "texts": {"q-text-q1": "two"}}
    assert (
        problem(rana.patch(there(arabic, "ar/"), late), 409, "conflict")["errors"][0]["pointer"]
        == "#/seen"
    )
    assert said(arabic) == {"q-text-q1": "one"}


def test_a_published_version_keeps_its_words_in_every_language(rana, arabic):
    read = rana.get(there(arabic, "ar/")).json()
    arabic.publish()
    assert rana.get(there(arabic)).json()["published"]
    change = {"seen": read["seen"], "texts": {"q-text-q1": "one"}}
    for answer in (
        rana.patch(there(arabic, "ar/"), change),
        rana.post(there(arabic), {"language": "de"}),
        rana.ask("DELETE", there(arabic, "ar/")),
    ):
        assert problem(answer, 409, "conflict")["reason"] == "published"
    assert said(arabic) == {}


def test_a_language_is_taken_away_with_all_that_is_said_in_it(rana, arabic):
    seen = rana.get(there(arabic, "ar/")).json()["seen"]
    rana.patch(there(arabic, "ar/"), {"seen": seen, "texts": {"q-text-q1": "one"}})
    assert rana.ask("DELETE", there(arabic, "ar/")).status_code == 204
    assert rana.get(there(arabic, "ar/")).status_code == 404
    assert arabic.translations.count() == 0


def test_who_may_not_change_the_set_reads_no_translation(arabic):
    other = Api(User.objects.create_user("otto", is_staff=True))
    for answer in (
        other.get(there(arabic)),
        other.get(there(arabic, "ar/")),
        other.post(there(arabic), {"language": "de"}),
        other.ask("DELETE", there(arabic, "ar/")),
    ):
        assert answer.status_code == 404
