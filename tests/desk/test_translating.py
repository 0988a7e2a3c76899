"""The editor's pages of further languages: adding, translating, two at once, taking away."""

import json

import pytest
from django.urls import reverse

from annotations.editing import (
    TranslationSheet,
    add_language,
    load_translatable_items,
    measure_translation_progress,
)
from annotations.models import Passage, Question, QuestionSet, Translation

pytestmark = pytest.mark.django_db


@pytest.fixture
def rana(django_user_model, client):
    user = django_user_model.objects.create_user("rana", is_staff=True)
    client.force_login(user)
    return user


@pytest.fixture
def draft(rana):
    made = QuestionSet.objects.create(owner=rana, name="tides", language="en").draft()
    made.guidelines, made.consent_text = "Write a sentence.", "I agree."
    made.save()
    passage = Passage.objects.create(version=made, external_id="p 1", text="The tide & the moon.")
    Question.objects.create(version=made, external_id="q1", text="How is it?", passage=passage)
    Question.objects.create(
        version=made, external_id="q2", text="Which?", kind="choice", choices=["high", "low"]
    )
    return made


@pytest.fixture
def arabic(draft):
    add_language(draft, "ar")
    return draft


def there(name, draft, *more):
    return reverse(f"admin:{name}", args=[draft.question_set.public_id, *more])


def said(version, language="ar"):
    sheet = TranslationSheet(version, language, load_translatable_items(version))
    return {one.key: one.said for one in sheet.pieces if one.said}


def seen(client, draft, query=""):
    page = client.get(there("editor-language", draft, "ar") + query)
    return page.context["seen"], page.content.decode()


def test_a_language_is_added_and_its_page_says_how_much_is_missing(client, draft):
    page = client.get(there("editor", draft)).content.decode()
    assert there("editor-languages", draft) in page
    answer = client.post(there("editor-languages", draft), {"language": " AR "}, follow=True)
    draft.refresh_from_db()
    assert draft.languages == ["ar"]
    page = answer.content.decode()
    assert "0 of 6" in page  # guidelines, consent, passage, two questions, choices
    assert page.count('lang="ar" dir="rtl"') >= 7
    assert "The tide &amp; the moon." in page
    page = client.get(there("editor", draft))
    assert "0 of 6" in page.content.decode()
    assert "untranslated" in [one.code for one, _ in page.context["findings"]]


@pytest.mark.parametrize(
    ("typed", "words"),
    [("english", "as in BCP 47"), ("en", "in en already"), ("EN", "in en already"), ("", "BCP 47")],
)
def test_what_is_no_further_language_is_refused_with_what_was_typed(client, draft, typed, words):
    answer = client.post(there("editor-languages", draft), {"language": typed})
    assert answer.status_code == 400
    assert words in answer.content.decode()
    draft.refresh_from_db()
    assert draft.languages == []


def test_texts_are_saved_and_counted_and_lists_are_written_a_line_each(client, arabic):
    mark, _ = seen(client, arabic)
    texts = {
        "t-v-guidelines": "اكتب جملة.",
        "t-p-text-p 1": "المد",
        "t-q-choices-q2": "عال\r\n\r\n منخفض ",
        "t-q-text-q1": "   ",
    }
    answer = client.post(there("editor-language", arabic, "ar"), texts | {"seen": mark})
    assert answer.status_code == 302
    assert said(arabic) == {
        "v-guidelines": "اكتب جملة.",
        "p-text-p 1": "المد",
        "q-choices-q2": ["عال", "منخفض"],
    }
    (one,) = measure_translation_progress(arabic)
    assert (one.done, one.total, one.old) == (3, 6, 0)
    _, page = seen(client, arabic, "?missing=yes")
    assert "t-q-text-q1" in page
    assert "t-p-text-p 1" not in page
    assert Translation.objects.filter(question__external_id="q1").count() == 0


def test_what_is_emptied_goes(client, arabic):
    for text, n in (("المد", 1), ("", 0)):
        mark, _ = seen(client, arabic)
        client.post(
            there("editor-language", arabic, "ar"), {"t-p-text-p 1": text, "seen": _mark(arabic)}
        )
        assert Translation.objects.count() == n
    assert mark


def _mark(version, *names):
    rows = [
        row for row in load_translatable_items(version) if getattr(row, "external_id", "") == "p 1"
    ]
    return TranslationSheet(version, "ar", rows).seen


def test_a_script_saves_while_one_types(client, arabic):
    def sent(text, mark):
        return client.post(
            there("editor-language", arabic, "ar"),
            {"t-p-text-p 1": text, "seen": mark},
            headers={"accept": "application/json"},
        )

    first = sent("الم", _mark(arabic)).json()
    assert first["saved"]
    assert sent("المد", first["seen"]).json()["saved"]
    old = sent("القمر", first["seen"])
    assert old.status_code == 409
    assert json.loads(old.content)["why"] == "changed"
    assert said(arabic) == {"p-text-p 1": "المد"}


