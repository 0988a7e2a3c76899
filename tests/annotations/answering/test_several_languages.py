"""A version in English, Arabic and German: who gets which, what is agreed to, what is recorded."""

import hashlib

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations.answering import links
from annotations.answering.languages import choose_language
from annotations.answering.wording import apply_translation
from annotations.editing import Sheet, add_language, list_findings, load_rows
from annotations.exchange import InputError
from annotations.exchange.importing import import_passages, import_questions
from annotations.languages import canonical, direction
from annotations.models import (
    Consent,
    Passage,
    Question,
    QuestionSet,
    QuestionSetVersion,
    Response,
    Submission,
)
from evaluation.runs import exports
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import published
from tests.problems import faults

pytestmark = pytest.mark.django_db

ARABIC = {
    "v-title": "المد والجزر",
    "v-guidelines": "اكتب جملة واحدة.",
    "v-consent_text": "أوافق على المشاركة.",
    "p-title-p1": "القمر",
    "p-text-p1": "يتبع المد القمر.",
    "q-text-t1": "ماذا يتبع المد؟",
    "q-accepted_answers-t1": ["القمر"],
    "q-feedback-t1": "يتبع القمر.",
    "q-text-q1": "كيف حال المرفأ؟",
    "q-text-q2": "أيهما أعلى؟",
    "q-choices-q2": ["المد", "الجزر"],
}


def said_in(version, language, texts):
    sheet = Sheet(version, language, load_rows(version))
    sheet.store({one: texts[one.key] for one in sheet.pieces if one.key in texts})


@pytest.fixture
def draft(rana):
    made = QuestionSet.objects.create(owner=rana, name="tides", language="en").draft()
    made.guidelines, made.consent_text = "Write a sentence.", "I agree to take part."
    made.save()
    passage = Passage.objects.create(
        version=made, external_id="p1", title="The moon", text="The tide follows the moon."
    )
    common = {"version": made, "passage": passage}
    Question.objects.create(
        external_id="t1",
        text="What does the tide follow?",
        role="practice",
        accepted_answers=["the moon"],
        feedback="It follows the moon.",
        **common,
    )
    Question.objects.create(external_id="q1", position=1, text="How is the harbour?", **common)
    Question.objects.create(
        external_id="q2",
        position=2,
        text="Which one is higher?",
        kind="choice",
        choices=["high tide", "low tide"],
        **common,
    )
    add_language(made, "ar")
    said_in(made, "ar", ARABIC)
    return made


def test_questions_and_their_passage_are_said_in_a_language_where_they_are_translated(draft):
    said_in(draft, "ar", {"q-text-q1": ""})
    asked = {one.external_id: one for one in draft.questions.select_related("passage")}
    apply_translation(draft, "ar", asked.values())
    found = {name: (one.text, one.language) for name, one in asked.items()}
    assert found["t1"] == (ARABIC["q-text-t1"], "ar")
    assert found["q1"] == ("How is the harbour?", "en")
    assert asked["q2"].choice_labels == ARABIC["q-choices-q2"]
    assert asked["t1"].accepted_answers == [*ARABIC["q-accepted_answers-t1"], "the moon"]
    passage = asked["q2"].passage
    assert (passage.title, passage.language) == (ARABIC["p-title-p1"], "ar")


@pytest.fixture
def made(draft):
    add_language(draft, "de")
    said_in(draft, "de", {key: _german(value) for key, value in ARABIC.items()})
    return published(draft.question_set, protocol="open")


def _german(value):
    return [f"de {one}" for one in value] if isinstance(value, list) else f"de {value}"


def page_of(browser):
    return browser.response.content.decode()


def asking(made, header, worker="ada", more=""):
    browser = Browser(made, worker, more)
    browser.client.defaults["HTTP_ACCEPT_LANGUAGE"] = header
    return browser


@pytest.mark.parametrize(
    ("header", "language"),
    [
        *(("", "en"), ("fr", "en"), ("ar-EG,ar;q=0.9,en;q=0.8", "ar"), ("fr,de;q=0.5", "de")),
        *(("de;q=0.2,ar;q=0.7", "ar"), ("*", "en"), ("ar;q=0,de", "de"), ("\x00;q=x", "en")),
    ],
)
def test_who_comes_gets_what_the_browser_wants_most_of_what_there_is(made, header, language):
    assert choose_language(made.version, [], header) == language


