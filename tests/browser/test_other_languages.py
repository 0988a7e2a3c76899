"""Chromium: people answer in Arabic, from right to left, and in German; every page is looked at."""

import re

import pytest

from annotations.models import Passage, Question, QuestionSet, Response, Submission
from tests.annotations.answering.conftest import published
from tests.browser import test_every_page as pages
from tests.browser.test_answering import address, window

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
    pytest.mark.django_db(transaction=True),
]
browser = pages.browser

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


def check(opened, language, name):
    """Nothing wrong with the page; it says its language, and has no word of English."""
    page = opened.page
    opened.check(name)
    root = page.locator("html")
    assert root.get_attribute("lang") == language, name
    assert root.get_attribute("dir") == SAID[language]["direction"], name
    if language == "ar":
        words = set(re.findall(r"[A-Za-z]{2,}", page.locator("body").inner_text()))
        assert words <= {"EUR", "HX", "rana", "example", "org"} | set(
            re.findall("[A-Za-z]+", code(page))
        ), name


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