def test_of_two_who_translate_nobody_overwrites_the_other_unseen(client, arabic):
    mark = _mark(arabic)
    TranslationSheet(arabic, "ar", load_translatable_items(arabic)).store_translations(
        {
            one: "من آخر"
            for one in TranslationSheet(arabic, "ar", load_translatable_items(arabic)).pieces
            if "p-" in one.key
        }
    )
    data = {"t-p-text-p 1": "مني", "seen": mark}
    answer = client.post(there("editor-language", arabic, "ar"), data)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "مني" in page
    assert "من آخر" in page
    data["seen"] = answer.context["seen"]
    assert client.post(there("editor-language", arabic, "ar"), data).status_code == 302
    assert said(arabic)["p-text-p 1"] == "مني"


def test_a_text_for_what_was_deleted_meanwhile_is_shown_and_the_rest_is_saved(client, arabic):
    mark, _ = seen(client, arabic)
    rows = [
        row for row in load_translatable_items(arabic) if getattr(row, "external_id", "") == "q2"
    ]
    arabic.questions.filter(external_id="q1").delete()
    mark = TranslationSheet(arabic, "ar", rows).seen
    data = {"t-q-text-q1": "كيف هو؟", "t-q-text-q2": "أيهما؟", "seen": mark}
    answer = client.post(there("editor-language", arabic, "ar"), data)
    assert answer.status_code == 409
    assert "كيف هو؟" in answer.content.decode()
    assert said(arabic) == {"q-text-q2": "أيهما؟"}


def test_too_long_a_text_is_refused_and_stands_there(client, arabic):
    data = {"t-v-guidelines": "x" * 20_001, "t-v-consent_text": "أوافق", "seen": ""}
    answer = client.post(there("editor-language", arabic, "ar"), data)
    assert answer.status_code == 400
    assert "20,001 characters" in answer.content.decode()
    assert "x" * 20_001 in answer.content.decode()
    assert said(arabic) == {}


def test_an_original_that_was_changed_is_told_and_can_be_said_to_fit(client, arabic):
    client.post(
        there("editor-language", arabic, "ar"), {"t-p-text-p 1": "المد", "seen": _mark(arabic)}
    )
    arabic.passages.update(text="The tide and the moon.")
    _, page = seen(client, arabic, "?missing=yes")
    assert "original changed" in page
    data = {"t-p-text-p 1": "المد", "k-p-text-p 1": "yes", "seen": _mark(arabic)}
    client.post(there("editor-language", arabic, "ar"), data)
    assert measure_translation_progress(arabic)[0].old == 0
    _, page = seen(client, arabic, "?missing=yes")
    assert "original changed" not in page


def test_a_published_version_keeps_its_words_and_the_next_one_takes_the_text(client, arabic):
    arabic.publish()
    data = {"t-p-text-p 1": "المد", "seen": _mark(arabic)}
    answer = client.post(there("editor-language", arabic, "ar"), data)
    assert answer.status_code == 409
    assert "المد" in answer.content.decode()
    assert Translation.objects.count() == 0
    answer = client.post(there("editor-language", arabic, "ar"), data | {"do": "next"})
    assert answer.status_code == 302
    latest = arabic.question_set.latest_version()
    assert (latest.number, latest.languages) == (2, ["ar"])
    assert said(latest) == {"p-text-p 1": "المد"}
    assert client.post(there("editor-languages", arabic), {"language": "de"}).status_code == 302


def test_a_language_is_taken_away_after_asking_and_only_from_a_draft(client, arabic):
    add_language(arabic, "de")
    for one in ("ar", "de"):
        sheet = TranslationSheet(arabic, one, load_translatable_items(arabic))
        sheet.store_translations(dict.fromkeys(sheet.pieces[:1], "title"))
    address = there("editor-language-remove", arabic, "ar")
    assert "0 translated texts" in client.get(address).content.decode()
    client.post(address)
    arabic.refresh_from_db()
    assert arabic.languages == ["de"]
    assert [one.language for one in Translation.objects.all()] == ["de"]
    arabic.publish()
    client.post(there("editor-language-remove", arabic, "de"))
    arabic.refresh_from_db()
    assert arabic.languages == ["de"]
    assert client.get(there("editor-language", arabic, "fr")).status_code == 404


def test_a_question_with_translations_can_be_deleted(client, arabic):
    client.post(
        there("editor-language", arabic, "ar"), {"t-p-text-p 1": "المد", "seen": _mark(arabic)}
    )
    passage = arabic.passages.get()
    client.post(there("editor-passage-delete", arabic, passage.public_id))
    assert not arabic.passages.exists()
    assert Translation.objects.count() == 0


def test_the_preview_speaks_the_language_and_shows_the_original_of_what_is_missing(client, arabic):
    client.post(
        there("editor-language", arabic, "ar"), {"t-p-text-p 1": "المد", "seen": _mark(arabic)}
    )
    address = there("editor-preview", arabic) + "?language=ar&protocol=open&step="
    page = "".join(client.get(f"{address}{n}").content.decode() for n in (2, 3))
    assert '<html lang="ar" dir="rtl">' in page
    assert "المد" in page
    assert 'lang="en">How is it?' in page.replace("\n", "")