def test_a_link_or_a_form_counts_more_than_the_browser_and_an_unknown_language_nothing(made):
    assert choose_language(made.version, ["", "AR"], "de") == "ar"
    assert choose_language(made.version, ["xx", "ar"], "de") == "ar"
    assert choose_language(made.version, ["xx"], "de") == "de"


def test_a_region_of_its_own_comes_before_the_language_alone():
    version = QuestionSetVersion(
        question_set=QuestionSet(language="en"), number=1, languages=["pt", "pt-BR"]
    )
    assert choose_language(version, [], "pt-br") == "pt-BR"
    assert choose_language(version, [], "pt-PT") == "pt"


def test_how_languages_are_called_and_written():
    assert [canonical(tag) for tag in ("AR", "zh_hant_tw", "pt-br")] == [
        "ar",
        "zh-Hant-TW",
        "pt-BR",
    ]
    for bad in ("", "english", "a", "de<script>", "de-" + "x" * 40):
        with pytest.raises(ValueError, match="BCP 47"):
            canonical(bad)
    said = [direction(tag) for tag in ("ar-EG", "he", "uz-Arab", "de", "ar-Latn", "")]
    assert said == ["rtl", "rtl", "rtl", "ltr", "ltr", "auto"]


def test_the_whole_way_in_arabic_and_what_is_recorded_of_it(made):
    browser = asking(made, "ar")
    browser.get(browser.link)
    page = page_of(browser)
    assert '<html lang="ar" dir="rtl">' in page
    for key in ("v-title", "v-guidelines", "v-consent_text"):
        assert ARABIC[key] in page
    assert "I agree to take part." not in page
    browser.press()
    browser.until("review")
    page = page_of(browser)
    assert ARABIC["q-text-q1"] in page
    assert "How is the harbour?" not in page
    submission = Submission.objects.get()
    assert submission.language == "ar"
    consent = Consent.objects.get()
    assert consent.language == "ar"
    assert consent.text_hash == hashlib.sha256(ARABIC["v-consent_text"].encode()).hexdigest()
    assert set(Response.objects.values_list("language", flat=True)) == {"ar"}


def test_consent_in_the_original_is_that_of_the_original(made):
    browser = asking(made, "en")
    browser.begin()
    assert Consent.objects.get().text_hash == made.version.consent_hash
    assert Submission.objects.get().language == "en"


def test_a_switch_before_the_consent_is_kept_by_the_form(made):
    browser = asking(made, "de")
    browser.get(browser.link)
    assert 'href="?PROLIFIC_PID=ada&amp;language=ar"' in page_of(browser)
    browser.get(f"{browser.link}&language=ar")
    assert ARABIC["v-consent_text"] in page_of(browser)
    # What the form says counts, whatever the address says by now.
    browser.address = browser.link
    browser.press()
    assert Submission.objects.get().language == "ar"
    assert Consent.objects.get().language == "ar"


def test_a_right_answer_is_right_in_either_language_and_its_feedback_is_translated(made):
    for worker, text in (("ada", "القمر"), ("bea", "The moon"), ("cleo", "الشمس")):
        browser = asking(made, "ar", worker)
        browser.begin()
        browser.press(text)
        page = page_of(browser)
        assert ("هذا صحيح" in page) == (worker != "cleo"), page
        assert ARABIC["q-feedback-t1"] in page


def on_questions(made, header="ar"):
    browser = asking(made, header)
    browser.begin()
    browser.press("القمر")
    browser.press()  # the feedback
    assert "/page/" in browser.address
    return browser


def test_a_choice_is_stored_as_the_choice_and_read_in_the_language(made):
    browser = on_questions(made)
    page = page_of(browser)
    assert 'value="high tide"' in page
    assert ">المد</label>" in page
    q2 = Question.objects.get(external_id="q2")
    browser.press(**{f"answer-{q2.public_id}": "low tide"})
    browser.until("review")
    assert "الجزر" in page_of(browser)
    stored = Response.objects.get(question=q2)
    assert (stored.text, stored.language) == ("low tide", "ar")


