"""Chromium: people answer in Arabic, from right to left, and in German; every page is looked at."""

import re

import pytest
from django.urls import reverse

from annotations.models import Passage, Question, QuestionSet, Response, Submission
from tests.annotations.answering.conftest import published
from tests.browser import pages
from tests.browser.test_answering import address, window

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
    pytest.mark.django_db(transaction=True),
]

# Set, guidelines, consent, passage, question, choices, answer; with ids and codes of other letters.
TEXTS = {
    "ar": (
        "دراسة المد والجزر",
        "اكتب جملة أو جملتين. إذا لم تعرف الجواب فاكتب «لا أعرف».",
        "تُستخدم الإجابات في البحث العلمي فقط.",
        "يتبع المد القمر، ويتبع المرفأ المد. وقد سُجّل ذلك في 1858 في المحطة HX-7 على الشاطئ.",
        "ما الذي يفعله المد في المحطة HX-7؟",
        ["القمر", "الشمس"],
        "يرتفع الماء مرتين في اليوم في HX-7 كما سُجّل.",
    ),
    "de": (
        "Ebbe und Flut",
        "Schreiben Sie ein oder zwei Sätze.",
        "Die Antworten werden nur für die Forschung verwendet.",
        "Die Flut folgt dem Mond, und der Hafen folgt der Flut. So steht es seit 1858 bei HX-7.",
        "Was macht die Flut bei HX-7?",
        ["der Mond", "die Sonne"],
        "Das Wasser steigt zweimal am Tag.",
    ),
}
SAID = {
    "ar": {
        "saved": "تم الحفظ.",
        "offline": "لم يُحفظ بعد: لا يوجد اتصال.",
        "thanks": "شكرًا لك",
        "direction": "rtl",
    },
    "de": {
        "saved": "Gespeichert.",
        "offline": "Noch nicht gespeichert: Es besteht keine Verbindung.",
        "thanks": "Vielen Dank",
        "direction": "ltr",
    },
}


@pytest.fixture(params=["ar", "de"])
def language(request):
    return request.param


@pytest.fixture
def spoken_set(django_user_model, language):
    name, guidelines, consent, text, asked, choices, _ = TEXTS[language]
    owner = django_user_model.objects.create_user("rana", is_staff=True)
    question_set = QuestionSet.objects.create(owner=owner, name=name, language=language)
    draft = question_set.draft()
    draft.guidelines, draft.consent_text = guidelines, consent
    draft.save()
    passage = Passage.objects.create(
        version=draft, external_id="p1", title=name, text=text, position=0
    )
    common = {"version": draft, "passage": passage}
    Question.objects.create(external_id="q1", position=1, text=asked, **common)
    Question.objects.create(
        external_id="q2", position=2, text=asked, kind="choice", choices=choices, **common
    )
    return question_set


def published_in_full(question_set):
    made = published(question_set, protocol="recall")
    made.collection.pay, made.collection.currency = "2.50", "EUR"
    made.collection.contact = "rana@example.org"
    made.collection.save()
    return made


def check(opened, language, name, *names):
    """Nothing wrong with the page; it says its language, and has no word of English.

    `names` are those of other languages, in which they are offered.
    """
    page = opened.page
    opened.check(name)
    root = page.locator("html")
    assert root.get_attribute("lang") == language, name
    assert root.get_attribute("dir") == SAID[language]["direction"], name
    if language == "ar":
        words = set(re.findall(r"[A-Za-z]{2,}", page.locator("body").inner_text()))
        known = {"EUR", "HX", "rana", "example", "org", *names}
        assert words <= known | set(re.findall("[A-Za-z]+", code(page))), name


def code(page):
    found = page.locator(".code")
    return found.inner_text() if found.count() else ""


@pytest.mark.parametrize("look", pages.LOOKS)
def test_the_whole_way_in_another_language(browser, live_server, spoken_set, language, look):
    made, answer = published_in_full(spoken_set), TEXTS[language][-1]
    with window(browser, live_server.url, look) as opened:
        page = opened.page
        page.goto(opened.site + address(made))
        for number in range(12):
            check(opened, language, f"step {number}: {page.title()}")
            if page.locator("#completion-code").count():
                break
            for box in page.locator("main input[type=checkbox]").all():
                box.check()
            for area in page.locator("main textarea").all():
                area.press_sequentially(answer, delay=1)
                page.get_by_text(SAID[language]["saved"], exact=True).wait_for()
                check(opened, language, "saved")
            if page.locator("main input[type=radio]").count():
                page.locator("main input[type=radio]").first.check()
            with page.expect_navigation():
                page.locator("main form button").first.click()
        assert page.locator("h1").inner_text() == SAID[language]["thanks"]
        assert page.locator("#completion-code").inner_text() == made.collection.code_done
        for name in ("data", "withdraw"):
            page.locator(f"footer a[href*='/{name}/']").first.click()
            page.wait_for_url(f"**/{name}/")
            check(opened, language, name)
        page.goto(opened.site + address(made, worker=""))
        opened.said.clear()  # Chromium names every answer that is no 200
        check(opened, language, "no id")
        assert "\n".join(opened.found) == ""
    assert Submission.objects.get().state == "submitted"
    assert answer in set(Response.objects.values_list("text", flat=True))