def test_switching_on_the_way_loses_no_text_and_each_answer_keeps_its_language(made):
    browser = on_questions(made)
    q1, q2 = (Question.objects.get(external_id=name) for name in ("q1", "q2"))
    # Typed and never saved; then a button of the page.
    browser.press(
        **{f"answer-{q1.public_id}": "هادئ", f"answer-{q2.public_id}": "low tide"},
        do="language-en",
    )
    page = page_of(browser)
    assert '<html lang="en" dir="ltr">' in page
    assert "How is the harbour?" in page
    assert "هادئ" in page
    assert Submission.objects.get().language == "en"
    assert Response.objects.get(question=q1).language == "ar"
    browser.press(**{f"answer-{q1.public_id}": "It is calm.", f"answer-{q2.public_id}": "low tide"})
    assert Response.objects.get(question=q1).language == "en"
    # The same as before, so it stays what was chosen from the Arabic page.
    assert Response.objects.get(question=q2).language == "ar"


def test_other_pages_switch_by_a_form_of_their_own_and_an_unknown_language_changes_nothing(made):
    browser = on_questions(made)
    q2 = Question.objects.get(external_id="q2")
    browser.press("هادئ", **{f"answer-{q2.public_id}": "low tide"})
    seat = links.build_token(Submission.objects.get())
    there = reverse("worker:language", args=[seat])
    assert there in page_of(browser)
    for tag, now in (("xx", "ar"), ("", "ar"), ("de", "de")):
        browser.post(there, {"language": tag})
        assert Submission.objects.get().language == now
    assert "/review/" in browser.address
    assert ARABIC["q-text-q1"] in page_of(browser).replace("de ", "")
    assert browser.client.get(there).status_code == 302
    # What was agreed to is shown as it was agreed to.
    browser.get(reverse("worker:data", args=[seat]))
    page = page_of(browser)
    assert f">{ARABIC['v-consent_text']}" in page or f"<p>{ARABIC['v-consent_text']}</p>" in page
    assert _german(ARABIC["v-guidelines"]) in page


def test_a_version_of_one_language_has_no_switch_and_asks_for_none(rana, tides):
    made = published(tides, protocol="open")
    browser = asking(made, "ar")
    browser.get(browser.link)
    assert "language=" not in page_of(browser)
    browser.press()
    assert "language-" not in page_of(browser)
    assert Submission.objects.get().language == "en"


def test_a_page_in_another_language_asks_the_database_no_more_once_its_words_are_known(made):
    first = on_questions(made)
    browser = asking(made, "ar", "bea")
    browser.begin()
    browser.press("القمر")
    browser.press()
    with CaptureQueriesContext(connection) as seen:
        browser.client.get(browser.address)
    assert len(seen) == 3, [one["sql"] for one in seen]
    assert page_of(first)


def test_the_order_of_questions_and_places_hang_on_no_language(made):
    browser = asking(made, "ar")
    browser.begin()
    before = list(Submission.objects.get().assignments.values_list("question", "position"))
    browser.post(
        reverse("worker:language", args=[links.build_token(Submission.objects.get())]),
        {"language": "de"},
    )
    assert list(Submission.objects.get().assignments.values_list("question", "position")) == before


def test_what_is_missing_in_a_language_is_listed_and_blocks(draft):
    assert [one.code for one in list_findings(draft) if one.blocks] == []
    add_language(draft, "de")
    found = [one for one in list_findings(draft) if one.blocks]
    # All that people read but the title, which may stay: nine texts and lists.
    assert len(found) == len(ARABIC) - 1
    assert {one.code for one in found} == {"untranslated"}
    assert {one.what for one in found if one.item and one.item.external_id == "q2"} == {
        "German: text",
        "German: choices",
    }
    said_in(draft, "de", {"q-choices-q2": ["Flut"]})  # one of two
    assert len([one for one in list_findings(draft) if one.blocks]) == len(ARABIC) - 1
    said_in(draft, "de", {"q-choices-q2": ["Flut", "Ebbe"]})
    assert len([one for one in list_findings(draft) if one.blocks]) == len(ARABIC) - 2


def test_an_original_that_was_changed_since_is_told_and_blocks_nothing(draft):
    draft.questions.filter(external_id="q1").update(text="How was the harbour?")
    told = [one for one in list_findings(draft) if one.code == "original_changed"]
    assert [(one.item.external_id, one.what, one.blocks) for one in told] == [
        ("q1", "Arabic: text", False)
    ]


def test_translations_need_the_name_of_the_original_and_another_language(draft):
    draft.language = "ar"
    draft.save()
    assert "same_language" in {one.code for one in list_findings(draft)}
    draft.language = ""
    draft.save()
    QuestionSet.objects.update(language="")
    draft = QuestionSetVersion.objects.get()
    assert "unnamed_original" in {one.code for one in list_findings(draft) if one.blocks}
    with pytest.raises(ValueError, match="first set"):
        add_language(draft, "de")


def test_the_next_version_has_the_same_languages_and_words(made):
    copy = made.version.copy()
    assert copy.languages == ["ar", "de"]
    pieces = {one.key: one for one in Sheet(copy, "ar", load_rows(copy)).pieces}
    assert {key: one.said for key, one in pieces.items()} == ARABIC
    assert not any(one.is_old for one in pieces.values())
    assert {row.version_id for row in copy.translations.all()} == {copy.pk}
    assert {row.question.version_id for row in copy.translations.exclude(question=None)} == {
        copy.pk
    }
    assert made.version.translations.count() == copy.translations.count()


def answered(made, worker, header, text):
    browser = asking(made, header, worker)
    browser.begin()
    q2 = Question.objects.get(external_id="q2", version=made.version)
    for _ in range(9):
        if browser.page.form is None:
            return
        chosen = f"answer-{q2.public_id}"
        more = {chosen: "low tide"} if chosen in page_of(browser) else {}
        browser.press(text, **more)


def test_before_grading_it_is_said_what_answers_in_several_languages_mean(made, client, rana):
    client.force_login(rana)
    address = reverse("admin:grade", args=[made.version.question_set.public_id])
    answered(made, "ada", "en", "calm")
    assert "in several languages" not in client.get(address).content.decode()
    answered(made, "bea", "en", "calm")
    answered(made, "cleo", "ar", "هادئ")
    page = client.get(address).content.decode()
    # One question in their own words each; the choice is the same in every language.
    assert "English (2), Arabic (1)" in page
    assert (
        Response.objects.filter(language="ar", state="submitted", question__role="graded").count()
        == 2
    )


def test_files_of_questions_carry_translations_in_and_out(draft, rana, tmp_path):
    first, again = QuestionSet.objects.create(owner=rana, name="lakes", language="en"), []
    for source in (draft, None):
        version = source or first.latest_version()
        files = []
        for what in (exports.build_passages_export, exports.build_questions_export):
            path = tmp_path / f"{what.__name__}{len(again)}.csv"
            what(version).write_file(path, "csv")
            files.append(path)
        again.append([path.read_bytes() for path in files])
        if source:
            import_passages(first, files[0])
            import_questions(first, files[1])
    assert again[0] == again[1]
    made = first.latest_version()
    assert made.languages == ["ar"]
    said = {one.key: one.said for one in Sheet(made, "ar", load_rows(made)).pieces if one.said}
    assert said == {key: text for key, text in ARABIC.items() if not key.startswith("v-")}
    assert not any(one.is_old for one in Sheet(made, "ar", load_rows(made)).pieces if one.said)
    report = import_questions(first, files[1])
    assert (report.n_new, report.changed) == (0, False)


def test_a_file_adds_a_language_and_overwrites_and_changes_nothing_that_is_there(draft, tmp_path):
    path = tmp_path / "questions.csv"
    head = "question,text,passage,text.de,text.ar,text.raw\n"
    row = "q1,How is the harbour?,p1,Wie ist der Hafen?,{},a note\n"
    path.write_text(head + row.format(ARABIC["q-text-q1"]), "utf-8")
    with pytest.raises(InputError, match="another metadata"):
        import_questions(draft.question_set, path)  # text.raw is no language
    path.write_text((head + row.format("شيء آخر")).replace(",text.raw", "").replace(",a note", ""))
    with pytest.raises(InputError) as caught:
        import_questions(draft.question_set, path)
    assert faults(caught.value) == [(2, "text.ar", "translation_differs")]
    draft.refresh_from_db()
    assert draft.languages == ["ar"]
    path.write_text(path.read_text().replace("شيء آخر", ARABIC["q-text-q1"]))
    report = import_questions(draft.question_set, path)
    assert (report.n_new, report.n_completed) == (1, 1)
    draft.refresh_from_db()
    assert draft.languages == ["ar", "de"]
    draft.publish()
    path.write_text(path.read_text().replace("text.de", "text.fr"))
    with pytest.raises(InputError) as caught:
        import_questions(draft.question_set, path)
    assert faults(caught.value) == [(None, None, "translations_into_published")]
    draft.refresh_from_db()
    assert draft.languages == ["ar", "de"]