def test_what_is_missing_is_told_in_that_language(browser, live_server, spoken_set, language):
    made = published(spoken_set, protocol="open")
    with window(browser, live_server.url, "narrow-dark") as opened:
        page = opened.page
        page.goto(opened.site + address(made))

        def refused(name):
            with page.expect_navigation():
                page.locator("main form button").first.click()
            opened.said.clear()  # Chromium names every answer that is no 200
            check(opened, language, name)
            assert page.locator("[role=alert]").count() == 1

        refused("no consent")
        page.locator("#agree").check()
        with page.expect_navigation():
            page.locator("main form button").first.click()
        refused("no answers")
        page.context.set_offline(True)
        page.locator("textarea").press_sequentially(TEXTS[language][-1])
        page.get_by_text(SAID[language]["offline"]).wait_for()
        page.context.set_offline(False)
        page.get_by_text(SAID[language]["saved"], exact=True).wait_for()
        page.locator("footer a[href*='/withdraw/']").click()
        page.wait_for_url("**/withdraw/")
        refused("not sure")
        assert "\n".join(opened.found) == ""


def left(page, selector):
    return page.locator(selector).first.bounding_box()["x"]


@pytest.mark.parametrize("language", ["ar"], indirect=True)
def test_in_arabic_boxes_stand_right_of_their_labels_and_the_first_button_is_rightmost(
    browser, live_server, spoken_set
):
    made = published(spoken_set, protocol="open")
    with window(browser, live_server.url) as opened:
        page = opened.page
        page.goto(opened.site + address(made))
        assert left(page, "#agree") > left(page, "label[for=agree]")
        page.locator("#agree").check()
        page.locator("main form button").first.click()
        page.wait_for_selector("textarea")
        assert left(page, "button[value=next]") > left(page, "button[value=save]")
        assert left(page, "main input[type=radio]") > left(page, ".tick label")
        assert left(page, "header .study") > left(page, "progress")
        direction = "element => getComputedStyle(element).direction"
        page.locator("textarea").first.fill("HX-7 is a name")
        assert page.locator("textarea").first.evaluate(direction) == "ltr"
        page.locator("textarea").first.fill("المد في HX-7")
        assert page.locator("textarea").first.evaluate(direction) == "rtl"


def in_arabic_too(question_set, page, opened):
    """Add Arabic in the editor and write all of it there, saved while one types."""
    address = reverse("admin:editor-languages", args=[question_set.public_id])
    page.goto(opened.site + address)
    page.locator("#language").fill("ar")
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_url("**/languages/ar/")
    opened.check("what is to be translated")
    guidelines, consent, text, asked, choices = TEXTS["ar"][1:6]
    page.locator("[name=t-v-title]").fill(TEXTS["ar"][0])
    boxes = {
        "v-guidelines": guidelines,
        "v-consent_text": consent,
        "p-title-p1": TEXTS["ar"][0],
        "p-text-p1": text,
        "q-text-q1": asked,
        "q-text-q2": asked,
        "q-choices-q2": "\n".join(choices),
    }
    for key, words in boxes.items():
        page.locator(f"[name='t-{key}']").fill(words)
    area = page.locator("[name=t-p-text-p1]")
    assert area.evaluate("one => getComputedStyle(one).direction") == "rtl"
    page.wait_for_function(
        "document.querySelector('[data-state]').textContent.startsWith('Saved')", timeout=60_000
    )
    page.goto(page.url)
    assert page.locator("[name=t-p-text-p1]").input_value() == text
    assert page.locator("nav.editor-tabs .cg-badge").inner_text() == "7 of 7"
    opened.check("translated")


@pytest.mark.parametrize("language", ["de"], indirect=True)
def test_a_set_with_two_languages_from_the_editor_to_the_code(
    browser, client, live_server, spoken_set, language, settings
):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with pages.signed_in(browser, client, live_server.url, "rana", "narrow-dark") as desk:
        in_arabic_too(spoken_set, desk.page, desk)
        assert "\n".join(desk.found) == ""
    made = published_in_full(spoken_set)
    german, arabic = TEXTS["de"][-1], TEXTS["ar"][-1]
    with window(browser, live_server.url, "narrow-dark", locale="ar") as opened:
        page = opened.page
        page.goto(opened.site + address(made))
        check(opened, "ar", "consent", "Deutsch")
        page.get_by_role("link", name="Deutsch").click()
        check(opened, "de", "consent in German")
        page.get_by_role("link", name="العربيّة").click()
        page.locator("#agree").check()
        page.locator("main form button.primary").click()
        page.locator("main form button.primary").click()  # show the text
        check(opened, "ar", "the text", "Deutsch")
        assert TEXTS["ar"][3] in page.locator("article").inner_text()
        page.locator("main form button.primary").click()
        page.wait_for_selector("textarea")
        page.locator("textarea").fill(arabic)
        with page.expect_navigation():
            page.get_by_role("button", name="Deutsch").click()
        check(opened, "de", "questions in German")
        assert page.locator("textarea").input_value() == arabic
        page.locator("textarea").fill(german)
        page.get_by_label("die Sonne").check()
        with page.expect_navigation():
            page.locator("button[value=next]").click()
        check(opened, "de", "review")
        with page.expect_navigation():
            page.get_by_role("button", name="العربيّة").click()
        check(opened, "ar", "review in Arabic", "Deutsch", *german.rstrip(".").split())
        assert TEXTS["ar"][5][1] in page.locator("dl").inner_text()
        page.locator("main form button").first.click()
        page.wait_for_selector("#completion-code")
        assert "\n".join(opened.found) == ""
    submission = Submission.objects.get()
    assert (submission.state, submission.language) == ("submitted", "ar")
    stored = set(Response.objects.values_list("text", "language"))
    assert stored == {(german, "de"), ("die Sonne", "de")}
